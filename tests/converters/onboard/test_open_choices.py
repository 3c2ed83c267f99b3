"""What the comments above open lines offer: each alternative is put in, and converts."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.onboarding import BIRDS, PAIRS, ROOMS, SHAPES, TEXTS, cycle, look, rows_of
from support.refusals import refusal

from nnd.converters.folder import convert
from nnd.converters.onboard.scaffold.open_choices import INSTEAD
from nnd.converters.onboard.scaffold.scaffolding import new_source

RATERS = ("r1", "r2", "r3")
VOTES = {"heron": (5, 5, 4), "wren": (3, 4, 2), "plover": (1, 2, 1)}
"""What three raters gave each bird, on a scale of 1 to 5, in every room."""


def a_row_per_rater(name: str = "fluency", **more: list[Any]) -> list[dict[str, Any]]:
    rows = rows_of(TEXTS)
    return [
        row
        | {"rater": rater, name: VOTES[row["system"]][number]}
        | {key: values[number] for key, values in more.items()}
        for row in rows
        for number, rater in enumerate(RATERS)
    ]


def alternatives(text: str) -> list[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """Return the open line, the sections that are replaced, and what takes their place."""
    found, lines = [], text.splitlines()
    for number, line in enumerate(lines):
        if not line.strip().startswith(f"# {INSTEAD} "):
            continue
        body = itertools.takewhile(re.compile(r" *#   ").match, lines[number + 1 :])
        own = "\n".join(each.strip()[4:] for each in body)
        below = next(each for each in lines[number:] if not each.strip().startswith("#"))
        found.append((below.strip(), tuple(re.findall(r"`(\w+)`", line)), yaml.safe_load(own)))
    return found


def put(facts: dict[str, Any], gone: tuple[str, ...], change: dict[str, Any]) -> dict[str, Any]:
    """Return a source.yaml in which some sections are replaced, as a person would."""
    facts = json.loads(json.dumps(facts))
    for name in gone:
        (facts if name in facts else facts["table"]).pop(name)
    for name, value in change.items():
        is_fact = name in {"quality", "aspects", "taxonomy", "systems"}
        (facts if is_fact else facts["table"])[name] = value
    return facts


LONG = {"note": [f"It was seen near {room} by a {bird}." for room, bird in PAIRS]}
CONTENTS: dict[str, tuple[Any, int]] = {
    **{f"{shape}-{n}": (content, 0) for n, (shape, content, _, _) in enumerate(SHAPES)},
    "raters": (a_row_per_rater(), 3),
    "raters, less is better": (a_row_per_rater("toxicity"), 3),
    "raters, of labels and numbers": (a_row_per_rater("points"), 1),
    "votes": (
        rows_of(TEXTS | {"correct_1": cycle(1, 0, 0), "correct_2": cycle(1, 0, 1)}), 3,
    ),
    "a 1 of which the name does not say whether it is good": (
        rows_of(TEXTS | {"correct": cycle(1, 0, 1), "unit": cycle(0, 1, 1)}), 1,
    ),
    "ratings that are worse": (
        rows_of(TEXTS | {"toxicity_1": cycle(5, 1, 1), "toxicity_2": cycle(5, 1, 4)}), 1,
    ),
    "an unclear label": (rows_of(TEXTS | {"verdict": cycle("yes", "no", "no")}), 2),
    "two texts": (rows_of(TEXTS | {"reply": TEXTS["output"][::-1], "fluency": cycle(1, 3, 5)}), 1),
    "other texts": (rows_of(TEXTS | LONG | {"fluency": cycle(1, 3, 5)}), 0),
    "nothing is judged": (rows_of(TEXTS | {"x": cycle(1, 2, 5), "y": cycle("a", "b", "a")}), 2),
    "no context": (
        rows_of({k: TEXTS[k] for k in ("output", "system")} | LONG | {"fluency": cycle(1, 5)}),
        0,
    ),
    "marks that may be good": (
        rows_of(TEXTS | {"Tense": cycle("no", "yes", "no"), "Form": cycle("no", "yes", "yes")}), 1,
    ),
    "ranks": (
        [row | {"rank": 1 + BIRDS.index(row["system"])} for row in a_row_per_rater("unit")], 0,
    ),
    "no context, under keys": (
        {
            f"q{number}": {
                bird: {"system": bird, "text": f"The {bird} of {room} {number}.", "score": n}
                for n, bird in enumerate(BIRDS)
            }
            for number, room in enumerate(ROOMS * 3)
        },
        1,
    ),
    "aspects": (
        [
            row | {"aspect": aspect, "rater": rater, "score": VOTES[row["system"]][number]}
            for row in rows_of(TEXTS)
            for number, rater in enumerate(RATERS)
            for aspect in ("fluency", "toxicity")
        ],
        2,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "least"), CONTENTS.values(), ids=CONTENTS)
def test_each_alternative_converts(tmp_path: Path, content: Any, least: int) -> None:
    made, facts = look(tmp_path, content)
    path = made.folder / "source.yaml"
    offered = alternatives(path.read_text("utf-8"))

    for place, gone, change in offered:
        ready = facts
        for other, sections, its in offered if made.problem else ():  # a TODO is left elsewhere
            if other != place and not {*sections} & {*gone}:
                ready = put(ready, sections, its)
        path.write_text(yaml.safe_dump(put(ready, gone, change), sort_keys=False), "utf-8")
        counts = convert(made.folder, origin=made.origin[0]).manifest["counts"]
        assert counts["pairs"] > 0, (place, change)
    assert len(offered) >= least


def test_a_rating_of_each_rater_becomes_a_mean(tmp_path: Path) -> None:
    made, facts = look(tmp_path, a_row_per_rater())

    # The means are 4 2/3, 3 and 1 1/3: all three pairs of a room differ by a point.
    assert (made.shapes[0].name, made.problem, made.counts["pairs"]) == ("raters", None, 12)
    assert facts["quality"] == {"rule": "gap", "minimum": 1, "tolerance": 1e-6, "ratings": "mean"}
    assert len(made.open) == 1
    assert "the comment has 3 alternatives" in made.open[0]


def test_less_of_what_several_people_count_is_better(tmp_path: Path) -> None:
    columns = TEXTS | {"toxicity_1": cycle(5, 1, 1), "toxicity_2": cycle(5, 1, 1)}

    made, _ = look(tmp_path, rows_of(columns))

    pairs = convert(made.folder, origin=made.origin[0]).pairs
    assert set(zip(pairs["system_high"], pairs["system_low"], strict=True)) == {
        ("wren", "heron"),
        ("plover", "heron"),
    }


@pytest.mark.parametrize(
    ("quality", "rows", "words"),
    [
        ({"rule": "gap", "minimum": 1}, a_row_per_rater(), "add `ratings: mean`"),
        ({"rule": "no_error", "no_error": "ok"}, a_row_per_rater(), "with `ratings: mean`"),
        ({"rule": "majority", "top": 5}, rows_of(TEXTS | {"fluency": cycle(1, 3, 5)}),
         "`rule: gap` with a `minimum` and without `ratings`"),
        ({"rule": "no_error", "no_error": "ok"}, rows_of(TEXTS | {"fluency": cycle(1, 3, 5)}),
         "use `rule: gap` with a `minimum`"),
        ({"rule": "gap", "minimum": 1}, rows_of(TEXTS | {"verdict": cycle("ok", "rude", "rude")}),
         "use `rule: no_error`"),
        ({"rule": "majority", "top": 5}, rows_of(TEXTS | {"verdict": cycle("ok", "rude", "rude")}),
         "use `rule: no_error`"),
    ],
)  # fmt: skip
def test_a_rule_that_reads_what_is_not_there_names_it(
    tmp_path: Path, quality: dict[str, Any], rows: list[dict[str, Any]], words: str
) -> None:
    made, facts = look(tmp_path, rows)
    facts |= {
        "quality": quality,
        "taxonomy": {"rude": {"name": "R", "group": None, "description": "Rude."}},
    }
    (made.folder / "source.yaml").write_text(yaml.safe_dump(facts), encoding="utf-8")

    with refusal("source.quality-rule", "birds") as caught:
        convert(made.folder, origin=made.origin[0])
    assert words in caught.value.remedy


def test_what_is_offered_is_not_repeated_on_the_screen(tmp_path: Path) -> None:
    made, _ = look(tmp_path, a_row_per_rater())

    again = new_source("birds", out=made.folder)

    assert again.open == made.open
    assert all(INSTEAD not in line for line in made.open)
