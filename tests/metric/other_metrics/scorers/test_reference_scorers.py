"""ROUGE, BLEU, chrF and BERTScore against references: by hand, each comparison made once."""

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
import transformers as hf
from support.refusals import refusal

from nnd.metric.other_metrics.scorers.reference_scorers import (
    against_references,
    bertscore,
    bleu,
    chrf,
    rouge,
)
from nnd.metric.other_metrics.scorers.scorer import Text, TextScorer, score_texts


def one(scorer: TextScorer, candidate: str, *references: str) -> float | None:
    found: float | None = score_texts(scorer, [Text(candidate, "", None, references)])[0]
    return found


# "the cat sat down" against "the cats sat": the stemmer makes cat of cats.
#   unigrams: 3 shared of 4 and 3:          P 3/4, R 1, F 6/7
#   bigrams:  the cat, cat sat of 3 and 2:  P 2/3, R 1, F 4/5
#   trigrams: the cat sat of 2 and 1:       P 1/2, R 1, F 2/3
#   longest common subsequence 3:           as unigrams
@pytest.mark.parametrize(
    ("kind", "f1"), [("rouge1", 6 / 7), ("rouge2", 4 / 5), ("rouge3", 2 / 3), ("rougeL", 6 / 7)]
)
def test_rouge_by_hand(kind: str, f1: float) -> None:
    assert one(rouge(kind), "The cat sat down.", "the cats sat") == pytest.approx(f1)


def test_rouge_l_sees_order_and_rouge_1_does_not() -> None:
    # "sat cat the": one of three words in order.
    assert one(rouge("rouge1"), "sat cat the", "the cat sat") == pytest.approx(1)
    assert one(rouge("rougeL"), "sat cat the", "the cat sat") == pytest.approx(1 / 3)


def test_bleu_by_hand() -> None:
    # "the cat sat" against "the cat sat down": n-gram precisions 1 up to 3-grams, no 4-gram to
    # count (effective order 3), brevity penalty exp(1 - 4/3).
    expected = 100 * math.exp(1 - 4 / 3)
    assert one(bleu(), "the cat sat", "the cat sat down") == pytest.approx(expected)


def test_chrf_by_hand() -> None:
    # "ab" against "abc", n-grams of characters: unigrams P 1, R 2/3; bigrams P 1, R 1/2. Of the
    # orders 1 to 6 those count that both have; mean P 1, R 7/12; F2 = 5PR / (4P + R).
    expected = 100 * 5 * (7 / 12) / (4 + 7 / 12)
    assert one(chrf(), "ab", "abc") == pytest.approx(expected)


@pytest.mark.parametrize("make", [bleu, chrf])
def test_the_same_text_has_100(make: Callable[[], TextScorer]) -> None:
    assert one(make(), "the cat sat on the mat", "the cat sat on the mat") == pytest.approx(100)


@pytest.mark.parametrize("scorer", [rouge("rouge1"), rouge("rougeL"), bleu(), chrf()])
def test_an_empty_candidate_matches_nothing(scorer: TextScorer) -> None:
    assert one(scorer, "", "the cat sat") == 0


def test_of_several_references_the_best_counts_or_their_mean_or_the_first() -> None:
    # Against "the cat": F 1; against "the dog": 1 of 2 and 2 words, F 1/2.
    texts = [Text("the cat", "", None, ("the dog", "the cat"))]
    assert score_texts(rouge("rouge1", "max"), texts).to_list() == pytest.approx([1])
    assert score_texts(rouge("rouge1", "mean"), texts).to_list() == pytest.approx([3 / 4])
    assert score_texts(rouge("rouge1", "first"), texts).to_list() == pytest.approx([1 / 2])


def test_no_reference_no_number() -> None:
    texts = [Text("the cat", ""), Text("the cat", "", None, ("the cat",))]
    assert score_texts(rouge("rouge1"), texts).to_list() == [None, 1]


def test_each_two_texts_are_compared_once() -> None:
    seen: list[tuple[str, str]] = []

    def compare(pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        seen.extend(pairs)
        return [None if ref == "r2" else float(len(candidate)) for ref, candidate in pairs]

    texts = [
        Text("c", "", None, ("r1", "r2")),
        Text("cc", "", None, ("r1", "r1")),
        Text("c", "elsewhere", None, ("r1",)),
        Text("c", "", None, ("r2",)),
    ]
    # None does not count among others, and stands where there is no other.
    assert against_references(compare, texts, "mean") == [1, 2, 1, None]
    assert sorted(seen) == [("r1", "c"), ("r1", "cc"), ("r2", "c")]


def test_what_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    with refusal("option.unknown-value"):  # several references count in three ways
        against_references(lambda _: [], [], "median")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "bert_score", None)  # as if it were not there
    with refusal("extra.missing"):
        one(bertscore(), "the cat", "the cat")


# BERTScore


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A random BERT of letters."""
    folder = tmp_path_factory.mktemp("bert")
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
    vocab = {piece: number for number, piece in enumerate(pieces)}
    hf.BertTokenizer(vocab=vocab, model_max_length=64).save_pretrained(folder)
    config = hf.BertConfig(
        vocab_size=len(vocab),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        hf.BertModel(config).save_pretrained(folder)
    return str(folder)


def test_bertscore_of_a_local_model(bert: str) -> None:
    texts = [
        Text("the cat", "", None, ("the cat", "a dog")),
        Text("a dog", "", None, ("the cat",)),
        Text(" ", "", None, ("the cat",)),
    ]
    same, other, blank = score_texts(bertscore(bert, layer=2), texts).to_list()
    assert (same, blank) == (pytest.approx(1), None)
    assert -1 < other < 1


def test_bertscore_of_a_model_without_a_known_layer_or_that_is_not_there(
    bert: str, tmp_path: Path
) -> None:
    with refusal("scorer.cannot-load"):
        one(bertscore(bert), "the cat", "the cat")
    with refusal("scorer.cannot-load", "none"):
        one(bertscore(str(tmp_path / "none"), layer=1), "the cat", "the cat")
