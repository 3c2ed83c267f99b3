"""A suite is the converted folder of its parents with sets."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from support.refusals import refusal
from support.stored_folders import in_row, read_manifest, rewrite, write_manifest

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate
from nnd.converters.make.deriving import derive
from nnd.converters.make.suite_folder import make_set, read_parents, write_suite
from nnd.schemas import polars_schema


@pytest.fixture
def folder(make_source: Callable[..., Path], tmp_path: Path) -> Path:
    """A converted folder with two pairs, of the context "Who sings?"."""
    convert(make_source(), out=tmp_path / "toy")
    return tmp_path / "toy"


@pytest.fixture
def out(folder: Path, tmp_path: Path) -> Path:
    """A suite with one set, of the folder."""
    derive(folder, ["punctuation"], out=tmp_path / "suite")
    return tmp_path / "suite"


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_it_holds_the_folder_of_the_parents_unchanged_and_the_sets(folder: Path, out: Path) -> None:
    old, new = files(folder), files(out)
    manifest = read_manifest(out)
    (facts,) = manifest.pop("sets")
    listed = manifest["outputs"].pop("sets/punctuation.parquet")
    children = pl.read_parquet(out / "sets/punctuation.parquet")

    assert new.keys() - old.keys() == {"sets/punctuation.parquet"}
    assert {name for name in old if old[name] != new[name]} == {"manifest.json"}
    assert manifest | {"digest": None} == read_manifest(folder) | {"digest": None}
    assert listed["rows"] == children.height == 2
    assert children.schema == polars_schema("pair")
    assert facts == {
        "name": "punctuation",
        "kind": "perturbation",
        "operation": "punctuation",
        "parameters": {"on": "context"},
        "seed": None,
        "variants": 1,
        "pairs": 2,
        "parents": 2,
        "contexts": 1,
        "changed": 2,
        "unchanged": 0,
        "rejected": 0,
        "dropped": 0,
        "refusals": None,
        "lengths": None,
        "note": None,
    }
    assert validate(out).findings == ()


def test_a_child_says_what_it_comes_from(folder: Path, out: Path) -> None:
    parents = pl.read_parquet(folder / "pairs.parquet")
    children = pl.read_parquet(out / "sets/punctuation.parquet")
    differing = {name for name in parents.columns if not children[name].equals(parents[name])}

    assert differing == {
        "pair_id", "parent_id", "origin", "cluster", "context_id", "context", "inputs",
    }  # fmt: skip
    assert children["parent_id"].equals(parents["pair_id"])
    assert set(children["origin"]) == {"synthetic:punctuation"}
    assert set(children["context_id"]) == {"c1~punctuation.1"}
    assert set(children["cluster"]) == {"c1"}
    assert set(children["context"]) == {"Who sings"}
    assert children["inputs"].to_list()[0] == [{"key": "question", "value": "Who sings"}]


def test_made_twice_it_is_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        derive(folder, ["punctuation"], out=tmp_path / name, seed=1)

    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_it_replaces_an_older_suite_and_no_other_file(folder: Path, out: Path) -> None:
    derive(folder, ["punctuation"], out=out)
    (out / "sets/thesis.tex").write_text("years of work", encoding="utf-8")
    before = files(out)

    with refusal("place.foreign-files", "suite"):
        derive(folder, ["punctuation"], out=out)
    assert files(out) == before


FAILING = [
    ("name.twice", ["all", "all"]),
    ("input.missing", []),
    *(("suite.set-name", [name]) for name in ("", "Typos", "a b", "../up", ".hidden", "typos/2")),
]


@pytest.mark.parametrize(("code", "names"), FAILING)
def test_a_set_that_fails_leaves_nothing_behind(
    folder: Path, tmp_path: Path, code: str, names: list[str]
) -> None:
    parents = read_parents(folder)
    sets = [make_set(name, "shift", "sample", parents.pairs, parameters={}) for name in names]

    with refusal(code):
        write_suite(parents, sets, tmp_path / "suite")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy", "toy_source"]


def test_a_suite_of_a_suite_is_refused(out: Path, tmp_path: Path) -> None:
    with refusal("data.is-a-suite", "suite"):
        derive(out, ["punctuation"], out=tmp_path / "again")


def test_changed_parents_are_refused(folder: Path, tmp_path: Path) -> None:
    pl.read_parquet(folder / "pairs.parquet").head(1).write_parquet(folder / "pairs.parquet")

    with refusal("contract.broken", "pairs.parquet"):
        derive(folder, ["punctuation"], out=tmp_path / "suite")


def test_the_folder_of_the_parents_is_not_replaced(folder: Path) -> None:
    before = files(folder)

    with refusal("place.never-replaced", "toy"):
        derive(folder, ["punctuation"], out=folder)
    assert files(folder) == before


def test_validate_finds_a_set_that_was_changed(out: Path) -> None:
    rewrite(out, "sets/punctuation.parquet", in_row(0, "x y", "parent_id"))
    broken, _no_such_parent = validate(out).findings
    (out / "sets/punctuation.parquet").unlink()
    (missing,) = validate(out).findings

    assert (broken.file, broken.problem.path) == ("sets/punctuation.parquet", "parent_id")
    assert str(missing).startswith("sets/punctuation.parquet: is missing")


def test_validate_finds_facts_of_a_set_that_are_not_ones(out: Path) -> None:
    manifest = read_manifest(out)
    manifest["sets"][0]["kind"] = "anything"
    write_manifest(out, manifest)

    assert any("sets/0/kind" in str(finding) for finding in validate(out))
