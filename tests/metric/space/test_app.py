"""The page to try the metric on: what it computes, and its HTML."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.html_reader import Reader
from support.metric_runs import run_python, save_model, write_pairs
from support.screens.guide import RUN
from support.screens.stored_screen import LIMIT

import nnd.metric.space.metric
from nnd.converters.folder.conversion import convert
from nnd.metric.data import choose_part
from nnd.metric.data.pairs import load_pairs
from nnd.metric.likelihood import Scoring
from nnd.metric.numbers.rates.baselines import BASELINES
from nnd.metric.run import evaluate as evaluate_models
from nnd.metric.run.version import VERSION
from nnd.metric.space import app, trial_html, trials
from nnd.metric.space.trial_html import mark_differences, show, show_problem, show_weighing
from nnd.metric.space.trials import Trial, example, try_model, weigh
from nnd.metric.text.encoding.protocols import PROTOCOLS
from nnd.schemas import ScoringError, check_rows

HOSTILE = "<script>alert(1)</script></div>\u202e&amp;\"'"


# --- what it computes -------------------------------------------------------------------------


@pytest.fixture
def _metric_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module that is loaded already, for what does not test the loading."""
    for module in (app, trials):
        monkeypatch.setattr(module, "metric", lambda: nnd.metric.space.metric)


@pytest.mark.usefixtures("_metric_of_the_package")
def test_a_trial_is_what_the_command_computes(tmp_path: Path) -> None:
    model, data = save_model("gpt2", tmp_path), write_pairs(tmp_path)
    trial = try_model(str(data), model)
    expected = evaluate_models(model, data)
    assert trial.result == expected.results[0].to_dict()
    failed = trial.result["n"] - trial.result["passes"]
    assert trial.failures["tests"].sum() == failed > 0
    assert trial.failures["margin"].max() <= 0  # type: ignore[operator]
    assert trial.failures["margin"].is_sorted()


@pytest.mark.usefixtures("_metric_of_the_package")
def test_data_that_was_changed_is_a_problem_that_the_page_shows(tmp_path: Path) -> None:
    data = tmp_path / "sample"
    convert("sample", out=data)
    pairs = pl.read_parquet(data / "pairs.parquet")
    pairs.head(5).write_parquet(data / "pairs.parquet")
    (told,) = Reader(app.evaluate(str(data), "gpt2")).texts
    assert "pairs.parquet: changed since it was written" in told


@pytest.mark.usefixtures("_metric_of_the_package")
@pytest.mark.parametrize("protocol", ["native", "sum"])
def test_two_texts_of_ones_own_are_weighed_as_pairs_are(protocol: str, tmp_path: Path) -> None:
    model = save_model("gpt2", tmp_path)
    row = {"context": "The cat sat.", "candidate_high": "a cat", "candidate_low": "the mat"}
    expected = evaluate_models(model, [row], scoring=Scoring(protocol=protocol)).scored
    values, _ = weigh(model, "The cat sat.", ("a cat", "the mat"), protocol)
    assert values == (expected["ll_high"].item(), expected["ll_low"].item())
    shown = app.weigh_own(model, "The cat sat.", "a cat", "the mat", protocol)
    unit = "nats" if protocol == "sum" else "nats per token"
    assert f" {unit}." in Reader(shown).texts[0]


@pytest.mark.usefixtures("_metric_of_the_package")
@pytest.mark.parametrize(
    ("model", "candidates", "told"),
    [
        ("", ("a", "b"), "Name a model, and write two candidates."),
        ("gpt2", ("a", ""), "Name a model, and write two candidates."),
        ("gpt2", ("a", "a"), "are the same text"),
        ("./nowhere", ("a", "b"), "./nowhere: no such model"),
    ],
)
def test_texts_that_cannot_be_weighed(model: str, candidates: tuple[str, str], told: str) -> None:
    with pytest.raises(ScoringError, match=re.escape(told)):
        weigh(model, "c", candidates)


