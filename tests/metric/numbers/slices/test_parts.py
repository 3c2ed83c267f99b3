"""Parts of pairs, one by one: by a condition, an axis, and what models were trained on."""

from pathlib import Path

import polars as pl
import pytest
from support.judged_cases import write_judged
from support.refusals import refusal

from nnd.metric.app import describe
from nnd.metric.numbers import pairs_by, pairs_where, with_seen
from nnd.metric.numbers.slices.text_measures import components
from nnd.metric.other_metrics import MetricTable, metrics
from nnd.metric.other_metrics.metric_slices import MetricSlices
from nnd.schemas import ScoringError

PAIRS = pl.DataFrame(
    {
        "source": "made",
        "split": "test",
        "context_id": ["a", "a", "b", "c"],
        "context": [
            "Rain falls.",
            "Rain falls.",
            '{"goals": [2, 1], "home": "Ayr"}',
            "Snow  fell.",
        ],
        "pair_id": ["1", "2", "3", "4"],
        "high_id": ["h1", "h2", "h3", "h4"],
        "low_id": ["l1", "l2", "l3", "l4"],
        "candidate_high": ["Wet.", "So wet.", "Ayr won 2-1.", "Cold."],
        "candidate_low": ["Dry.", "Dry.", "Ayr lost.", "A hot day."],
        "error_category": ["x", "y", "y", "y"],
    }
)


def test_pairs_that_meet_a_condition() -> None:
    assert pairs_where(PAIRS, None, None) is PAIRS
    assert pairs_where(PAIRS, "error_category = 'y' AND length < 20", None)[
        "pair_id"
    ].to_list() == [
        "2",
        "4",
    ]
    with refusal("slice.empty", "--where"):
        pairs_where(PAIRS, "length > 500", None)


def test_pairs_by_the_slices_of_axes_without_empty_ones() -> None:
    found = pairs_by(PAIRS, ["error_category,components=0,3,9,20"], None)
    # The context of pair 3 has three values, 2, 1 and Ayr; the others are no data.
    assert {name: pairs["pair_id"].to_list() for name, pairs in found.items()} == {
        "error_category=x": ["1"],
        "error_category=y": ["2", "3", "4"],
        "components=[3,9)": ["3"],
    }


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('{"a": 1, "b": {"c": [2, null, "x"]}}', 3),
        ("[]", 0),
        ("Lima | country | Peru && Lima | river | Rímac", 2),
        ("<table> <cell> 3 </cell> <cell> 7 </cell> </table>", 2),
        ("name[The Eagle], food[French], near[Café Rouge]", 3),
        ("The Eagle serves French food.", None),
        ("[not JSON", None),
        ("", None),
    ],
)
def test_components_of_the_input_of_data_to_text(text: str, count: int | None) -> None:
    assert components(text) == count


def test_contexts_are_seen_if_a_model_was_trained_on_them(tmp_path: Path) -> None:
    lines = tmp_path / "training.txt"
    lines.write_text("snow fell.\nHail.\n", encoding="utf-8")
    table = tmp_path / "training.csv"
    pl.DataFrame({"text": ["Snow fell.", "RAIN  falls. "]}).write_csv(table)
    for path, seen in ((lines, ["4"]), (table, ["1", "2", "4"])):
        found = pairs_by(with_seen(PAIRS, path), ["seen"], None)
        assert found["seen=seen"]["pair_id"].to_list() == seen
    assert with_seen(PAIRS, None) is PAIRS
    pl.DataFrame({"target": ["Hail."]}).write_csv(table)
    with pytest.raises(
        ScoringError, match="column context or text not found; the columns are targ"
    ):
        with_seen(PAIRS, table)
    with refusal("file.not-readable", "none.txt"):
        with_seen(PAIRS, tmp_path / "none.txt")
    with pytest.raises(
        ScoringError, match="--training-texts: a run keeps no texts; name the data that"
    ):
        with_seen(PAIRS.drop("context"), lines)
    with refusal("option.needs-another", "seen"):
        pairs_by(PAIRS, ["seen"], None)


def test_texts_are_described_by_slice() -> None:
    alone = describe(PAIRS.filter(error_category="y")).to_dict()
    condition = "error_category = 'y'"
    assert describe(PAIRS, where=condition).to_dict() == alone | {"name": f"frame ({condition})"}
    slices = describe(PAIRS, by="error_category").to_dict()["slices"]
    assert [*slices] == ["error_category=x", "error_category=y"]
    assert slices["error_category=y"] == alone | {"name": "error_category=y"}


def test_metrics_by_slice_are_those_of_the_pairs_and_of_the_candidates_of_their_contexts(
    tmp_path: Path,
) -> None:
    data = write_judged(tmp_path / "judged")
    whole = metrics(data=data, scorers=["length"])
    assert isinstance(whole, MetricTable)
    # "the cat sat" is longer than "the cat" and "a dog"; "the cat" than "a dog".
    found = metrics(data=data, scorers=["length"], by="length:low=0,6,20")
    assert isinstance(found, MetricSlices)
    counts = {}
    for name, table in found.datasets.items():
        (row,) = table.rows
        assert row.rates is not None
        counts[name] = (row.rates.overall.passes, row.rates.overall.n, row.candidates["quality"].n)
    # "a dog" has 5 characters; all pairs are of context 1, which has three candidates.
    assert counts == {"length:low=[0,6)": (2, 2, 3), "length:low=[6,20]": (1, 1, 3)}
    only = metrics(data=data, scorers=["length"], where="candidate_low = 'the cat'")
    assert isinstance(only, MetricTable)
    assert only.to_dict() == found.datasets["length:low=[6,20]"].to_dict()
    with pytest.raises(
        ScoringError, match="--by: a table for each slice does not go with --out; leave one"
    ):
        metrics(data=data, by="length", out=tmp_path / "out")
