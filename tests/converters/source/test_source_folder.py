"""A source folder: source.yaml and convert.py, good and bad."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.built_in_sources import SOURCES

from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import list_sources, load_source
from nnd.schemas import SourceError

MakeSource = Callable[..., Path]
Toy = Callable[..., dict[str, Any]]


def refused(folder: Path | str) -> str:
    with pytest.raises(SourceError) as caught:
        convert(folder)
    message = str(caught.value)
    assert message.isprintable()
    return message


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

    message = refused(name)

    assert "is neither a built-in source (bump, " in message
    assert ", quiz_design, ragtruth, sample, " in message
    meant = ' (did you mean "quiz_design"?)' if name == "quizdesign" else ""
    assert message.endswith(f"nor a folder with a source.yaml{meant}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "top level: None is not of type 'object'"),
        ("- a\n- b\n", "top level: ['a', 'b'] is not of type 'object'"),
        ("quiz", "top level: 'quiz' is not of type 'object'"),
        ("name: [", "not valid YAML, ParserError: "),
        ("\tname: toy", "not valid YAML, ScannerError: "),
        ("name: a\nname", "not valid YAML, ScannerError: "),
        ("day: 2020-13-45", "not valid YAML, ValueError: month must be in 1..12"),
        ("name: !!bool toy", "not valid YAML, KeyError: "),
        ("name: !!python/object:os.system {}", "not valid YAML, ConstructorError: "),
        ("[" * 5000, "not valid YAML, RecursionError: "),
        ("name: toy", "top level: 'pretty_name' is a required property (Display name"),
    ],
)
def test_a_source_yaml_that_is_none(make_source: MakeSource, text: str, words: str) -> None:
    folder = make_source()
    (folder / "source.yaml").write_text(text, encoding="utf-8")

    assert refused(folder).startswith(f"{folder}/source.yaml: {words}")


def test_a_source_yaml_in_another_encoding(make_source: MakeSource) -> None:
    folder = make_source()
    (folder / "source.yaml").write_bytes("name: Köln\n".encode("latin1"))

    assert refused(folder).startswith("source.yaml:1: byte 0xf6 is not UTF-8; convert the file")


def test_a_source_yaml_with_bom_and_crlf_is_simply_read(make_source: MakeSource) -> None:
    folder = make_source()
    raw = (folder / "source.yaml").read_bytes()
    (folder / "source.yaml").write_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))

    assert load_source(folder).name == "toy"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"name": "My Source"}, "name: 'My Source' does not match"),
        ({"languages": [False]}, "languages/0: False is not of type 'string'"),  # `no` in YAML
        ({"redistribution": "maybe"}, "redistribution: 'maybe' is not one of ['allowed', "),
        (
            {"licence": "CC-BY-NC-ND"},
            "licence: CC-BY-NC-ND allows no derivatives, such as pairs, which contradicts",
        ),
        ({"licence": "unknown"}, "licence: unknown contradicts redistribution: allowed; name the"),
        ({"citation": "Tafjord 2021"}, "citation: 'Tafjord 2021' does not match"),
        ({"homepage": "ftp://x"}, "homepage: 'ftp://x' does not match"),
        ({"files": []}, "files: [] should be non-empty"),
        ({"colour": "red"}, "top level: Additional properties are not allowed ('colour' was unexp"),
        ({"quality": {"rule": "best"}}, "quality/rule: 'best' is not one of ['no_error', "),
        ({"quality": {"rule": "gap"}}, "quality: 'minimum' is a required property (Smallest diff"),
        ({"quality": {"rule": "majority", "top": float("nan")}}, "quality/top: nan is not of type"),
        (
            {"quality": {"rule": "credit", "high": [1], "low": [1.0]}},
            "quality: 1 is both high and low; choose one",
        ),
        (
            {"quality": {"rule": "gap", "minimum": 1, "tolerance": 1}},
            "quality: tolerance 1 is not below minimum 1, so that equal scores would make pairs",
        ),
        (
            {"quality": {"rule": "order", "better": [["a", "b"], ["b", "a"]]}},
            "quality: the order runs in a circle through a, b; remove one",
        ),
        (
            {"systems": {"heron": None, 3: None}},
            "systems: 3 is not of type 'string' (Name of a sys",
        ),
        ({"systems": {"heron|wren": None}}, "systems: 'heron|wren' does not match"),
        ({"systems": {"heron": "a b/c"}}, "systems/heron: 'a b/c' does not match"),
        ({"aspects": {True: "Is it?"}}, "aspects: True is not of type 'string'"),
        (
            {"taxonomy": {"overall": {"name": "All", "group": None, "description": "All."}}},
            "taxonomy: 'overall' should not be valid under",
        ),
        ({"expected": {"pairs": True}}, "expected/pairs: True is not of type 'integer'"),
    ],
)
def test_a_fact_that_is_wrong(make_source: MakeSource, facts: dict[str, Any], words: str) -> None:
    folder = make_source(**facts)

    message = refused(folder)

    assert message.startswith(f"{folder}/source.yaml: {words}")


def test_a_file_that_is_declared_twice(make_source: MakeSource) -> None:
    file = {"name": "toy.jsonl", "url": None, "sha256": None, "bytes": None}

    assert refused(make_source(files=[file, file])).endswith(
        "source.yaml: files: a name occurs twice in toy.jsonl, toy.jsonl; keep one"
    )


def test_a_convert_py_that_is_missing(make_source: MakeSource) -> None:
    folder = make_source()
    (folder / "convert.py").unlink()

    assert refused(folder) == (
        f"{folder}/convert.py: missing; write `def annotations(files)` there, or a `table:` "
        "section in source.yaml"
    )


MISFIT = (
    "the converter did not expect this input: check that it is the right file, or fix the converter"
)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "def annotations(files:\n",
            ": SyntaxError: '(' was never closed (convert.py, line 1); fix the file",
        ),
        (
            "import no_such_module\n",
            ": ModuleNotFoundError: No module named 'no_such_module'; fix the file",
        ),
        ("raise SystemExit(0)\n", ": SystemExit: 0; fix the file"),
        ("", ": the function `annotations(files)` is missing; write it"),
        ("annotations = 3\n", ": the function `annotations(files)` is missing; write it"),
        ("def annotations(files):\n    yield {}['text']\n", f":2: KeyError: 'text'; {MISFIT}"),
        (
            "def annotations(files):\n    raise ValueError('a\\nb')\n",
            f":2: ValueError: a\\nb; {MISFIT}",
        ),
        # The line of the function that was called, and not of the call.
        (
            "def part():\n    return {}['text']\ndef annotations(files):\n    yield part()\n",
            f":2: KeyError: 'text'; {MISFIT}",
        ),
        ("def annotations(files):\n    exit()\n", f":2: SystemExit: None; {MISFIT}"),
        (
            "import json\ndef annotations(files):\n    json.loads('')\n",
            ":3: JSONDecodeError: Expecting",
        ),
        (
            "def annotations(files):\n    yield from annotations(files)\n",
            ":2: RecursionError: maximum",
        ),
        ("def annotations():\n    yield 3\n", ": TypeError: annotations() takes 0 positional arg"),
        (
            "def annotations(files):\n    return None\n",
            ": TypeError: 'NoneType' object is not iter",
        ),
        (
            "def annotations(files):\n    yield 'text'\n",
            ": annotations(files) gave something of type str",
        ),
        (
            "def annotations(files):\n    yield {'label': 1}\n",
            ": annotations(files) gave something of type dict",
        ),
        (
            "def annotations(files):\n    return [None]\n",
            ": annotations(files) gave something of type NoneT",
        ),
    ],
)
def test_a_convert_py_that_does_not_work(make_source: MakeSource, code: str, words: str) -> None:
    folder = make_source(code=code)

    assert refused(folder).startswith(f"{folder}/convert.py{words}")


def test_a_convert_py_with_null_bytes(make_source: MakeSource) -> None:
    """Python 3.11 changed its exception for them between patch releases."""
    folder = make_source(code="x = '\0'\n")

    assert refused(folder).startswith(f"{folder}/convert.py: ")
    assert refused(folder).endswith(": source code string cannot contain null bytes; fix the file")


def test_a_field_of_another_type_names_the_place(make_source: MakeSource, toy: Toy) -> None:
    folder = make_source([toy("a", "heron", "good"), toy("b", "wren", "wrong", candidate=3)])

    assert refused(folder).startswith("toy.jsonl:2: candidate: 3 is not of type 'string' (The gen")


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

    assert refused(make_source(rows)) == (
        "toy.jsonl:2: candidate: 'half \\ud83d' has half a surrogate pair, which is not a "
        'character (The generated text as the source has it, for example "What is the capital of '
        'Peru?")'
    )


@pytest.mark.parametrize("inputs", [{"\ud800": "x"}, {"": "x"}, {}, {"question": None}, [], "x"])
def test_parts_of_a_context_that_are_none(
    make_source: MakeSource, toy: Toy, inputs: object
) -> None:
    assert refused(make_source([toy("a", "heron", "good", inputs=inputs)])).startswith(
        "toy.jsonl:1: inputs"
    )


def test_a_label_cannot_break_the_line_or_steer_the_terminal(
    make_source: MakeSource, toy: Toy
) -> None:
    message = refused(make_source([toy("a", "heron", "bad\n\x1b[2J\u2028")]))

    assert message.startswith('toy.jsonl:1: label: "bad\\n\\u001b[2J\\u2028" is not in source.yaml')


def test_a_label_of_a_megabyte_does_not_fill_the_screen(make_source: MakeSource, toy: Toy) -> None:
    message = refused(make_source([toy("a", "heron", "x" * 1_000_000)]))

    assert len(message) < 300


@pytest.mark.parametrize(
    "line",
    ["[" * 100_000, '{"a":' * 100_000, '{"a": ' + "1" * 5000 + "}"],
    ids=["lists", "objects", "number"],
)
def test_json_that_overflows_the_reader_names_the_line(make_source: MakeSource, line: str) -> None:
    folder = make_source()
    with (folder / "toy.jsonl").open("a", encoding="utf-8") as opened:
        opened.write(line + "\n")

    message = refused(folder)

    assert message.startswith("toy.jsonl:4: not JSON of an annotation file: ")
    assert message.endswith("; check that this is the right file")


def test_a_number_that_no_float_holds(make_source: MakeSource, toy: Toy) -> None:
    folder = make_source([toy("a", "heron", None, score=10**400)])

    assert refused(folder).startswith("toy.jsonl:1: score: 1000")


def test_a_nul_character_in_a_text_is_damage(make_source: MakeSource, toy: Toy) -> None:
    # JSON can spell it, Parquet can hold it.
    rows = [toy("a", "heron", "good", candidate="a\0b"), toy("b", "wren", "wrong")]

    assert refused(make_source(rows)) == (
        "toy.jsonl:1: candidate: contains the character NUL, which texts do not have (the file "
        "may be damaged; fetch it again)"
    )


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

    assert refused(folder) == (
        "source.yaml: more than 1,048,576 bytes; check that this is the right file, or make it "
        "smaller"
    )