@pytest.mark.usefixtures("_metric_of_the_package")
def test_the_example_is_of_the_kept_run_and_the_data_as_it_is(tmp_path: Path) -> None:
    convert("quiz_design", out=tmp_path / "quiz")
    pairs = choose_part(
        load_pairs(tmp_path / "quiz"),
        splits=(),
        limit=LIMIT,
        categories=(),
        held_out=None,
        split_seed=0,
    )
    found = example()
    kept = RUN / "native/quiz_design/result.json"
    assert [found.result] == json.loads(kept.read_text(encoding="utf-8"))["results"]
    assert f"|data:quiz_design@{pairs.version[:6]}|" in found.result["signature"]
    assert found.result["signature"].startswith(f"nnd|v:{VERSION}|")
    whole = {"results": [found.result], "agreement": None, "agreement_reason": None}
    assert list(check_rows("result", [whole])) == []
    texts = set(pairs.pairs["candidate_high"])
    assert set(found.failures["candidate_high"]) <= texts
    assert found.failures["tests"].sum() == found.result["n"] - found.result["passes"]


@pytest.mark.usefixtures("_metric_of_the_package")
def test_two_models_are_shown_beside_each_other_and_one_alone(tmp_path: Path) -> None:
    data = str(write_pairs(tmp_path))
    models = [save_model(kind, tmp_path) for kind in ("gpt2", "t5")]
    words = " ".join(Reader(app.evaluate(data, *models)).texts)
    a, b = (try_model(data, model) for model in models)
    for mine, other in ((a, b), (b, a)):
        assert f"{mine.result['model']} {len(other.failed - mine.failed)}" in words
        assert f"{100 * mine.result['pass_rate']:.1f} % of {mine.result['n']} tests" in words
    assert len(a.failed) == a.result["n"] - a.result["passes"]
    for second in ("", models[0]):
        assert 'class="beside"' not in app.evaluate(data, models[0], second)


@pytest.mark.usefixtures("_metric_of_the_package")
@pytest.mark.parametrize(
    ("dataset", "model", "told"),
    [
        ("", "gpt2", "Name a dataset"),
        ("org/quiz", "", "Name a model"),
        ("no/such/folder", "gpt2", "file or folder not found"),
    ],
)
def test_what_cannot_be_used_is_a_scoring_error(dataset: str, model: str, told: str) -> None:
    with pytest.raises(ScoringError, match=told):
        try_model(dataset, model)


@pytest.mark.full
def test_in_a_clone_the_page_tries_the_installed_metric(tmp_path: Path) -> None:
    program = "from nnd.metric.space import app; print(app.metric().__name__, end='')"
    printed = run_python(["-c", program], folder=tmp_path, home=tmp_path / "home")
    assert printed == "nnd.metric.space.metric"


def failures(*rows: tuple[str, str, str | None, float | None]) -> list[dict[str, Any]]:
    """Of pairs (test, candidate_low, error_category, ll_high; ll_low is -1), those that fail."""
    pairs = pl.DataFrame(
        {
            "context": ["c"] * len(rows),
            "candidate_high": ["h"] * len(rows),
            "candidate_low": [low for _, low, _, _ in rows],
            "split": ["test"] * len(rows),
            "context_id": ["1"] * len(rows),
            "high_id": ["high"] * len(rows),
            "low_id": [test for test, _, _, _ in rows],
            "error_category": pl.Series([label for _, _, label, _ in rows], dtype=pl.String),
            "margin": [0.5] * len(rows),  # of human scores: not the one that is meant
        }
    )
    high = pl.Series([ll for _, _, _, ll in rows], dtype=pl.Float64)
    passed = (high > -1.0).fill_null(value=False)
    scored = pl.DataFrame({"passed": passed, "ll_high": high, "ll_low": [-1.0] * len(rows)})
    return (
        trials._failures(pairs, scored)
        .select("candidate_low", "error_category", "margin", "tests")
        .to_dicts()
    )


