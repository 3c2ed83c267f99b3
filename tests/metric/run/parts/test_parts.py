"""Workers that share a run: what they write together is what one evaluation writes."""

import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from support.metric_runs import many_pairs, pair_rows, write_pairs
from support.refusals import refusal
from support.stored_folders import in_row
from support.suites.folders import write_suite

from nnd.metric.data import load_pairs, read_run, read_sets
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.likelihood.engine import execution, path_choice
from nnd.metric.likelihood.engine.proof import Checks
from nnd.metric.run import Evaluation, evaluate, merge
from nnd.metric.run.launchers import shard_groups
from nnd.metric.run.model_cost import COST, read_costs
from nnd.metric.run.parts import cutting
from nnd.metric.run.parts.part_file import DamagedPartError, read_footer, read_part
from nnd.metric.run.parts.run_plan import read_plan

Loaded = Callable[[str], LoadedModel]

PLAIN = Scoring(cache=False)


@pytest.fixture(scope="module", autouse=True)
def _few_parts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "PARTS", 5)
        yield


@pytest.fixture(scope="module")
def gpt2(loaded: Loaded) -> LoadedModel:
    return loaded("gpt2")


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 pairs in 20 contexts: leave them as they are."""
    return write_pairs(tmp_path_factory.mktemp("data") / "birds", many_pairs(5))


@pytest.fixture
def own_birds(birds: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    return Path(shutil.copytree(birds, tmp_path / "birds"))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Where workers write."""
    return tmp_path / "run"


