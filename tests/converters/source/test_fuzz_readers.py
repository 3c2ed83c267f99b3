"""Whatever bytes a reader is given, nothing but an NNDError comes out of it."""

import gzip
import io
import random
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.damage import Damage, fuzz, read_or_refused
from support.recounts.built_in_sources import SOURCES, fixture_cases
from support.table_files import WRITERS, workbook_of

from nnd.converters.folder.conversion import convert
from nnd.converters.source.converter_running import choose_converter
from nnd.converters.source.source import load_source
from nnd.converters.source.source_files import Files
from nnd.schemas.reading.archives import read_members, read_tarball
from nnd.schemas.reading.records import parse_json, read_cells, read_jsonl, shown
from nnd.schemas.reading.table_rows import TABLE_SUFFIXES
from nnd.schemas.reading.text_files import read_text

OBJECTS = b'{"id": 1, "text": "caf\xc3\xa9 \\u00e9", "n": [1.5, null, {"a": true}]}\r\n{"id": 2}\n'
CELLS = b'id,text,n\n1,"say ""hi"", he said",2\n2,"two\nlines",\n3,caf\xc3\xa9,1.5\n'


@fuzz(60, in_full=1200)
def test_lines_of_json(tmp_path: Path, damage: Damage) -> None:
    (tmp_path / "a").write_bytes(damage(OBJECTS))

    read_or_refused(lambda: [shown(record.fields) for record in read_jsonl(tmp_path / "a")])


@pytest.mark.parametrize("quoted", [True, False])
@fuzz(60, in_full=1200)
def test_cells(tmp_path: Path, damage: Damage, quoted: bool) -> None:  # noqa: FBT001 - a parameter
    (tmp_path / "a").write_bytes(damage(CELLS))

    read_or_refused(lambda: list(read_cells(tmp_path / "a", delimiter=",", quoted=quoted)))


@fuzz(60, in_full=1200)
def test_a_json_file(tmp_path: Path, damage: Damage) -> None:
    raw = b"[" + OBJECTS.strip().replace(b"\r\n", b",\n") + b"]"
    (tmp_path / "a").write_bytes(damage(raw))

    read_or_refused(lambda: list(parse_json(read_text(tmp_path / "a"), "a")))


@fuzz(60, in_full=1200)
def test_members_of_a_zip(tmp_path: Path, damage: Damage) -> None:
    with zipfile.ZipFile(tmp_path / "good", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/a.json", OBJECTS * 5)
        archive.writestr("b.csv", CELLS)
    (tmp_path / "a").write_bytes(damage((tmp_path / "good").read_bytes()))

    read_or_refused(lambda: read_members(tmp_path / "a"))


@pytest.mark.parametrize("is_packed", [True, False])
@fuzz(60, in_full=1200)
def test_files_of_a_tarball(tmp_path: Path, damage: Damage, is_packed: bool) -> None:  # noqa: FBT001 - a parameter
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, content in {"folder/é.json": OBJECTS * 5, "b.csv": CELLS}.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    # Damage that gzip has a checksum for, and damage that only the tar's headers can tell.
    whole = raw.getvalue()
    spoilt = damage(gzip.compress(whole)) if is_packed else gzip.compress(damage(whole))
    (tmp_path / "a.tar.gz").write_bytes(spoilt)

    read_or_refused(lambda: read_tarball(tmp_path / "a.tar.gz"))


ROWS = [
    ["key", "question", "answer", "by", "verdict", "points"],
    ["c1", "Who\nsings?", "A bird.", "heron", "good", "5"],
    ["c1", "Who\nsings?", 'A "bird", I think.', "wren", "wrong", "2.5"],
    ["c2", "Where?", "Café.", "heron", "good", "4"],
    ["c2", "Where?", "Nowhere.", "plover", "rude", ""],
]
TABLE = {
    "columns": {"context_id": "key", "candidate": "answer", "system": "by"},
    "inputs": {"question": "question"},
    "labels": {"answer": "verdict"},
    "scores": {"answer": "points"},
}


def shared_texts_of(*rows: list[str]) -> bytes:
    """Return a stored workbook, so that damage meets its XML and not only the packing."""
    places = iter(range(sum(map(len, rows))))
    cells = (
        "".join(f'<c t="s"><v>{place}</v></c>' for _, place in zip(row, places, strict=False))
        for row in rows
    )
    sheet = "".join(f"<row>{line}</row>" for line in cells)
    shared = "".join(f"<si><t>{cell}</t></si>" for row in rows for cell in row)
    return workbook_of(f"<worksheet>{sheet}</worksheet>", shared)


@pytest.fixture
def table_source(make_source: Callable[..., Path]) -> Callable[[str], Path]:
    """`table_source(".csv")`: a source with a good table of that format."""

    def make(suffix: str) -> Path:
        file: dict[str, Any] = {"url": None, "sha256": None, "bytes": None}
        folder = make_source(files=[file | {"name": f"toy{suffix}"}], table=TABLE, expected=None)
        (folder / "convert.py").unlink()
        write = shared_texts_of if suffix == ".xlsx" else WRITERS[suffix]
        (folder / f"toy{suffix}").write_bytes(write(*ROWS))
        return folder

    return make


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_the_tables_that_are_spoilt_below_are_good(
    table_source: Callable[[str], Path], suffix: str
) -> None:
    assert convert(table_source(suffix)).pairs["low_id"].to_list() == ["c1/wren", "c2/plover"]


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
@fuzz(40, in_full=800)
def test_a_table(
    table_source: Callable[[str], Path], damage: Damage, tmp_path: Path, suffix: str
) -> None:
    # Made once for all examples; only the file differs.
    folder = tmp_path / "toy_source"
    if not folder.exists():
        table_source(suffix)
        shutil.copy(folder / f"toy{suffix}", tmp_path / "good")
    (folder / f"toy{suffix}").write_bytes(damage((tmp_path / "good").read_bytes()))

    # The rows alone: what becomes of them is the same for all formats, and takes longer.
    source = load_source(folder)
    read_or_refused(lambda: list(choose_converter(source).annotations(Files(source))))


CASES = [*fixture_cases()]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("source", [source.name for source in SOURCES])
@fuzz(8, in_full=160)  # each converts a whole file
def test_a_built_in_source(tmp_path: Path, damage: Damage, source: str) -> None:
    # Which of its files is spoilt, and how it is read, goes by chance, but the same in every run.
    chance = random.Random(repr(damage(b"some bytes of no importance" * 4)))
    name, folder, set_name, variant = chance.choice(
        [case for case in CASES if case.source == source]
    )
    place = tmp_path / "from"
    shutil.rmtree(place, ignore_errors=True)
    own = [path for path in folder.rglob("*") if path.suffix not in {".yaml", ".py", ""}]
    for path in own:
        copy = place / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    spoilt = chance.choice(sorted(path for path in place.rglob("*") if path.is_file()))
    spoilt.write_bytes(damage(spoilt.read_bytes()))

    read_or_refused(lambda: convert(name, origin=place, set_name=set_name, variant=variant))


@fuzz(40, in_full=10_000)
def test_a_source_yaml(tmp_path: Path, damage: Damage) -> None:
    good = SOURCES[0].folder / "source.yaml"
    raw = damage(good.read_bytes())
    (tmp_path / "source.yaml").write_bytes(raw)

    found = read_or_refused(lambda: load_source(tmp_path))

    if found is not None:
        # libyaml takes some tabs that the loader in Python does not.
        assert found.facts == yaml.load(raw, yaml.CSafeLoader)
