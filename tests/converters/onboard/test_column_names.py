"""`new_source` on columns of any name: words that our formats reserve, in every role."""

import json
from pathlib import Path

import pytest
import yaml
from support.onboarding import BIRDS, PAIRS, ROOMS, TEXTS, cycle, rows_of
from support.places import ROOT

from nnd.converters.folder import convert
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.scaffold.scaffolding import new_source

SECTIONS = json.loads((ROOT / "schemas/contract/source.schema.json").read_text("utf-8"))
COLUMNS = json.loads((ROOT / "schemas/contract/annotation.schema.json").read_text("utf-8"))
RESERVED = {
    *SECTIONS["properties"],
    *SECTIONS["properties"]["table"]["properties"],
    *COLUMNS["properties"],
    *words.ASPECT,
    *words.IDENTIFIER,
    *words.ANNOTATOR,
    *words.VERDICT,
    *(
        "_row",
        "_key",
        "_file",
        "_system",
        "none",
        "null",
        "true",
        "no",
        "1",
        "a.b",
        "a[]",
        "*",
        " ",
    ),
    *("better", "worse", "TODO", "OPEN", "{x}", "a:b", "#", "quality", "class", "select", "é", '"'),
}
"""Names that mean something in source.yaml, in annotations, in paths, in SQL, or to a guess."""

ROLES = {
    "context": TEXTS["source"],
    "system": TEXTS["system"],
    "candidate": TEXTS["output"],
    "aspect": cycle("fluency", "toxicity"),
    "score": cycle(1, 3, 5),
    "label": cycle("ok", "rude", "rude"),
    "annotator": cycle("r1", "r2"),
    "key": [f"k{number}" for number in range(len(BIRDS) * len(ROOMS))],
}
PLAIN = {"context": "source", "system": "system", "candidate": "output", "score": "fluency"}


def looked_at(place: Path, columns: dict[str, list[object]]) -> None:
    """Make a source of a file, and convert it if it says that it converts."""
    path = place / "judged.json"
    path.write_text(json.dumps(rows_of(columns)), encoding="utf-8")
    made = new_source("birds", path, place / "birds")
    yaml.safe_load((made.folder / "source.yaml").read_text("utf-8"))
    if made.problem is None:
        assert convert(made.folder, origin=path).pairs.height == made.counts["pairs"]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_column_of_any_name_in_any_role(name: str, role: str, tmp_path: Path) -> None:
    columns = {own: ROLES[kind] for kind, own in PLAIN.items() if kind != role}

    looked_at(tmp_path, {**columns, name: ROLES[role]})


@pytest.mark.parametrize(
    "judged",
    [
        {"score": [1, 2, 3, 3, 5, 4] * len(ROOMS)},
        {"verdict": ["ok", "ok", "ok", "rude", "rude", "ok"] * len(ROOMS)},
        {"marked": ["x", "y"] * len(PAIRS)},
        {},
    ],
    ids=["numbers", "labels", "unclear", "nothing"],
)
@pytest.mark.parametrize("name", sorted(words.ASPECT))
def test_a_column_that_may_name_an_aspect(
    name: str, judged: dict[str, list[object]], tmp_path: Path
) -> None:
    """Each text is in two rows, one for each of what that column says."""
    once = {own: ROLES[kind] for kind, own in PLAIN.items() if kind != "score"}
    twice = {own: [value for value in values for _ in range(2)] for own, values in once.items()}

    looked_at(tmp_path, {**twice, name: ["fluent", "polite"] * len(PAIRS), **judged})
