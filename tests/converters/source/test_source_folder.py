"""A source folder: source.yaml and convert.py, good and bad."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.recounts.built_in_sources import SOURCES
from support.table_files import refused

from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import list_sources, load_source

MakeSource = Callable[..., Path]
Toy = Callable[..., dict[str, Any]]


def test_the_built_in_sources_are_listed_by_name() -> None:
    names = [source.name for source in list_sources()]

    assert names == sorted(names)
    assert {"challenge300", "quiz_design"} <= set(names)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_built_in_source_is_named_after_its_folder(source: Any) -> None:
    assert source.name == source.folder.name


def test_a_folder_outside_the_install_works_the_same(make_source: MakeSource) -> None:
    assert convert(make_source()).manifest["counts"]["pairs"] == 2
    assert convert(str(make_source(folder="by_name"))).manifest["counts"]["pairs"] == 2


@pytest.mark.parametrize("given", [Path("quiz_design"), "./quiz_design", "quiz_design/"])
def test_a_folder_called_like_a_built_in_can_be_meant(
    make_source: MakeSource, monkeypatch: pytest.MonkeyPatch, given: str | Path
) -> None:
    monkeypatch.chdir(make_source(folder="quiz_design").parent)

    assert load_source(given).name == "toy"


def test_a_name_means_the_built_in(
    make_source: MakeSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_source(folder="quiz_design").parent)

    assert load_source("quiz_design").name == "quiz_design"


@pytest.mark.parametrize("name", ["quizdesign", "", ".", "a" * 300, "a/" * 3000, "nul\0byte"])
def test_neither_a_name_nor_a_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    error = refused(name, "source.unknown")

    assert ", quiz_design, ragtruth, sample, " in error.what
    assert ('"quiz_design"' in error.what) == (name == "quizdesign")


def test_an_annotation_file_is_not_a_source(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("text,system,score\n")

    error = refused(str(path), "source.unknown")

    assert error.where == str(path)
    assert error.remedy.endswith(f"nnd new-source NAME --from {path}")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "source.definition"),
        ("- a\n- b\n", "source.definition"),
        ("quiz", "source.definition"),
        ("name: [", "file.not-yaml"),
        ("\tname: toy", "file.not-yaml"),
        ("name: a\nname", "file.not-yaml"),
        ("day: 2020-13-45", "file.not-yaml"),
        ("name: !!bool toy", "file.not-yaml"),
        ("name: !!python/object:os.system {}", "file.not-yaml"),
        ("[" * 5000, "file.not-yaml"),
        ("name: toy", "source.definition"),
    ],
)
def test_a_source_yaml_that_is_none(make_source: MakeSource, text: str, code: str) -> None:
    folder = make_source()
    (folder / "source.yaml").write_text(text, encoding="utf-8")

    refused(folder, code, "source.yaml")


def test_a_source_yaml_in_another_encoding(make_source: MakeSource) -> None:
    folder = make_source()
    (folder / "source.yaml").write_bytes("name: Köln\n".encode("latin1"))

    refused(folder, "file.not-utf8", "source.yaml:1")


def test_a_source_yaml_with_bom_and_crlf_is_simply_read(make_source: MakeSource) -> None:
    folder = make_source()
    raw = (folder / "source.yaml").read_bytes()
    (folder / "source.yaml").write_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))

    assert load_source(folder).name == "toy"


@pytest.mark.parametrize(
    ("facts", "code", "where"),
    [
        ({"name": "My Source"}, "source.definition", "source.yaml: name"),
        ({"languages": [False]}, "source.definition", "source.yaml: languages/0"),  # `no` in YAML
        ({"redistribution": "maybe"}, "source.definition", "source.yaml: redistribution"),
        (
            {"licence": "CC-BY-NC-ND"},
            "source.licence",
            "source.yaml: licence",
        ),
        ({"licence": "unknown"}, "source.licence", "source.yaml: licence"),
        ({"citation": "Tafjord 2021"}, "source.definition", "source.yaml: citation"),
        ({"homepage": "ftp://x"}, "source.definition", "source.yaml: homepage"),
        ({"files": []}, "source.definition", "source.yaml: files"),
        ({"colour": "red"}, "source.definition", "source.yaml"),
        ({"quality": {"rule": "best"}}, "source.definition", "source.yaml: quality/rule"),
        ({"quality": {"rule": "gap"}}, "source.definition", "source.yaml: quality"),
        (
            {"quality": {"rule": "majority", "top": float("nan")}},
            "source.definition",
            "source.yaml: quality/top",
        ),
        (
            {"quality": {"rule": "credit", "high": [1], "low": [1.0]}},
            "source.quality-rule",
            "source.yaml: quality",
        ),
        (
            {"quality": {"rule": "gap", "minimum": 1, "tolerance": 1}},
            "source.quality-rule",
            "source.yaml: quality",
        ),
        (
            {"quality": {"rule": "order", "better": [["a", "b"], ["b", "a"]]}},
            "source.quality-rule",
            "source.yaml: quality",
        ),
        (
            {"systems": {"heron": None, 3: None}},
            "source.definition",
            "source.yaml: systems",
        ),
        ({"systems": {"heron|wren": None}}, "source.definition", "source.yaml: systems"),
        ({"systems": {"heron": "a b/c"}}, "source.definition", "source.yaml: systems/heron"),
        ({"aspects": {True: "Is it?"}}, "source.definition", "source.yaml: aspects"),
        (
            {"taxonomy": {"overall": {"name": "All", "group": None, "description": "All."}}},
            "source.definition",
            "source.yaml: taxonomy",
        ),
        ({"expected": {"pairs": True}}, "source.definition", "source.yaml: expected/pairs"),
    ],
)
def test_a_fact_that_is_wrong(
    make_source: MakeSource, facts: dict[str, Any], code: str, where: str
) -> None:
    folder = make_source(**facts)

    refused(folder, code, where)


def test_a_file_that_is_declared_twice(make_source: MakeSource) -> None:
    file = {"name": "toy.jsonl", "url": None, "sha256": None, "bytes": None}

    refused(make_source(files=[file, file]), "name.twice", "source.yaml: files")


def test_a_convert_py_that_is_missing(make_source: MakeSource) -> None:
    folder = make_source()
    (folder / "convert.py").unlink()

    refused(folder, "source.definition", "convert.py")


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        (
            "def annotations(files:\n",
            "source.definition",
            "convert.py",
        ),
        (
            "import no_such_module\n",
            "source.definition",
            "convert.py",
        ),
        ("raise SystemExit(0)\n", "source.definition", "convert.py"),
        ("", "source.definition", "convert.py"),
        ("annotations = 3\n", "source.definition", "convert.py"),
        (
            "def annotations(files):\n    yield {}['text']\n",
            "source.converter-failed",
            "convert.py:2",
        ),
        (
            "def annotations(files):\n    raise ValueError('a\\nb')\n",
            "source.converter-failed",
            "convert.py:2",
        ),
        # The line of the function that was called, and not of the call.
        (
            "def part():\n    return {}['text']\ndef annotations(files):\n    yield part()\n",
            "source.converter-failed",
            "convert.py:2",
        ),
        ("def annotations(files):\n    exit()\n", "source.converter-failed", "convert.py:2"),
        (
            "import json\ndef annotations(files):\n    json.loads('')\n",
            "source.converter-failed",
            "convert.py:3",
        ),
        (
            "def annotations(files):\n    yield from annotations(files)\n",
            "source.converter-failed",
            "convert.py:2",
        ),
        ("def annotations():\n    yield 3\n", "source.converter-failed", "convert.py"),
        (
            "def annotations(files):\n    return None\n",
            "source.converter-failed",
            "convert.py",
        ),
        (
            "def annotations(files):\n    yield 'text'\n",
            "source.definition",
            "convert.py",
        ),
        (
            "def annotations(files):\n    yield {'label': 1}\n",
            "source.definition",
            "convert.py",
        ),
        (
            "def annotations(files):\n    return [None]\n",
            "source.definition",
            "convert.py",
        ),
    ],
)
def test_a_convert_py_that_does_not_work(
    make_source: MakeSource, text: str, code: str, where: str
) -> None:
    folder = make_source(code=text)

    refused(folder, code, where)


def test_a_convert_py_with_null_bytes(make_source: MakeSource) -> None:
    """Python 3.11 changed its exception for them between patch releases."""
    folder = make_source(code="x = '\0'\n")

    refused(folder, "source.definition", "convert.py")


def test_a_field_of_another_type_names_the_place(make_source: MakeSource, toy: Toy) -> None:
    folder = make_source([toy("a", "heron", "good"), toy("b", "wren", "wrong", candidate=3)])

    refused(folder, "row.wrong-shape", "toy.jsonl:2: candidate")


def test_a_converter_that_prints_does_not_spoil_the_output(
    make_source: MakeSource, capsys: pytest.CaptureFixture[str]
) -> None:
    code = """\
