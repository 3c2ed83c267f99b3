"""What is said of a pass rate that the surface of the texts may explain."""

import hashlib
import itertools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from support.two_models import lengths, scored

from nnd.metric.data.pairs import load_pairs
from nnd.metric.likelihood import Scoring
from nnd.metric.likelihood.engine.answers import Likelihoods, Scorer
from nnd.metric.numbers.rates.caveats import brief_caveat, caveats, few_tokens
from nnd.metric.numbers.rates.pass_rates import pass_rates
from nnd.metric.run import Evaluation, evaluate, merge
from nnd.metric.run.pair_scoring import score_pairs
from nnd.metric.text.encoding.requests import Request
from nnd.metric.text.encoding.templates import TEMPLATES


def said(verdicts: str, **columns: Any) -> tuple[str, ...]:
    return caveats(pass_rates(scored("x", verdicts, **columns)).overall)


def as_scorer(value: Callable[[Request], float]) -> Scorer:
    def score(requests: Sequence[Request]) -> Likelihoods:
        n = len(requests)
        values = np.array([value(request) for request in requests])
        return Likelihoods(values, np.ones(n, dtype=np.int64), np.zeros(n, dtype=np.bool_))

    return score


# A model that knows nothing but length

# 300 contexts. In 240 the good answer is short and the bad one long, in 20 the other way round; in
# 40 both are of one length. What is good about the good one is the word "right".
PAIRS = pl.DataFrame(
    [
        (f"Question {number}?", f"{number} right {'so ' * good}", f"{number} wrong {'so ' * bad}")
        for number in range(300)
        for good, bad in [(2, 9) if number < 240 else (9, 2) if number < 260 else (4, 4)]
    ],
    ["context", "candidate_high", "candidate_low"],
    orient="row",
)


