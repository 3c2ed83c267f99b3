"""Damage as a gate: whichever byte of a file changes, it is refused, or read with the same values.

Every kind of file that nnd writes and reads again is here.
"""

import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.training.histories import entry

from nnd.converters.folder import convert
from nnd.converters.make import derive
from nnd.metric.data import load_pairs, open_pairs, read_pieces, read_run, read_sets, read_systems
from nnd.metric.likelihood import LoadedModel, Store
from nnd.metric.numbers import compare
from nnd.metric.run import evaluate
from nnd.metric.run.parts import cutting
from nnd.metric.run.parts.part_file import read_footer, read_part
from nnd.metric.run.parts.run_plan import read_plan
from nnd.metric.train.history import read_history, write_history
from nnd.schemas import (
    NNDError,
    ScoringWarning,
    add_fact,
    cache_folder,
    nnd_version,
    read_facts,
    read_frame,
    read_manifest,
    read_validity,
)

FULL = bool(os.environ.get("NND_TEST_FULL"))
STEP = 1 if FULL else 41
"""Every byte in full; one in so many otherwise, coprime to 8, so that every bit has its turn."""

SHORT = 1 if FULL else 5
"""The same of short files."""

Read = Callable[[], Any]


@pytest.fixture(scope="module")
def suite(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage")
    shutil.copytree(sample, folder / "data")
    derive(sample, ["negation"], out=folder / "suite", negatives="preferred", aspect="answer")
    return folder / "suite"


@pytest.fixture(scope="module")
def run(
    suite: Path, loaded: Callable[[str], LoadedModel], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("damage") / "run"
    evaluate(loaded("gpt2"), suite, out=out)
    return out


def values(found: object) -> object:
    """Return what was read in a form that can be compared."""
    if isinstance(found, pl.DataFrame):
        return found.to_dicts()
    return [values(each) for each in found] if isinstance(found, list | tuple) else found


def believed(path: Path, read: Read, step: int = SHORT) -> list[int]:
    """Return the bytes of a file whose change gives other values, without an error."""
    raw, whole, wrong = path.read_bytes(), values(read()), []
    assert raw
    for place in range(0, len(raw), step):
        spoilt = bytearray(raw)
        spoilt[place] ^= 1 << place % 8
        path.write_bytes(spoilt)
        try:
            if values(read()) != whole:
                wrong.append(place)
        except NNDError:
            pass
    path.write_bytes(raw)
    assert values(read()) == whole
    return wrong


def pieces(data: Path) -> list[pl.DataFrame]:
    return [chunk.read() for chunks in open_pairs(data).tables.values() for chunk in chunks]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "read", "step"),
    [
        ("suite/pairs.parquet", lambda folder: load_pairs(folder).pairs, STEP),
        ("suite/annotations.parquet", lambda folder: read_frame(folder, "annotations"), STEP),
        ("suite/human_scores.parquet", lambda folder: load_pairs(folder).human_scores, STEP),
        ("suite/sets/negation.parquet", lambda folder: read_frame(folder, "sets/negation"), STEP),
        ("suite/manifest.json", read_manifest, SHORT),
        ("data/pairs.parquet", pieces, STEP),
        ("run/log_likelihoods.parquet", read_run, STEP),
        ("run/log_likelihoods.parquet", lambda run: list(read_pieces(run)), STEP),
        ("run/sets.parquet", read_sets, STEP),
        ("run/result.json", read_systems, STEP),
    ],
)
def test_a_file_of_a_folder(
    name: str, read: Callable[[Path], Any], step: int, suite: Path, run: Path
) -> None:
    place, _, file = name.partition("/")
    folder = run if place == "run" else suite.with_name(place)
    assert believed(folder / file, lambda: read(folder), step) == []


def test_the_validity_of_a_suite(suite: Path, run: Path) -> None:
    compare(run, by="origin", out=suite)
    try:
        assert believed(suite / "validity.json", lambda: read_validity(suite)) == []
    finally:
        (suite / "validity.json").unlink()


