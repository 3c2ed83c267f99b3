"""Pairs and annotations as they are shown: whole lines, marks, cuts, nothing that hides."""

import io
from typing import Any

import polars as pl
import pytest
from rich.console import Console
from support.shown import check_shown

from nnd.converters.folder import Examples, annotation_examples, pair_examples
from nnd.schemas import fit, polars_schema, table_text

PAIR: dict[str, Any] = {
    "pair_id": "0a",
    "split": "test",
    "context_id": "c1",
    "context": "Q: Who sings?",
    "inputs": [{"key": "question", "value": "Who sings?"}],
    "candidate_high": "The heron sings.",
    "candidate_low": "The herons sing.",
    "system_high": "owl",
    "system_low": "wren",
    "aspect": "answer",
    "error_category": "plural",
    "margin": 2.5,
}


def pairs(*changes: dict[str, Any], whole: bool = False) -> Examples:
    rows = pl.DataFrame([PAIR | each for each in changes or ({},)], polars_schema("pair"))
    return pair_examples("birds", rows, 5, whole=whole)


def lines(found: Examples, width: int = 80) -> list[str]:
    table = found.table()
    assert table is not None
    return [" ".join(line.split()) for line in table_text(table, width).splitlines()[2:]]


def test_a_pair_with_its_context_and_marks() -> None:
    found = pairs()

    check_shown(found)
    assert found.headline() == "birds has 1 pair; 1 shown."
    assert lines(found) == [
        "pair 1 plural: owl beats wren",
        "pair 0a, context c1, margin 2.5, split test",
        "question Who sings?",
        "better The [heron sings].",
        "worse The [herons sing].",
    ]
    assert found.to_dict()["shown"][0]["candidate_low"] == "The herons sing."


def test_a_made_pair_says_what_made_it() -> None:
    made = {"origin": "synthetic:negation", "margin": None, "system_low": None}

    assert lines(pairs(made))[:2] == [
        "pair 1 plural",
        "pair 0a, context c1, origin synthetic:negation, split test",
    ]
    assert lines(pairs({"origin": "constructed:negation"}))[1] == (
        "pair 0a, context c1, margin 2.5, split test"
    )


def test_a_table_that_says_little_is_shown_too() -> None:
    known = ("pair_id", "context", "candidate_high", "candidate_low", "error_category")
    rows = pl.DataFrame([{name: PAIR[name] for name in known} | {"error_category": None}])

    assert lines(pair_examples("rows", rows, 5))[:3] == [
        "pair 1 no category",
        "pair 0a",
        "context Q: Who sings?",
    ]


@pytest.mark.parametrize("low", ["The  heron sings.", "The heron sings."])
def test_the_same_words_are_said_to_be_the_same(low: str) -> None:
    assert lines(pairs({"candidate_low": low}))[-1].startswith("(the same words")


def test_a_long_text_is_shown_where_it_differs_and_whole_if_asked_for() -> None:
    alike = "It was the same for both. " * 40
    texts = {"candidate_high": f"{alike}High.{alike}", "candidate_low": f"{alike}Low.{alike}"}

    shown = " ".join(lines(pairs(texts, {"context": alike, "inputs": []})))
    assert "better …" in shown
    assert "same for both. [High].It was" in shown
    assert "same for both. [Low].It was" in shown
    assert shown.count("…") == 5  # both ends of both candidates, and the context
    whole = " ".join(lines(pairs(texts, whole=True)))
    assert "…" not in whole
    assert whole.count("same for both") == 160


def test_empty_texts_and_what_cannot_be_seen() -> None:
    shown = "\n".join(lines(pairs({"candidate_low": " ", "candidate_high": "a\n\x1b[2Jb\u202e"})))

    assert "worse (empty)" in shown
    assert r"\x1b[2Jb\u202e" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("width", [30, 40, 80])
def test_a_text_without_spaces_folds(width: int) -> None:
    found = pairs(
        {"candidate_high": "渡轮今天又晚点了没有人知道原因。" * 9, "candidate_low": "z" * 200}
    )
    shown = lines(found, width)

    assert sum(line.count("渡") for line in shown) == 9
    assert sum(line.count("z") for line in shown) == 200
    table = found.table()
    assert table is not None
    assert max(Console().measure(part).minimum for part in fit(table, width)) <= width


@pytest.mark.parametrize("is_terminal", [True, False])
def test_colour_is_for_terminals(is_terminal: bool) -> None:  # noqa: FBT001
    out = io.StringIO()
    terminal = {"TERM": "xterm", "COLUMNS": "80"}
    Console(file=out, force_terminal=is_terminal, _environ=terminal).print(pairs().table())

    assert ("\x1b[1;32m[heron sings]\x1b[0m" in out.getvalue()) == is_terminal
    assert ("\x1b[1;31m[herons sing]\x1b[0m" in out.getvalue()) == is_terminal
    assert ("\x1b" in out.getvalue()) == is_terminal


def test_annotations_of_each_label_in_turn() -> None:
    row = {"aspect": "answer", "context": "Who?", "inputs": [], "candidate": "It."}
    rows = [
        row | {"candidate_id": f"{n}", "label": label, "system": "owl"}
        for n, label in enumerate(["good", "good", "rude", "good"])
    ]
    rows.append(row | {"candidate_id": "r", "aspect": "ease", "score": 2.5, "ratings": [2.0, 3.0]})
    found = annotation_examples("birds", pl.DataFrame(rows, polars_schema("annotation")), 4)

    check_shown(found)
    assert found.to_frame()["candidate_id"].to_list() == ["0", "2", "r", "1"]
    shown = lines(found)
    assert shown[:4] == [
        "annotation 1 by owl, answer: label good",
        "candidate 0",
        "context Who?",
        "candidate It.",
    ]
    assert "annotation 3 ease: score 2.5, ratings 2/3" in shown


def test_nothing_is_shown_of_nothing() -> None:
    found = pair_examples("birds", pl.DataFrame(schema=polars_schema("pair")), 5)

    assert str(found) == "birds has no pairs; 0 shown."
