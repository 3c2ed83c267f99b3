"""What `convert` writes, and that it is written as a whole or not at all."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.refusals import refusal
from support.stored_folders import read_manifest, write_manifest

from nnd.cards import card, data_card
from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate

FULL = """
import resource, sys
from nnd.converters.folder.conversion import convert
from nnd.schemas import NNDError

resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    convert(sys.argv[1], out=sys.argv[2])
except NNDError as error:
    print(error)
"""


@pytest.mark.parametrize("stands", [[], ["out"]], ids=["new", "old"])
def test_a_full_disk_leaves_nothing_half_written(
    make_source: Callable[..., Path], tmp_path: Path, stands: list[str]
) -> None:
    # A limit on file size stops a write half way, as a full disk does (with another errno).
    source, target = make_source(), tmp_path / "result" / "out"
    if stands:
        convert(source, out=target)
    before = {path.name: path.read_bytes() for path in target.parent.rglob("*") if path.is_file()}

    done = subprocess.run(
        [sys.executable, "-c", FULL, source, target], capture_output=True, text=True, check=True
    )

    assert done.stdout == (
        f"{target}: cannot be written: File too large; name a place whose file system "
        "takes files of this size with --out\n"
    )
    after = {path.name: path.read_bytes() for path in target.parent.rglob("*") if path.is_file()}
    assert after == before
    assert [path.name for path in target.parent.iterdir()] == stands


@pytest.mark.skipif(
    not Path("/dev/full").exists() or os.geteuid() != 0, reason="a full device needs root to mount"
)
def test_a_full_device_is_an_error_that_says_so(
    make_source: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "small").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(tmp_path / "small")]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let root mount a tmpfs")
    try:
        with refusal("place.cannot-write", "out"):
            convert(make_source(), out=tmp_path / "small" / "out")

        assert list((tmp_path / "small").iterdir()) == []
    finally:
        subprocess.run(["umount", tmp_path / "small"], check=True)


def test_what_convert_writes(make_source: Callable[..., Path], tmp_path: Path) -> None:
    convert(make_source(), out=tmp_path / "out")

    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert list(manifest) == [
        *("nnd_version", "source", "files", "oddities", "normalised", "keep_equal"),
        *("counts", "dropped", "agreement", "hygiene", "outputs", "digest"),
    ]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"manifest.json", *manifest["outputs"]}


@pytest.fixture
def alike(make_source: Callable[..., Path], toy: Callable[..., dict[str, Any]]) -> Path:
    """A source in which b says what a says, though only a is good; c differs in a capital."""
    texts = {
        "a": ("good", "Who sings?"),
        "b": ("wrong", "Who  sings?"),
        "c": ("wrong", "who sings?"),
    }
    rows = [toy(name, "heron", label, candidate=text) for name, (label, text) in texts.items()]
    return make_source(rows)


def test_pairs_of_equal_texts_that_are_left_out_are_told(alike: Path, tmp_path: Path) -> None:
    found = convert(alike, out=tmp_path / "out")

    assert found.pairs["low_id"].to_list() == ["c"]
    assert (found.manifest["keep_equal"], found.manifest["counts"]["equal_pairs"]) == (False, 0)
    assert [entry["n"] for entry in found.manifest["dropped"]] == [1]
    assert "1 pair (same text; --keep-equal keeps them)" in found.remarks()[0]
    card = data_card(tmp_path / "out", "org/toy")
    assert "| 1 pairs | both candidates are the same text after NFC and white-space folding" in card


def test_pairs_of_equal_texts_are_counted_where_asked_for(alike: Path, tmp_path: Path) -> None:
    found = convert(alike, out=tmp_path / "out", keep_equal=True)

    assert found.pairs["low_id"].to_list() == ["b", "c"]
    counts = found.manifest["counts"]
    assert (counts["pairs"], counts["equal_pairs"], counts["same_after_lowercase"]) == (2, 1, 1)
    assert found.remarks()[0] == (
        "Kept: 1 pair of equal texts (a tie fails), 1 pair whose texts differ in letter case only."
    )
    assert validate(tmp_path / "out").ok
    card = data_card(tmp_path / "out", "org/toy")
    assert "| pairs of equal texts, kept | 1 |" in card
    assert "| pairs that differ in letter case only | 1 |" in card


def test_pairs_of_equal_texts_that_the_manifest_does_not_keep_are_found(
    alike: Path, tmp_path: Path
) -> None:
    convert(alike, out=tmp_path / "out", keep_equal=True)
    manifest = read_manifest(tmp_path / "out")
    write_manifest(tmp_path / "out", manifest | {"keep_equal": False})

    lines = [str(finding) for finding in validate(tmp_path / "out")]
    assert lines[0] == (
        "pairs.parquet: row 0: this pair does not follow from the annotations (convert the source "
        "again)"
    )


def test_with_equal_texts_there_may_be_more_pairs_than_a_source_expects(
    nnd_data: Path, tmp_path: Path
) -> None:
    # 1,119 is the published count; source.yaml expects the 1,117 whose texts differ.
    origin = nnd_data / "confit_samsum"
    found = convert(
        "confit_samsum", origin=origin, variant="gap", keep_equal=True, out=tmp_path / "out"
    )

    assert (found.pairs.height, found.manifest["counts"]["equal_pairs"]) == (1119, 2)
    assert validate(tmp_path / "out").ok


def test_a_card_in_the_folder_is_written_again(
    make_source: Callable[..., Path], tmp_path: Path
) -> None:
    source, out = make_source(), tmp_path / "out"
    convert(source, out=out)
    card(out, repo="birds/toy", out=out / "README.md")
    text = (out / "README.md").read_text("utf-8")
    (out / "README.md").write_text(f"{text}\n## Mine\n", "utf-8")
    facts = yaml.safe_load((source / "source.yaml").read_text("utf-8"))
    (source / "source.yaml").write_text(yaml.safe_dump(facts | {"texts": "Songs."}), "utf-8")

    convert(source, out=out)

    found = (out / "README.md").read_text("utf-8")
    assert found.rstrip().endswith("## Mine")
    assert 'load_dataset("birds/toy"' in found
    assert ("Songs." in text, "Songs." in found) == (False, True)
    assert [str(finding) for finding in validate(out)] == []


def test_a_card_that_was_changed_within_its_marks_stays(
    make_source: Callable[..., Path], tmp_path: Path
) -> None:
    source, out = make_source(), tmp_path / "out"
    convert(source, out=out)
    card(out, repo="birds/toy", out=out / "README.md")
    mine = (out / "README.md").read_text("utf-8").replace("load_dataset", "my_dataset")
    (out / "README.md").write_text(mine, "utf-8")
    before = (out / "manifest.json").read_bytes()

    with refusal("card.marks", "README.md"):
        convert(source, out=out)

    assert (out / "README.md").read_text("utf-8") == mine
    assert (out / "manifest.json").read_bytes() == before


def test_a_readme_of_someone_else_still_blocks(
    make_source: Callable[..., Path], tmp_path: Path
) -> None:
    source, out = make_source(), tmp_path / "out"
    convert(source, out=out)
    (out / "README.md").write_text("# Mine\n", "utf-8")

    with refusal("place.foreign-files", "out"):
        convert(source, out=out)