def noise(text: str) -> float:
    """A number from 0 to 1 that says nothing about the text, and is always the same."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8


def verdict_on(scorer: Scorer) -> tuple[float | None, tuple[str, ...]]:
    overall = pass_rates(score_pairs(load_pairs(PAIRS), scorer, TEMPLATES["default"])).overall
    return overall.pass_rate, caveats(overall)


def test_a_model_that_prefers_short_texts_is_seen_through() -> None:
    rate, sentences = verdict_on(as_scorer(lambda request: noise(request[1]) - len(request[1])))
    assert rate is not None
    assert rate > 0.8  # 240 of 300, and a coin for 40
    first, second = sentences
    assert first.startswith(
        "always picking the shorter text passes 86.7 % of 300 tests (40 undecided tests count "
        f"half), the model {100 * rate:.1f} %; the difference is not significant"
    )
    assert re.search(
        r"; where lengths match within 10 %, the model passes [4-6]\d\.\d % \[.+\] of 40$", first
    )
    assert second.startswith(
        f"the model passes {100 * rate:.1f} % of all tests; where lengths match"
    )
    assert second.endswith(" of 40: no clear lead over chance (50 %) without the help of length")


def test_a_model_that_knows_what_is_right_is_believed() -> None:
    rate, sentences = verdict_on(as_scorer(lambda request: float("right" in request[1])))
    assert (rate, sentences) == (1.0, ())


# Sentences


def test_a_baseline_that_is_ahead() -> None:
    # 20 tests, all shorter, none passed: the lead is -1 in every draw.
    first, *_ = said("-" * 20, **lengths(*[(1, 9)] * 20))
    assert first == (
        "always picking the shorter text passes 100.0 % of 20 tests, the model 0.0 %; where "
        "lengths match within 10 % there is no test"
    )


def test_a_baseline_that_is_close() -> None:
    # Both pass the same 10 of 20: the lead is 0 in all contexts, +- 1.96^2 / (20 + 1.96^2).
    (sentence,) = said(
        "+" * 10 + "-" * 10, copied_high=[0.5] * 20, copied_low=[0.1] * 10 + [0.9] * 10
    )
    assert sentence == (
        "always picking the text that copies more passes 50.0 % of 20 tests, the model 50.0 %; the "
        "difference is not significant (lead of the model -16.1, +16.1 points)"
    )


def test_the_model_itself_without_contexts() -> None:
    (sentence,) = said("+" * 20, ll_alone_high=[-1.5] * 20, ll_alone_low=[-2.5] * 20)
    assert sentence.startswith(
        "the same model without any context passes 100.0 % of 20 tests, the model 100.0 %; "
    )


def test_a_baseline_that_is_behind_is_not_mentioned() -> None:
    assert said("+" * 20, copied_high=[0.1] * 20, copied_low=[0.9] * 20) == ()


def test_part_of_a_lead() -> None:
    # Of 400 tests 200 match in length and 140 of them pass; the rest pass, and 100 of them are
    # shorter. Shorter wins and longer wins pass 25 % each, with a coin 50 %: no help, so nothing
    # is said.
    verdicts = "+" * 140 + "-" * 60 + "+" * 200
    matched, shorter, longer = (5, 5), (1, 9), (9, 1)
    assert said(verdicts, **lengths(*[matched] * 200, *[shorter] * 100, *[longer] * 100)) == ()
    # Nor where shorter wins helps, but the 65 of 100 that match may well be the 73.75 % of all 400.
    verdicts = "+" * 65 + "-" * 35 + "+" * 230 + "-" * 70
    beside = [*[shorter] * 110, *[longer] * 40, *[shorter] * 100, *[longer] * 50]
    assert not [s for s in said(verdicts, **lengths(*[matched] * 100, *beside)) if "lead" in s]
    # With 100 that match, 70 passed, and 250 shorter ones shorter wins passes 62.5 % and is behind
    # the model's 92.5 %. That lies above what 70 of 100 can be.
    verdicts = "+" * 70 + "-" * 30 + "+" * 300
    (sentence,) = said(verdicts, **lengths(*[matched] * 100, *[shorter] * 250, *[longer] * 50))
    assert re.fullmatch(
        r"the model passes 92\.5 % of all tests; where lengths match within 10 %, the model passes "
        r"70\.0 % \[6\d\.\d, 7\d\.\d\] of 100: part of its lead may come from length",
        sentence,
    )


def test_help_of_length_is_seen_through_many_equal_lengths() -> None:
    # 160 of 400 tests match exactly, half of them passed; of the others 190 are shorter and 50
    # longer, all passed. Shorter wins passes 47.5 % only, but 67.5 % with a coin.
    verdicts = "+" * 80 + "-" * 80 + "+" * 240
    (sentence,) = said(verdicts, **lengths(*[(5, 5)] * 160, *[(1, 9)] * 190, *[(9, 1)] * 50))
    assert re.fullmatch(
        r"the model passes 80\.0 % of all tests; where lengths match within 10 %, the model passes "
        r"50\.0 % \[4\d\.\d, 5\d\.\d\] of 160: no clear lead over chance \(50 %\) without the help "
        r"of length",
        sentence,
    )


OF, HELP = ", the model passes 100.0 %", "without the help of length"


@pytest.mark.parametrize(
    ("matched", "shorter", "longer", "rest"),
    [
        # No resample fails one of the 3, so Wilson's interval: from 3 / (3 + 1.95996²) = 0.43850.
        (3, 57, 40, f"{OF} [43.9, 100.0] of 3: no clear lead over chance (50 %) {HELP}"),
        (0, 60, 40, " there is no test: its lead may come from length"),
        (1, 60, 39, f"{OF} of 1: its lead may come from length"),
    ],
    ids=["no certainty", "none", "of one context"],
)
def test_few_tests_of_matched_length(matched: int, shorter: int, longer: int, rest: str) -> None:
    # 100 tests, all passed; shorter wins passes about 60.
    both = [*[(5, 5)] * matched, *[(1, 9)] * shorter, *[(9, 1)] * longer]
    assert said("+" * 100, **lengths(*both)) == (
        f"the model passes 100.0 % of all tests; where lengths match within 10 %{rest}",
    )


@pytest.mark.parametrize(
    ("verdicts", "model"), [("+" * 20, "100.0"), ("-" * 20, "0.0")], ids=["close", "ahead"]
)
def test_one_context_cannot_tell_a_baseline_from_the_model(verdicts: str, model: str) -> None:
    # More copied wins passes 19 of 20, so its lead is -5 or +95 points, without an interval.
    copied = {"copied_high": [0.9] * 19 + [0.1], "copied_low": [0.5] * 20}
    (sentence,) = said(verdicts, context_id="c", **copied)
    assert sentence == (
        f"always picking the text that copies more passes 95.0 % of 20 tests, the model {model} %; "
        "all tests are of one context, so there is no interval"
    )


@pytest.mark.parametrize("verdicts", ["", "+", "+-" * 9], ids=["none", "one", "many"])
def test_where_nothing_is_known_nothing_is_said(verdicts: str) -> None:
    assert said(verdicts) == ()


# In few words


def brief(verdicts: str, notes: tuple[str, ...] = (), **columns: Any) -> str | None:
    return brief_caveat(pass_rates(scored("x", verdicts, **columns)).overall, notes)


def test_the_best_baseline_stands_for_the_others() -> None:
    # Of 20 tests 10 pass; 15 of the good texts are shorter, 12 copy more.
    surface = lengths(*[(1, 9)] * 15, *[(9, 1)] * 5)
    copied = {"copied_high": [0.9] * 12 + [0.1] * 8, "copied_low": [0.5] * 20}
    verdicts = "+" * 10 + "-" * 10
    assert brief(verdicts, **surface) == (
        "worse than always picking the shorter text (75.0 %), and not clearly better than 1 other "
        "baseline"
    )
    assert brief("+" * 5 + "-" * 5, **lengths(*[(1, 9)] * 6, *[(9, 1)] * 4)) == (
        "not clearly better than always picking the shorter text (60.0 %), nor than 1 other "
        "baseline"
    )
    assert brief(verdicts, **copied) == (
        "not clearly better than always picking the text that copies more (60.0 %)"
    )


def test_tests_that_a_baseline_cannot_decide_count_half() -> None:
    # Of 20 tests the longer text wins 10, and 10 are of equal length: 15.
    assert brief("+" * 10 + "-" * 10, **lengths(*[(9, 1)] * 10, *[(5, 5)] * 10)) == (
        "worse than always picking the longer text (75.0 %), and not clearly better than 1 other "
        "baseline"
    )


def test_a_lead_that_may_be_length_is_said_in_few_words() -> None:
    assert brief("+" * 100, **lengths(*[(1, 9)] * 60, *[(9, 1)] * 40)) == (
        "its lead over chance (50 %) may come from the length of the texts"
    )


def test_otherwise_the_first_note_is_said() -> None:
    assert brief("+" * 100, notes=("it was cut", "it was slow")) == "it was cut"
    assert brief("+" * 100) is None


# Few tokens


def tokens(*counts: tuple[int | None, int | None]) -> dict[str, Any]:
    high, low = zip(*counts, strict=True)
    return {"tokens_high": list(high), "tokens_low": list(low)}


def of_few(verdicts: str, *counts: tuple[int | None, int | None]) -> tuple[str, ...]:
    return few_tokens(pass_rates(scored("x", verdicts, **tokens(*counts))).overall)


FEW = [(3, 1), (1, 3), (2, 5), (9, 3)]
OTHERS = [(9, 8)] * 14 + [(2, 2), (4, 9)]


def test_few_and_unequal_tokens_that_decide_are_told() -> None:
    (sentence,) = of_few("+---" + "+" * 16, *FEW, *OTHERS)
    assert sentence == (
        "in 4 of 20 tests one candidate has fewer than 4 tokens and the other a different number; "
        "the one with more tokens wins 3 of them, because a mean over so few tokens depends on how "
        "words are cut into tokens: compare whole sentences"
    )
    assert "wins 4 of them" in of_few("+--+" + "+" * 16, *FEW, *OTHERS)[0]


@pytest.mark.parametrize("verdicts", ["--++", "+-=-", "+-?-", "=???"])
def test_few_tokens_that_do_not_decide_are_not_told(verdicts: str) -> None:
    assert of_few(verdicts + "+" * 16, *FEW, *OTHERS) == ()


def test_few_tokens_in_few_tests_are_not_told() -> None:
    assert of_few("+" * 20, (3, 1), *[(9, 8)] * 19) == ()
    assert of_few("+" * 20, (3, 1), (3, 1), *[(9, 8)] * 18) != ()
    assert of_few("++", (1, 1), (2, 2)) == of_few("++", (None, None), (4, None)) == ()
    assert few_tokens(pass_rates(scored("x", "")).overall) == ()


def test_few_tokens_are_told_after_the_best_baseline() -> None:
    rates = pass_rates(scored("x", "+---", **tokens(*FEW), **lengths(*[(1, 9)] * 4))).overall
    (few,) = few_tokens(rates)
    reached = brief_caveat(rates, caveats(rates))
    assert reached is not None
    assert brief_caveat(rates, [*caveats(rates), few]) == f"{reached}; {few}"
    # 37 of 40 pass, and in 36 tests the number of tokens is equal: no baseline is close.
    clear, equal = "+---" + "+" * 36, tokens(*FEW, *[(9, 9)] * 36)
    (few,) = few_tokens(pass_rates(scored("x", clear, **equal)).overall)
    assert brief(clear, (few, "a note"), **equal) == f"a note; {few}"
    assert brief(clear, **equal) is None  # as where likelihoods are sums


def test_tokens_are_told_where_characters_are_not() -> None:
    # Of 80 tests the better text has more tokens in 60; it has more characters in 60, or in 20.
    more = tokens(*[(9, 8)] * 60, *[(8, 9)] * 20)
    same, other = (lengths(*[pair] * 60, *[pair[::-1]] * 20) for pair in ((9, 8), (8, 9)))
    told = [
        caveats(pass_rates(scored("x", "+-" * 40, **more, **own)).overall) for own in (same, other)
    ]
    assert [sentence.split(" passes")[0] for sentences in told for sentence in sentences] == [
        "always picking the longer text",
        "always picking the shorter text",
        "always picking the text with more tokens",
    ]


def test_few_tokens_are_told_of_means_over_tokens(
    saved: Callable[[str], Path], tmp_path: Path
) -> None:
    gpt2, data = str(saved("gpt2")), tmp_path / "cats.parquet"
    short, long = ("so", "mmm"), ("a cat sat on the mat", "by the sea")  # 2, 3, 11 and 6 tokens
    rows = [
        {"context": f"Say {high}.", "candidate_high": high, "candidate_low": low}
        for high, low in [*itertools.product(short, long), *itertools.product(long, short)]
    ]
    pl.DataFrame(rows).write_parquet(data)

    def notes(protocol: str) -> tuple[str, ...]:
        scoring = Scoring(protocol, unconditional=False, cache=False)
        found = evaluate(gpt2, data, scoring=scoring)
        assert isinstance(found, Evaluation)
        for number in (1, 2):
            out = tmp_path / protocol
            evaluate(gpt2, data, out=out, worker=(number, 2), scoring=scoring)
        assert merge(out).results[0].notes == found.results[0].notes
        return found.results[0].notes

    told = "in 8 of 8 tests one candidate has fewer than 4 tokens and the other a different number"
    assert re.search(
        f"{told}; the one with more tokens wins [678] of them", "".join(notes("native"))
    )
    assert told not in "".join(notes("sum"))
    assert told not in "".join(notes("bytes"))
