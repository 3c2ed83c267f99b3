"""`nnd check` on invented pairs: right ones pass, and each mistake is found by its check."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.screens.commands import Nnd

from nnd import check
from nnd.converters.check import CHECKS, CheckedData, check_pairs

BIRDS = [
    *("wren", "heron", "plover", "stork", "crane", "swift", "raven", "finch", "robin", "martin"),
    *("avocet", "bittern", "curlew", "dunlin", "eider", "fulmar", "godwit", "hobby", "jackdaw"),
    *("knot", "lapwing", "merlin", "osprey", "puffin", "quail", "redstart", "siskin", "twite"),
    *("whimbrel", "yellowhammer"),
]
PLACES = ["marsh", "vale", "wood", "shore", "meadow"]
TAIL = [
    *("so", "they", "say", "who", "live", "by", "it", "and", "know", "of", "all", "that", "is"),
    *("heard", "at", "night", "or", "before", "dawn"),
]


def sentence(bird: str, seed: int) -> str:
    verb, tail = ("sings", "calls")[seed % 2], " ".join(TAIL[seed % 7 : 9 + seed * 5 % 11])
    return f"The {bird} {verb} {seed * 7 % 30} times, {tail}."


def rows() -> list[dict[str, Any]]:
    """Return sixty pairs of thirty contexts, of three systems; nothing tells them apart."""
    return [
        {
            "context_id": f"c{n}",
            "context": f"Among the reeds of the {PLACES[n % 5]} a {bird} calls {n} times at dusk.",
            "candidate_high": sentence(bird, 3 * n + at),
            "candidate_low": sentence(bird, 3 * n + 2),
            "high_id": f"c{n}/h{at}",
            "low_id": f"c{n}/l",
            "system_high": system,
            "system_low": "third",
            "aspect": "faithfulness",
            "label_high": "no error",
            "error_category": "wrong_number",
        }
        for n, bird in enumerate(BIRDS)
        for at, system in enumerate(("first", "second"))
    ]


def findings(pairs: list[dict[str, Any]], **known: Any) -> dict[str, str]:
    """Return check → message, of those that found something."""
    report = check_pairs(CheckedData("birds", pl.DataFrame(pairs), **known))
    assert [check.name for check in report] == [*CHECKS]
    assert all(check.message for check in report)
    return {check.name: check.message for check in report if check.outcome != "pass"}


def changed(**new: Callable[[dict[str, Any]], Any]) -> list[dict[str, Any]]:
    return [row | {name: make(row) for name, make in new.items()} for row in rows()]


def test_right_pairs_pass() -> None:
    assert findings(rows()) == {}


def test_columns_may_be_missing() -> None:
    few = [{name: row[name] for name in ("context_id", "context")} | row for row in rows()]
    bare = pl.DataFrame(few).select(
        "context_id", "context", "candidate_high", "candidate_low", "high_id", "low_id"
    )

    assert findings(bare.to_dicts()) == {}


@pytest.mark.parametrize(
    ("pairs", "check", "said"),
    [
        (changed(context=lambda row: row["context_id"] * 3), "contexts", "30 of 30 contexts look"),
        (changed(context=lambda row: row["context"][:12]), "contexts", "less than 20 bytes"),
        (changed(system_low=lambda row: row["system_high"]), "systems", "60 of 60 pairs have one"),
        (
            changed(system_high=lambda row: "th ird" if row["context_id"] == "c1" else "first"),
            "systems",
            "differ only by blanks: 'th ird', 'third'",
        ),
        (
            changed(context=lambda row: f"{row['context']} {row['candidate_high']} So it is."),
            "in the context",
            "60 of 90 candidates stand",
        ),
        (
            changed(inputs=lambda row: [{"key": "reference", "value": row["candidate_high"]}]),
            "in the context",
            "a part called reference",
        ),
        (
            changed(candidate_low=lambda row: f"{row['candidate_low']} ."),
            "giveaways",
            '" ." at the end is in the better text alone in 0% of tests',
        ),
        (
            changed(
                **{
                    f"candidate_{side}": lambda row, side=side: row[f"candidate_{side}"][:42]
                    for side in ("high", "low")
                }
            ),
            "lengths",
            "have 42 characters",
        ),
        (
            changed(label_high=lambda _: "wrong", error_category=lambda _: "no error"),
            "direction",
            'labelled "wrong" are the better ones, candidates labelled "no error" are the worse',
        ),
        (changed(system_low=lambda _: "human"), "direction", "human ranks worst of 3 systems"),
        (
            changed(candidate_low=lambda row: f"{row['candidate_low']} Ask jo@birds.example.org."),
            "personal data",
            "email 30",
        ),
        (
            changed(candidate_low=lambda row: row["candidate_low"].replace(" ", "  ", 1)),
            "form",
            "doubled spaces",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_found(pairs: list[dict[str, Any]], check: str, said: str) -> None:
    assert said in findings(pairs)[check]


def test_contexts_of_others() -> None:
    contexts = [row["context"] for row in rows()]
    moved = [row | {"context": contexts[(at + 2) % 60]} for at, row in enumerate(rows())]
    mixed = [row | {"context": contexts[(at // 2 * 14) % 60]} for at, row in enumerate(rows())]

    assert "fit the previous context better than their own" in findings(moved)["own context"]
    assert "may not belong together" in findings(mixed)["own context"]


def test_contexts_in_another_language() -> None:
    # Not a word is shared; the lengths of a text and of its context are.
    pairs = [
        row | {"context": "ein " * (5 + n // 2), "candidate_high": "one " * (4 + n // 2) + str(n)}
        for n, row in enumerate(rows())
    ]

    assert "own context" not in findings(pairs)


def test_contexts_with_several_ids() -> None:
    twice = [*rows(), *changed(context_id=lambda row: f"{row['context_id']}x")]

    assert findings(twice)["duplicates"].startswith("30 of 30 contexts have several ids")


def test_verdicts_that_contradict_each_other() -> None:
    turned = changed(
        candidate_high=lambda row: row["candidate_low"],
        candidate_low=lambda row: row["candidate_high"],
        high_id=lambda row: row["low_id"],
        low_id=lambda row: row["high_id"],
    )

    assert findings([*rows(), *turned])["verdicts"] == "60 pairs and their reverse within one group"


def annotations(**columns: Any) -> pl.DataFrame:
    """Return a row for each text of the pairs, and each aspect of `columns` with its numbers."""
    texts = [
        {
            "context_id": row["context_id"],
            "context": row["context"],
            "candidate_id": row[f"{side}_id"],
            "candidate": row[f"candidate_{side}"],
            "system": row[f"system_{side}"],
        }
        for row in rows()
        for side in ("high", "low")
    ]
    distinct = pl.DataFrame(texts).unique("candidate_id", maintain_order=True)
    return pl.concat(
        distinct.with_columns(
            aspect=pl.lit(aspect),
            score=pl.Series([float(number(n)) for n in range(distinct.height)]),
        )
        for aspect, number in columns.items()
    )


def test_labels_of_two_raters_in_one() -> None:
    of_one = annotations(faithfulness=lambda _: 0).with_columns(label=pl.lit("no error"))
    of_two = of_one.head(7).with_columns(label=pl.lit("wrong_number"))

    found = findings(rows(), annotations=pl.concat([of_one, of_two]))

    assert found["verdicts"].startswith("7 of 90 candidates have an error and none")


def test_reversed_aspects() -> None:
    right = {
        "fluency": lambda n: n % 3,
        "relevance": lambda n: (n % 3) + (n % 2) / 2,
        "coherence": lambda n: (n % 3) - (n % 5) / 5,
    }

    assert "aspects" not in findings(rows(), annotations=annotations(**right))
    wrong = right | {"fluency": lambda n: -(n % 3)}
    found = findings(rows(), annotations=annotations(**wrong))
    assert found["aspects"].startswith("fluency falls where the others rise (r = -")


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (33, "1 of 90 numbers of fluency is 33; the others are from 1 to 3"),
        (-9, "1 of 90 numbers of fluency is -9; the others are from 1 to 3"),
        (4, None),
    ],
)
def test_numbers_outside_a_scale(odd: float, said: str | None) -> None:
    numbers = annotations(fluency=lambda n: odd if n == 7 else 1 + n % 3)

    # One of ninety is more than a rare mistake may be: of a hundred and eighty it is not.
    more = pl.concat([numbers, annotations(fluency=lambda n: 1 + n % 3)])
    found = findings(rows(), annotations=more).get("scales")

    assert found == (said and said.replace("of 90", "of 180"))


def test_references() -> None:
    references = pl.DataFrame(
        [
            {"context_id": row["context_id"], "n": 0, "reference": row["candidate_low"]}
            for row in rows()[::2]
        ]
    )
    inside = changed(context=lambda row: f"{row['context']} {row['candidate_low']} So it is.")

    assert (
        "more like the reference in 60 of 60"
        in findings(rows(), references=references)["direction"]
    )
    found = findings(inside, references=references)["in the context"]
    assert found.startswith("30 of 30 contexts contain one of their references")


@pytest.mark.parametrize(
    ("quality", "said"),
    [
        ({"rule": "credit", "high": [0], "low": [1]}, "a credit of 0 is high and 1 is low"),
        ({"rule": "majority", "top": 1}, "the top rating 1 is low, of 1 to 5"),
    ],
)
def test_rules_that_say_less_is_better(quality: dict[str, Any], said: str) -> None:
    rated = annotations(quality=lambda _: 0).with_columns(ratings=pl.lit([1.0, 5.0]))
    facts = {"licence": "MIT", "redistribution": "allowed", "quality": quality}

    assert said in findings(rows(), annotations=rated, facts=facts)["direction"]


def test_rights_in_texts_of_others() -> None:
    facts = {"licence": "MIT", "redistribution": "allowed", "texts": "100 dialogues of SAMSum."}

    found = findings(rows(), facts=facts)["rights"]

    assert found == "MIT, redistribution: allowed, but it has texts of SAMSum (CC-BY-NC-ND-4.0)"
    assert "rights" not in findings(rows(), facts=facts | {"redistribution": "unknown"})


# The command.


def test_the_command_checks_any_data(nnd: Nnd, tmp_path: Path) -> None:
    path = tmp_path / "birds.parquet"
    pl.DataFrame(changed(system_low=lambda row: row["system_high"])).write_parquet(path)

    told = nnd("check", path)
    as_json = json.loads(nnd("check", path, "--json").out)

    assert told.code == 0, told.err
    assert told.out.startswith("birds: ")
    assert "systems" in told.out
    assert "personal data" not in told.out
    assert "personal data" in nnd("check", path, "--details").out
    assert [check["name"] for check in as_json["checks"]] == [*CHECKS]


def test_annotations_and_references_of_a_folder_are_used(sample: Path) -> None:
    of_folder = {one.name: one.message for one in check(sample)}
    of_pairs = {one.name: one.message for one in check(sample / "pairs.parquet")}

    assert of_folder["rights"] == "CC0-1.0, redistribution: allowed"
    assert of_pairs["rights"] == "no source.yaml states a licence"
    assert of_folder["contexts"] == "16 contexts, none like an id"
    assert of_pairs["contexts"] == "14 contexts, none like an id"
