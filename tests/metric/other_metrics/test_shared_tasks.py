"""The columns of WMT's shared tasks on WMT's own data and judgement, as the guide prints them."""

import re
from pathlib import Path

import pytest

from nnd.converters.folder import convert
from nnd.metric.other_metrics import metrics

GUIDE = Path(__file__).parents[3] / "cards/guide/metrics.md"


def test_the_numbers_of_the_guide(nnd_data: Path, tmp_path: Path) -> None:
    convert(
        "wmt_mqm",
        origin=nnd_data / "wmt_mqm",
        set_name="ted/ende",
        variant="mqm",
        out=tmp_path / "ted",
    )
    found = metrics(data=tmp_path / "ted", scorers=["length"], statistics="acc_eq_star")
    values = {row.name: row.pairs["translation"].values["acc_eq_star"] for row in found.rows}
    constant, length = values["constant"], values["length"]
    # Of mt-metrics-eval's own code, on the 13 systems without the reference: 0.480297, 0.481363.
    assert (constant, length) == (pytest.approx(0.480, abs=6e-4), pytest.approx(0.481, abs=6e-4))
    page = GUIDE.read_text(encoding="utf-8")
    said = re.search(
        r"a constant reaches (0\.\d+),.*length, calibrated,\s+(0\.\d+)", page, re.DOTALL
    )
    assert said is not None
    assert said.groups() == (f"{constant:.3f}", f"{length:.3f}")
    assert found.headline().endswith(
        "People's judgement of a candidate: the mean of the candidate's ratings."
    )
