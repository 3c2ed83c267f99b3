"""Agreement without each model's tests on texts of the system that it stands for."""

from pathlib import Path

import polars as pl
import pytest

from nnd.metric.data import SCORED_SCHEMA, PairSet, load_pairs
from nnd.metric.numbers import STATISTICS, Agreement, agree_scored
from nnd.schemas import DISTINCT, read_frame


@pytest.fixture(scope="module")
def pairs(sample: Path) -> PairSet:
    """Those of the sample."""
    return load_pairs(sample)


def scored(pairs: PairSet, modulus: int) -> pl.DataFrame:
    """The pairs as a model scored them that fails every modulus-th."""
    passed = pl.int_range(pl.len()) % modulus != 0
    rows = pairs.pairs.sort("pair_id").with_columns(
        passed=passed, tie=pl.lit(value=False), ll_high=pl.lit(-1.0), ll_low=pl.lit(-2.0)
    )
    late = (n for n in SCORED_SCHEMA if n not in rows.columns)
    return rows.with_columns(pl.lit(None, SCORED_SCHEMA[n]).alias(n) for n in late).select(
        SCORED_SCHEMA.names()
    )


@pytest.fixture(scope="module")
def runs(pairs: PairSet) -> pl.DataFrame:
    """Of models that are called like the systems."""
    assert pairs.human_scores is not None
    return pl.concat(
        scored(pairs, place + 2).select(pl.lit(system).alias("model"), pl.all())
        for place, system in enumerate(pairs.human_scores["system"].unique().sort())
    )


@pytest.fixture(scope="module")
def found(pairs: PairSet, runs: pl.DataFrame) -> Agreement:
    agreement, _ = agree_scored(runs, pairs.human_scores, judgements=pairs.judgements())
    assert agreement is not None
    return agreement


def test_a_model_is_tested_on_texts_of_others_only(
    found: Agreement, pairs: PairSet, sample: Path
) -> None:
    everything = found.by_category["overall"]
    assert everything.without_own is not None
    written = read_frame(sample, "pairs").select("pair_id", "system_high", "system_low").rows()
    for place, system in enumerate(everything.judged):
        modulus = sorted(everything.judged).index(system) + 2
        rows = scored(pairs, modulus).unique(DISTINCT, keep="first", maintain_order=True)
        passed = dict(rows.select("pair_id", "passed").iter_rows())
        others = [
            passed[pair]
            for pair, high, low in written
            if pair in passed and system not in {*high.split("|"), *low.split("|")}
        ]
        assert 0 < len(others) < len(passed), place
        assert everything.without_own.n[system] == len(others)
        assert everything.without_own.pass_rates[system] == sum(others) / len(others)


def test_its_statistics_are_those_of_these_rates(found: Agreement) -> None:
    for each in found.by_category.values():
        assert each.without_own is not None
        rates = each.without_own.pass_rates
        theirs = [each.judged[model].human_score for model in rates]
        ours = [rate for rate in rates.values() if rate is not None]
        assert each.without_own.statistics == {
            name: statistic(ours, theirs) for name, statistic in STATISTICS.items()
        }
    overall = found.by_category["overall"].without_own
    assert overall is not None
    # A few tests of a few contexts, passed as often by all: how they differ is noise.
    assert set(overall.intervals.values()) == {None}
    assert {*overall.interval_reasons} == {*STATISTICS}


def test_the_agreement_itself_stays_as_it_is(
    found: Agreement, pairs: PairSet, runs: pl.DataFrame
) -> None:
    plain, _ = agree_scored(runs, pairs.human_scores)

    assert plain is not None
    assert plain.by_category["overall"].without_own is None
    assert plain.by_category["overall"].human_noise is None
    for category, each in plain.by_category.items():
        assert each.statistics == found.by_category[category].statistics
        assert each.intervals == found.by_category[category].intervals


def test_the_numbers_behind_human_scores_average_to_them(pairs: PairSet) -> None:
    people, judgements = pairs.human_scores, pairs.judgements()
    assert people is not None
    assert judgements is not None
    for name in {*people["category"]}:
        own = people.filter(category=name).sort("aspect", "system")
        means = (
            judgements.numbers(name, None)
            .group_by("aspect", "system")
            .agg(score=pl.col("number").mean(), n=pl.len().cast(pl.Int64))
            .sort("aspect", "system")
        )
        assert means.equals(own.select("aspect", "system", "score", "n"))
