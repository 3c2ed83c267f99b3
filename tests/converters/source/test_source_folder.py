"""A source folder: source.yaml and convert.py, good and bad."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.table_files import refused

from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import load_source

MakeSource = Callable[..., Path]
Toy = Callable[..., dict[str, Any]]


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


DECLARED = {"name": "toy.jsonl", "url": None, "sha256": None, "bytes": None}
ALL = {"overall": {"name": "All", "group": None, "description": "All."}}

DEFINITIONS: list[tuple[dict[str, Any], str]] = [
    ({"name": "My Source"}, ": name"),
    ({"languages": [False]}, ": languages/0"),  # `no` in YAML
    ({"redistribution": "maybe"}, ": redistribution"),
    ({"citation": "Tafjord 2021"}, ": citation"),
    ({"homepage": "ftp://x"}, ": homepage"),
    ({"files": []}, ": files"),
    ({"colour": "red"}, ""),
    ({"quality": {"rule": "best"}}, ": quality/rule"),
    ({"quality": {"rule": "gap"}}, ": quality"),
    ({"quality": {"rule": "majority", "top": float("nan")}}, ": quality/top"),
    ({"systems": {"heron": None, 3: None}}, ": systems"),
    ({"systems": {"heron|wren": None}}, ": systems"),
    ({"systems": {"heron": "a b/c"}}, ": systems/heron"),
    ({"aspects": {True: "Is it?"}}, ": aspects"),
    ({"taxonomy": ALL}, ": taxonomy"),
    ({"expected": {"pairs": True}}, ": expected/pairs"),
]
RULES: list[dict[str, Any]] = [
    {"rule": "credit", "high": [1], "low": [1.0]},
    {"rule": "gap", "minimum": 1, "tolerance": 1},
    {"rule": "order", "better": [["a", "b"], ["b", "a"]]},
]


@pytest.mark.parametrize(
    ("facts", "code", "where"),
    [
        *((facts, "source.definition", where) for facts, where in DEFINITIONS),
        *(({"quality": rule}, "source.quality-rule", ": quality") for rule in RULES),
        ({"licence": "CC-BY-NC-ND"}, "source.licence", ": licence"),
        ({"licence": "unknown"}, "source.licence", ": licence"),
        ({"files": [DECLARED, DECLARED]}, "name.twice", ": files"),
    ],
)
def test_a_fact_that_is_wrong(
    make_source: MakeSource, facts: dict[str, Any], code: str, where: str
) -> None:
    refused(make_source(**facts), code, f"source.yaml{where}")


def test_a_convert_py_that_is_missing(make_source: MakeSource) -> None:
    folder = make_source()
    (folder / "convert.py").unlink()

    refused(folder, "source.definition", "convert.py")


DEF = "def annotations(files):\n"


@pytest.mark.parametrize(
    "text",
    [
        "def annotations(files:\n",
        "import no_such_module\n",
        "raise SystemExit(0)\n",
        "",
        "annotations = 3\n",
        f"{DEF}    yield 'text'\n",
        f"{DEF}    yield {{'label': 1}}\n",
        f"{DEF}    return [None]\n",
        "x = '\0'\n",  # Python 3.11 changed its exception for it between patch releases
    ],
)
def test_a_convert_py_that_is_none(make_source: MakeSource, text: str) -> None:
    refused(make_source(code=text), "source.definition", "convert.py")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"{DEF}    yield {{}}['text']\n", ":2"),
        (f"{DEF}    raise ValueError('a\\nb')\n", ":2"),
        # The line of the function that was called, and not of the call.
        (f"def part():\n    return {{}}['text']\n{DEF}    yield part()\n", ":2"),
        (f"{DEF}    exit()\n", ":2"),
        (f"import json\n{DEF}    json.loads('')\n", ":3"),
        (f"{DEF}    yield from annotations(files)\n", ":2"),
        ("def annotations():\n    yield 3\n", ""),
        (f"{DEF}    return None\n", ""),
    ],
)
def test_a_convert_py_that_fails(make_source: MakeSource, text: str, where: str) -> None:
    refused(make_source(code=text), "source.converter-failed", f"convert.py{where}")


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
