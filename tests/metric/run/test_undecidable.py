"""Tests whose two texts are the same tokens: counted apart, never passed, wherever they appear."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from support.models.masked_models import build_masked
from support.tiny_models import Family
from tokenizers import Regex, normalizers

from nnd.metric.data import READING_SCHEMA, PairSet, load_pairs, read_run
from nnd.metric.data.completion import complete_pairs
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.likelihood.engine.answers import Likelihoods
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.numbers import pass_rates, rate_frame, slice_runs
from nnd.metric.numbers.comparison.comparing import compare
from nnd.metric.run import evaluate, merge
from nnd.metric.run.pair_scoring import score_pairs
from nnd.metric.show.tables.pass_rates import pass_rate_table, slices_table
from nnd.metric.show.tables.slices import slice_rates_table
from nnd.metric.text.encoding.templates import TEMPLATES, Form, Template

Tiny = Callable[[str], Family]
PLAIN = Scoring(cache=False)

CASED = [
    ("the river", "The Cat", "the cat", "case"),  # the same without case
    ("the hill", "over it", "OVER IT", "case"),  # the same
    ("who wrote it?", "nobody", "a book", "wrong"),
    ("in 1884", "Tesla", "paris", "wrong"),
]
"""Two of four tests differ in nothing but case."""


def frame(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    names = ["context", "candidate_high", "candidate_low", "error_category"]
    return pl.DataFrame(rows, names, orient="row")


def kept(*rows: tuple[str, str, str, str]) -> PairSet:
    """Pairs, those of texts that are equal after NFC included, which reading data leaves out."""
    both = frame(*rows)
    return replace(load_pairs(both.clear()), pairs=complete_pairs(both, "frame").pairs)


def normalising(tiny: Tiny, family: str, normalizer: Any) -> LoadedModel:
    """A tiny model whose tokenizer loses something before it reads."""
    tokenizer = copy.deepcopy(tiny(family).tokenizer)
    tokenizer.backend_tokenizer.normalizer = normalizer
    return wrap_model(tiny(family).model, tokenizer, name=f"{family}-lossy")


@pytest.fixture(scope="module")
def uncased(tiny: Tiny) -> LoadedModel:
    return normalising(tiny, "gpt2", normalizers.Lowercase())


@pytest.mark.parametrize(
    ("normalizer", "high", "low"),
    [
        (normalizers.Lowercase(), "Polish", "polish"),
        (normalizers.NFC(), "caf\u00e9 one", "cafe\u0301 one"),
        (normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]), "pêche", "péché"),
        (normalizers.NFKC(), "2\u00b2 is 4", "22 is 4"),
        (normalizers.Replace(Regex(r"\s+"), " "), "a list\nof two", "a list of two"),
        (normalizers.Replace("-", ""), "re-cover", "recover"),
        (normalizers.Strip(), "a cat  ", "a cat"),
    ],
)
@pytest.mark.parametrize("family", ["gpt2", "bart"])
def test_what_a_normaliser_loses(
    tiny: Tiny, family: str, normalizer: Any, high: str, low: str
) -> None:
    lossy = normalising(tiny, family, normalizer)
    plain = wrap_model(tiny(family).model, tiny(family).tokenizer, name="plain")
    data = kept(("the river", high, low, "x"), ("the river", "the cat", "a dog", "y"))
    scored, whole = (
        score_pairs(data, Engine(model), TEMPLATES["default"]) for model in (lossy, plain)
    )
    assert scored["same_tokens"].to_list() == [True, False]
    assert scored["tie"].to_list() == [True, False]
    assert whole["same_tokens"].to_list() == [False, False]
    assert scored.select("unknown_high", "unknown_low").sum().row(0) == (0, 0)


@pytest.mark.parametrize("protocol", ["native", "laban2022", "sum", "bytes", "pmi"])
def test_under_every_protocol(uncased: LoadedModel, protocol: str) -> None:
    scored = score_pairs(load_pairs(frame(*CASED)), Engine(uncased, protocol), TEMPLATES["default"])
    assert scored["same_tokens"].to_list() == [True, True, False, False]
    assert scored["tie"].to_list() == [True, True, False, False]
    assert not scored["passed"][:2].any()


@pytest.mark.parametrize("protocol", ["pll", "pll-original"])
def test_of_a_masked_model(protocol: str) -> None:
    model, tokenizer = build_masked("roberta")
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    loaded = wrap_model(model, tokenizer, name="uncased")
    scored = score_pairs(load_pairs(frame(*CASED)), Engine(loaded, protocol), TEMPLATES["default"])
    assert scored["same_tokens"].to_list()[:2] == [True, True]


def test_bytes_do_not_decide(tiny: Tiny) -> None:
    """The same tokens, but more bytes: the sum divided by them would be nearer to 0."""
    strip = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    data = load_pairs(frame(("the hill", "éééé", "eeee", "x")))
    engine = Engine(normalising(tiny, "gpt2", strip), "bytes")
    scored = score_pairs(data, engine, TEMPLATES["default"])
    assert scored["ll_high"][0] > scored["ll_low"][0]
    assert scored.select("passed", "tie", "same_tokens").row(0) == (False, True, True)


def test_texts_without_a_token_are_undecidable_and_unscored(tiny: Tiny) -> None:
    nothing = normalising(tiny, "gpt2", normalizers.Replace(Regex(r"[^a-z ]"), ""))
    scored = score_pairs(
        load_pairs(frame(("the hill", "渡轮", "蜜蜂", "x"))), Engine(nothing), TEMPLATES["default"]
    )
    assert scored.select("passed", "tie", "same_tokens").row(0) == (False, False, True)
    rate = pass_rates(scored).overall
    assert (rate.undecidable, rate.unscored, rate.ties) == (1, 1, 0)


def test_counts_by_slice(uncased: LoadedModel) -> None:
    rates = evaluate(uncased, frame(*CASED), scoring=PLAIN).results[0].rates
    assert (rates.overall.undecidable, rates.overall.ties) == (2, 2)
    by = {name: rate.undecidable for name, rate in rates.by["error_category"].items()}
    assert by == {"case": 2, "wrong": 0}
    counts = rate_frame({"m": rates}).filter(pl.col("slice") == "error_category")
    assert counts.select("value", "undecidable").rows() == [("case", 2), ("wrong", 0)]


def test_a_test_of_two_categories_counts_once(uncased: LoadedModel) -> None:
    rows = [*CASED, (*CASED[0][:3], "rude")]
    rates = evaluate(uncased, frame(*rows), scoring=PLAIN).results[0].rates
    assert (rates.overall.n, rates.overall.undecidable) == (4, 2)


def test_caveats(uncased: LoadedModel) -> None:
    (result,) = evaluate(uncased, frame(*CASED), scoring=PLAIN).results
    said = (
        "2 of 4 tests are undecidable for this model: its tokenizer reads both texts as the same "
        "tokens"
    )
    assert result.notes[0] == said
    assert not any("does not know" in note for note in result.notes)


def test_a_hundredth_is_not_mentioned(uncased: LoadedModel) -> None:
    others = [(f"context {n}", f"the cat {n}", f"a dog {n}", "x") for n in range(99)]
    found = evaluate(uncased, frame(CASED[0], *others), scoring=PLAIN)
    assert found.results[0].rates.overall.undecidable == 1
    assert not any("undecidable" in note for note in found.results[0].notes)


def test_tables_by_category_and_slice_count_them(uncased: LoadedModel, tmp_path: Path) -> None:
    (result,) = evaluate(uncased, frame(*CASED), scoring=PLAIN, out=tmp_path / "run").results
    shown = {"m": result.rates}
    said = "m: undecidable tests, which fail: all 2 of 4, "
    assert f"{said}case 2 of 2" in str(pass_rate_table(shown).caption)
    assert f"{said}error category: case 2 of 2" in str(slices_table(shown).caption)
    table = slice_rates_table(slice_runs([tmp_path / "run"], by=["error_category"]))
    assert "all 2 of 4, error_category=case 2 of 2" in str(table.caption)
    decided = evaluate(uncased, frame(*CASED[2:]), scoring=PLAIN).results[0].rates
    assert "undecidable" not in str(slices_table({"m": decided}).caption)


def test_the_first_screen_says_it(uncased: LoadedModel) -> None:
    assert "2 of 4 tests are undecidable" in " ".join(
        evaluate(uncased, frame(*CASED), scoring=PLAIN).remarks()
    )


def test_unknown_characters_by_hand(tiny: Tiny) -> None:
    """T5's tokenizer: its vocabulary has no Chinese and no braces."""
    t5 = wrap_model(tiny("t5").model, tiny("t5").tokenizer, name="t5")
    data = frame(
        ("{the river}", "渡轮", "蜜蜂", "zh"),  # 2 of 11; 2 of 2; 2 of 2
        ("the hill", "over {it}", "over it", "braces"),  # 0 of 8; 2 of 9; 0 of 7
    )
    result = evaluate(t5, data, scoring=PLAIN).results[0]
    rows = evaluate(t5, data, scoring=PLAIN).scored.select(*READING_SCHEMA).rows()
    assert rows == [(True, 2, 2, 2, 11), (False, 2, 0, 0, 8)]
    overall = result.rates.overall
    assert (overall.unknown, overall.unknown_context) == (6 / 20, 2 / 19)
    assert result.rates.by["error_category"]["zh"].unknown == 1.0
    assert result.notes[1] == (
        "its tokenizer does not know 30.0 % of the characters of the candidates and 10.5 % of the "
        "characters of the contexts"
    )