def test_failures_come_worst_first_and_undefined_last() -> None:
    found = failures(
        ("a", "a", "x", None), ("b", "b", "x", -1.5), ("c", "c", "x", -4), ("d", "d", "x", 0)
    )
    # Margins: -1.5 + 1 = -0.5 and -4 + 1 = -3; d passes.
    assert [(row["candidate_low"], row["margin"]) for row in found] == [
        ("c", -3.0),
        ("b", -0.5),
        ("a", None),
    ]


def test_one_test_of_two_error_categories_is_shown_once() -> None:
    (row,) = failures(("a", "a", "x", -2), ("a", "a", "y", -2), ("a", "a", "x", -2))
    assert (row["error_category"], row["tests"]) == ("x, y", 1)


def test_same_texts_of_two_systems_are_shown_once_and_count_twice() -> None:
    (row,) = failures(("a", "same", "x", -2), ("b", "same", "x", -2))
    assert row["tests"] == 2


def test_without_error_categories_there_is_no_label() -> None:
    (row,) = failures(("a", "a", None, -2))
    assert row["error_category"] is None


# --- HTML -------------------------------------------------------------------------------------


def rate(pass_rate: float | None, n: int, interval: list[float] | None) -> dict[str, Any]:
    return {"pass_rate": pass_rate, "n": n, "interval": interval}


def trial(**changes: Any) -> Trial:
    baseline = {"with_coin": 0.625, "lead_interval": [0.0625, 0.25]}
    result = {
        **rate(0.75, 1200, [0.5, 0.875]),
        "ties": 3,
        "unscored": 0,
        "truncated": 0,
        "by_error_category": {
            "wrong_fact": rate(0.25, 400, [0.125, 0.5]),
            "odd": rate(1.0, 1, None),
        },
        "baselines": {"shorter_wins": baseline, "copy_wins": None},
        "length_matched": rate(0.5, 40, None),
        "notes": ["a note"],
        "signature": "nnd|v:0.1.0",
    }
    row = {
        "context": "a context",
        "candidate_high": "high",
        "candidate_low": "low",
        "error_category": "wrong_fact",
        "margin": -0.25,
        "tests": 1,
    }
    table = pl.DataFrame([row | changes.pop("row", {})]).select(
        pl.all().repeat_by(changes.pop("rows", 1)).explode()
    )
    return Trial({**result, **changes}, table)


def test_the_page_tells_the_numbers() -> None:
    read = Reader(show(trial()))
    assert read.open == []
    shown = " ".join(read.texts)
    assert "75.0 % of 1,200 tests passed, 95 % interval 50.0 to 87.5" in shown
    assert "3 equal likelihoods, counted as failures" in shown
    assert "wrong_fact 25.0 % 12.5 to 50.0 n = 400" in shown
    assert "picking the shorter text 62.5 % worse" in shown
    assert "by at most 10 %, the model passes 50.0 % of 40 tests." in shown
    assert "a note" in shown
    assert (
        "1 failed test wrong_fact margin \u22120.250 a context better according to people high"
        in shown
    )
    assert shown.endswith("nnd|v:0.1.0")


@pytest.mark.parametrize(
    ("lead", "verdict"),
    [
        ([0.01, 0.2], "worse"),
        ([-0.2, -0.01], "better"),
        ([-0.2, 0.0], "no significant difference"),
        (None, "no significant difference"),  # all tests are of one context
    ],
)
def test_a_baseline_is_compared_by_the_interval_of_the_lead(lead: Any, verdict: str) -> None:
    baseline = {"with_coin": 0.5, "lead_interval": lead}
    assert verdict in Reader(show(trial(baselines={"unconditional": baseline}))).texts


