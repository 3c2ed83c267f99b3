"""A test counts once in whatever leaves the house: the headline is the mean of what is exported.

In the data here some candidates have two errors, and two systems wrote the same text.
"""

import base64
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, get_type_hints

import polars as pl
import pytest
from support.card_folders import make_folder, row

from nnd.converters.make import derive
from nnd.metric import data as data_wing
from nnd.metric.app import export
from nnd.metric.data import load_pairs, read_run, read_sets, read_tokens, scored_schema
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.run import evaluate
from nnd.metric.show.reports.content.packed_pairs import pack_pairs
from nnd.metric.show.reports.content.report_models import read_models

Loaded: TypeAlias = Callable[[str], LoadedModel]

PLAIN = Scoring(cache=False, unconditional=False)


def rows() -> list[dict[str, Any]]:
    """Contexts in which a test has one row or two, and two tests have the same texts."""
    made = []
    for n in range(9):
        at = {
            "context_id": f"c{n}",
            "context": f"What do the birds say {n} times?",
            "inputs": {"question": f"{n}"},
        }
        good = {"candidate": f"The heron sings{' loudly' * (n % 3)}."}
        made.append(row(f"a{n}", "heron", "good", **at, **good))
        made.append(
            row(f"b{n}", "plover", "good", **at, **(good if n < 4 else {"candidate": "It."}))
        )
        made.append(row(f"c{n}", "wren", "wrong", **at, candidate=f"A wren of {n}."))
        if n % 2:
            made.append(row(f"c{n}", "wren", "rude", **at, candidate=f"A wren of {n}."))
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("twice"), rows())


