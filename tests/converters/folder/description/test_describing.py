"""Both sides of pairs described: each candidate once, warnings, the manifest and the command."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.card_folders import make_folder, row
from support.judged_cases import REFERENCES, write_judged
from support.refusals import refusal
from support.screens.commands import Nnd
from support.shown import check_shown
from support.stored_folders import write_sealed

from nnd.cards import data_card
from nnd.converters.folder.description import candidate_sides as sides
from nnd.converters.folder.description.candidate_sides import report_texts
from nnd.converters.folder.description.description import SIDES
from nnd.metric.app import describe
from nnd.metric.data import load_pairs
from nnd.metric.other_metrics import find_scorers
from nnd.metric.other_metrics.scorers.scorer import Text


def table(*pairs: tuple[str, str], **columns: Any) -> pl.DataFrame:
    high, low = zip(*pairs, strict=True)
    rows = {"context": "A context.", "candidate_high": list(high), "candidate_low": list(low)}
    return pl.DataFrame(rows | columns)


def test_a_candidate_counts_once_on_each_side() -> None:
    found = describe(table(("The cat.", "A dog"), ("The cat.", "the cat. The")))

    high, low = found.sides["high"], found.sides["low"]
    assert (found.tests, high["candidates"], low["candidates"]) == (2, 1, 2)
    assert (high["tokens"], high["types"], high["distinct_1"]) == (3, 3, 1)
    # a dog, the cat . the: 6 tokens, 5 types, of which the is there twice
    assert (low["tokens"], low["types"], low["singletons"]) == (6, 5, 4)
    assert (low["mean_characters"], low["mean_tokens"]) == ((5 + 12) / 2, 3)
    assert low["msttr"] is None
    assert "rouge_1" not in low
    check_shown(found)


def test_the_order_of_rows_does_not_matter() -> None:
    pairs = table(("a b c", "a a"), ("d e", "b b"), ("c c a", "a b a"), context_id=["1", "2", "3"])

    assert describe(pairs, window=2).to_dict() == describe(pairs.reverse(), window=2).to_dict()


def test_a_metric_of_the_surface_that_would_do_is_warned_of() -> None:
    copying = table(("A context", "No one here at all"), ("A context", "Not a thing"))

    first, *others = describe(copying).warnings()
    assert first.startswith("Worse candidates are 61 % longer")  # 14.5 of 9 characters
    assert [sentence.partition(":")[2].partition(" passes ")[0] for sentence in others] == [
        " picking the shorter candidate",
        " picking the candidate that copies more of its context",
    ]
    assert list(describe(table(("abc", "abd"))).warnings()) == []  # undecided: half


def test_references_of_a_folder_are_compared_with(tmp_path: Path) -> None:
    folder = write_judged(tmp_path / "judged")
    references = [*REFERENCES["1"], " "]
    key = {"split": "test", "context_id": "1"}
    pl.DataFrame({"reference": references} | key).write_parquet(folder / "references.parquet")
    found = describe(folder)

    # high: "the cat sat" and "the cat", with references "the cat sat" and "one cat sat down":
    # ROUGE-1 F1 1, and 2/2 of the cat in 2/3, F1 0.8
    high = found.sides["high"]
    assert high["with_references"] == 2
    assert high["rouge_1"] == pytest.approx((1 + 0.8) / 2)
    # in one: the, one, down; in both: cat, sat. The candidates have the, and 2 and 1 of the others.
    assert high["local_recall"] == {1: 2 / 6, 2: 3 / 4}
    assert "recall of words in 2 references" in str(found)

    (scorer,) = find_scorers(["rougeL"])
    texts = [Text(text, "", None, tuple(REFERENCES["1"])) for text in ("the cat", "a dog")]
    alone = [value or 0 for value in scorer.score(texts)]
    assert found.sides["low"]["rouge_l"] == pytest.approx(sum(alone) / 2)


def test_references_may_be_parts_of_contexts() -> None:
    found = describe(table(("a cat", "a dog"), inputs=[[{"key": "reference", "value": "a cat"}]]))

    assert (found.sides["high"]["rouge_1"], found.sides["low"]["rouge_1"]) == (1, 0.5)


def test_a_manifest_says_the_same_as_a_description() -> None:
    words = ["the", "cat,", "a", "dog", "and", "3.50", "birds", "sat", "--", "on", "it"]
    texts = [" ".join(words[n % 11 : n % 11 + n % 7]) for n in range(80)]
    pairs = load_pairs(table(*zip(texts, texts[::-1], strict=True))).pairs
    long, short = describe(pairs).sides, report_texts(pairs)

    for side in SIDES:
        known = {**long[side], "tokenised": long[side]["candidates"]}
        assert short[side] == {name: known[name] for name in short[side]}
        assert short[side]["msttr"] is not None
    nothing = report_texts(pairs.clear())["high"]
    assert {*nothing.values()} == {0, None}


def test_of_many_candidates_a_manifest_counts_tokens_of_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = load_pairs(table(*((f"{'long ' * n}text", "short") for n in range(9)))).pairs
    monkeypatch.setattr(sides, "MOST_TOKENISED", 4)

    found = report_texts(pairs)["high"]
    assert (found["candidates"], found["tokenised"]) == (9, 3)
    assert found["mean_characters"] == 24
    key = ["split", "context_id", "high_id"]
    every_third = pairs.sort(key)["candidate_high"].gather_every(3).to_list()
    assert found["tokens"] == sum(len(text.split()) for text in every_third)


def test_a_window_has_a_token() -> None:
    with refusal("option.bad-value", "--window 0"):
        describe(table(("a", "b")), window=0)


def test_manifest_and_card_have_the_short_version(tmp_path: Path) -> None:
    rows = [row("a", "heron", "good", candidate="It is a crane."), row("b", "wren", "wrong")]
    folder = make_folder(tmp_path, rows)
    texts = json.loads((folder / "manifest.json").read_text())["hygiene"]["texts"]

    assert texts == report_texts(pl.read_parquet(folder / "pairs.parquet"))
    assert texts["high"] == {
        "candidates": 1,
        "mean_characters": 14.0,
        "tokenised": 1,
        "tokens": 5,
        "mean_tokens": 5.0,
        "distinct_1": 1.0,
        "distinct_2": 1.0,
        "msttr": None,
    }
    card = data_card(folder, "org/birds")
    assert "| characters, mean | 14.0 | 9.0 |" in card
    assert "| MSTTR-100 | none | none |" in card
    assert "- Worse candidates are 36 % shorter than better ones" in card  # 5 of 14


def test_a_card_of_an_older_folder_has_no_such_table(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["hygiene"]["texts"]
    write_sealed(folder / "manifest.json", manifest)

    assert "Not measured: " in data_card(folder, "org/birds")


def test_the_command(nnd: Nnd, tmp_path: Path) -> None:
    told = json.loads(nnd("describe", make_folder(tmp_path), "--window", 2, "--json").out)

    # "text of b" and "text of c": of two windows of 2 tokens, and then one, 2 types each
    assert (told["window"], told["low"]["msttr"]) == (2, 1.0)
    assert told["surface"] == {"shorter": 0.5, "longer": 0.5, "copied": 0.5}
