"""Declared files in a zip or compressed: found by name, and taken if they are the declared ones."""

import hashlib
import json
import lzma
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert
from nnd.schemas import SourceError, cache_folder

Toy = Callable[..., dict[str, Any]]
CODE = """\
from nnd.converters import Annotation

def annotations(files):
    for name in ("one.jsonl", "two.jsonl"):
        for row in files.jsonl(name):
            yield Annotation(where=row.where, **row.fields)
"""


@pytest.fixture
def lines(toy: Toy) -> dict[str, bytes]:
    """Two files, each with a candidate of one context."""
    rows = {"one.jsonl": toy("a", "heron", "good"), "two.jsonl": toy("b", "wren", "wrong")}
    return {name: json.dumps(row).encode() for name, row in rows.items()}


@pytest.fixture
def source(make_source: Callable[..., Path], lines: dict[str, bytes]) -> Path:
    """A source that declares both, with their digests."""
    files = [
        {
            "name": name,
            "url": f"https://example.org/{name}",
            "sha256": hashlib.sha256(raw).hexdigest(),
            "bytes": len(raw),
        }
        for name, raw in lines.items()
    ]
    return make_source(files=files, code=CODE, expected=None)


def pack(path: Path, members: dict[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
    return path


@pytest.fixture
def packed(tmp_path: Path, lines: dict[str, bytes]) -> Path:
    """Both in folders of a zip, with files that have nothing to do with them."""
    others = {"data/README.md": b"Birds.", "data/not_one.jsonl": b"{}"}
    return pack(
        tmp_path / "in/deep/all.zip", {f"data/{name}": raw for name, raw in lines.items()} | others
    )


def facts(conversion: Conversion) -> list[tuple[str, int, bool]]:
    return [(one["name"], one["bytes"], one["verified"]) for one in conversion.manifest["files"]]


def test_the_files_of_a_zip_are_found_by_name(
    source: Path, packed: Path, tmp_path: Path, lines: dict[str, bytes]
) -> None:
    conversion = convert(source, origin=tmp_path / "in")

    assert conversion.pairs["low_id"].to_list() == ["b"]
    assert facts(conversion) == [(name, len(raw), True) for name, raw in lines.items()]
    # Nothing is written but the declared files.
    assert {path.name for path in cache_folder().rglob("*") if path.is_file()} == set(lines)
    assert list(packed.parent.iterdir()) == [packed]


def test_the_zip_itself_may_be_named(source: Path, packed: Path, tmp_path: Path) -> None:
    named = convert(source, origin=packed)

    assert named.pairs.equals(convert(source, origin=tmp_path / "in").pairs)


def test_a_file_beside_the_zip_comes_first(
    source: Path, packed: Path, lines: dict[str, bytes], toy: Toy
) -> None:
    (packed.parent / "two.jsonl").write_text(json.dumps(toy("b", "plover", "rude")))
    (packed.parent / "one.jsonl").write_bytes(lines["one.jsonl"])

    found = convert(source, origin=packed.parent, accept_changed="a test")

    assert found.pairs["error_category"].to_list() == ["rude"]


def test_an_altered_file_in_a_zip_is_refused(
    source: Path, tmp_path: Path, lines: dict[str, bytes]
) -> None:
    pack(tmp_path / "in/all.zip", lines | {"two.jsonl": lines["two.jsonl"] + b"\n"})

    with refusal("source.another-file"):
        convert(source, origin=tmp_path / "in")


def test_a_whole_file_in_the_cache_does_not_stand_for_an_altered_one(
    source: Path, packed: Path, tmp_path: Path, lines: dict[str, bytes]
) -> None:
    convert(source, origin=packed)
    pack(tmp_path / "other/all.zip", lines | {"two.jsonl": b"{}"})

    with refusal("source.another-file"):
        convert(source, origin=tmp_path / "other")


def test_two_zips_with_the_file(
    source: Path, packed: Path, tmp_path: Path, lines: dict[str, bytes]
) -> None:
    pack(packed.with_name("again.zip"), lines)

    with refusal("source.several-files"):
        convert(source, origin=tmp_path / "in")


def test_a_file_without_a_digest_is_not_looked_for(
    make_source: Callable[..., Path], packed: Path
) -> None:
    files = [{"name": "one.jsonl", "url": None, "sha256": None, "bytes": None}]
    source = make_source(files=files, code=CODE, folder="unknown")

    with refusal("file.not-found", "deep"):
        convert(source, origin=packed.parent)


def test_a_zip_without_the_file(source: Path, tmp_path: Path, lines: dict[str, bytes]) -> None:
    pack(tmp_path / "in/all.zip", {"one.jsonl": lines["one.jsonl"]})

    with refusal("file.not-found", "in"):
        convert(source, origin=tmp_path / "in")


def test_names_with_folders_keep_them_in_the_cache(
    make_source: Callable[..., Path], tmp_path: Path, lines: dict[str, bytes]
) -> None:
    raws = dict(zip(("a/rows.jsonl", "b/rows.jsonl"), lines.values(), strict=True))
    files = [
        {"name": name, "url": None, "sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
        for name, raw in raws.items()
    ]
    code = CODE.replace("one.jsonl", "a/rows.jsonl").replace("two.jsonl", "b/rows.jsonl")
    source = make_source(files=files, code=code, expected=None, folder="foldered")

    conversion = convert(
        source, origin=pack(tmp_path / "all.zip", {f"data/{name}": raws[name] for name in raws})
    )

    assert facts(conversion) == [(name, len(raw), True) for name, raw in raws.items()]
    kept = {path: path.read_bytes() for path in cache_folder().rglob("*.jsonl")}
    assert kept == {cache_folder() / conversion.pairs["source"][0] / n: raws[n] for n in raws}


@pytest.fixture
def copied(source: Path, lines: dict[str, bytes]) -> Path:
    """The source, whose folder has a compressed copy of each file; no URL can be reached."""
    for name, raw in lines.items():
        (source / f"{name}.xz").write_bytes(lzma.compress(raw))
    return source


@pytest.fixture
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of the network fails at once."""

    def fail(*_: object, **__: object) -> None:
        raise SourceError("a file was fetched")

    monkeypatch.setattr("nnd.converters.source.resume.complete", fail)


@pytest.mark.usefixtures("_offline")
def test_a_copy_in_the_sources_folder_is_taken_instead_of_a_download(
    copied: Path, lines: dict[str, bytes]
) -> None:
    conversion = convert(copied)

    assert facts(conversion) == [(name, len(raw), True) for name, raw in lines.items()]
    kept = {path.name: path.read_bytes() for path in cache_folder().rglob("*") if path.is_file()}
    assert kept == lines
    (copied / "one.jsonl.xz").unlink()  # the cache comes first
    assert convert(copied).manifest == conversion.manifest
    shutil.rmtree(cache_folder())
    with refusal("source.converter-failed", "convert.py:5"):
        convert(copied)


def test_the_users_file_and_the_sources_own_come_before_a_copy(
    copied: Path, tmp_path: Path, lines: dict[str, bytes], toy: Toy
) -> None:
    for name, raw in lines.items():
        (copied / name).write_bytes(raw)
        (copied / f"{name}.xz").write_bytes(b"not looked at")
    convert(copied)

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.jsonl").write_bytes(lines["one.jsonl"])
    with refusal("file.not-found", "in"):
        convert(copied, origin=tmp_path / "in")
    (tmp_path / "in" / "two.jsonl").write_text(json.dumps(toy("b", "plover", "rude")))
    found = convert(copied, origin=tmp_path / "in", accept_changed="a test")
    assert found.pairs["error_category"].to_list() == ["rude"]


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: lzma.compress(raw)[:60],
        lambda raw: lzma.compress(raw + b"\n"),
        lambda raw: lzma.compress(bytes(2**28) + raw, preset=0),
        lambda raw: raw,
        lambda _: b"",
    ],
    ids=["cut off", "another file", "a bomb", "not compressed", "empty"],
)
@pytest.mark.usefixtures("_offline")
def test_a_copy_of_anything_else_is_refused_rather_than_replaced_by_a_download(
    change: Callable[[bytes], bytes], copied: Path, lines: dict[str, bytes]
) -> None:
    path = copied / "two.jsonl.xz"
    path.write_bytes(change(lines["two.jsonl"]))

    with refusal("source.another-file", "two.jsonl.xz"):
        convert(copied)
