"""References: what a converter yields of them, beside the pairs and never in them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.stored_folders import in_row, read_manifest, rewrite

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate
from nnd.converters.hub.release_folder import read_release, write_release
from nnd.metric.other_metrics.judged_candidates import read_judged

# A row of the toy file may list references: the fields of one, or something that is none.
CODE = """\
from nnd.converters import Annotation
from nnd.converters import Reference

def annotations(files):
    for row in files.jsonl("toy.jsonl"):
        fields = {name: value for name, value in row.fields.items() if name != "references"}
        yield Annotation(where=row.where, **fields)

def references(files):
    for row in files.jsonl("toy.jsonl"):
        for given in row.fields.get("references", []):
            if isinstance(given, dict):
                yield Reference(where=row.where, **{"context_id": "c1"} | given)
            else:
                yield given
"""

CITATION = "@misc{toy,\n  title = {Toy},\n  year = {2021}\n}"

Write = Callable[..., Path]


@pytest.fixture
def write(make_source: Write, toy: Callable[..., dict[str, Any]]) -> Write:
    """`write(first, second)`: a source of two rows, which list these references."""

    def make(first: list[Any], second: list[Any] | None = None, **facts: Any) -> Path:
        rows = [
            toy("a", "heron", "good", references=first),
            toy("b", "wren", "wrong", references=second or []),
        ]
        return make_source(rows, code=CODE, expected=None, citation=CITATION, **facts)

    return make


def text(reference: str, **fields: str) -> dict[str, str]:
    return {"reference": reference} | fields


def test_each_text_of_a_context_once_and_numbered(write: Write) -> None:
    # Both rows list what people wrote for their context, as the files of most sources do.
    both = [text("A wren."), text("A heron.", origin="synthetic:gpt9")]
    conversion = convert(write(both, both))

    assert conversion.references.rows() == [
        ("toy", "test", "c1", 1, "A wren.", "human"),
        ("toy", "test", "c1", 2, "A heron.", "synthetic:gpt9"),
    ]
    assert conversion.manifest["oddities"] == []


def test_the_order_of_rows_does_not_matter(write: Write) -> None:
    one, other = [text("B"), text("C")], [text("A")]

    straight = convert(write(one, other)).references
    turned = convert(write(other, one, folder="turned")).references

    assert straight["reference"].to_list() == ["A", "B", "C"]
    assert turned.equals(straight)


def test_texts_that_differ_in_white_space_are_one(write: Write) -> None:
    conversion = convert(write([text("A  wren."), text("A heron.")], [text("A wren.\n")]))

    assert conversion.references["reference"].to_list() == ["A  wren.", "A heron."]
    assert conversion.references["n"].to_list() == [1, 2]


def test_what_a_row_gives_twice_is_reported(write: Write) -> None:
    conversion = convert(write([text("A"), text("A"), text("B")]))

    assert conversion.references["reference"].to_list() == ["A", "B"]
    assert conversion.manifest["oddities"] == [
        "references: given twice in one row and counted once: 1"
    ]


def test_they_are_in_no_pair(write: Write) -> None:
    given = convert(write([text("A wren.")]))
    without = convert(write([], folder="without"))

    assert given.pairs.equals(without.pairs)
    assert given.annotations.equals(without.annotations)


def test_the_folder_has_a_file_of_them_and_no_other_has(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    convert(write([text("A wren.")]), out=folder)

    assert pl.read_parquet(folder / "references.parquet")["reference"].to_list() == ["A wren."]
    assert read_manifest(folder)["outputs"]["references.parquet"]["rows"] == 1
    assert read_manifest(folder)["hygiene"]["references"]["n"] == 1
    assert list(validate(folder)) == []
    convert(write([], folder="without"), out=folder)
    assert not (folder / "references.parquet").exists()
    assert "references" not in read_manifest(folder)["hygiene"]


def test_steps_change_them_as_other_texts(write: Write) -> None:
    conversion = convert(write([text("-lrb- A  wren . -rrb-")]), normalise=["detokenise"])

    assert conversion.references["reference"].to_list() == ["(A  wren.)"]


@pytest.mark.parametrize(
    ("given", "code", "field"),
    [
        (text("A", context_id="c2"), "row.wrong-shape", "context_id"),
        (text("A", split="dev"), "row.wrong-shape", "context_id"),
        (text(" \n"), "row.wrong-shape", "reference"),
        (text(""), "row.wrong-shape", "reference"),
        (text("a\0b"), "cell.not-text", ""),
        (text("#NAME?"), "row.wrong-shape", "reference"),
        (text("\ud800"), "cell.not-text", ""),
        ({"reference": 7}, "cell.not-text", "reference"),
        (text("A", origin="constructed:x"), "row.wrong-shape", "origin"),
    ],
)
def test_what_is_no_reference_is_refused(write: Write, given: Any, code: str, field: str) -> None:
    with refusal(code, f"toy.jsonl:1: {field}" if field else "toy.jsonl:1"):
        convert(write([given]))


def test_a_generator_yields_references(write: Write) -> None:
    with refusal("source.definition", "convert.py"):
        convert(write(["A"]))


def test_an_error_in_the_generator_names_its_line(make_source: Write) -> None:
    code = (
        "from nnd.converters import Annotation\n"
        "def annotations(files):\n"
        "    for row in files.jsonl('toy.jsonl'):\n"
        "        yield Annotation(where=row.where, **row.fields)\n"
        "def references(files):\n"
        "    yield files['toy.jsonl']\n"
    )
    with refusal("source.converter-failed", "convert.py:6"):
        convert(make_source(code=code))


@pytest.fixture
def folder(write: Write, tmp_path: Path) -> Path:
    """A converted folder with the references A wren. and Mail a@b.org."""
    convert(write([text("A wren."), text("Mail a@b.org.")]), out=tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("n", 3, "row 0, n: is 3 but the references of the context are numbered up to 2 ("),
        ("context_id", "c2", 'row 0, context_id: "c2" is not a context in the annotations ('),
        ("source", "other", 'row 0, source: "other" is not the source of the manifest, "toy" ('),
        ("reference", "\t", "row 0, reference: is blank (leave it out)"),
        ("origin", "a machine", "row 0, origin: 'a machine' does not match"),
    ],
)
def test_validate_finds_what_was_changed(
    folder: Path, column: str, value: object, message: str
) -> None:
    rewrite(folder, "references.parquet", in_row(0, value, column))

    found = [str(finding) for finding in validate(folder)]
    assert [line.startswith(f"references.parquet: {message}") for line in found].count(True) == 1


def test_validate_misses_a_file_that_the_manifest_lists(folder: Path) -> None:
    (folder / "references.parquet").unlink()

    assert [str(finding) for finding in validate(folder)] == [
        "references.parquet: is missing, although the manifest lists it (convert the source again)",
        "manifest.json: hygiene: does not follow from the annotations (convert the source again)",
    ]


def test_what_is_published_has_them_without_addresses(folder: Path, tmp_path: Path) -> None:
    with refusal("publish.contacts", "out"):
        read_release(folder, unverified="a test")

    place = tmp_path / "release"
    place.mkdir()
    release = read_release(folder, redact=True, unverified="a test")
    files = write_release(release, place, "org/toy")

    path = "references/test-00000-of-00001.parquet"
    assert pl.read_parquet(files[path])["reference"].to_list() == ["A wren.", "Mail <email>."]
    assert json.loads(files["manifest.json"].read_text())["contacts"] == {
        "redacted": {"email": 1, "ip": 0}
    }
    assert "schemas/reference.schema.json" in files
    card = files["README.md"].read_text(encoding="utf-8")
    assert f"- config_name: references\n  data_files:\n  - split: test\n    path: {path}" in card
    assert 'load_dataset("org/toy", "references", split="test")' in card
    assert "| references | 2 |" in card
    assert list(validate(place)) == []


def test_metrics_compare_with_them(folder: Path) -> None:
    expected = ("A wren.", "Mail a@b.org.")
    other = pl.DataFrame({"context_id": ["c1"], "references": [["Other."]]})
    judged = read_judged(folder)

    assert [each.references for each in judged.texts()] == [expected] * 2
    assert [each.references for each in judged.texts(other)] == [("Other.",)] * 2
    assert [each.parts for each in judged.texts()] == [{"question": "Who sings?"}] * 2
