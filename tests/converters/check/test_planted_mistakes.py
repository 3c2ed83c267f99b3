"""`nnd check` on real data: what is right passes, and planted mistakes are found."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pytest
from support.recounts.counted_again import converted

from nnd.converters.check import CheckedData, check_pairs
from nnd.converters.check.judgement_checks import check_aspects
from nnd.converters.folder import Conversion, convert_again
from nnd.schemas import CONTEXT

FULL = bool(os.environ.get("NND_TEST_FULL"))
KNOWN = {
    "bump": {"surface", "form", "rights"},
    "challenge300": {"form"},
    "confit_samsum": {"surface"},
    "demetr": set[str](),
    "dialsummeval": {"form"},
    "goyal_gpt3_news": {"surface"},
    "llmbar": {"surface"},
    "quiz_design": {"duplicates"},
    "simplification": set[str](),
    "summedits": set[str](),
    "summeval": {"form"},
    "wmt23_mqm_sxs": {"verdicts"},
}
"""What is found in a source as it is, and is so: no false alarm."""

NAMES = [*KNOWN] if FULL else ["confit_samsum", "quiz_design"]

SCORED = {"challenge300", "confit_samsum", "simplification"}
"""Sources with scores and no ratings."""

UNLABELLED = {"challenge300", "dialsummeval", "goyal_gpt3_news", "simplification", "summeval"}

NAMELESS = {"bump", "demetr", "llmbar", "summedits"}
"""Sources that do not name systems."""

NO_PAIRS = pl.DataFrame()
Rows: TypeAlias = pl.DataFrame


def of_contexts(change: Callable[[list[str], list[str]], list[str]]) -> Callable[[Rows], Rows]:
    """Return a change of the contexts, each once, given their texts and their ids."""

    def changed(rows: Rows) -> Rows:
        known = rows.unique(CONTEXT, maintain_order=True).select(*CONTEXT, "context")
        texts = change(known["context"].to_list(), known["context_id"].to_list())
        new = known.with_columns(context=pl.Series(texts))
        joined = rows.drop("context").join(new, on=CONTEXT, maintain_order="left")
        return joined.select(rows.columns)

    return changed


def merged(rows: Rows) -> Rows:
    names = sorted({*rows["system"].drop_nulls()})
    return rows.with_columns(pl.col("system").replace(dict.fromkeys(names, names[0])))


def doubled(rows: Rows) -> Rows:
    ids = (pl.concat_str(name, pl.lit("x")).alias(name) for name in ("context_id", "candidate_id"))
    return pl.concat([rows, rows.with_columns(ids)])


def of_two_raters(rows: Rows) -> Rows:
    return pl.concat([rows, rows.with_columns(label=pl.col("label").shuffle(seed=1))])


MISTAKES: dict[str, tuple[str, Callable[[Rows], Rows]]] = {
    "contexts shifted by one": (
        "own context",
        of_contexts(lambda texts, _: [*texts[1:], texts[0]]),
    ),
    "contexts of others": ("own context", of_contexts(lambda texts, _: sorted(texts))),
    "ids for contexts": ("contexts", of_contexts(lambda _, ids: [name.split()[0] for name in ids])),
    "contexts under two ids": ("duplicates", doubled),
    "texts cut at 60": (
        "lengths",
        lambda rows: rows.with_columns(pl.col("candidate").str.slice(0, 60)),
    ),
    "systems merged": ("systems", merged),
    "two raters in one": ("verdicts", of_two_raters),
}
"""Mistake → the check that sees it, and what it does to annotations."""


CASES = [
    (name, mistake)
    for name in NAMES
    for mistake in MISTAKES
    if not (mistake == "systems merged" and name in NAMELESS)
    and not (mistake == "two raters in one" and name in UNLABELLED)
]


def findings(conversion: Conversion, pairs: Rows | None = None) -> set[str]:
    data = CheckedData.of(conversion)
    if pairs is not None:
        data = replace(data, pairs=pairs)
    return {check.name for check in check_pairs(data) if check.outcome != "pass"}


@pytest.mark.parametrize("name", NAMES)
def test_no_false_alarm(name: str, nnd_data: Path) -> None:
    assert findings(converted(name, nnd_data / name)) == KNOWN[name]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "mistake"), CASES)
def test_mistakes_in_annotations(name: str, mistake: str, nnd_data: Path) -> None:
    plain = converted(name, nnd_data / name)
    check, plant = MISTAKES[mistake]
    wrong = plant(plain.annotations)
    if check in ("duplicates", "verdicts", "systems"):
        pairs = plain.pairs
        if check == "systems":
            low = pairs["system_low"]
            pairs = pairs.with_columns(system_high=low)
        seen = findings(Conversion(wrong, pairs, *rest(plain)), pairs)
    else:
        source = {**plain.manifest["source"], "expected": None}
        seen = findings(
            convert_again(wrong, plain.references, {**plain.manifest, "source": source})
        )

    assert check in seen


def rest(plain: Conversion) -> tuple[Rows, Rows, dict[str, object]]:
    return plain.human_scores, plain.references, dict(plain.manifest)


@pytest.mark.parametrize("name", NAMES)
def test_a_mark_behind_every_worse_text(name: str, nnd_data: Path) -> None:
    plain = converted(name, nnd_data / name)
    marked = plain.pairs.with_columns(pl.col("candidate_low") + " .")

    assert "giveaways" in findings(plain, marked)


@pytest.mark.parametrize("name", [name for name in NAMES if name in SCORED])
def test_a_number_outside_its_scale(name: str, nnd_data: Path) -> None:
    plain = converted(name, nnd_data / name)
    rows = plain.annotations.with_row_index()
    odd = rows.filter(pl.col("score").is_not_null())["index"][0]
    score = pl.when(pl.col("index") == odd).then(33.0).otherwise("score")
    wrong = rows.with_columns(score=score).drop("index")

    seen = findings(Conversion(wrong, plain.pairs, *rest(plain)))

    assert "scales" in seen


ASPECTS = [
    *("fluency", "clarity", "conciseness", "relevance", "consistency", "answerability"),
    "answer_consistency",
]


@pytest.mark.parametrize("reversed_ones", [*combinations(ASPECTS, 2)][:: 1 if FULL else 10])
def test_two_aspects_of_seven_reversed(reversed_ones: Sequence[str], nnd_data: Path) -> None:
    """QGEval: 3,000 questions with means of three ratings under each of seven aspects."""
    contexts = json.loads((nnd_data / "qgeval" / "instances.json").read_text())
    rows = pl.DataFrame(
        {
            "context_id": context["id"],
            "context": context["passage"],
            "candidate_id": f"{context['id']}/{number}",
            "candidate": question["prediction"],
            "system": question["source"],
            "aspect": aspect,
            "score": float(question[aspect]),
        }
        for context in contexts
        for number, question in enumerate(context["questions"])
        for aspect in ASPECTS
    )
    turned = pl.when(pl.col("aspect").is_in(reversed_ones)).then(-pl.col("score"))
    wrong = rows.with_columns(score=turned.otherwise("score"))

    right, found = (check_aspects(CheckedData("q", NO_PAIRS, frame)) for frame in (rows, wrong))

    assert right[0] == "pass"
    assert found[1].count(" falls where the others rise") == 2
    assert all(f"{aspect} falls" in found[1] for aspect in reversed_ones)


def test_a_reference_in_the_context(nnd_data: Path) -> None:
    plain = converted("confit_samsum", nnd_data / "confit_samsum")
    one = plain.references.unique(CONTEXT).select(*CONTEXT, "reference")
    both = pl.concat_str("context", "reference", separator="\n")
    joined = plain.annotations.join(one, on=CONTEXT, how="left", maintain_order="left")
    wrong = joined.with_columns(context=pl.coalesce(both, "context")).drop("reference")

    assert "in the context" in findings(Conversion(wrong, plain.pairs, *rest(plain)))