def test_what_a_template_writes_does_not_count(tiny: Tiny) -> None:
    t5 = wrap_model(tiny("t5").model, tiny("t5").tokenizer, name="t5")
    form = Form("渡轮: {context}\n渡轮:", candidate_prefix="渡轮 ")
    template = Template("mine", (form,))
    scored = score_pairs(load_pairs(frame(("the hill", "it", "东a", "x"))), Engine(t5), template)
    context, characters = scored.select("unknown_context", "characters_context").row(0)
    assert (context, characters) == (0, 8)


def test_shards_add_up(uncased: LoadedModel, tmp_path: Path) -> None:
    rows = [row for n in range(6) for row in ((f"{c} {n}", h, w, e) for c, h, w, e in CASED)]
    data = tmp_path / "data"
    data.mkdir()
    frame(*rows).write_parquet(data / "pairs.parquet")
    whole = evaluate(uncased, data, scoring=PLAIN, out=tmp_path / "whole")
    for worker in (1, 2):
        evaluate(uncased, data, scoring=PLAIN, out=tmp_path / "parts", worker=(worker, 2))
    joined = merge(tmp_path / "parts")
    assert joined.results[0].rates.overall.undecidable == 12
    assert joined.results[0].rates == whole.results[0].rates
    assert joined.results[0].notes == whole.results[0].notes
    columns = ("pair_id", *READING_SCHEMA)
    found, expected = (
        read_run(tmp_path / name).select(columns).sort("pair_id") for name in ("parts", "whole")
    )
    assert found.equals(expected)