def test_bars_and_dots_are_where_the_numbers_are() -> None:
    styles = Reader(show(trial())).styles
    assert styles == [
        "left:50.00%;width:37.50%",  # from 50 to 87.5
        "left:75.00%",
        "left:12.50%;width:37.50%",  # from 12.5 to 50
        "left:25.00%",
        "left:100.00%;width:0.00%",  # no interval
        "left:100.00%",
    ]


def test_what_is_undefined_is_said() -> None:
    read = Reader(show(trial(**rate(None, 0, None), by_error_category={}, length_matched=None)))
    assert "no test" in read.texts
    assert "These pairs have no error categories." in read.texts
    assert read.styles == []


def test_only_the_worst_failures_are_shown() -> None:
    read = Reader(show(trial(rows=trial_html.MOST_SHOWN + 1)))
    assert (
        f"{trial_html.MOST_SHOWN + 1} failed tests: the {trial_html.MOST_SHOWN} worst" in read.texts
    )
    assert read.tags.count("article") == trial_html.MOST_SHOWN


@pytest.mark.parametrize(
    ("texts", "marked"),
    [
        (("a b c", "a d c"), ("a <mark>b</mark> c", "a <mark>d</mark> c")),
        (("Brasília.", "Brasília?"), ("Brasília<mark>.</mark>", "Brasília<mark>?</mark>")),
        (("a", "a b"), ("a", "a<mark> b</mark>")),
        (("a b", "a  b"), ("a b", "a  b")),  # a blank is no word
        (("<b>", "<i>"), ("&lt;<mark>b</mark>&gt;", "&lt;<mark>i</mark>&gt;")),
        (("x " * 1001, "y"), ("x " * 1001, "y")),  # too long to look for
    ],
)
def test_words_that_differ_are_marked(texts: tuple[str, str], marked: tuple[str, str]) -> None:
    assert mark_differences(*texts) == marked


@pytest.mark.parametrize(
    ("log_likelihoods", "told"),
    [
        ((-1.0, -1.25), "The first candidate is more likely, by 0.250 nats per token."),
        ((-3.0, -1.0), "The second candidate is more likely, by 2.000 nats per token."),
        ((-1.0, -1.0), "Both candidates are equally likely."),
        ((None, -1.0), "A candidate without scored tokens has no likelihood."),
    ],
)
def test_which_is_likelier_and_by_how_much(
    log_likelihoods: tuple[float | None, float | None], told: str
) -> None:
    read = Reader(show_weighing(("a b", HOSTILE), log_likelihoods, "native", HOSTILE))
    assert read.open == []
    assert read.texts[0] == told
    assert "script" not in read.tags
    values = ["none" if each is None else f"\u2212{-each:.3f}" for each in log_likelihoods]
    for which, value in zip(("first", "second"), values, strict=True):
        assert f"{which} candidate, log-likelihood {value}" in read.texts


def test_no_failure_is_said_so() -> None:
    assert "No test failed" in Reader(show(trial(rows=0))).texts


def test_texts_from_data_are_shown_as_they_are() -> None:
    texts = ("context", "candidate_high", "candidate_low", "error_category")
    plain = Reader(show(trial()))
    changed = trial(
        row=dict.fromkeys(texts, HOSTILE),
        by_error_category={HOSTILE: rate(0.25, 400, [0.125, 0.5]), "odd": rate(1.0, 1, None)},
        notes=[HOSTILE],
        signature=HOSTILE,
    )
    read = Reader(show(changed))
    without_marks = [[tag for tag in each.tags if tag != "mark"] for each in (read, plain)]
    assert without_marks[0] == without_marks[1]
    assert read.texts.count(HOSTILE) == 7
    assert Reader(show_problem(HOSTILE)).texts == [HOSTILE]


def test_the_page_knows_every_protocol_and_baseline() -> None:
    assert list(PROTOCOLS) == list(app.PROTOCOLS)
    assert set(BASELINES) == set(trial_html.BASELINES)