def test_parts_and_their_plan(
    suite: Path,
    loaded: Callable[[str], LoadedModel],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cutting, "PARTS", 3)
    data = suite.with_name("data")
    evaluate(loaded("gpt2"), data, out=tmp_path, worker=(1, 1))
    plan = read_plan(tmp_path)
    part = plan.path("gpt2", 0)

    def asked() -> object:
        found = read_plan(tmp_path)
        return found.digest, found.asked, found.models, found.spans, found.human_scores

    for name in ("plan.json", "spans.parquet", "human_scores.parquet"):
        assert believed(tmp_path / "parts" / name, asked, STEP) == []
    assert believed(part, lambda: read_footer(plan, "gpt2", 0), STEP) == []
    assert believed(part, lambda: read_part(plan, "gpt2", 0), STEP) == []


def test_a_history(tmp_path: Path) -> None:
    history = tmp_path / "nnd_history.jsonl"
    write_history(history, [entry(step) for step in (1, 2)])
    assert believed(history, lambda: read_history(history), 1) == []


def test_facts_in_the_cache() -> None:
    """A lost fact is computed again."""
    for name in ("gpt2", "bart"):
        add_fact("lengths.json", name, len(name))
    path = cache_folder() / "lengths.json"
    raw, whole = path.read_bytes(), {"gpt2": 4, "bart": 4}
    for place in range(len(raw)):
        spoilt = bytearray(raw)
        spoilt[place] ^= 1 << place % 8
        path.write_bytes(spoilt)
        found = read_facts("lengths.json")
        assert found.items() <= whole.items()


def test_the_store(tmp_path: Path) -> None:
    """A lost entry is computed again."""
    path, numbers = tmp_path / "store.sqlite", {bytes([n] * 16): -n / 7 for n in range(1, 40)}
    with Store(path, warn=str) as store:
        store.put(numbers)
    raw = path.read_bytes()
    for place in range(0, len(raw), 1 if FULL else 97):
        spoilt = bytearray(raw)
        spoilt[place] ^= 1 << place % 8
        path.write_bytes(spoilt)
        with Store(path, warn=str) as store:
            assert store.get(list(numbers)).items() <= numbers.items()
        for other in tmp_path.iterdir():
            other.unlink()


def test_exchanged_candidates_are_refused_in_the_folder_and_pairs_of_ones_own_without_it(
    tmp_path: Path,
) -> None:
    convert("sample", out=tmp_path)
    path = tmp_path / "pairs.parquet"
    pairs = pl.read_parquet(path)
    sides = {"candidate_high": "candidate_low", "candidate_low": "candidate_high"}
    pairs.with_columns(pl.col(one).alias(other) for one, other in sides.items()).write_parquet(path)

    with refusal("contract.broken", "pairs.parquet"):
        load_pairs(tmp_path)
    assert (
        load_pairs(path)
        .pairs["candidate_high"]
        .equals(pairs["candidate_low"].alias("candidate_high"))
    )


# What versions before digests wrote


def test_a_document_without_a_digest_is_read_with_a_warning(suite: Path) -> None:
    path = suite / "manifest.json"
    raw = path.read_bytes()
    head, _, _ = raw.replace(nnd_version().encode(), b"0.2.0", 1).partition(b',\n  "digest"')
    path.write_bytes(head + b"\n}\n")
    try:
        with pytest.warns(ScoringWarning, match=r"manifest\.json: written before digests"):
            load_pairs(suite)
        spoilt = bytearray((suite / "pairs.parquet").read_bytes())
        spoilt[100] ^= 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = (suite / "pairs.parquet").read_bytes()
            (suite / "pairs.parquet").write_bytes(spoilt)
            with refusal("contract.broken", "pairs.parquet"):
                load_pairs(suite)
            (suite / "pairs.parquet").write_bytes(whole)
    finally:
        path.write_bytes(raw)
