"""A source whose contexts have one candidate each, as QAGS: no pair, and judgements for metrics."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refusal

from nnd.cards import check_card
from nnd.cards.dataset import data_card
from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate
from nnd.converters.hub.release_folder import read_release, write_release
from nnd.metric.other_metrics.on_datasets import metrics
from nnd.metric.run import evaluate


@pytest.fixture
def folder(
    make_source: Callable[..., Path], toy: Callable[..., dict[str, Any]], tmp_path: Path
) -> Path:
    """A converted folder with a candidate for each of four contexts, the longer the better."""
    rows = [
        toy(
            f"c{n}/x",
            "heron",
            "good" if n > 2 else "wrong",
            context_id=f"c{n}",
            candidate="yes, " * n + "it sings",
        )
        for n in (1, 2, 3, 4)
    ]
    citation = "@misc{toy,\n  title = {Toy},\n  year = {2021}\n}"
    convert(make_source(rows, expected=None, citation=citation), out=tmp_path / "out")
    return tmp_path / "out"


def test_it_is_valid_and_has_a_card(folder: Path) -> None:
    card = data_card(folder, "org/toy")

    assert list(validate(folder)) == []
    assert list(check_card(card, folder)) == []
    assert (
        "**4 judged candidates for question answering** of 1 system on 4 contexts (`en`). Each "
        "context has one candidate, so there are no tests"
    ) in card
    assert "nnd metrics --data folder" in card
    assert "nnd evaluate" not in card
    assert "0 tests" not in card


def test_it_is_published_without_a_config_of_pairs(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "release"
    place.mkdir()
    files = write_release(read_release(folder, unverified="a test"), place, "org/toy")

    assert list(validate(place)) == []
    assert "pairs/test-00000-of-00001.parquet" in files
    head = files["README.md"].read_text(encoding="utf-8").split("---\n")[1]
    assert "config_name: pairs" not in head
    assert "- config_name: human_scores\n  default: true\n" in head


def test_metrics_correlate_over_candidates(folder: Path) -> None:
    table = metrics(data=folder, scorers=["length", "overlap"])
    row = table.rows[0]
    agreement = row.candidates["answer"]

    assert table.headline() == ("No test was judged by 2 metrics, but 4 single candidates were.")
    # Ranks of length 1 2 3 4, of people's 0 0 1 1: 1.5 1.5 3.5 3.5; rho = 4 / sqrt(5 * 4).
    assert agreement.sample["spearman"] == pytest.approx(4 / 20**0.5)
    assert (agreement.n, agreement.single_contexts) == (4, 4)
    assert row.systems_reason == "agreement over systems needs pairs, but the data has none"


def test_no_model_can_be_evaluated_on_it(folder: Path) -> None:
    with refusal("data.no-pairs", "out"):
        evaluate("a model that is never loaded", folder)
