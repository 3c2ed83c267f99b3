"""What is measured of texts, by hand; rows G70 to G77 of the sheet on suites."""

import math
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings, strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from nnd.cards import length_warning
from nnd.converters.folder.description.overlap import measure_overlap
from nnd.converters.folder.description.token_variety import measure_tokens
from nnd.converters.folder.description.word_tokens import tokens_13a

TEXTS = [list("abab"), list("ac")]
"""Six tokens: a three times, b twice, c once. Four bigrams: ab twice, ba, ac."""


def overlap(candidates: list[str], references: list[list[str]]) -> dict[str, Any]:
    compared = list(zip(candidates, map(tuple, references), strict=True))
    return measure_overlap({"high": compared})["high"]


def measured(texts: list[list[str]], window: int = 100) -> dict[str, float | None]:
    return measure_tokens(pl.Series(texts, dtype=pl.List(pl.String)), window)


def test_g70_bleu_ignores_case_and_knows_all_references() -> None:
    # All n-grams are in the reference; brevity penalty exp(1 - 6/4).
    one = overlap(["The cat sat on"], [["the cat sat ON the mat"]])["bleu"]
    assert one == pytest.approx(100 * math.exp(-0.5))
    # A second candidate has one reference more, which is the candidate: 9 tokens of 11.
    two = overlap(
        ["The cat sat on", "a bird sang to us"],
        [["the cat sat ON the mat"], ["quite another text", "a bird sang to us"]],
    )["bleu"]
    assert two == pytest.approx(100 * math.exp(1 - 11 / 9))


def test_g70_chrf() -> None:
    # abc and abd share 2 of 3 characters, 1 of 2 bigrams, 0 of 1 trigram; precision is recall.
    assert overlap(["abc"], [["abd"]])["chrf"] == pytest.approx(100 * (2 / 3 + 1 / 2) / 3)


@pytest.mark.parametrize(("name", "library"), [("chrf", CHRF()), ("bleu", BLEU(lowercase=True))])
def test_candidates_of_equal_references_count_as_in_the_library(name: str, library: Any) -> None:
    random = Random(1)
    texts = ["".join(random.choices("aB c.", k=random.randrange(30))) for _ in range(60)]
    texts += ["", "\U0001f600 a", "&AMP; B", "a" * 40]
    known = [tuple(random.choices(texts, k=random.randrange(1, 4))) for _ in range(5)]
    known.append(("", "b"))
    references = [random.choice(known) for _ in texts]
    streams = [[own[n] if n < len(own) else None for own in references] for n in range(3)]
    assert overlap(texts, references)[name] == library.corpus_score(texts, streams).score


