"""Declared names with folders, for files that are all called alike."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.converters.source.download import find_cached
from nnd.converters.source.source import load_source
from nnd.converters.source.source_files import Files, find_set
from nnd.schemas import cache_folder

MakeSource = Callable[..., Path]

NAMES = ("bt5/primary.en", "bt6/primary.en")


def declared(make_source: MakeSource, *names: str, **facts: object) -> Path:
    files = [{"name": name, "url": None, "sha256": None, "bytes": None} for name in names]
    return make_source(files=files, **facts)


def put(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name, encoding="utf-8")
    return folder


@pytest.mark.parametrize("above", [".", "data", "data/deep"])
def test_files_are_told_apart_by_their_folders(
    make_source: MakeSource, tmp_path: Path, above: str
) -> None:
    put(tmp_path / "in" / above, *NAMES)
    files = Files(load_source(declared(make_source, *NAMES)), tmp_path / "in")

    assert [files.path(name).read_text(encoding="utf-8") for name in NAMES] == [*NAMES]


def test_beside_a_file_that_is_named_lie_those_of_other_folders(
    make_source: MakeSource, tmp_path: Path
) -> None:
    folder = put(tmp_path / "in", *NAMES)
    files = Files(load_source(declared(make_source, *NAMES)), folder / "bt5/primary.en")

    assert files.path("bt6/primary.en") == folder / "bt6/primary.en"


def test_the_folder_is_part_of_the_name_of_a_set(make_source: MakeSource, tmp_path: Path) -> None:
    folder = put(tmp_path / "in", *NAMES)
    file = {"name": NAMES[1], "url": None, "sha256": None, "bytes": None}
    sets = {"six": {"description": "Six.", "files": [file]}}
    source = load_source(declared(make_source, NAMES[0], sets=sets))

    assert find_set(source, folder / NAMES[0]).facts.get("set") is None
    assert find_set(source, folder / NAMES[1]).facts.get("set") == "six"


def test_the_cache_keeps_the_folders(
    make_source: MakeSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NND_CACHE", str(tmp_path / "cache"))
    source = load_source(declared(make_source, *NAMES))
    put(cache_folder() / source.name, *NAMES)

    assert [find_cached(file, source.name) for file in source.files] == [
        cache_folder() / source.name / name for name in NAMES
    ]


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../up.csv",
        "a/../../up.csv",
        "a/./b.csv",
        "a//b.csv",
        "a/",
        "a\\b.csv",
        ".x",
        "..",
        "",
    ],
)
def test_no_name_leads_elsewhere(make_source: MakeSource, name: str) -> None:
    with refusal("source.definition", "source.yaml: files/0/name"):
        load_source(declared(make_source, name))