@pytest.fixture(scope="module")
def run(
    data: Path, loaded: Callable[[str], LoadedModel], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    evaluate(loaded("gpt2"), data, out=folder, scoring=PLAIN)
    return folder


@pytest.fixture(scope="module")
def headline(run: Path) -> float:
    """The pass rate, counted by hand; the rows have another one."""
    scored = read_run(run)
    verdicts = {
        (context, high, low): passed
        for context, high, low, passed in scored.select(
            "context_id", "high_id", "low_id", "passed"
        ).iter_rows()
    }
    assert len(verdicts) == 18 < scored.height == 26
    rate = sum(verdicts.values()) / len(verdicts)
    assert rate != scored["passed"].mean()
    document = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert document["results"][0]["pass_rate"] == rate
    return rate


def test_frames(run: Path, headline: float) -> None:
    scored = read_run(run)
    assert scored.filter("distinct")["passed"].mean() == headline


def test_frames_of_sets(data: Path, loaded: Callable[[str], LoadedModel], tmp_path: Path) -> None:
    derive(data, ["numbers"], out=tmp_path / "suite")
    found = evaluate(loaded("gpt2"), tmp_path / "suite", out=tmp_path / "run", scoring=PLAIN)
    sets = read_sets(tmp_path / "run")
    by_hand = {
        key: passed
        for *key_parts, passed in sets.select(
            "set", "context_id", "high_id", "low_id", "passed"
        ).iter_rows()
        for key in [tuple(key_parts)]
    }
    assert len(by_hand) < sets.height
    counted = sets.filter("distinct")
    assert counted.height == len(by_hand)
    assert counted["passed"].sum() == sum(by_hand.values())
    assert found.scored["distinct"].sum() == 18
    made = export(tmp_path / "run", tmp_path / "out", to="every-eval-ever")
    assert made.rows == 1
    (file,) = (tmp_path / "out").rglob("*[0-9a-f].json")
    results = json.loads(file.read_text(encoding="utf-8"))["evaluation_results"]
    (of_set,) = [each for each in results if "/ set " in each["evaluation_name"]]
    assert of_set["score_details"]["score"] == sum(by_hand.values()) / len(by_hand)
    assert of_set["score_details"]["uncertainty"]["num_samples"] == len(by_hand)


def test_frames_of_rates(data: Path, headline: float, loaded: Loaded) -> None:
    frame = evaluate(loaded("gpt2"), data, scoring=PLAIN).to_frame()
    assert frame.row(0, named=True)["pass_rate"] == headline
    assert frame.row(0, named=True)["n"] == 18


def test_pairs_in_a_report(data: Path, run: Path, headline: float) -> None:
    packed = gzip.decompress(base64.b64decode(pack_pairs(read_models([run]), load_pairs(data))))
    embedded = json.loads(packed)
    (scores,) = embedded["scores"]
    rows = [
        *zip(embedded["distinct"], scores["verdicts"], scores["high"], scores["low"], strict=True)
    ]
    assert len(rows) == 26
    counted = [(verdict, high > low) for distinct, verdict, high, low in rows if distinct]
    assert sum(verdict in "pP" for verdict, _ in counted) / len(counted) == headline
    assert sum(passed for _, passed in counted) / len(counted) == headline


def test_tokens(data: Path, headline: float, loaded: Loaded, tmp_path: Path) -> None:
    evaluate(loaded("gpt2"), data, out=tmp_path / "run", scoring=replace(PLAIN, keep_tokens=True))
    means = {
        (pair, side): sum(values) / len(values)
        for pair, side, values in read_tokens(tmp_path / "run")
        .select("pair_id", "side", "log_likelihood")
        .iter_rows()
    }
    counted = read_run(tmp_path / "run").filter("distinct")["pair_id"]
    passed = [means[pair, "high"] > means[pair, "low"] for pair in counted]
    assert len(means) == 2 * 26
    assert sum(passed) / len(passed) == headline


FRAMES = {
    "read_run": test_frames,
    "read_pieces": test_frames,  # those of read_run
    "read_sets": test_frames_of_sets,
    "read_tokens": test_tokens,
}
"""Function that reads a stored frame → the test of its mean."""

OF_DATA = {"read_human_scores", "read_human_scores_in", "read_rows"}


def test_no_stored_frame_is_forgotten() -> None:
    reads = {name: getattr(data_wing, name) for name in dir(data_wing) if name[:5] == "read_"}
    returned = {name: str(get_type_hints(read)["return"]) for name, read in reads.items()}
    frames = {name for name, found in returned.items() if "polars" in found}
    assert frames - OF_DATA == {*FRAMES}
    schemas = {name: each for name, each in vars(scored_schema).items() if name.isupper()}
    with_verdicts = {
        name for name, each in schemas.items() if isinstance(each, pl.Schema) and "passed" in each
    }
    assert {"STORED", "STORED_SETS"} <= with_verdicts
    assert all("distinct" in schemas[name] for name in with_verdicts)


def mean_of_samples(out: Path, _: Mapping[str, bool]) -> float:
    (file,) = out.rglob("*_samples.jsonl")
    scores = [json.loads(line)["evaluation"]["score"] for line in file.read_text().splitlines()]
    return sum(scores) / len(scores)


def mean_of_lines(out: Path, passed: Mapping[str, bool]) -> float:
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    counted = [passed[each["pair_id"]] for each in found if each["distinct"]]
    return sum(counted) / len(counted)


def mean_of_cells(out: Path, passed: Mapping[str, bool]) -> float:
    counted = pl.read_csv(out).filter("distinct")["pair_id"]
    return sum(passed[each] for each in counted) / len(counted)


def mean_of_examples(out: Path, passed: Mapping[str, bool]) -> float:
    found = pl.read_parquet(out / "data" / "*.parquet")
    weighted = sum(passed[name] * n for name, n in found.select("pair_id", "tests").iter_rows())
    return weighted / int(found["tests"].sum())


def mean_of_task(out: Path, passed: Mapping[str, bool]) -> float:
    counted = pl.read_parquet(out / "pairs.parquet").filter("distinct")["pair_id"]
    return sum(passed[each] for each in counted) / len(counted)


MEANS: dict[str, Callable[[Path, Mapping[str, bool]], float]] = {
    "every-eval-ever": mean_of_samples,
    "jsonl": mean_of_lines,
    "csv": mean_of_cells,
    "trl": mean_of_examples,
    "lm-eval": mean_of_task,
}


@pytest.mark.parametrize("target", MEANS)
def test_exports(target: Any, data: Path, run: Path, headline: float, tmp_path: Path) -> None:
    passed = dict(read_run(run).select("pair_id", "passed").iter_rows())
    place, of_run = tmp_path / "out", target == "every-eval-ever"
    export(run if of_run else data, place, to=target, data=data if of_run else ())
    assert MEANS[target](place, passed) == pytest.approx(headline, abs=1e-15)


def test_no_export_is_forgotten() -> None:
    from typing import get_args  # noqa: PLC0415 - of this test only

    from nnd.metric.app.exporting import AnyTarget  # noqa: PLC0415 - as above

    assert {*get_args(AnyTarget)} == {*MEANS}
