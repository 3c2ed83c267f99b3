"""The shapes that `new_source` knows: files of each, and the section that it writes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.onboarding import NESTED, PAIRS, RATED, ROOMS, SHAPES, TEXTS, cycle, look, rows_of
from support.refusals import refusal
from support.table_files import WRITERS, csv_of

from nnd.converters.onboard.scaffold.first_facts import LEFT
from nnd.converters.onboard.scaffold.scaffolding import new_source


@pytest.mark.parametrize(("shape", "content", "says", "pairs"), SHAPES)
def test_a_file_of_each_shape(
    tmp_path: Path, shape: str, content: Any, says: dict[str, Any], pairs: int
) -> None:
    made, facts = look(tmp_path, content)

    assert made.shapes[0].name == shape
    assert {key: facts["table"][key] for key in says} == says
    assert (made.problem, made.counts["pairs"]) == (None, pairs)


@pytest.mark.parametrize(
    ("columns", "place", "words"),
    [
        ({"label": cycle("0", "1", "1")}, "quality.no_error", "is one of: 1, 0"),
        ({"verdict": cycle("yes", "no", "no")}, "quality.no_error", "is one of: no, yes"),
        ({"points": cycle(5, 4, 3), "note": cycle("a", "b", "c")}, None, None),
    ],
)
def test_what_no_name_says_is_left_open(
    tmp_path: Path, columns: dict[str, Any], place: str | None, words: str | None
) -> None:
    made, facts = look(tmp_path, rows_of(TEXTS | columns))

    if place is None:
        assert facts["table"]["scores"] == {"points": "points"}
    else:
        assert facts["quality"]["no_error"] == "TODO"
        assert made.problem is not None
        assert any(str(words) in line for line in made.open)


def test_yes_in_a_column_of_errors_is_an_error(tmp_path: Path) -> None:
    made, facts = look(tmp_path, rows_of(TEXTS | {"has_error": cycle("no", "no", "yes")}))

    assert facts["quality"] == {"rule": "no_error", "no_error": "no"}
    assert made.counts["pairs"] == 8
    low = made.examples and str(made.examples.to_dict())
    assert "plover" in str(low)


def test_a_reference_is_never_the_context(tmp_path: Path) -> None:
    columns = {key: value for key, value in TEXTS.items() if key != "source"}
    columns["reference"] = [f"It is near {room}, sir." for room, _ in PAIRS]

    made, facts = look(tmp_path, rows_of(columns | {"fluency": cycle(1, 3, 5)}))

    assert facts["table"]["references"] == ["reference"]
    assert facts["table"]["inputs"] == {"context": "TODO"}
    assert not any("reference" in line for line in made.open)


def test_a_score_of_another_text_is_not_the_candidates(tmp_path: Path) -> None:
    rows = [
        {
            "source": f"Where is {room}?",
            "output": {"text": f"The {bird} points at {room}."},
            "baseline": {"text": f"Nobody knows {room} by {bird}.", "score": number},
            "system": bird,
        }
        for number, (room, bird) in enumerate(PAIRS)
    ]

    _, facts = look(tmp_path, rows, candidate=["output.text"])

    assert "baseline.score" not in json.dumps(facts["table"])


def test_pairs_without_a_context_have_none(tmp_path: Path) -> None:
    rows = [{"good": f"It rains in {n}.", "bad": f"It rain in {n}."} for n in ROOMS]

    made, facts = look(tmp_path, rows)

    assert facts["table"]["context"] == "none"
    assert made.counts["pairs"] == 4


def test_annotators_may_be_files_and_texts_in_others(tmp_path: Path) -> None:
    for who, shift in (("ann", 0), ("bob", 2)):
        rows = [
            {"item": k, "annotations": [{"type": "rude"}] if (k + shift) % 3 else []}
            for k in range(len(PAIRS))
        ]
        (tmp_path / f"{who}.json").write_text(json.dumps(rows), encoding="utf-8")
    texts = [{"item": k, **row} for k, row in enumerate(rows_of(TEXTS))]
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")

    made = new_source("birds", tmp_path, tmp_path / "birds")

    table = yaml.safe_load((made.folder / "source.yaml").read_text("utf-8"))["table"]
    assert table["files"] == ["ann.json", "bob.json"]
    assert table["join"]["on"] == {"item": "item"}
    assert table["columns"]["candidate"] == "text"


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_table_is_a_table_in_every_format(tmp_path: Path, suffix: str) -> None:
    columns = TEXTS | {"fluency": cycle("1", "3", "5")}
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    path = tmp_path / f"judged{suffix}"
    path.write_bytes(WRITERS[suffix](*rows))

    made = new_source("birds", path, tmp_path / "birds")

    assert (made.problem, made.counts["pairs"], made.counts["contexts"]) == (None, 12, 4)
    assert made.to_frame()["column"].to_list() == ["source", "system", "output", "fluency"]
    assert {left.field for left in made.left} <= {left.field for left in LEFT}


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        look(tmp_path / name, NESTED)
        text = (tmp_path / name / "birds" / "source.yaml").read_text("utf-8")
        found.append(text.replace(str(tmp_path / name), ""))

    assert found[0] == found[1]


def test_seen_and_unseen_in_a_column_seen_are_no_header(tmp_path: Path) -> None:
    columns = TEXTS | {"seen": cycle("seen", "unseen"), "fluency": cycle("1", "3", "5")}
    path = tmp_path / "judged.csv"
    path.write_bytes(csv_of(list(columns), *map(list, zip(*columns.values(), strict=True))))

    assert new_source("birds", path, tmp_path / "birds").counts["pairs"] == 12


@pytest.mark.parametrize(
    ("name", "raw", "code"),
    [
        ("a.csv", b"a,b\n", "file.empty"),
        ("a.csv", b"only\nx\ny\n", "file.another-kind"),
        ("a.csv", b"one,two\none,two\n", "header.wrong-names"),
        ("a.json", b'{"a": ', "file.cut-off"),
        ("a.txt", b"x", "file.not-a-table"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, raw: bytes, code: str) -> None:
    (tmp_path / name).write_bytes(raw)

    with refusal(code):
        new_source("birds", tmp_path / name, tmp_path / "birds")

    assert not (tmp_path / "birds").exists()


@pytest.mark.parametrize(
    ("name", "code"), [("Birds!", "option.bad-value"), ("frank", "name.twice")]
)
def test_a_name_that_is_none(tmp_path: Path, name: str, code: str) -> None:
    path = tmp_path / "judged.json"
    path.write_text(json.dumps(NESTED), encoding="utf-8")

    with refusal(code, "name" if name == "Birds!" else name):
        new_source(name, path, tmp_path / "out")


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "birds").mkdir()
    (tmp_path / "birds" / "mine.txt").write_text("mine", encoding="utf-8")

    with refusal("place.exists", "birds"):
        look(tmp_path, NESTED)

    assert [path.name for path in (tmp_path / "birds").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("shape", ["choices", "edited", "verdicts", "systems"])
def test_a_shape_that_the_columns_do_not_have_is_refused(tmp_path: Path, shape: str) -> None:
    with refusal("column.missing", "--shape"):
        look(tmp_path, rows_of(RATED), shape=shape)


@pytest.mark.parametrize(
    "shape", ["lists", "spans", "marks", "aspects", "raters", "ratings", "ranks"]
)
def test_a_shape_that_lacks_a_column_leaves_it_open(tmp_path: Path, shape: str) -> None:
    made, _ = look(tmp_path, rows_of(TEXTS | {"points": cycle(1, 3, 5)}), shape=shape)

    assert made.problem is not None
    assert (made.folder / "source.yaml").is_file()