@pytest.fixture(scope="module")
def _parts(gpt2: LoadedModel, birds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NND_CACHE", str(folder / "cache"))
        evaluate(gpt2, birds, out=folder / "run", worker=(1, 1))
    return folder / "run"


@pytest.fixture
def finished(_parts: Path, run: Path) -> Path:
    """A run whose parts are all there, to be merged."""
    return Path(shutil.copytree(_parts, run))


def part_files(run: Path) -> list[Path]:
    return sorted((run / "parts").glob("*/*.parquet"))


def contents(run: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


def check_same(merged: pl.DataFrame, alone: pl.DataFrame) -> None:
    """Log-likelihoods are the same to rounding, all else exactly."""
    assert merged.height == alone.height > 0
    found = [name for name in merged.columns if name.startswith("ll_")]
    assert len(found) == 4
    for name in found:
        assert merged[name].is_null().equals(alone[name].is_null())
        assert ((merged[name] - alone[name]).abs().max() or 0) < 1e-6
    assert merged.drop(found).equals(alone.drop(found))


def merged_and_alone(
    models: Any, data: Any, run: Path, **how: Any
) -> tuple[Evaluation, Evaluation]:
    """Merge a run, and check its rows against those of an evaluation without workers."""
    merged, alone = merge(run), run.with_name("alone")
    single = evaluate(models, data, out=alone, scoring=PLAIN, **how)
    check_same(read_run(run), read_run(alone))
    return merged, single


# What is merged


def test_three_workers_finish_what_four_began(loaded: Loaded, birds: Path, run: Path) -> None:
    models, systems = [loaded("gpt2"), loaded("bart")], {"gpt2": "left", "bart": "right"}
    for number in (1, 3):
        begun = evaluate(models, birds, out=run, worker=(number, 4), systems=systems)
    assert read_plan(run).parts == 5
    assert (len(part_files(run)), begun.left) == (6, {run: 4})
    written = {path: path.read_bytes() for path in part_files(run)}
    found = [
        evaluate(models, birds, out=run, worker=(number, 3), systems=systems)
        for number in (3, 1, 2)
    ]
    assert [each.done for each in found] == [0, 2, 2]
    assert [each.remarks() for each in found] == [[], [], [f"Next: nnd merge {run}"]]
    assert {path: path.read_bytes() for path in written} == written

    merged, single = merged_and_alone(models, birds, run, systems=systems)

    with refusal("run.already-merged", "elsewhere"):
        merged.write(run.with_name("elsewhere"))
    assert sorted(path.name for path in run.iterdir()) == [
        *("cost.json", "log_likelihoods.parquet", "result.json")
    ]
    ours, theirs = merged.to_dict(), single.to_dict()
    for result in (*ours["results"], *theirs["results"]):
        assert result["engine"].pop("deviation") < 1e-4
        result.pop("n_close")  # follows from the deviation
    assert ours == theirs


@pytest.mark.parametrize(("most", "calls"), [(10**9, 1), (1_000, 3), (1, 5)])
def test_a_gpu_reads_several_parts_in_one_call(
    *, most: int, calls: int, gpt2: LoadedModel, birds: Path, run: Path, monkeypatch: Any
) -> None:
    """A part has 8 pairs in 4 contexts, about 400 bytes."""
    read = list[int]()

    def counted(path: Any, checks: Checks, *given: Any, **options: Any) -> Any:
        read.append(len(checks.alone.rows))
        return execution.run(path, checks, *given, **options)

    monkeypatch.setattr(path_choice, "run", counted)
    monkeypatch.setattr(shard_groups, "_bytes_at_once", lambda _loaded: most)
    assert evaluate(gpt2, birds, out=run, worker=(1, 1)).done == 5
    assert len(read) == calls
    merged, single = merged_and_alone(gpt2, birds, run)
    assert merged.results[0].signature == single.results[0].signature
    assert merged.results[0].work.path == "packed"
    (cost,) = merged.costs
    assert [*read_costs(run / COST).values()] == [cost]
    assert cost.tokens >= single.costs[0].tokens > 0
    # A candidate without its context is in several parts, and read for the first of them.
    assert cost.requests - cost.stored == single.costs[0].requests
    assert min(cost.scoring_seconds, cost.baseline_seconds, cost.peak_bytes) > 0


def test_models_that_were_scored_on_different_pairs_are_not_merged(
    loaded: Loaded, own_birds: Path, run: Path
) -> None:
    """No text was changed, so the plan still fits."""
    models = [loaded("gpt2"), loaded("bart")]
    evaluate(models, own_birds, out=run, worker=(1, 1))
    for path in (run / "parts" / "2-bart").iterdir():
        path.unlink()
    other = pl.when(pl.int_range(pl.len()) == 33).then(pl.lit("late")).otherwise("category")
    rows = many_pairs(5).with_columns(category=other)
    rows.write_parquet(own_birds / "pairs.parquet")
    evaluate(models, own_birds, out=run, worker=(1, 1))
    with refusal("run.another-data") as caught:
        merge(run)
    assert rows["pair_id"][33] in caught.value.what
    assert f"{run}/parts" in caught.value.remedy


def test_without_the_cost_of_a_part_that_of_the_run_is_unknown(finished: Path) -> None:
    (finished / "parts/1-gpt2/00003.cost.json").unlink()
    assert merge(finished).costs == ()
    assert not (finished / COST).exists()


def test_sets_of_a_suite_are_merged_too(gpt2: LoadedModel, run: Path, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite")
    for number in (1, 2):
        evaluate(gpt2, suite, out=run, worker=(number, 2))
    merged = merge(run)
    single = evaluate(gpt2, suite, out=tmp_path / "alone", scoring=PLAIN)
    check_same(read_sets(run), read_sets(tmp_path / "alone"))
    assert merged.effects is not None
    assert single.effects is not None
    assert merged.effects.to_dict() == single.effects.to_dict()


def test_where_no_part_has_a_baseline_the_run_has_none(gpt2: LoadedModel, run: Path) -> None:
    """One part of two has a candidate that cannot be scored without its context."""
    rows = many_pairs(5).with_columns(in_row(39, "", "candidate_high"))
    evaluate(gpt2, rows, out=run, worker=(1, 1))
    merged, single = merged_and_alone(gpt2, rows, run)
    assert merged.results[0].notes == single.results[0].notes


def test_contexts_that_recur_are_in_one_part(gpt2: LoadedModel, run: Path, tmp_path: Path) -> None:
    """The rows of a run are then in another order."""
    rows, alone = many_pairs(5).gather_every(3), tmp_path / "alone"
    rows = pl.concat([rows, many_pairs(5).gather_every(3, 1)])
    evaluate(gpt2, rows, out=run, worker=(1, 1))
    plan = read_plan(run)
    contexts = [
        {
            rows["context"][row]
            for start, stop in plan.spans_of(part)[""]
            for row in range(start, stop)
        }
        for part in range(plan.parts)
    ]
    assert sum(map(len, contexts)) == len(set.union(*contexts)) == rows["context"].n_unique()
    assert plan.spans.height > plan.parts
    merge(run)
    evaluate(gpt2, rows, out=alone, scoring=PLAIN)
    assert not read_run(run)["pair_id"].equals(read_run(alone)["pair_id"])
    check_same(read_run(run).sort("pair_id"), read_run(alone).sort("pair_id"))


def test_own_pairs_with_two_equal_texts_are_dropped_and_counted(
    gpt2: LoadedModel, run: Path, tmp_path: Path
) -> None:
    high, data = pl.col("candidate_high"), tmp_path / "mine.parquet"
    place = pl.int_range(pl.len())
    equal = (place % 7 == 3) | (place < 2) | (place > 37)
    rows = many_pairs(5).with_columns(
        candidate_low=pl.when(equal).then(" " + high).otherwise("candidate_low")
    )
    rows.write_parquet(data, row_group_size=7)
    for number in (1, 2):
        evaluate(gpt2, data, out=run, worker=(number, 2))
    both = merged_and_alone(gpt2, data, run)
    assert read_run(run).height == 31
    for found in both:
        assert "9 pairs with two equal texts were dropped" in found.results[0].notes
        assert found.remarks()[0] == "9 pairs with two equal texts were dropped"


def test_several_datasets_have_runs_of_their_own(
    gpt2: LoadedModel, birds: Path, run: Path, tmp_path: Path
) -> None:
    trees = tmp_path / "trees.parquet"
    pair_rows().write_parquet(trees)
    found = evaluate(gpt2, [birds, trees], out=run, worker=(1, 1), limit=6)
    assert found.remarks() == [f"Next: nnd merge {run / name}" for name in ("birds", "trees")]
    with refusal("run.several-datasets", "run"):
        merge(run)
    for name, data in (("birds", birds), ("trees", trees)):
        merged = merge(run / name)
        single = evaluate(gpt2, data, limit=6, scoring=PLAIN)
        assert merged.results[0].signature == single.results[0].signature
        assert merged.headline() == single.headline()


# The plan


def test_the_plan_depends_on_no_worker_nor_on_how_data_is_read(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    plans = []
    for name, worker in (("a", (2, 2)), ("b", (7, 9))):
        evaluate(gpt2, birds, out=tmp_path / name, worker=worker)
        plans.append((tmp_path / name / "parts/plan.json").read_bytes())
    assert plans[0] == plans[1]
    evaluate(gpt2, load_pairs(birds), out=tmp_path / "c", worker=(1, 9))
    streamed, whole = (read_plan(tmp_path / name) for name in ("a", "c"))
    assert streamed.version == whole.version == load_pairs(birds).version
    sizes = [
        [
            s.select(pl.col("stop") - pl.col("start")).sum().item()
            for s in p.spans.partition_by("part")
        ]
        for p in (streamed, whole)
    ]
    assert sum(sizes[0]) == sum(sizes[1]) == 40
    assert max(sizes[0]) <= 12


@pytest.mark.parametrize(
    ("changed", "facts"),
    [
        ({"scoring": Scoring("sum")}, ["protocol", '"native"', '"sum"']),
        ({"templates": {"gpt2": "Q: {context}"}}, ["templates"]),
        ({"limit": 6}, ["data version"]),
        ({"data": "trees"}, ['"trees"']),
        ({"models": "bart"}, ['["gpt2"]', '["bart"]']),
    ],
    ids=str,
)
def test_a_worker_of_another_run_is_refused(
    changed: dict[str, Any], facts: list[str], loaded: Loaded, birds: Path, finished: Path
) -> None:
    asked: dict[str, Any] = {"models": "gpt2", "data": birds} | changed
    if asked["data"] == "trees":
        asked["data"] = finished.with_name("trees.parquet")
        pair_rows().write_parquet(asked["data"])
    asked["models"] = loaded(asked["models"])
    before = contents(finished)
    with refusal("run.another-plan") as caught:
        evaluate(**asked, out=finished, worker=(1, 5))
    assert all(fact in caught.value.what for fact in facts)
    assert contents(finished) == before


def test_data_that_changes_under_a_plan_is_refused(
    gpt2: LoadedModel, own_birds: Path, finished: Path
) -> None:
    changed = many_pairs(5).with_columns(pl.col("candidate_low").str.replace("river", "lake"))
    changed.write_parquet(own_birds / "pairs.parquet", row_group_size=7)
    part_files(finished)[1].unlink()
    before = contents(finished)
    with refusal("run.another-plan", "birds"):
        evaluate(gpt2, own_birds, out=finished, worker=(2, 5))
    assert contents(finished) == before


# What is missing, damaged or mixed


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flip_footer(path: Path) -> None:
    content = path.read_bytes()
    assert content.count(b'"parameters": ') == 2
    path.write_bytes(content.replace(b'"parameters": ', b'"parametres": '))


@pytest.mark.parametrize("damage", [_truncate, _flip_footer])
def test_a_damaged_part_is_named_and_only_it_is_done_again(
    damage: Callable[[Path], None], gpt2: LoadedModel, birds: Path, finished: Path
) -> None:
    written = {path: path.read_bytes() for path in part_files(finished)}
    damaged = part_files(finished)[3]
    damage(damaged)
    with refusal("run.parts-missing", str(damaged)):
        merge(finished)
    times = {path: path.stat().st_mtime_ns for path in written if path != damaged}
    assert evaluate(gpt2, birds, out=finished, worker=(1, 1)).done == 1
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert damaged.read_bytes() == written[damaged]
    merge(finished)


def test_a_flipped_bit_is_noticed_or_changes_nothing(finished: Path) -> None:
    plan, (path, *_) = read_plan(finished), part_files(finished)
    content, rows = path.read_bytes(), read_part(plan, "gpt2", 0)
    noticed = 0
    for position in range(0, len(content), 97):
        flipped = bytearray(content)
        flipped[position] ^= 1
        path.write_bytes(flipped)
        try:
            read_footer(plan, "gpt2", 0)
            assert read_part(plan, "gpt2", 0).equals(rows)
        except DamagedPartError:
            noticed += 1
    assert noticed > len(content) / 97 / 2


def _not_utf8(run: Path) -> None:
    """Damage the metadata behind the schema, which polars would read."""
    part = part_files(run)[1]
    content = part.read_bytes()
    at = content.rindex(b"nnd-sha256") + 1
    part.write_bytes(content[:at] + b"\xee" + content[at + 1 :])


def _text_for_numbers(run: Path) -> None:
    part = part_files(run)[1]
    table = pq.read_table(part)
    place = table.schema.get_field_index("ll_high")
    pq.write_table(table.set_column(place, "ll_high", [["x"] * table.num_rows]), part)


def _another_part(run: Path) -> None:
    first, second, *_ = part_files(run)
    second.write_bytes(first.read_bytes())


def _lose_templates(run: Path) -> None:
    plan = run / "parts" / "plan.json"
    plan.write_text(plan.read_text().replace('"templates": {', '"templatez": {'))


def _deep_plan(run: Path) -> None:
    (run / "parts" / "plan.json").write_text("[" * 100_000)


@pytest.mark.parametrize(
    ("damage", "code", "where"),
    [
        (_not_utf8, "run.parts-missing", ".parquet"),
        (_text_for_numbers, "run.parts-missing", ".parquet"),
        (_another_part, "run.another-plan", "00001.parquet"),
        (_lose_templates, "contract.broken", "plan.json"),
        (_deep_plan, "contract.broken", "plan.json"),
    ],
)
def test_any_damage_is_one_error(
    damage: Callable[[Path], None], code: str, where: str, finished: Path
) -> None:
    damage(finished)
    with refusal(code, where):
        merge(finished)


def test_a_part_that_is_missing_is_named(finished: Path) -> None:
    for path in part_files(finished)[::2]:
        path.unlink()
    with refusal("run.parts-missing", f"{finished}/parts/1-gpt2") as caught:
        merge(finished)
    assert "00000.parquet, 00002.parquet, 00004.parquet" in caught.value.what


def test_parts_of_other_weights_are_refused_by_the_worker_and_by_the_merge(
    gpt2: LoadedModel, birds: Path, run: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    changed = replace(gpt2, commit="0123456789")
    evaluate(gpt2, birds, out=run, worker=(1, 2))
    with refusal("run.another-plan", "00000.parquet"):
        evaluate(changed, birds, out=run, worker=(2, 2))
    assert len(part_files(run)) == 3

    evaluate(changed, birds, out=other, worker=(2, 2))
    for path in part_files(other):
        path.rename(run / path.relative_to(other))
    before = contents(run)
    with refusal("run.another-plan", "00000.parquet"):
        merge(run)
    assert contents(run) == before


def test_two_workers_of_one_number_do_no_harm(gpt2: LoadedModel, birds: Path, run: Path) -> None:
    first, again = (evaluate(gpt2, birds, out=run, worker=(1, 2)) for _ in range(2))
    assert (first.done, again.done, again.left) == (3, 0, {run: 2})


# Folders


def test_a_folder_of_parts_is_left_alone_by_others(
    gpt2: LoadedModel, birds: Path, finished: Path
) -> None:
    with refusal("place.holds-parts", "run"):
        evaluate(gpt2, birds, out=finished, scoring=PLAIN)
    mine = finished / "parts" / "slurm-1.out"
    mine.write_text("mine")
    with refusal("place.foreign-files", "slurm-1.out"):
        merge(finished)
    mine.rename(finished / "slurm-1.out")
    with refusal("place.foreign-files", "run"):
        merge(finished)
    (finished / "slurm-1.out").unlink()
    merge(finished)
    with refusal("run.already-merged", "run"):
        merge(finished)
    with refusal("place.holds-a-run", "run"):
        evaluate(gpt2, birds, out=finished, worker=(1, 1))
    with refusal("run.no-parts", "birds"):
        merge(birds)


def test_a_full_disk_leaves_no_part_of_a_part(gpt2: LoadedModel, birds: Path, run: Path) -> None:
    evaluate(gpt2, birds, out=run, worker=(1, 5))
    with _small_files(2_000), pytest.raises(OSError, match="too large") as caught:
        evaluate(gpt2, birds, out=run, worker=(2, 5))
    assert caught.value.filename == str(run / "parts/1-gpt2/00001.parquet")
    assert sorted(path.name for path in (run / "parts/1-gpt2").iterdir()) == [
        *("00000.cost.json", "00000.parquet", "00001.cost.json")
    ]
    assert evaluate(gpt2, birds, out=run, worker=(2, 5)).done == 1


@pytest.mark.parametrize("most", [10, 500, 2_500])
def test_a_full_disk_leaves_no_part_of_a_plan(
    most: int, gpt2: LoadedModel, birds: Path, run: Path
) -> None:
    with _small_files(most), refusal("place.cannot-write", str(run)):
        evaluate(gpt2, birds, out=run, worker=(1, 1))
    assert [*run.iterdir()] == []


def test_a_full_disk_leaves_the_parts_of_a_merge(gpt2: LoadedModel, run: Path) -> None:
    evaluate(gpt2, write_suite(run.with_name("suite")), out=run, worker=(1, 1))
    before = contents(run)
    with _small_files(5_000), refusal("place.cannot-write", str(run)):
        merge(run)
    assert contents(run) == before
    merge(run)


@contextmanager
def _small_files(most: int) -> Iterator[None]:
    """Let no file grow beyond a size, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
