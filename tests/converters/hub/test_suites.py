"""A published suite: a configuration per set, a card that names each, licences that forbid it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import polars as pl
import pytest
from support.refusals import refusal

from nnd.cards import check_card
from nnd.converters.folder import convert, validate
from nnd.converters.hub.release_folder import read_release, write_release
from nnd.converters.make.perturbing import perturb
from nnd.converters.make.suite_folder import read_parents, write_suite
from nnd.converters.make.text_operations.spelling import find_operation
from nnd.metric.data import load_pairs

MakeSource = Callable[..., Path]

CITATION = "@misc{toy, title={Toys}, year={2020}}"


@pytest.fixture
def make_suite(make_source: MakeSource, tmp_path: Path) -> Callable[..., Path]:
    """`make_suite(rows, **facts)`: a suite of one set of such a source."""

    def make(rows: Any = None, **facts: Any) -> Path:
        plain = {"expected": None, "citation": CITATION}
        convert(make_source(rows, declared=True, **plain | facts), out=tmp_path / "toy")
        parents = read_parents(tmp_path / "toy")
        punctuation = find_operation("punctuation")
        made = (
            perturb(parents.pairs, punctuation, seed=1),
            perturb(parents.pairs, punctuation, seed=1, name="2.marks", note="Twice | the same."),
        )
        write_suite(parents, made, tmp_path / "suite")
        return tmp_path / "suite"

    return make


@pytest.fixture
def release(make_suite: Callable[..., Path], tmp_path: Path) -> Path:
    write_release(read_release(make_suite()), _empty(tmp_path / "release"), "org/suite")
    return tmp_path / "release"


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_g02_every_set_is_a_configuration_with_the_same_rows(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for name in ("punctuation", "2.marks"):
        loaded = datasets.load_dataset(str(release), name, split="test")
        stored = pl.read_parquet(tmp_path / "suite" / "sets" / f"{name}.parquet")
        assert pl.DataFrame(loaded.to_list(), stored.schema).equals(stored)


def test_what_is_published_is_a_suite(release: Path, tmp_path: Path) -> None:
    assert validate(release).ok
    sets, built = (load_pairs(folder).sets for folder in (release, tmp_path / "suite"))
    assert [each.name for each in sets] == ["punctuation", "2.marks"]
    assert all(one.pairs.equals(other.pairs) for one, other in zip(sets, built, strict=True))


def test_g09_the_card_names_every_set_with_parameters_counts_and_limits(release: Path) -> None:
    card = (release / "README.md").read_text(encoding="utf-8")
    (line,) = [line for line in card.splitlines() if line.startswith("| `2.marks`")]
    assert line == (
        "| `2.marks` | perturbation, `punctuation` (on `context`) | 2 | 2 | 1 | 2 | 0 | 0 | 0 |  "
        "| Twice \\| the same. |"
    )
    assert '_2_marks = load_dataset("org/suite", "2.marks", split="test")' in card
    assert list(check_card(card, release)) == []
    (problem,) = check_card(card.replace(line, line.replace("| 1 |", "| 7 |")), release)
    assert problem.path == "Sets of the suite"


def test_g10_the_card_has_the_bibtex_of_the_source(release: Path) -> None:
    assert CITATION in (release / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("private", [True, False])
def test_a_suite_of_a_source_without_derivatives_is_not_published(
    make_suite: Callable[..., Path], *, private: bool
) -> None:
    suite = make_suite(redistribution="no-derivatives")
    with refusal("licence.forbids", "suite"):
        read_release(suite, private=private)
    assert read_release(suite, permission="asked the owners").sets


def test_addresses_in_a_suite_are_not_redacted_by_halves(
    make_suite: Callable[..., Path], toy: Callable[..., dict[str, Any]]
) -> None:
    context = {"context": "Ask jo@x.org.", "inputs": {"question": "Ask jo@x.org."}}
    suite = make_suite([toy("a", "heron", "good", **context), toy("b", "wren", "wrong", **context)])
    with refusal("publish.contacts", "suite"):
        read_release(suite, redact=True)
    assert read_release(suite, keep_contacts="they are invented").sets
