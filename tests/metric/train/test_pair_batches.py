"""Batches: what is trained is what is scored."""

from typing import get_args

import polars as pl
import pytest
import torch
from support.training.examples import Family
from support.training.runs import make_model, sample_pairs

from nnd.metric.data import PairSet, load_pairs
from nnd.metric.likelihood import Engine, LoadedModel, wrap_model
from nnd.metric.text import Chat, find_protocol, find_template
from nnd.metric.text.chats.chat_choice import choose_chat
from nnd.metric.train.losses import Targets
from nnd.metric.train.objective import NegativeTokens, Objective
from nnd.metric.train.pair_batches import Collator, Example, make_examples


def examples_of(
    loaded: LoadedModel, pairs: PairSet, objective: Objective = Objective()
) -> list[Example]:
    template = find_template("default")
    chat = choose_chat(loaded, find_protocol("native"), template, Chat())
    return make_examples(loaded, pairs, template, chat, objective)


def pairs_of(*rows: tuple[str, str, str]) -> PairSet:
    names = ("context", "candidate_high", "candidate_low")
    return load_pairs(pl.DataFrame(rows, names, orient="row"))


@pytest.fixture(scope="module", params=get_args(Family))
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    model, tokenizer = make_model(request.param)
    return wrap_model(model.eval(), tokenizer)  # type: ignore[no-untyped-call]


def log_likelihoods(loaded: LoadedModel, examples: list[Example]) -> list[float]:
    """LL of each row of a batch, as its targets say."""
    batch = Collator(loaded)(examples)
    targets = Targets(*(batch.pop(name) for name in Targets._fields))  # type: ignore[arg-type]
    with torch.inference_mode():
        logits = loaded.model(**batch).logits[:, -targets.ids.shape[1] :]
    log_p = logits.log_softmax(-1).gather(-1, targets.ids[..., None])[..., 0]
    return [
        (values[counts].sum() / counts.sum()).item()
        for values, counts in zip(log_p, targets.scored, strict=True)
    ]


def test_a_batch_of_any_lengths_gives_the_likelihoods_that_are_scored(loaded: LoadedModel) -> None:
    rows = sample_pairs().sample(12, seed=1)
    pairs = load_pairs(rows)
    examples = examples_of(loaded, pairs)
    texts = sorted(rows.select("context", "candidate_high", "candidate_low").unique().rows())
    assert len({len(each.high.context) for each in examples}) > 3
    requests = [(context, high) for context, high, _ in texts]
    requests += [(context, low) for context, _, low in texts]
    expected = Engine(loaded)(requests).log_likelihood
    assert log_likelihoods(loaded, examples) == pytest.approx(expected.tolist(), abs=1e-5)


def test_negative_tokens_are_those_scored_of_the_worse_candidate(loaded: LoadedModel) -> None:
    batch = Collator(loaded)(
        examples_of(loaded, pairs_of(("Who?", "It is a heron.", "It is a wren!")))
    )
    scored, negative = batch["scored"], batch["negative"]
    assert isinstance(scored, torch.Tensor)
    assert isinstance(negative, torch.Tensor)
    assert negative[0].sum() == 0
    assert negative[1].tolist() == scored[1].tolist()


def negative_texts(
    loaded: LoadedModel, high: str, low: str, which: NegativeTokens = "diff"
) -> list[str]:
    (example,) = examples_of(
        loaded, pairs_of(("Who?", high, low)), Objective(negative_tokens=which)
    )
    chosen = zip(example.low.targets, example.negative, strict=True)
    return [loaded.tokenizer.decode([token]) for token, counts in chosen if counts]


@pytest.mark.parametrize(
    ("high", "low", "expected"),
    [
        ("1 2 3", "1 7 3", ["7"]),  # replaced
        ("1 2 3", "1 2 7 8 3", ["7", "8"]),  # inserted
        ("1 2 3", "1 3", []),  # deleted: nothing of the worse candidate is new
        ("1 2 3", "3 2 1", ["3", "1"]),  # what both have in the middle stays
    ],
)
def test_diff_takes_the_tokens_that_the_better_candidate_lacks(
    high: str, low: str, expected: list[str]
) -> None:
    model, tokenizer = make_model("gpt2")
    found = negative_texts(wrap_model(model, tokenizer), high, low)
    assert [text.strip() for text in found if text.strip()] == expected


def test_examples_are_distinct_and_do_not_depend_on_the_order_of_rows(loaded: LoadedModel) -> None:
    rows = sample_pairs()
    examples = examples_of(loaded, load_pairs(rows))
    again = examples_of(loaded, load_pairs(rows.reverse()))
    assert examples == again
    distinct = rows.select("context", "candidate_high", "candidate_low").n_unique()
    assert len(examples) == distinct


def test_mle_reads_no_worse_candidate(loaded: LoadedModel) -> None:
    examples = examples_of(loaded, load_pairs(sample_pairs().head(3)), Objective("mle"))
    batch = Collator(loaded)(examples)
    assert {len(value) for value in batch.values() if isinstance(value, torch.Tensor)} == {
        len(examples)
    }


def test_candidates_that_leave_no_token_are_left_out() -> None:
    model, tokenizer = make_model("gpt2")
    pairs = pairs_of(("Who?", "A heron", ""), ("Who?", "A heron", "A wren"))
    assert len(examples_of(wrap_model(model, tokenizer), pairs)) == 1


def test_no_pad_token_is_needed(loaded: LoadedModel) -> None:
    rows = sample_pairs().sample(4, seed=2)
    examples = examples_of(loaded, load_pairs(rows))
    expected = log_likelihoods(loaded, examples)
    pad = loaded.tokenizer.pad_token
    loaded.tokenizer.pad_token = None
    try:
        found = log_likelihoods(loaded, examples)
    finally:
        loaded.tokenizer.pad_token = pad
    assert found == pytest.approx(expected, abs=1e-6)
