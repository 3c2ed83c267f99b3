"""Comparisons over clusters of contexts, and what is said where a run does not know them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.stored_folders import write_sealed
from support.two_models import scored, write_run

from nnd.metric.numbers import slice_runs
from nnd.metric.numbers.comparison.comparing import compare
from nnd.metric.numbers.comparison.comparison import Comparison
from nnd.metric.show.tables.comparisons import ahead_table

CONTEXTS = [f"c{number}" for number in range(24)]
PARAGRAPHS = [f"paragraph:p{number // 4}" for number in range(24)]
"""Six paragraphs of four contexts each."""

X, Y = "+" * 12 + "-" * 12, "-" * 24


def run(folder: Path, name: str, verdicts: str, *, old: bool = False) -> Path:
    """A stored run; an old one knows no clusters, and does not count them."""
    columns: dict[str, Any] = {"context_id": CONTEXTS, "cluster": None if old else PARAGRAPHS}
    path = write_run(folder / name, scored(name, verdicts, **columns))
    known = {} if old else {"clusters": 6, "cluster": "paragraph"}
    signature = f"nnd|v:0.4.0|model:{name}@1|data:quiz@ab12|protocol:native"
    results = [{"model": name, "signature": signature, "protocol": "native", **known}]
    write_sealed(path / "result.json", {"results": results})
    return path


def only(*runs: Path) -> Comparison:
    (found,) = compare([*runs])
    return found


def test_p_and_interval_are_over_clusters_and_the_other_level_stands_beside(tmp_path: Path) -> None:
    found = only(run(tmp_path, "x", X), run(tmp_path, "y", Y))
    overall = found.overall
    assert (overall.contexts, overall.clusters) == (24, 6)
    # Three paragraphs have a difference, all of x's: two of 2^3 flips. Over contexts 2 / 2^12.
    assert overall.p == 2 / 2**3
    assert overall.interval is not None
    assert overall.context_interval is not None
    widths = [high - low for low, high in (overall.interval, overall.context_interval)]
    assert widths[0] > widths[1]
    assert overall.turned().context_interval == tuple(
        -end for end in overall.context_interval[::-1]
    )
    said = found.headline()
    assert "24 shared tests over 6 paragraphs; the difference is not significant." in said
    assert any(
        "come from only 6 paragraphs; with fewer than 10" in line for line in found.remarks()
    )
    caption = str(ahead_table(found).caption)
    assert caption.startswith(
        "intervals and p are over 6 paragraphs; overall, over 24 contexts: +50.0 ["
    )


def test_contexts_that_share_nothing_have_one_level(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / name, scored(name, verdicts, context_id=CONTEXTS))
        for name, verdicts in {"x": X, "y": Y}.items()
    ]
    overall = only(*runs).overall
    assert (overall.contexts, overall.clusters, overall.context_interval) == (24, 24, None)
    assert overall.p == 2 / 2**12


def test_a_newer_run_says_which_contexts_belong_together(tmp_path: Path) -> None:
    both = run(tmp_path, "x", X), run(tmp_path, "y", Y, old=True)
    assert only(*both).overall.clusters == 6
    assert not any("older version" in line for line in only(*both).remarks())
    # Two old runs are compared over paragraphs, too, if a third run knows them.
    third = run(tmp_path, "z", X, old=True)
    assert {each.overall.clusters for each in compare([*both, third])} == {6}


def test_old_runs_say_that_clusters_are_unknown_and_what_to_do(tmp_path: Path) -> None:
    x, y = run(tmp_path, "x", X, old=True), run(tmp_path, "y", Y, old=True)
    found = only(x, y)
    assert found.overall.clusters == 24
    (said,) = [line for line in found.remarks() if "older version" in line]
    assert said.startswith(f"{x}, {y}: stored by an older version")
    # `compare` takes no data.
    assert said.endswith("too optimistic. Evaluate again (quick, because likelihoods are stored).")
    (said,) = [line for line in slice_runs([x], by="split").remarks() if "older version" in line]
    assert "too optimistic. Name the data, or evaluate again (quick" in said


def test_slices_count_clusters_by_their_name(tmp_path: Path) -> None:
    slices = slice_runs([run(tmp_path, "w", X)], by="split")
    assert slices.noun == "paragraph"
    (of_test,) = slices.slices
    assert (of_test.contexts, of_test.clusters) == (24, 6)
    assert "only 6 paragraphs; with fewer than 10" in slices.remarks()[-1]
    assert "paragraphs" in str([column.header for column in slices.table().columns])


@pytest.mark.parametrize("cluster", [None, "dialogue"])
def test_old_runs_take_clusters_from_the_data(cluster: str | None, tmp_path: Path) -> None:
    old = run(tmp_path, "x", X, old=True)
    keys = [each.replace("paragraph", "dialogue") for each in PARAGRAPHS]
    data = pl.DataFrame(
        {
            "pair_id": [f"p{number}" for number in range(24)],
            "split": "test",
            "context_id": CONTEXTS,
            "cluster": pl.Series(keys if cluster else [None] * 24, dtype=pl.String),
            "high_id": [f"h{number}" for number in range(24)],
            "low_id": [f"l{number}" for number in range(24)],
            "context": CONTEXTS,
            "candidate_high": "yes",
            "candidate_low": "no",
        }
    )
    data.write_parquet(tmp_path / "pairs.parquet")
    found = slice_runs([old], tmp_path / "pairs.parquet", by="split")
    assert not any("older version" in line for line in found.remarks())
    assert found.slices[0].clusters == (6 if cluster else 24)
