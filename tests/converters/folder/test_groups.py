"""Sources without systems, with groups, with errors made on purpose, or with lone candidates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.refusals import refusal

from nnd.cards import check_card, data_card
from nnd.converters.folder import convert, validate

Toy = Callable[..., dict[str, Any]]
MakeSource = Callable[..., Path]

CITATION = "@misc{toy, title = {Toy}, year = {2020}, author = {A. Bird}}"


def rows_of_raters(toy: Toy) -> list[dict[str, Any]]:
    """Two raters who agree about c, and disagree about which of a and b is good."""
    marks = {"r1": ("good", "wrong", "rude"), "r2": ("wrong", "good", "rude")}
    return [
        {key: value for key, value in toy(name, "heron", label).items() if key != "system"}
        | {"group": rater, "metadata": {"topic": "birds"}}
        for rater, labels in marks.items()
        for name, label in zip("abc", labels, strict=True)
    ]


def test_raters_who_disagree(toy: Toy, make_source: MakeSource, tmp_path: Path) -> None:
    facts = {"systems": {}, "expected": None, "citation": CITATION}
    source = make_source(rows_of_raters(toy), **facts)

    made = convert(source, out=tmp_path / "made")

    # r1: a over b and c; r2: b over a and c. No ranking has a over b and b over a.
    assert made.pairs.select("group", "high_id", "low_id").sort("group", "low_id").rows() == [
        ("r1", "a", "b"),
        ("r1", "a", "c"),
        ("r2", "b", "a"),
        ("r2", "b", "c"),
    ]
    counts = made.manifest["counts"]
    assert (counts["both_directions"], counts["highest_pass_rate"]) == (2, 0.75)
    assert (counts["systems"], made.human_scores.height) == (0, 0)
    assert made.pairs["metadata"][0].to_list() == [{"key": "topic", "value": "birds"}]
    assert "Annotators disagree: 2 of the distinct pairs occur in both directions" in str(made)
    assert "no model can pass more than 75.0 %" in str(made)
    assert validate(tmp_path / "made").ok
    card = data_card(tmp_path / "made", "people/toy")
    assert "- Annotators disagree: 2 of the distinct pairs occur in both directions" in card
    assert "both directions, so no model can pass more than 75.0 %" in card
    assert list(check_card(card, tmp_path / "made")) == []


def test_errors_made_on_purpose(make_source: MakeSource, tmp_path: Path) -> None:
    made = convert(make_source(origin="constructed", citation=CITATION), out=tmp_path / "made")

    assert set(made.pairs["origin"]) == {"constructed:rude", "constructed:wrong"}
    assert made.human_scores.is_empty()
    assert validate(tmp_path / "made").ok
    card = data_card(tmp_path / "made", "people/toy")
    assert "with errors made on purpose" in card
    assert "undefined" in card
    assert list(check_card(card, tmp_path / "made")) == []


def test_one_candidate_per_context(toy: Toy, make_source: MakeSource, tmp_path: Path) -> None:
    rows = [toy(name, "heron", "good", context_id=f"c{name}") for name in "ab"]

    made = convert(make_source(rows, expected=None), out=tmp_path / "made")

    assert (made.pairs.height, made.human_scores.height) == (0, 1)
    assert "Every context has one candidate" in str(made)
    assert validate(tmp_path / "made").ok


def test_a_group_judges_a_candidate_once(toy: Toy, make_source: MakeSource) -> None:
    rows = [toy("a", "heron", "good", group="r1")] * 2

    with refusal("row.wrong-shape", "toy.jsonl:2: candidate_id"):
        convert(make_source(rows))