def test_compared_models(uncased: LoadedModel, tiny: Tiny, tmp_path: Path) -> None:
    cased = wrap_model(tiny("gpt2").model, tiny("gpt2").tokenizer, name="cased")
    evaluate([uncased, cased], frame(*CASED), scoring=PLAIN, out=tmp_path / "run")
    (found,) = compare([tmp_path / "run"])
    assert found.overall.undecidable == 2
    assert "2 tests are undecidable for one model or both" in " ".join(found.remarks())


def test_older_runs_do_not_know(uncased: LoadedModel, tmp_path: Path) -> None:
    evaluate(uncased, frame(*CASED), scoring=PLAIN, out=tmp_path / "run")
    path = tmp_path / "run/log_likelihoods.parquet"
    pl.read_parquet(path).drop(*READING_SCHEMA).write_parquet(path)
    (tmp_path / "run/result.json").unlink()
    rows = read_run(tmp_path / "run")
    assert rows.select(*READING_SCHEMA).null_count().row(0) == (4,) * len(READING_SCHEMA)
    rate = pass_rates(rows).overall
    assert (rate.undecidable, rate.unknown, rate.unknown_context) == (None, None, None)
    assert rate.ties == 2


def test_a_scorer_without_a_tokenizer_does_not_know() -> None:
    def scorer(requests: Any) -> Likelihoods:
        n = len(requests)
        return Likelihoods(np.zeros(n), np.ones(n, np.int64), np.zeros(n, np.bool_))

    scored = score_pairs(load_pairs(frame(*CASED)), scorer, TEMPLATES["default"])
    assert pass_rates(scored).overall.undecidable is None
    assert scored["tie"].all()


@pytest.mark.parametrize("family", ["gpt2", "bart", "llama"])
def test_bytes_know_everything(tiny: Tiny, family: str) -> None:
    model = wrap_model(tiny(family).model, tiny(family).tokenizer, name=family)
    data = frame(("渡轮 ☃", "{the} cat\n😀", "{THE} cat\n😀", "x"))
    rate = evaluate(model, data, scoring=PLAIN).results[0].rates.overall
    assert (rate.undecidable, rate.unknown, rate.unknown_context) == (0, 0.0, 0.0)
