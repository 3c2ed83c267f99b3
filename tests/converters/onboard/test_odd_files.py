"""Files that are odd, broken or hostile: a clear error and nothing written, or a good source."""

import contextlib
import json
import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nnd.converters.folder.conversion import convert
from nnd.converters.onboard.guess.questions import Answers
from nnd.converters.onboard.scaffold.scaffolding import NewSource, new_source
from nnd.schemas import NNDError, SourceError

HEADER = "context,system,candidate,score\n"
SYSTEMS = ("pine", "oak", "elm")
BODY = "".join(
    f"What is there in room {number} here?,{system},A chair {number} from {system}.,{score}\n"
    for number in range(4)
    for score, system in enumerate(SYSTEMS)
)
GOOD = HEADER + BODY
PAIRS = 12  # three for each of four contexts

Make = Callable[[str, bytes], NewSource]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def run(name: str, raw: bytes) -> NewSource:
        (tmp_path / name).write_bytes(raw)
        return new_source("toy", tmp_path / name, tmp_path / "toy")

    return run


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("a.csv", b"", "a.csv: empty; check that this is the right file"),
        ("a.csv", b"\n\n\n", "a.csv: empty; check that this is the right file"),
        ("a.csv", HEADER.encode(), "a.csv: no rows below the header"),
        ("a.csv", BODY.encode(), 'a.csv:1: "What is there in room 0 here?" is in the '),
        ("a.csv", (GOOD + GOOD).encode(), 'a.csv:1: "context" is in the first row and again'),
        ("a.csv", b"text\nabc\ndef\n", 'a.csv:1: there is only one column, "text", but a source'),
        ("a.csv", GOOD.replace(",", "#").encode(), 'a.csv:1: there is only one column, "context#'),
        (
            "a.csv",
            GOOD.replace("chair", "ch\u00e4ir").encode("latin1"),
            "a.csv:2: byte 0xe4 is not",
        ),
        ("a.csv", GOOD.encode("utf-16"), "a.csv:1: UTF-16, or not a text; convert the file"),
        ("a.csv", bytes(range(256)), "a.csv:1: UTF-16, or not a text; convert the file first"),
        ("a.csv", (GOOD + "a,b\n").encode(), "a.csv:14: 2 cells, but the header has 4; correct"),
        (
            "a.csv",
            (GOOD + '"' + "w" * 2**24 + 'w",a,b,1\n').encode(),
            "a.csv:14: not a row of cell",
        ),
        (
            "a.csv",
            re.sub(r",\d\n", ",\n", GOOD).encode(),
            "a.csv: Which columns say how good a candidate is? No column can be it ",
        ),
        (
            "a.csv",
            (GOOD + "What?,,A table.,3\n").encode(),
            "--system: system has cells without a na",
        ),
        (
            "a.csv",
            GOOD.replace(",1\n", ",n/a\n", 1).encode(),
            "a.csv: Which label says that nothing is wrong with a candidate? ",
        ),
        (".a.csv", GOOD.encode(), "what was guessed does not convert: the new source/"),
        ("a.txt", GOOD.encode(), "a.txt: cannot be read; the name of a file must end in .csv, "),
        ("a.json", b"[]", "a.json: no fields found; check that this is the right file"),
        ("a.json", b"{}", "a.json: no fields found; check that this is the right file"),
        ("a.json", b"[[1], [2]]", "a.json[0]: [1] is not an object; check that this is the right"),
        ("a.json", b'{"a": ' * 900 + b"1" + b"}" * 900, "a.json: Which columns hold candidates, "),
        (
            "a.json",
            b'[{"a": ' + b"[" * 900 + b"]" * 900 + b"}]",
            "a.json: Which columns hold candidates, ",
        ),
        ("a.jsonl", b'{"a": 1, "a": 2}', 'a.jsonl:1: the key "a" occurs twice in one object; '),
        ("a.jsonl", b'{"a": 1}\n{"a": ', "a.jsonl:2: not a whole JSON object: Expecting value "),
        ("a.parquet", b"PAR1 and no more", "a.parquet: cannot be read as Parquet: "),
        ("a.xlsx", b"PK\x03\x04 and no more", "a.xlsx: not a whole zip"),
    ],
)
def test_what_cannot_be_read_or_guessed_is_told(
    make: Make, tmp_path: Path, name: str, raw: bytes, words: str
) -> None:
    with pytest.raises(SourceError) as caught:
        make(name, raw)

    message = str(caught.value).replace(f"{tmp_path}/", "")
    assert message.startswith(words)
    assert message.isprintable()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_column_that_is_not_read_is_named_in_the_error(make: Make) -> None:
    with pytest.raises(SourceError) as caught:
        make("a.csv", GOOD.replace("score", "candidate").encode())

    assert str(caught.value).endswith('"candidate" is not read: the header has its name twice')


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "\ufeff" + GOOD),
        ("a.csv", GOOD.replace("\n", "\r\n")),
        ("a.csv", GOOD.replace("\n", "\r")),
        ("a.csv", GOOD.replace("A chair 0", 'A "big" chair 0')),
        ("a.csv", GOOD.replace("A chair 0", '"A" chair 0')),
        ("a.csv", GOOD.replace("A chair", "\x1b[2J[bold]A chair\u2028")),
        ("a.csv", "".join(f"{line},\n" for line in GOOD.splitlines())),  # a column without a name
        ("a.csv", "".join(f"{number},{line}\n" for number, line in enumerate(GOOD.splitlines()))),
        (
            "a.csv",
            "".join(f"{line},,\n" for line in GOOD.splitlines()).replace(",,\n", ",x,x\n", 1),
        ),
        ("a.csv", GOOD.replace("A chair 3 from elm.", "word " * 500_000)),
        ("A.CSV", GOOD),
        ("two words.csv", GOOD),
        ("a.tsv", GOOD.replace(",", "\t")),
        ("a.tsv", GOOD.replace(",", "\t").replace("A chair 0", 'A "big" chair 0')),
        # Quoted as programs write it: a text of two lines, and quotes that are doubled.
        ("a.tsv", GOOD.replace(",", "\t").replace("A chair 0 from pine.", '"A ""big""\nchair"')),
    ],
)
def test_what_is_odd_and_readable_is_read(make: Make, tmp_path: Path, name: str, text: str) -> None:
    made = make(name, text.encode())

    manifest = convert(made.folder, origin=tmp_path / name).manifest
    assert manifest["counts"]["pairs"] == PAIRS
    assert manifest["files"][0]["verified"]
    assert convert(made.folder, origin=made.folder / "fixture" / name).pairs.height > 0


