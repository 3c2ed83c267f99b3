"""Workers that share a run: what they write together is what one evaluation writes."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from support.metric_runs import human_scores, pair_rows
from support.refusals import refusal
from support.suites.folders import write_suite

from nnd.metric.data import load_pairs, read_run, read_sets
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.likelihood.engine import execution, path_choice
from nnd.metric.likelihood.engine.proof import Checks
from nnd.metric.run import evaluate, merge
from nnd.metric.run.launchers import shard_groups
from nnd.metric.run.model_cost import COST, read_costs
from nnd.metric.run.parts import cutting
from nnd.metric.run.parts.part_file import DamagedPartError, read_footer, read_part
from nnd.metric.run.parts.run_plan import read_plan

Loaded = Callable[[str], LoadedModel]

PLAIN = Scoring(cache=False)


@pytest.fixture(autouse=True)
def _few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PARTS", 5)


@pytest.fixture
def gpt2(loaded: Loaded) -> LoadedModel:
    return loaded("gpt2")


def many_pairs() -> pl.DataFrame:
    """The invented pairs five times, each time with other contexts: 20 contexts, 40 pairs."""
    copies = [
        pair_rows().with_columns(
            pl.concat_str(column, pl.lit(f" {number}"))
            for column in ("pair_id", "context_id", "context")
        )
        for number in range(5)
    ]
    return pl.concat(copies)


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    folder = tmp_path / "birds"
    folder.mkdir()
    many_pairs().write_parquet(folder / "pairs.parquet", row_group_size=7)
    human_scores().write_parquet(folder / "human_scores.parquet")
    return folder


def part_files(run: Path) -> list[Path]:
    return sorted((run / "parts").glob("*/*.parquet"))


def check_same(merged: pl.DataFrame, alone: pl.DataFrame) -> None:
    """Log-likelihoods are the same to rounding, all else exactly."""
    assert merged.height == alone.height > 0
    found = [name for name in merged.columns if name.startswith("ll_")]
    assert len(found) == 4
    for name in found:
        assert merged[name].is_null().equals(alone[name].is_null())
        assert ((merged[name] - alone[name]).abs().max() or 0) < 1e-6
    assert merged.drop(found).equals(alone.drop(found))


# What is merged


def test_three_workers_finish_what_four_began(loaded: Loaded, birds: Path, tmp_path: Path) -> None:
    models, systems = [loaded("gpt2"), loaded("bart")], {"gpt2": "left", "bart": "right"}
    run, alone = tmp_path / "run", tmp_path / "alone"
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

    merged = merge(run)

    with refusal("run.already-merged", "alone"):
        merged.write(alone)
    single = evaluate(models, birds, out=alone, systems=systems, scoring=PLAIN)
    check_same(read_run(run), read_run(alone))
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
    *, most: int, calls: int, loaded: Loaded, birds: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """A part has 8 pairs in 4 contexts, about 400 bytes."""
    read = list[int]()

    def counted(path: Any, checks: Checks, *given: Any, **options: Any) -> Any:
        read.append(len(checks.alone.rows))
        return execution.run(path, checks, *given, **options)

    monkeypatch.setattr(path_choice, "run", counted)
    monkeypatch.setattr(shard_groups, "_bytes_at_once", lambda _loaded: most)
    run, alone = tmp_path / "run", tmp_path / "alone"
    assert evaluate(loaded("gpt2"), birds, out=run, worker=(1, 1)).done == 5
    assert len(read) == calls
    merged = merge(run)
    single = evaluate(loaded("gpt2"), birds, out=alone, scoring=PLAIN)
    check_same(read_run(run), read_run(alone))
    assert merged.results[0].signature == single.results[0].signature
    assert merged.results[0].work.path == "packed"
    (cost,) = merged.costs
    assert [*read_costs(run / COST).values()] == [cost]
    assert cost.tokens >= single.costs[0].tokens > 0
    # A candidate without its context is in several parts, and read for the first of them.
    assert cost.requests - cost.stored == single.costs[0].requests
    assert min(cost.scoring_seconds, cost.baseline_seconds, cost.peak_bytes) > 0


def test_models_that_were_scored_on_different_pairs_are_not_merged(
    loaded: Loaded, birds: Path, tmp_path: Path
) -> None:
    """No text was changed, so the plan still fits."""
    models, run = [loaded("gpt2"), loaded("bart")], tmp_path / "run"
    evaluate(models, birds, out=run, worker=(1, 1))
    for path in (run / "parts" / "2-bart").iterdir():
        path.unlink()
    other = pl.when(pl.int_range(pl.len()) == 33).then(pl.lit("late")).otherwise("category")
    rows = many_pairs().with_columns(category=other)
    rows.write_parquet(birds / "pairs.parquet")
    evaluate(models, birds, out=run, worker=(1, 1))
    with refusal("run.another-data") as caught:
        merge(run)
    assert rows["pair_id"][33] in caught.value.what
    assert f"{run}/parts" in caught.value.remedy


def test_without_the_cost_of_a_part_that_of_the_run_is_unknown(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    evaluate(gpt2, birds, out=run, worker=(1, 1))
    (run / "parts/1-gpt2/00003.cost.json").unlink()
    assert merge(run).costs == ()
    assert not (run / COST).exists()


def test_sets_of_a_suite_are_merged_too(gpt2: LoadedModel, tmp_path: Path) -> None:
    suite, run = write_suite(tmp_path / "suite"), tmp_path / "run"
    for number in (1, 2):
        evaluate(gpt2, suite, out=run, worker=(number, 2))
    merged = merge(run)
    single = evaluate(gpt2, suite, out=tmp_path / "alone", scoring=PLAIN)
    check_same(read_sets(run), read_sets(tmp_path / "alone"))
    assert merged.effects is not None
    assert single.effects is not None
    assert merged.effects.to_dict() == single.effects.to_dict()


def test_where_no_part_has_a_baseline_the_run_has_none(loaded: Loaded, tmp_path: Path) -> None:
    """One part of two has a candidate that cannot be scored without its context."""
    rows = many_pairs().with_columns(
        candidate_high=pl.when(pl.int_range(pl.len()) == 39)
        .then(pl.lit(""))
        .otherwise("candidate_high")
    )
    run, alone, model = tmp_path / "run", tmp_path / "alone", loaded("gpt2")
    evaluate(model, rows, out=run, worker=(1, 1))
    merged = merge(run)
    single = evaluate(model, rows, out=alone, scoring=PLAIN)
    check_same(read_run(run), read_run(alone))
    assert merged.results[0].notes == single.results[0].notes


def test_contexts_that_recur_are_in_one_part(gpt2: LoadedModel, tmp_path: Path) -> None:
    """The rows of a run are then in another order."""
    rows, run, alone = many_pairs().gather_every(3), tmp_path / "run", tmp_path / "alone"
    rows = pl.concat([rows, many_pairs().gather_every(3, 1)])
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
    gpt2: LoadedModel, tmp_path: Path
) -> None:
    high = pl.col("candidate_high")
    place = pl.int_range(pl.len())
    equal = (place % 7 == 3) | (place < 2) | (place > 37)
    rows = many_pairs().with_columns(
        candidate_low=pl.when(equal).then(" " + high).otherwise("candidate_low")
    )
    rows.write_parquet(tmp_path / "mine.parquet", row_group_size=7)
    run, alone = tmp_path / "run", tmp_path / "alone"
    for number in (1, 2):
        evaluate(gpt2, tmp_path / "mine.parquet", out=run, worker=(number, 2))
    merged = merge(run)
    single = evaluate(gpt2, tmp_path / "mine.parquet", out=alone, scoring=PLAIN)
    check_same(read_run(run), read_run(alone))
    assert read_run(run).height == 31
    for found in (merged, single):
        assert "9 pairs with two equal texts were dropped" in found.results[0].notes
        assert found.remarks()[0] == "9 pairs with two equal texts were dropped"


def test_several_datasets_have_runs_of_their_own(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    trees, run = tmp_path / "trees.parquet", tmp_path / "run"
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
    changed: dict[str, Any], facts: list[str], loaded: Loaded, birds: Path, tmp_path: Path
) -> None:
    evaluate(loaded("gpt2"), birds, out=tmp_path / "run", worker=(5, 5))
    asked: dict[str, Any] = {"models": "gpt2", "data": birds} | changed
    if asked["data"] == "trees":
        asked["data"] = tmp_path / "trees.parquet"
        pair_rows().write_parquet(asked["data"])
    asked["models"] = loaded(asked["models"])
    with refusal("run.another-plan") as caught:
        evaluate(**asked, out=tmp_path / "run", worker=(1, 5))
    assert all(fact in caught.value.what for fact in facts)
    assert len(part_files(tmp_path / "run")) == 1


def test_data_that_changes_under_a_plan_is_refused(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    evaluate(gpt2, birds, out=tmp_path / "run", worker=(1, 5))
    changed = many_pairs().with_columns(pl.col("candidate_low").str.replace("river", "lake"))
    changed.write_parquet(birds / "pairs.parquet", row_group_size=7)
    with refusal("run.another-plan", "birds"):
        evaluate(gpt2, birds, out=tmp_path / "run", worker=(2, 5))
    assert len(part_files(tmp_path / "run")) == 1


# What is missing, damaged or mixed


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flip_footer(path: Path) -> None:
    content = path.read_bytes()
    assert content.count(b'"parameters": ') == 2
    path.write_bytes(content.replace(b'"parameters": ', b'"parametres": '))


@pytest.mark.parametrize("damage", [_truncate, _flip_footer])
def test_a_damaged_part_is_named_and_only_it_is_done_again(
    damage: Callable[[Path], None], gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    evaluate(gpt2, birds, out=run, worker=(1, 1))
    written = {path: path.read_bytes() for path in part_files(run)}
    damaged = part_files(run)[3]
    damage(damaged)
    with refusal("run.parts-missing", str(damaged)):
        merge(run)
    times = {path: path.stat().st_mtime_ns for path in written if path != damaged}
    assert evaluate(gpt2, birds, out=run, worker=(1, 1)).done == 1
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert damaged.read_bytes() == written[damaged]
    merge(run)


def test_a_flipped_bit_is_noticed_or_changes_nothing(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    evaluate(gpt2, birds, out=run, worker=(1, 5))
    plan, (path,) = read_plan(run), part_files(run)
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
        (_lose_templates, "contract.broken", "plan.json"),
        (_deep_plan, "contract.broken", "plan.json"),
    ],
)
def test_any_damage_is_one_error(
    *,
    damage: Callable[[Path], None],
    code: str,
    where: str,
    gpt2: LoadedModel,
    birds: Path,
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    evaluate(gpt2, birds, out=run, worker=(1, 1))
    damage(run)
    with refusal(code, where):
        merge(run)


def test_a_part_that_is_missing_is_named(gpt2: LoadedModel, birds: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    evaluate(gpt2, birds, out=run, worker=(2, 2))
    with refusal("run.parts-missing", f"{run}/parts/1-gpt2") as caught:
        merge(run)
    assert "00000.parquet, 00002.parquet, 00004.parquet" in caught.value.what


def test_rows_of_another_part_are_not_merged(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    evaluate(gpt2, birds, out=run, worker=(1, 1))
    first, second, *_ = part_files(run)
    second.write_bytes(first.read_bytes())
    with refusal("run.another-plan", "00001.parquet"):
        merge(run)


def test_parts_of_other_weights_are_refused_by_the_worker_and_by_the_merge(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    run, other = tmp_path / "run", tmp_path / "other"
    changed = replace(gpt2, commit="0123456789")
    evaluate(gpt2, birds, out=run, worker=(1, 2))
    with refusal("run.another-plan", "00000.parquet"):
        evaluate(changed, birds, out=run, worker=(2, 2))
    assert len(part_files(run)) == 3

    evaluate(changed, birds, out=other, worker=(2, 2))
    for path in part_files(other):
        path.rename(run / path.relative_to(other))
    before = {path: path.read_bytes() for path in part_files(run)}
    with refusal("run.another-plan", "00000.parquet"):
        merge(run)
    assert {path: path.read_bytes() for path in part_files(run)} == before


def test_two_workers_of_one_number_do_no_harm(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    first = evaluate(gpt2, birds, out=tmp_path / "run", worker=(1, 2))
    again = evaluate(gpt2, birds, out=tmp_path / "run", worker=(1, 2))
    assert (first.done, again.done, again.left) == (3, 0, {tmp_path / "run": 2})


# Folders


def test_a_folder_of_parts_is_left_alone_by_others(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    evaluate(gpt2, birds, out=run, worker=(1, 1))
    with refusal("place.holds-parts", "run"):
        evaluate(gpt2, birds, out=run, scoring=PLAIN)
    mine = run / "parts" / "slurm-1.out"
    mine.write_text("mine")
    with refusal("place.foreign-files", "slurm-1.out"):
        merge(run)
    mine.rename(run / "slurm-1.out")
    with refusal("place.foreign-files", "run"):
        merge(run)
    (run / "slurm-1.out").unlink()
    merge(run)
    with refusal("run.already-merged", "run"):
        merge(run)
    with refusal("place.holds-a-run", "run"):
        evaluate(gpt2, birds, out=run, worker=(1, 1))
    with refusal("run.no-parts", "birds"):
        merge(birds)


def test_a_full_disk_leaves_no_part_of_a_part(
    gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
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
    most: int, gpt2: LoadedModel, birds: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with _small_files(most), refusal("place.cannot-write", str(run)):
        evaluate(gpt2, birds, out=run, worker=(1, 1))
    assert [*run.iterdir()] == []


def test_a_full_disk_leaves_the_parts_of_a_merge(gpt2: LoadedModel, tmp_path: Path) -> None:
    run = tmp_path / "run"
    evaluate(gpt2, write_suite(tmp_path / "suite"), out=run, worker=(1, 1))
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with (
        _small_files(5_000),
        refusal("place.cannot-write", str(run)),
    ):
        merge(run)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
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