def test_more_candidates_than_are_compared_together(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [["a b", "a b c"][n % 2] + f" {n}" for n in range(9)]
    references = [["a b 1", "c 2"]] * len(texts)
    together = overlap(texts, references)
    monkeypatch.setattr("nnd.converters.folder.description.overlap.MOST_TOGETHER", 2)
    assert overlap(texts, references) == together


def test_g70_rouge_is_the_mean_over_candidates_of_the_best_reference() -> None:
    # the cat of three words each; a bigram of two; then a candidate that is its second reference
    found = overlap(["the cat sat", "a dog"], [["the cat ran"], ["a bird", "a dog"]])
    assert {name: found[name] for name in ("rouge_1", "rouge_2", "rouge_l")} == pytest.approx(
        {"rouge_1": (2 / 3 + 1) / 2, "rouge_2": (1 / 2 + 1) / 2, "rouge_l": (2 / 3 + 1) / 2}
    )


def test_g71_msttr_leaves_out_the_last_short_window() -> None:
    # aabc and abcd hold 3 and 4 types of 4; the last a is left out. Windows pass from text to text.
    texts = [list("aab"), list("cab"), list("cda")]
    assert measured(texts, 4)["msttr"] == (3 + 4) / 8
    assert measured(texts, 9)["msttr"] == 4 / 9
    assert measured(texts, 10)["msttr"] is None
    assert measured([], 1)["msttr"] is None
    assert measure_tokens(tokens_13a(pl.Series(["The the THE cat"])), 4)["msttr"] == 2 / 4


def test_g72_tokens_types_singletons_and_entropies() -> None:
    found = measured(TEXTS)
    assert (found["tokens"], found["mean_tokens"]) == (6, 3)
    assert (found["types"], found["singletons"], found["bigram_types"]) == (3, 1, 3)
    # -(1/2 log2 1/2 + 1/3 log2 1/3 + 1/6 log2 1/6)
    assert found["entropy"] == pytest.approx(0.5 + math.log2(3) / 3 + math.log2(6) / 6)
    # bigrams: one half, two quarters; their first tokens: a three times, b once
    first = 3 / 4 * math.log2(4 / 3) + 1 / 4 * 2
    assert found["conditional_entropy"] == pytest.approx(1.5 - first)
    assert measured([])["entropy"] is measured([["a"]])["conditional_entropy"] is None


def test_g73_local_recall_by_the_number_of_references_that_have_a_word() -> None:
    # the: 3; cat, sat: 2; ran, dog: 1
    references = [["the cat sat", "The cat ran", "the dog sat sat"]]
    assert overlap(["the cat ran"], references)["local_recall"] == {1: 1 / 2, 2: 1 / 2, 3: 1}
    # together with one of two equal references, of which the candidate has one word of two
    more = overlap(["the cat ran", "b c"], [*references, ["a b", "a b"]])
    assert more["local_recall"] == {1: 1 / 2, 2: (1 + 1) / (2 + 2), 3: 1}
    assert overlap(["a"], [["a b", "a b"]])["local_recall"] == {1: None, 2: 1 / 2}


def test_g74_ttr_and_yules_i() -> None:
    assert measured(TEXTS)["distinct_1"] == 3 / 6
    assert measured(TEXTS)["yules_i"] == 3**2 / ((9 + 4 + 1) - 3)
    assert measured([["a", "b"]])["yules_i"] is measured([])["yules_i"] is None


@pytest.mark.parametrize(
    ("high", "low", "words"),
    [
        (10.0, 12.0, None),
        (10.0, 12.1, "21 % longer"),
        (10.0, 8.0, None),
        (10.0, 7.5, "25 % shorter"),
        (0.0, 1.0, "are longer"),
        (None, None, None),
    ],
)
def test_g75_mean_lengths_more_than_20_percent_apart(
    high: float | None, low: float | None, words: str | None
) -> None:
    said = length_warning(high, low)

    assert len(said) == (words is not None)
    assert all(words in sentence for sentence in said if words)


def test_g76_distinct_n_within_texts() -> None:
    assert measured(TEXTS)["distinct_2"] == 3 / 4
    assert measured(TEXTS)["distinct_3"] == 2 / 2
    assert measured([["a", "b"], ["c"]])["distinct_3"] is None


@settings(max_examples=60)
@given(st.text(alphabet=st.sampled_from("aB1.,-&'\"<>;$/{~[` \n\u00e9\u0130@!()")))
@example("It's 3.50, o.k.? - No: 1-2,a.b")
@example("&quot;A&amp;B&quot; <skipped>c-\nd &lt;e&gt;")
def test_g77_tokens_are_those_of_sacrebleu(text: str) -> None:
    assert tokens_13a(pl.Series([text])).to_list() == [Tokenizer13a()(text).lower().split()]


CHINESE = ("渡轮因潮水而迟到。", "GPT-4 是 2024 年的模型，很好。", "他说：“好！”", "3,5米 (约)")  # noqa: RUF001


@pytest.mark.parametrize("text", CHINESE)
def test_tokens_of_chinese_are_those_of_sacrebleu(text: str) -> None:
    assert tokens_13a(pl.Series([text])).to_list() == [TokenizerZh()(text).lower().split()]


def test_bleu_of_chinese_is_that_of_the_library() -> None:
    references = ["渡轮因蜜蜂而早到。", "GPT-4 是去年的模型，不好。", "他说：“坏！”", "3,5米 (约)"]  # noqa: RUF001
    library = BLEU(tokenize="zh", lowercase=True).corpus_score([*CHINESE], [references]).score
    found = overlap([*CHINESE], [[reference] for reference in references])
    assert found["bleu"] == pytest.approx(library, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("จะไป", ["จ", "ะ", "ไ", "ป"]),
        ("東京です、a b", ["東", "京", "で", "す", "、", "a", "b"]),
        ("서울 시", ["서울", "시"]),
        ("мир, да", ["мир", ",", "да"]),
        ("ﾃｽﾄ", ["ﾃ", "ｽ", "ﾄ"]),
        ("𠀋x", ["𠀋", "x"]),
    ],
)
def test_tokens_of_other_scripts(text: str, tokens: list[str]) -> None:
    assert tokens_13a(pl.Series([text])).to_list() == [tokens]


def test_rouge_of_what_it_cannot_read_is_none() -> None:
    names = ("rouge_1", "rouge_2", "rouge_l")
    assert {overlap(["渡轮"], [["渡轮"]])[name] for name in names} == {None}
    assert {overlap(["мир"], [["мир"]])[name] for name in names} == {None}
    # of three, two can be read: the mean over these
    some = overlap(["the cat", "渡轮", "a dog"], [["the cat"], ["渡轮"], ["a bird"]])
    assert some["rouge_1"] == pytest.approx((1 + 1 / 2) / 2)


def test_g70_rouge_is_that_of_the_library() -> None:
    random = Random(0)
    words = ["cat", "cats", "sitting", "sat", "the", "The", "a", "x1", "running", "ran"]
    texts = [" ".join(random.choices(words, k=random.randrange(25))) for _ in range(60)]
    library = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    for candidate in texts[:20]:
        own = random.sample(texts, 3)
        wanted, found = library.score_multi(own, candidate), overlap([candidate], [own])
        assert [found[f"rouge_{each}"] for each in "12l"] == [
            wanted[kind].fmeasure for kind in ("rouge1", "rouge2", "rougeL")
        ]