from nnd.converters import Annotation
print("loading")
def annotations(files):
    print("reading")
    for row in files.jsonl("toy.jsonl"):
        yield Annotation(where=row.where, **row.fields)
"""
    convert(make_source(code=code))

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[1:] == ["loading", "reading"]  # behind whose rights it has


def test_a_converter_may_give_tuples_and_mappings(make_source: MakeSource) -> None:
    code = """\
from types import MappingProxyType
from nnd.converters import Annotation
def annotations(files):
    for name, ratings in (("heron", (5, 5, 4)), ("wren", (5, 4, 4))):
        yield Annotation(
            where="here", context_id="c", context="Who?", inputs=MappingProxyType({"q": "Who?"}),
            candidate_id=name, candidate=name, system=name, aspect="answer", ratings=ratings,
        )
"""
    folder = make_source(code=code, quality={"rule": "majority", "top": 5})

    assert convert(folder).pairs.select("high_id", "low_id").rows() == [("heron", "wren")]


# What somebody who means harm, or a damaged file, might hold.


def test_half_a_surrogate_pair_is_named_with_its_place(make_source: MakeSource, toy: Toy) -> None:
    rows = [toy("a", "heron", "good"), toy("b", "wren", "wrong", candidate="half \ud83d")]

    refused(make_source(rows), "row.wrong-shape", "toy.jsonl:2: candidate")


@pytest.mark.parametrize("inputs", [{"\ud800": "x"}, {"": "x"}, {}, {"question": None}, [], "x"])
def test_parts_of_a_context_that_are_none(
    make_source: MakeSource, toy: Toy, inputs: object
) -> None:
    folder = make_source([toy("a", "heron", "good", inputs=inputs)])

    refused(folder, "row.wrong-shape", "toy.jsonl:1: inputs")


def test_a_label_cannot_break_the_line_or_steer_the_terminal(
    make_source: MakeSource, toy: Toy
) -> None:
    folder = make_source([toy("a", "heron", "bad\n\x1b[2J\u2028")])

    error = refused(folder, "row.wrong-shape", "toy.jsonl:1: label")

    assert '"bad\\n\\u001b[2J\\u2028"' in str(error)


def test_a_label_of_a_megabyte_does_not_fill_the_screen(make_source: MakeSource, toy: Toy) -> None:
    folder = make_source([toy("a", "heron", "x" * 1_000_000)])

    error = refused(folder, "row.wrong-shape", "toy.jsonl:1: label")

    assert len(str(error)) < 300


@pytest.mark.parametrize(
    "line",
    ["[" * 100_000, '{"a":' * 100_000, '{"a": ' + "1" * 5000 + "}"],
    ids=["lists", "objects", "number"],
)
def test_json_that_overflows_the_reader_names_the_line(make_source: MakeSource, line: str) -> None:
    folder = make_source()
    with (folder / "toy.jsonl").open("a", encoding="utf-8") as opened:
        opened.write(line + "\n")

    refused(folder, "file.another-kind", "toy.jsonl:4")


def test_a_number_that_no_float_holds(make_source: MakeSource, toy: Toy) -> None:
    folder = make_source([toy("a", "heron", None, score=10**400)])

    refused(folder, "row.wrong-shape", "toy.jsonl:1: score")


def test_a_nul_character_in_a_text_is_damage(make_source: MakeSource, toy: Toy) -> None:
    # JSON can spell it, Parquet can hold it.
    rows = [toy("a", "heron", "good", candidate="a\0b"), toy("b", "wren", "wrong")]

    refused(make_source(rows), "row.wrong-shape", "toy.jsonl:1: candidate")


def test_a_text_of_a_megabyte_is_a_text(make_source: MakeSource, toy: Toy) -> None:
    long = "word " * 200_000
    rows = [toy("a", "heron", "good", candidate=long), toy("b", "wren", "wrong")]

    assert convert(make_source(rows)).pairs["candidate_high"].to_list() == [long]


def test_texts_of_any_script_and_direction_survive(
    make_source: MakeSource, toy: Toy, tmp_path: Path
) -> None:
    text = "e\u0301 ﬁ 🙂‍↔️ שלום \u202eabc\u202c \u200b ‱\r\n\t'\"\\ \u2028"
    rows = [toy("a", "heron", "good", candidate=text), toy("b", "wren", "wrong")]

    convert(make_source(rows), out=tmp_path / "out")

    stored = pl.read_parquet(tmp_path / "out/pairs.parquet")
    assert stored["candidate_high"].to_list() == [text]


def test_a_source_yaml_has_a_ceiling(make_source: MakeSource) -> None:
    folder = make_source()
    with (folder / "source.yaml").open("a", encoding="utf-8") as file:
        file.write(f"# {'x' * 2**20}\n")

    refused(folder, "file.too-large", "source.yaml")
