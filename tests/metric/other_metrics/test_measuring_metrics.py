"""NND beside other metrics: every number of a small case by hand, and stored runs as rows."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.stats import norm, t
from support.judged_cases import CANDIDATES, by_candidate, write_judged, write_references
from support.refusals import refusal
from support.screens.tables import lines
from support.stored_folders import read_facts, write_sealed

from nnd.metric.data.scored_schema import SCORED_SCHEMA
from nnd.metric.numbers.agreement.from_results import agree_scored
from nnd.metric.numbers.rates.surface_features import measure
from nnd.metric.other_metrics.candidate_correlations import (
    CandidateAgreement,
    MeanJudgement,
    correlate_candidates,
)
from nnd.metric.other_metrics.judged_candidates import JudgedCandidates, read_judged
from nnd.metric.other_metrics.measuring_metrics import compare_metrics, prefer
from nnd.metric.other_metrics.metric_table import MetricTable
from nnd.metric.other_metrics.on_datasets import metrics
from nnd.metric.other_metrics.scorers.references import read_references
from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer
from nnd.metric.other_metrics.scorers.scorer_names import find_scorers
from nnd.metric.show.tables.metric_details import metrics_notes, metrics_table, people_table
from nnd.schemas import read_document

LENGTH = find_scorers(["length"])
# Candidate → likelihood under two models; "good" judges as people do, "bad" the other way round.
GOOD = {"1/a": -1.0, "1/b": -2.0, "1/c": -3.0}
BAD = {"1/a": -3.0, "1/b": -2.0, "1/c": -1.0}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> JudgedCandidates:
    return read_judged(write_judged(tmp_path_factory.mktemp("judged") / "data"))


@pytest.fixture(scope="module")
def length(judged: JudgedCandidates) -> MetricTable:
    """The length of candidates as a metric: 1/a 11, 1/b 7, 1/c 5; 2/a 14, 2/b 5, 2/d 0."""
    return compare_metrics(judged, LENGTH)


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    return read_references(write_references(tmp_path_factory.mktemp("r") / "references.jsonl"))


def run_of(judged: JudgedCandidates, models: dict[str, dict[str, float]]) -> pl.DataFrame:
    """What `nnd evaluate` would have stored."""
    frames = []
    for model, values in models.items():
        candidates = judged.candidates.with_columns(
            score=pl.col("candidate_id").replace_strict(values, default=None)
        )
        pairs = judged.pairs.pairs
        scored = prefer(candidates, pairs.hstack(measure(pairs)))
        frames.append(scored.select(pl.lit(model).alias("model"), *SCORED_SCHEMA))
    return pl.concat(frames)


@pytest.fixture(scope="module")
def run(judged: JudgedCandidates) -> pl.DataFrame:
    return run_of(judged, {"good": GOOD, "bad": BAD})


def test_length_by_hand(length: MetricTable) -> None:
    (row,) = length.rows
    assert row.rates is not None
    assert (row.rates.overall.passes, row.rates.overall.n) == (3, 3)
    assert row.rates.overall.truncated is None  # what a scorer cut is not known
    baseline = row.rates.overall.baselines["longer_wins"]
    assert baseline is not None
    assert (baseline.pass_rate, row.rates.overall.pass_rate) == (1, 1)  # it is no better than that
    found = row.candidates["quality"]
    assert (found.n, found.unjudged, found.unscored) == (5, 1, 0)  # 2/d was not judged
    # In context 1, 11 7 5 and 3 2 0: deviations times 3: 10 -2 -8 and 4 1 -5; r = 78 / sqrt(168 *
    # 42). In context 2 people found both equal.
    assert found.by_context["pearson"] == pytest.approx(78 / math.sqrt(168 * 42))
    assert (found.contexts, found.constant_contexts) == (1, 1)
    # Judged candidates of a, b, c: means 12.5, 6, 5.
    assert (found.by_system["tau_b"], found.systems) == (1, 3)


def test_systems_against_their_human_scores(length: MetricTable) -> None:
    # Means over all candidates: a (11 + 14) / 2, b (7 + 5) / 2, c (5 + 5 + 0) / 3; people 2, 1.5,
    # 0.5. Deviations, times 18 and 6: 94 -23 -71 and 4 1 -5.
    (row,) = length.rows
    assert row.systems is not None
    overall = row.systems.by_category["overall"]
    assert (overall.n, overall.statistics["tau_a"]) == (3, 1)
    r = (94 * 4 - 23 + 71 * 5) / math.sqrt((94**2 + 23**2 + 71**2) * 42)
    assert overall.statistics["pearson"] == pytest.approx(r)
    # Its only category is the aspect, for which the overall human scores stand.
    assert row.systems.mean.statistics["pearson"] == pytest.approx(r)
    # Intervals over contexts: with the contexts 1, 1 the means are 11 7 5; with 2, 2 they are
    # 14 5 2.5; both in one order.
    assert overall.intervals["tau_a"] == (1, 1)
    low, high = overall.intervals["pearson"] or (0, 0)
    # 11 7 5 against 2 1.5 0.5: deviations 10 -2 -8 (times 3) and 4 1 -5 (times 6)
    first = 78 / math.sqrt(168 * 42)
    # 14 5 2.5: deviations times 6: 41 -13 -28
    second = (41 * 4 - 13 + 28 * 5) / math.sqrt((41**2 + 13**2 + 28**2) * 42)
    # Percentiles and their reflections about r: whichever reach further.
    ends = first, second, 2 * r - first, 2 * r - second
    # Two contexts say little: the ends reach farther by Student's t of one degree of freedom.
    farther = t.ppf(0.975, 1) / norm.ppf(0.975) * math.sqrt(2)
    wanted = [max(-1, r + farther * (min(ends) - r)), min(1, r + farther * (max(ends) - r))]
    assert [low, high] == pytest.approx(wanted)


def test_a_context_category_has_the_mean_over_its_contexts(tmp_path: Path) -> None:
    folder = write_judged(tmp_path)
    category = pl.when(pl.col("context_id") == "1").then(pl.lit("cats")).otherwise(pl.lit("birds"))
    for name in ("annotations", "pairs"):
        path = folder / f"{name}.parquet"
        pl.read_parquet(path).with_columns(category=category).write_parquet(path)
    people = pl.read_parquet(folder / "human_scores.parquet")
    # In cats people rank them the other way round than overall; lengths there: 11 7 5.
    cats = people.with_columns(category=pl.lit("cats"), score=-pl.col("score"))
    pl.concat([people, cats]).write_parquet(folder / "human_scores.parquet")
    (row,) = compare_metrics(read_judged(folder), LENGTH).rows
    assert row.systems is not None
    found = {name: each.statistics["tau_a"] for name, each in row.systems.by_category.items()}
    assert found == {"overall": 1, "cats": -1}  # no pair is about birds
    assert row.systems.by_category["cats"].statistics["pearson"] == pytest.approx(
        -78 / math.sqrt(168 * 42)
    )


def test_no_number_fails_and_is_counted(judged: JudgedCandidates) -> None:
    table = compare_metrics(judged, [by_candidate("mine", {"1/a": 1.0, "1/b": 1.0})])
    (row,) = table.rows
    assert row.rates is not None
    overall = row.rates.overall
    # 1/a ties with 1/b; 1/c has no number
    assert (overall.passes, overall.ties, overall.unscored, overall.n) == (0, 1, 2, 3)
    found = row.candidates["quality"]
    assert (found.n, found.unscored, found.unjudged) == (2, 3, 1)
    assert row.systems is not None
    # 2/a; 2/b, which c wrote too; 1/c and 2/d, so that c has no number at all
    assert row.systems.unscored == {"a": 1, "b": 1, "c": 3}
    assert (
        "mine, left out: 2 tests without a score (failed); "
        "system a: 1 candidate without a score; system b: 1 candidate without a score; "
        "system c: 3 candidates without a score; quality: 1 candidate without a judgement; "
        "quality: 3 candidates without a score; "
        "quality: 1 context with equal numbers for all candidates"
    ) in metrics_notes(table)


def test_references_come_from_a_table(judged: JudgedCandidates, references: pl.DataFrame) -> None:
    found = compare_metrics(judged, find_scorers(["rouge1"]), references=references)
    scores = dict(found.scores.select("candidate_id", "score").iter_rows())
    # The best of two references. "the cat": 2 of 2 and 3 words, 4/5, and 1 of 2 and 4, 1/3.
    # "a dog" shares nothing; "birds": 1 of 1 and 3, 1/2.
    assert scores == pytest.approx(
        {"1/a": 1, "1/b": 4 / 5, "1/c": 0, "2/a": 1, "2/b": 1 / 2, "2/d": 0}
    )


def test_numbers_are_kept(judged: JudgedCandidates) -> None:
    scores = compare_metrics(judged, [*LENGTH, by_candidate("good", GOOD)]).scores
    assert scores.columns == ["scorer", "split", "context_id", "candidate_id", "score"]
    assert scores.filter(scorer="good").drop_nulls().select("candidate_id", "score").rows() == [
        *GOOD.items()
    ]
    assert scores.height == 2 * len(CANDIDATES)


# Stored runs


def test_models_of_a_run_are_rows_like_scorers(judged: JudgedCandidates, run: pl.DataFrame) -> None:
    rows = compare_metrics(judged, LENGTH, run=run, over="all").rows
    found = {row.name: row for row in rows}
    assert list(found) == ["length", "good", "bad", "NND pass rate"]
    assert [row.kind for row in found.values()] == ["scorer", "model", "model", "nnd"]
    # A scorer with the very numbers of the run gets the very row.
    for name, values in {"good": GOOD, "bad": BAD}.items():
        (same,) = compare_metrics(judged, [by_candidate(name, values)]).rows
        expected = same.to_dict() | {"kind": "model", "definition": found[name].definition}
        assert found[name].to_dict() == expected
    assert [found[name].rates.overall.pass_rate for name in ("good", "bad")] == [1, 0]  # type: ignore[union-attr]


def test_nnd_itself_is_the_agreement_of_the_pass_rates(
    judged: JudgedCandidates, run: pl.DataFrame
) -> None:
    systems = {"good": "a", "bad": "c"}
    *_, nnd = compare_metrics(judged, [], run=run, systems=systems).rows
    expected, _ = agree_scored(run, judged.pairs.human_scores, systems=systems)
    assert nnd.systems == expected
    assert nnd.systems is not None
    assert nnd.systems.by_category["overall"].statistics["tau_a"] == 1
    assert (nnd.rates, nnd.candidates, nnd.systems_reason) == (None, {}, None)


def test_models_that_stand_for_no_system_are_told(judged: JudgedCandidates) -> None:
    *_, nnd = compare_metrics(judged, [], run=run_of(judged, {"good": GOOD})).rows
    assert nnd.systems is None
    assert (nnd.systems_reason or "").startswith("agreement needs two models")


def test_a_run_on_other_pairs_or_of_a_model_called_like_a_scorer(
    judged: JudgedCandidates, run: pl.DataFrame
) -> None:
    with refusal("run.another-data"):
        compare_metrics(judged, [], run=run.with_columns(pair_id=pl.lit("f" * 16)))
    with refusal("name.twice"):
        compare_metrics(judged, LENGTH, run=run_of(judged, {"length": GOOD}))


def test_all_rows_use_the_pairs_that_all_models_were_scored_on(judged: JudgedCandidates) -> None:
    good, bad = run_of(judged, {"good": GOOD}), run_of(judged, {"bad": BAD})
    found = compare_metrics(judged, LENGTH, run=pl.concat([good.head(2), bad.tail(2)]))
    rates = [row.rates.overall for row in found.rows if row.rates is not None]
    # The second pair alone, 1/a over 1/c: longer, likelier under good, not under bad.
    assert [(rate.passes, rate.n) for rate in rates] == [(1, 1), (1, 1), (0, 1)]
    (note,) = found.notes
    assert note == "The models were scored on 1 of the 3 pairs; all rows use only these."
    assert note in found.remarks()
    assert compare_metrics(judged, LENGTH, run=good).notes == ()


# Letter case


def cased(judged: JudgedCandidates, *systems: str) -> JudgedCandidates:
    """The candidates of some systems with a capital letter."""
    text = pl.col("candidate")
    capital = pl.when(pl.col("system").is_in(systems)).then(text.str.to_titlecase()).otherwise(text)
    return replace(judged, candidates=judged.candidates.with_columns(candidate=capital))


def test_that_one_system_alone_has_capital_letters_is_said(
    judged: JudgedCandidates, references: pl.DataFrame
) -> None:
    table = references
    scorers = find_scorers(["bleu", "chrf", "rouge1"])
    one = compare_metrics(cased(judged, "a"), scorers, references=table)
    (note,) = one.notes
    assert note == (
        "Of 3 systems, only the candidates of a have capital letters, which changes bleu and chrf; "
        "--normalise lower ignores case."
    )
    assert one.remarks()[0] == note
    two = compare_metrics(cased(judged, "a", "b", "b|c"), scorers[:1], references=table)
    assert two.notes == ()  # c shares a candidate with b
    assert compare_metrics(judged, scorers, references=table).notes == ()
    assert compare_metrics(cased(judged, "a"), scorers[2:], references=table).notes == ()


def test_reference_metrics_can_compare_in_lower_case(
    judged: JudgedCandidates, references: pl.DataFrame
) -> None:
    table = references
    read: list[str] = []

    def score(texts: Sequence[Text]) -> list[float | None]:
        read.extend(text.candidate for text in texts)
        return [float(len(text.candidate)) for text in texts]

    scorers = [*find_scorers(["bleu", "chrf"]), TextScorer("mine", score)]
    options: dict[str, Any] = {"references": table, "normalise": "lower"}
    lower = compare_metrics(cased(judged, "a"), scorers, **options)
    plain = compare_metrics(judged, scorers, references=table)
    assert [row.rates for row in lower.rows] == [row.rates for row in plain.rows]
    assert lower.scores.equals(plain.scores)
    assert "The Cat Sat" in read  # scorers without references read texts as they are
    assert lower.notes == ()
    assert [row.definition.endswith("in lower case") for row in lower.rows] == [True, True, False]
    assert lower.to_dict()["normalise"] == "lower"
    assert "metrics (--normalise lower). " in lower.headline()
    assert not compare_metrics(cased(judged, "a"), scorers, references=table).scores.equals(
        plain.scores
    )


def test_likelihoods_read_texts_as_they_are(judged: JudgedCandidates) -> None:
    scorers = [TextScorer("model", lambda texts: [1.0 for _ in texts], is_likelihood=True)]
    with refusal("option.conflict"):
        compare_metrics(judged, scorers, normalise="lower")
    with refusal("option.unknown-value", "normalise"):
        metrics(data="x", normalise="nfc")  # type: ignore[call-overload]


def test_more_pairs_in_a_run_are_no_matter(judged: JudgedCandidates, run: pl.DataFrame) -> None:
    more = pl.concat([run, run.head(1).with_columns(pair_id=pl.lit("f" * 16))])
    assert compare_metrics(judged, [], run=more).rows == compare_metrics(judged, [], run=run).rows


def test_what_the_run_says_of_its_pairs_is_kept(
    judged: JudgedCandidates, run: pl.DataFrame
) -> None:
    row, *_ = compare_metrics(judged, [], run=run.with_columns(truncated=pl.lit(value=True))).rows
    assert row.rates is not None
    assert row.rates.overall.truncated == 3


# Nothing to compare with


def test_nothing_is_asked(judged: JudgedCandidates, tmp_path: Path) -> None:
    found = compare_metrics(judged, [])
    found.write(tmp_path / "out")
    assert (found.rows, pl.read_parquet(tmp_path / "out/scores.parquet").height) == ((), 0)


def test_no_pairs_and_no_people(tmp_path: Path) -> None:
    folder = write_judged(tmp_path)
    pl.read_parquet(folder / "pairs.parquet").head(0).write_parquet(folder / "pairs.parquet")
    (folder / "human_scores.parquet").unlink()
    (row,) = compare_metrics(read_judged(folder), LENGTH).rows
    assert row.rates is not None
    assert (row.rates.overall.pass_rate, row.rates.overall.n) == (None, 0)
    assert (row.systems, row.systems_reason) == (None, "the data has no human scores")
    assert row.candidates["quality"].n == 5
    assert metrics_table([row]).row_count == 1


# Like for like


def test_all_rows_are_over_the_systems_of_the_run_and_the_candidates_of_all(
    judged: JudgedCandidates, run: pl.DataFrame
) -> None:
    # The run has models for a and b, not c; its models did not score 2/a, 2/b, 2/d.
    stand_for = {"good": "a", "bad": "b"}

    found = compare_metrics(judged, LENGTH, run=run, systems=stand_for)

    overall = {row.name: row.systems.by_category["overall"].n for row in found.rows if row.systems}
    assert overall == {"length": 2, "good": 2, "bad": 2, "NND pass rate": 2}
    candidates = [row.candidates["quality"] for row in found.rows if row.kind != "nnd"]
    assert [(each.n, each.contexts, each.systems) for each in candidates] == [(3, 1, 2)] * 3
    # In context 1 alone: 11 7 5 and 3 2 0, as in `test_length_by_hand`.
    assert candidates[0].sample["pearson"] == pytest.approx(78 / math.sqrt(168 * 42))
    assert found.to_dict()["shared"] == {
        "systems": ["a", "b"],
        "other_systems": ["c"],
        "candidates": 3,
        "other_candidates": 3,
        "unscored": {"good": 3, "bad": 3},
    }
    assert (
        "all rows use the same 2 systems (a, b) and 3 candidates, without 1 system (c) and "
        "3 candidates (good lacks 3, bad lacks 3) that some metrics did not score; "
        "--over all includes them"
    ) in metrics_notes(found)
    assert found.scores.filter(scorer="length").height == len(CANDIDATES)  # all are written

    found = compare_metrics(judged, LENGTH, run=run, systems=stand_for, over="all")
    overall = {row.name: row.systems.by_category["overall"].n for row in found.rows if row.systems}
    assert overall == {"length": 3, "good": 3, "bad": 3, "NND pass rate": 2}
    counts = {row.name: row.candidates["quality"].n for row in found.rows if row.kind != "nnd"}
    assert counts == {"length": 5, "good": 3, "bad": 3}
    assert found.shared is None
    notes = metrics_notes(found)
    assert "each row uses all systems and candidates for which it has a number" in notes


def test_models_of_systems_that_others_have_no_number_of_are_left_out_of_nnd(
    judged: JudgedCandidates,
) -> None:
    # The scorer knows candidates of a and b alone.
    scorer = by_candidate("mine", {"1/a": 2.0, "1/b": 1.0})
    run = run_of(judged, {"first": GOOD, "second": BAD, "third": GOOD})
    stand_for = {"first": "a", "second": "b", "third": "c"}

    found = compare_metrics(judged, [scorer], run=run, systems=stand_for)

    nnd = found.rows[-1].systems
    assert nnd is not None
    assert nnd.systems == {"first": "a", "second": "b"}


def test_who_lacks_candidates_is_said(judged: JudgedCandidates) -> None:
    scorer = by_candidate("mine", {"1/a": 2.0, "1/b": 1.0})
    found = compare_metrics(judged, [*LENGTH, *find_scorers(["overlap"]), scorer])
    assert (
        "All rows use the same 2 systems and 2 candidates, without 1 system and 4 candidates that "
        "mine did not score."
    ) in found.remarks()


def test_a_candidate_without_words_has_no_overlap_and_stays(
    judged: JudgedCandidates, length: MetricTable
) -> None:
    both = compare_metrics(judged, [*LENGTH, *find_scorers(["overlap"])])
    assert both.rows[0] == length.rows[0]


def test_a_row_without_any_number_takes_nothing_from_the_others(judged: JudgedCandidates) -> None:
    found = compare_metrics(judged, [*LENGTH, by_candidate("none", {})])

    assert found.rows[0].candidates["quality"].n == 5
    assert found.shared is not None
    assert (found.shared.candidates, found.shared.unscored) == (6, {"none": 6})


def test_a_text_of_several_systems_counts_for_those_that_are_shared(
    judged: JudgedCandidates,
) -> None:
    # b and c wrote 2/b together; c is not shared.
    every = dict.fromkeys(GOOD, 1.0) | {"2/a": 4.0, "2/b": 2.0}
    run = run_of(judged, {"first": every, "second": every})

    found = compare_metrics(judged, LENGTH, run=run, systems={"first": "a", "second": "b"})

    assert found.rows[0].candidates["quality"].systems == 2


@pytest.mark.parametrize("over", ["both", []], ids=str)
def test_what_rows_may_be_over(over: Any, tmp_path: Path) -> None:
    with refusal("option.unknown-value"):
        metrics(data=write_judged(tmp_path), scorers=LENGTH, over=over)


def test_some_systems_alone(judged: JudgedCandidates) -> None:
    # Of a and b: 1/a and 1/b, 2/a and 2/b, which c wrote too; the one test between them.
    run = run_of(judged, {"first": GOOD, "second": BAD, "third": GOOD})
    stand_for = {"first": "a", "second": "b", "third": "c"}

    found = compare_metrics(judged, LENGTH, run=run, systems=stand_for, over=["b", "a"])

    assert found.scores.filter(scorer="length")["candidate_id"].to_list() == [
        *("1/a", "1/b", "2/a", "2/b")
    ]
    assert [row.rates.overall.n for row in found.rows if row.rates] == [1] * 4
    assert found.people == {"quality": {"a": MeanJudgement(2.0, 2), "b": MeanJudgement(1.5, 2)}}
    length, *_, nnd = found.rows
    assert length.systems is not None
    assert nnd.systems is not None
    assert length.systems.by_category["overall"].n == 2
    assert nnd.systems.systems == {"first": "a", "second": "b"}


# Which number of people


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"rule": "gap", "minimum": 1}, "the candidate's score"),
        ({"rule": "credit", "high": [1], "low": [0]}, "the candidate's score"),
        ({"rule": "majority", "top": 5}, "the mean of the candidate's ratings"),
        (
            {"rule": "no_error", "no_error": "No error"},
            '1 if "No error" is the only label of the candidate, 0 otherwise',
        ),
        (
            {"rule": "order", "better": [["good", "fair"], ["fine", "bad"], ["fair", "bad"]]},
            '1 if all labels of the candidate are among "fine", "good", 0 otherwise',
        ),
    ],
)
def test_what_people_said_is_named(tmp_path: Path, rule: dict[str, Any], said: str) -> None:
    folder = write_judged(tmp_path)
    write_sealed(folder / "manifest.json", {"source": {"quality": rule}})
    if rule["rule"] in ("no_error", "order"):  # scores beside labels would count
        path = folder / "annotations.parquet"
        pl.read_parquet(path).with_columns(score=pl.lit(None, pl.Float64)).write_parquet(path)

    found = compare_metrics(read_judged(folder), LENGTH)

    assert found.judgement == said
    notes = metrics_notes(found)
    assert f"judgements of candidates: {said}" in notes
    assert "overall, human score: invented (aspect quality)" in notes


# What is written and shown


def test_what_is_written(judged: JudgedCandidates, tmp_path: Path) -> None:
    found = compare_metrics(judged, LENGTH, run=run_of(judged, {"good": GOOD}))
    for _ in range(2):  # the second time over the first
        found.write(tmp_path / "new" / "out")
    out = tmp_path / "new" / "out"
    assert sorted(path.name for path in out.iterdir()) == ["metrics.json", "scores.parquet"]
    assert list(read_document(out / "metrics.json")["outputs"]) == ["scores.parquet"]
    assert read_facts(out / "metrics.json") == found.to_dict()
    assert pl.read_parquet(out / "scores.parquet").equals(found.scores)


def test_what_nnd_leaves_out_of_the_systems_is_told(judged: JudgedCandidates) -> None:
    run = run_of(judged, {"good": GOOD, "bad": {"1/a": 1.0}, "other": GOOD})
    found = compare_metrics(judged, [], run=run, systems={"good": "a", "bad": "c"})
    notes = metrics_notes(found)
    # bad has no likelihood for 1/b and 1/c, one of which is in each of the three tests
    assert (
        "NND pass rate, left out: system bad: 3 tests without a score (failed); "
        "models not matched to a system: other"
    ) in notes


def test_systems_left_out_of_one_category_are_told(length: MetricTable) -> None:
    (row,) = length.rows
    assert row.systems is not None
    overall = replace(row.systems.by_category["overall"], dropped=2)
    systems = replace(row.systems, by_category={"overall": overall}, scores_missing=1)
    shown = replace(length, rows=(replace(row, systems=systems),))
    (note,) = [each for each in metrics_notes(shown) if "left out" in each]
    assert "overall: 2 systems without one of the two numbers; 1 missing human score;" in note


def test_systems_without_numbers_have_a_reason_of_their_own(judged: JudgedCandidates) -> None:
    (row,) = compare_metrics(judged, [by_candidate("mine", {"1/a": 1.0})]).rows
    assert row.systems is None
    assert row.systems_reason == (
        "agreement needs at least two systems with both a human score and a mean score; known: a"
    )


def test_what_a_scorer_knows_afterwards_joins_its_definition(judged: JudgedCandidates) -> None:
    asked: list[int] = []

    def score(texts: Sequence[Text]) -> list[float | None]:
        asked.append(len(texts))
        return [None] * len(texts)

    scorer = TextScorer("mine", score, "mine", made_with=lambda: f"model of {len(asked)} use")
    (row,) = compare_metrics(judged, [scorer]).rows
    assert row.definition == "mine; model of 1 use"


def test_one_aspect_shows_an_interval_and_several_none(length: MetricTable) -> None:
    contexts = {f"{n}": (float(n), float(n % 4)) for n in range(8)}
    rows = [(name, "a", score, human) for name, (score, human) in contexts.items()]
    schema = ["context_id", "system", "score", "human"]
    frame = pl.DataFrame(rows, schema, orient="row").with_columns(split=pl.lit("test"))
    found = correlate_candidates(frame)
    bounds = found.sample_intervals["spearman"]
    assert bounds is not None
    (row,) = length.rows

    def cell(aspects: dict[str, CandidateAgreement]) -> str:
        table = metrics_table([replace(row, candidates=aspects)])
        (pooled,) = [column for column in table.columns if column.header == "pooled Spearman"]
        return str(*pooled.cells)

    shown = f"{found.sample['spearman']:.3f}"
    assert cell({"x": found}) == f"{shown}\n[{bounds[0]:.2f}, {bounds[1]:.2f}]"
    assert cell({"x": found, "y": found}) == shown


def test_aspects_are_shown_by_their_mean(tmp_path: Path) -> None:
    folder = write_judged(tmp_path)
    rows = pl.read_parquet(folder / "annotations.parquet")
    other = rows.with_columns(aspect=pl.lit("style"), score=-pl.col("score"))
    pl.concat([rows, other]).write_parquet(folder / "annotations.parquet")
    shown = compare_metrics(read_judged(folder), LENGTH)
    (row,) = shown.rows
    found = row.candidates
    assert found["style"].sample["tau_b"] == pytest.approx(-(found["quality"].sample["tau_b"] or 0))
    table = metrics_table([row])
    (pooled,) = [column for column in table.columns if column.header == "pooled tau-b"]
    assert [str(cell).lstrip("-") for cell in pooled.cells] == ["0.000"]
    notes = metrics_notes(shown)
    assert "candidates: mean over 2 aspects; --aspect selects one" in notes
    assert lines(people_table(shown.people))[2:5] == [
        *("a 2.000 -2.000", "b 1.500 -1.500", "c 0.500 -0.500")
    ]


def test_a_scorer_that_ties_most_tests_is_told_of(judged: JudgedCandidates) -> None:
    def blind(texts: Sequence[Text]) -> list[float | None]:
        return [0.0] * len(texts)

    found = compare_metrics(judged, [*LENGTH, TextScorer("blind", blind)])
    said = [each for each in found.remarks() if "gives both texts the same number" in each]
    (only,) = said
    assert only.startswith("blind gives both texts the same number in 3 of 3 tests: ")