def test_a_comma_in_quotes_is_no_separator(make: Make, tmp_path: Path) -> None:
    made = make("a.csv", GOOD.replace("A chair 0 from pine.", '"Well, a chair\nor two"').encode())

    candidates = convert(made.folder, origin=tmp_path / "a.csv").annotations["candidate"]
    assert "Well, a chair\nor two" in candidates.to_list()


def test_an_empty_candidate_is_kept_and_said_to_be(make: Make, tmp_path: Path) -> None:
    made = make("a.csv", GOOD.replace("A chair 0 from oak.", "").encode())

    counts = convert(made.folder, origin=tmp_path / "a.csv").manifest["counts"]
    assert (counts["pairs"], counts["empty_candidates"]) == (PAIRS, 1)


def test_half_a_surrogate_pair_is_told_with_its_place(make: Make) -> None:
    rows = [
        dict(zip(HEADER.strip().split(","), line.split(","), strict=True))
        for line in BODY.split("\n")[:-1]
    ]
    rows[4]["candidate"] = "half \ud83d"

    with pytest.raises(SourceError) as caught:
        make("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())

    assert "a.jsonl:5: candidate: 'half \\ud83d' has half a surrogate pair" in str(caught.value)


def test_a_parquet_file_with_lists_is_told_to_be_none_for_a_table(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    rows = [line.split(",") for line in BODY.splitlines()]
    frame = pl.DataFrame(rows, HEADER.strip().split(","), orient="row")
    frame = frame.with_columns(score=pl.concat_list(pl.col("score").cast(pl.Int64)))
    frame.write_parquet(tmp_path / "a.parquet")

    with pytest.raises(SourceError, match="hold objects or lists, read from JSON only"):
        new_source("toy", tmp_path / "a.parquet", tmp_path / "toy", answers=None)


def test_a_hundred_thousand_rows_are_looked_at_quickly(tmp_path: Path) -> None:
    """Reading, guessing and converting; a tenth of them by default."""
    contexts = 33_334 if os.environ.get("NND_TEST_FULL") else 3_334
    path = tmp_path / "a.csv"
    rows = (
        f"What is there in room {number} here?,{system},A chair {number} from {system}.,{score}\n"
        for number in range(contexts)
        for score, system in enumerate(SYSTEMS)
    )
    path.write_text(HEADER + "".join(rows), encoding="utf-8")

    start = time.process_time()
    made = new_source("toy", path, tmp_path / "toy")

    assert made.counts["annotations"] == 3 * contexts
    assert time.process_time() - start < contexts / 500  # about a tenth of it


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_file_is_read_or_refused(make: Make, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    raw = bytearray(GOOD.encode())
    for _ in range(3):
        place = chance.randrange(len(raw))
        raw[place : place + chance.randrange(20)] = chance.choice(
            [b"", b'"', b",", b"\n", b"\0", b"\xff", b"x" * 30]
        )
    with contextlib.suppress(NNDError):
        make("a.csv", bytes(raw))

    if (tmp_path / "toy").exists():
        assert convert(tmp_path / "toy", origin=tmp_path / "a.csv").pairs.height > 0
    else:
        assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_keys_that_are_scores(tmp_path: Path) -> None:
    rooms = [(room, system) for room in range(4) for system in SYSTEMS]
    texts = [{"context": f"Room {n}?", "system": s, "candidate": f"A {s}, {n}."} for n, s in rooms]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(dict(enumerate(texts))), encoding="utf-8")

    made = new_source("toy", path, tmp_path / "toy", answers=Answers(score=("*",)))

    assert made.counts["pairs"] == PAIRS
    assert made.counts["by_aspect"] == {"quality": PAIRS}
