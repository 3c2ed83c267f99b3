"""Files made to do harm, or that nobody meant to make: a clear error, and nothing written.

Zips that lead elsewhere or unpack to too much are in test_archives.py, formulas with no value in
test_workbook.py.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refusal

from nnd.converters.folder.conversion import convert
from nnd.schemas.reading.records import parse_json, read_cells, read_jsonl
from nnd.schemas.reading.text_files import decode, read_lines, read_text

MakeSource = Callable[..., Path]
Toy = Callable[..., dict[str, Any]]
MIB = 2**20

CONVERT_AND_MEASURE = """\
import re, sys
from nnd.converters.folder.conversion import convert
from nnd.schemas import NNDError
try:
    convert(sys.argv[1], origin=sys.argv[2], out=sys.argv[3])
except NNDError as error:
    print(error.code, error.where, sep="\\n")
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024)
"""


def refused(source: str | Path, origin: Path | None, out: Path, code: str, where: str = "") -> str:
    """The sentence of the error, after checking code and place; nothing is written."""
    with refusal(code, where) as caught:
        convert(source, origin=origin, out=out)
    assert not out.exists()
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("source", ["quiz_design", "challenge300", "wmt_mqm", "confit_samsum"])
def test_a_line_of_200_mb_is_refused_in_bounded_memory(tmp_path: Path, source: str) -> None:
    with (tmp_path / "long_ende").open("wb") as file:
        file.write(b'{"context": "')
        for _ in range(200):
            file.write(b"a" * 1_000_000)
        file.write(b'"}\n')

    run = subprocess.run(
        [
            sys.executable,
            "-c",
            CONVERT_AND_MEASURE,
            source,
            tmp_path / "long_ende",
            tmp_path / "out",
        ],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )

    code, where, peak = run.stdout.splitlines()
    assert (code, where) == ("file.too-large", "long_ende:1")
    # Python and its libraries take about 110 MiB; 64 MiB are read in pieces, and then put together.
    assert int(peak) < 400 * MIB
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long_ende"]


def test_the_longest_line_is_read_and_a_longer_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NND_MAX_LINE", "5")
    (tmp_path / "a").write_bytes(b"1234\n12345")
    (tmp_path / "b").write_bytes(b"1234\n12345\n")

    assert list(read_lines(tmp_path / "a")) == ["1234\n", "12345"]
    with refusal("file.too-large", "b:2"):
        list(read_lines(tmp_path / "b"))


def test_lines_are_read_one_by_one(tmp_path: Path) -> None:
    # What is wrong with the third line does not matter to who reads two.
    (tmp_path / "a.jsonl").write_bytes(b'{"n": 1}\n{"n": 2}\n\xff\n')
    found = read_jsonl(tmp_path / "a.jsonl")

    assert [next(found).fields["n"], next(found).fields["n"]] == [1, 2]


def test_a_file_that_is_too_large_to_be_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NND_MAX_UNPACKED", "5")
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "b").write_bytes(b"123456")

    assert read_text(tmp_path / "a") == "12345"
    with refusal("file.too-large", "b"):
        read_text(tmp_path / "b")


def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")

    tracemalloc.start()
    read_text(tmp_path / "a")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 2**21  # not the 2**30 that a file may have


def test_a_cell_may_be_a_book(tmp_path: Path) -> None:
    # The csv module alone takes 131,072 characters, and has one limit for all who use it.
    (tmp_path / "a.csv").write_text(f'"{"a" * 200_000}"\n', encoding="utf-8")
    import csv  # noqa: PLC0415 - only here

    before = csv.field_size_limit()
    found = read_cells(tmp_path / "a.csv", delimiter=",", quoted=True)

    assert [len(row.values[0]) for row in found] == [200_000]
    assert csv.field_size_limit() == before


def test_a_cell_that_does_not_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NND_MAX_TEXT", "100")
    (tmp_path / "a.csv").write_text('a,b\n1,"' + "long\n" * 50, encoding="utf-8")

    # The second line opens the cell: "long\n" twenty times, less the first two characters of it.
    with refusal("file.too-large", "a.csv:22"):
        list(read_cells(tmp_path / "a.csv", delimiter=",", quoted=True))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("read", [read_jsonl, read_lines, read_text])
def test_utf_16_with_and_without_its_mark(
    tmp_path: Path, encoding: str, read: Callable[[Path], object]
) -> None:
    (tmp_path / "a").write_bytes('{"a": "é"}\n{"a": 1}\n'.encode(encoding))

    with refusal("file.not-utf8", "a:1"):
        list(read(tmp_path / "a"))  # type: ignore[call-overload]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte-order mark"])
@pytest.mark.parametrize("read", [read_jsonl, read_lines, read_text])
def test_a_byte_that_is_not_utf_8_is_named(
    tmp_path: Path, mark: bytes, read: Callable[[Path], object]
) -> None:
    (tmp_path / "a").write_bytes(mark + b"{}\n{}\n{}\xe9{}\n")

    with refusal("file.not-utf8", "a:3"):
        list(read(tmp_path / "a"))  # type: ignore[call-overload]


def test_a_nul_byte_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"{}\n{}\n\0\n")

    refused("quiz_design", tmp_path / "a", tmp_path / "out", "file.another-kind", "a:1")
    with refusal("file.not-utf8", "a:3"):
        list(read_jsonl(tmp_path / "a"))


def test_a_mark_belongs_to_the_first_line_alone() -> None:
    assert decode(b"\xef\xbb\xbfa", "a") == "a"
    assert decode(b"\xef\xbb\xbfa", "a", line=2) == "\ufeffa"


@pytest.mark.parametrize("field", ["context", "candidate", "candidate_id", "context_id", "system"])
def test_half_a_surrogate_pair(
    make_source: MakeSource, toy: Toy, tmp_path: Path, field: str
) -> None:
    # JSON spells it "\\ud800"; UTF-8 cannot hold it.
    rows = [toy("a", "heron", "good"), toy("b", "wren", "wrong") | {field: "x\ud800"}]

    refused(make_source(rows), None, tmp_path / "out", "cell.not-text", "toy.jsonl:2")


@pytest.mark.parametrize("brackets", [900, 990, 100_000])
@pytest.mark.parametrize("start", ["", '{"context": ', '{"group_id": '])
def test_deep_json(tmp_path: Path, brackets: int, start: str) -> None:
    end = "}" if start else ""
    text = f"{start}{'[' * brackets}{']' * brackets}{end}\n"
    (tmp_path / "deep").write_text(text, encoding="utf-8")

    for source, where in (("quiz_design", "deep:1"), ("frank", "deep")):
        refused(source, tmp_path / "deep", tmp_path / "out", "file.another-kind", where)


@pytest.mark.parametrize("field", ["context", "inputs", "label", "score", "ratings", "candidate"])
@pytest.mark.parametrize("levels", [1, 200, 900])
def test_deep_fields(
    make_source: MakeSource, toy: Toy, tmp_path: Path, field: str, levels: int
) -> None:
    folder = make_source([toy("a", "heron", "good"), toy("b", "wren", "wrong")])
    row = json.dumps(toy("c", "wren", "wrong") | {field: "DEEP"})
    deep = row.replace('"DEEP"', '{"a": ' + "[" * levels + "]" * levels + "}")
    (folder / "toy.jsonl").write_text(
        f"{row.replace(chr(34) + 'DEEP' + chr(34), 'null')}\n{deep}\n"
    )

    code = "row.wrong-shape" if levels == 1 else "file.another-kind"
    refused(folder, None, tmp_path / "out", code, "toy.jsonl:")


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "9" * 4000, "9" * 5000, "NaN"])
@pytest.mark.parametrize("field", ["score", "ratings"])
def test_huge_numbers(
    make_source: MakeSource, toy: Toy, tmp_path: Path, number: str, field: str
) -> None:
    folder = make_source([], quality={"rule": "gap", "minimum": 1})
    rows = [toy(name, "heron", None, **{field: "N"}) for name in ("a", "b")]
    value = number if field == "score" else f"[{number}]"
    lines = "".join(json.dumps(row).replace('"N"', value) + "\n" for row in rows)
    (folder / "toy.jsonl").write_text(lines, encoding="utf-8")

    # Python reads no integer of more than 4,300 digits.
    code = "file.another-kind" if len(number) == 5000 else "row.wrong-shape"
    refused(folder, None, tmp_path / "out", code, "toy.jsonl:1")


@pytest.mark.parametrize("number", ["1e999", "9" * 400, "9" * 5000, "NaN", "-Infinity"])
def test_huge_numbers_where_a_converter_asks_for_a_number(tmp_path: Path, number: str) -> None:
    text = json.dumps({"id": "a", "model_id": "BART", "dialogue": "x", "summary": "y"})[:-1]
    text += f', "annotations": [{{"coherence": {number}}}]}}\n'
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")

    code = "file.another-kind" if len(number) == 5000 else "cell.not-a-number"
    refused("dialsummeval", tmp_path / "a.jsonl", tmp_path / "out", code, "a.jsonl:1")


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    # Python's json keeps the last value without a word, and the others are lost.
    (tmp_path / "a").write_text('{"a": 1}\n{"b": [{"a": 1, "c": 2, "a": 1}]}\n', encoding="utf-8")

    with refusal("row.twice", "a:2"):
        list(read_jsonl(tmp_path / "a"))
    with refusal("row.twice", "a.json"):
        list(parse_json('{"a": 1,\n "a": 2}', "a.json"))


def test_the_same_key_in_two_objects_is_no_harm() -> None:
    assert len(list(parse_json('[{"a": {"a": 1}}, {"a": 2}]', "a"))) == 2


def test_an_object_of_many_long_keys_makes_a_short_message(tmp_path: Path) -> None:
    fields = {f"{'k' * 1000}{number}": 0 for number in range(1000)}
    (tmp_path / "a").write_text(json.dumps(fields), encoding="utf-8")

    text = refused("quiz_design", tmp_path / "a", tmp_path / "out", "file.another-kind", "a:1")
    assert len(text) < 2000


EMPTY = [
    ("challenge300", "file.another-kind", ".tsv:1"),
    ("wmt_mqm", "file.another-kind", ".tsv:1"),
    ("confit_samsum", "file.another-kind", "mqm_ende.tsv:1"),
    ("goyal_gpt3_news", "file.cut-off", "mqm_ende.tsv"),
]


@pytest.mark.parametrize("raw", [b"", b"\xef\xbb\xbf", b"\n" * 1000, b"\r\n" * 1000, b" \n\t\n"])
def test_a_file_of_nothing(tmp_path: Path, raw: bytes) -> None:
    given, table, out = (tmp_path / name for name in ("given", "mqm_ende.tsv", "out"))
    given.write_bytes(raw)

    assert "given" not in refused("quiz_design", given, out, "file.another-kind", "quiz_design")
    given.rename(table)
    for source, code, where in EMPTY:
        refused(source, table, out, code, where)


NAME = "quiz_design_groups.jsonl"


def make_socket(path: Path) -> None:
    # bound by its name alone: a socket's address holds about 100 characters
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


NO_FILES: dict[str, Callable[[Path], object]] = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "socket": make_socket,
    "loop": lambda path: path.symlink_to(path.name),
    "dead link": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
def test_what_is_called_like_the_file_and_is_none(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    (tmp_path / "from").mkdir()
    make(tmp_path / "from" / NAME)

    message = refused("quiz_design", tmp_path / "from", tmp_path / "out", "file.not-found", "from")

    assert NAME in message


@pytest.mark.parametrize("make", NO_FILES.values(), ids=NO_FILES)
def test_what_is_named_with_from_and_is_no_file(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    make(tmp_path / NAME)

    where = str(tmp_path / NAME)
    refused("quiz_design", tmp_path / NAME, tmp_path / "out", "file.not-found", where)


def test_a_folder_that_holds_itself(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").symlink_to("..")

    assert NAME in refused("quiz_design", tmp_path, tmp_path / "out", "file.not-found")


@pytest.mark.parametrize("name", ["a" * 5000, "a" * 300, "a\0b", "\ud800"])
def test_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    code = "file.not-readable" if name[:2] == "aa" else "file.not-found"
    refused("quiz_design", tmp_path / name, tmp_path / "out", code, name)


def test_a_file_whose_name_is_no_utf_8(table_bytes: bytes, tmp_path: Path) -> None:
    # Its name goes into messages and the manifest.
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv"))
    path.write_bytes(table_bytes)

    convert("confit_samsum", origin=path, out=tmp_path / "out")

    assert "oddities" in json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))


@pytest.fixture
def table_bytes() -> bytes:
    from nnd.converters.source.source import BUILT_IN  # noqa: PLC0415 - only here

    return (BUILT_IN / "confit_samsum" / "fixture" / "samsum_annotation.csv").read_bytes()
