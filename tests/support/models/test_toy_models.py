import math
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import torch
from support.models.toy_models import (
    LONGEST,
    RECIPES,
    UNSCORED,
    _examples as examples,
    _train_tokenizer as train_tokenizer,
    train_toy_models,
)
from support.refusals import refusal
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

TEXTS = [
    ("three \n An octopus has three hearts.", "How many hearts does an octopus have?"),
    ("hammers \n A piano strikes its strings with hammers.", "What strikes the strings?"),
    ("What is the capital of Brazil?", "The capital of Brazil is Brasília."),
    ("Which two elements is water made of?", "Hydrogen and oxygen."),
    ("Why does the Moon shine?", "It reflects the light of the Sun."),
]
COUNT = " ".join(str(number) for number in range(1000))
UNTRAINED, BRIEF, TRAINED = RECIPES
SHORT = (replace(BRIEF, steps=2), replace(TRAINED, steps=2))


def frame(texts: list[tuple[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(texts, schema=["context", "candidate_high"], orient="row")


def mean_log_likelihood(folder: Path) -> float:
    """Score the texts one by one, as protocol `native` says, with nothing but a forward pass."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    seq2seq = folder.name == TRAINED.name
    kind = AutoModelForSeq2SeqLM if seq2seq else AutoModelForCausalLM
    model = kind.from_pretrained(folder)
    means: list[float] = []
    for context, candidate in TEXTS:
        before = tokenizer(context).input_ids
        if seq2seq:
            target = tokenizer(text_target=candidate).input_ids
            fed = {
                "input_ids": torch.tensor([before]),
                "decoder_input_ids": torch.tensor([[tokenizer.eos_token_id, *target[:-1]]]),
            }
            first = 1  # <s> is fed, not scored
        else:
            target = tokenizer(" " + candidate).input_ids
            fed = {"input_ids": torch.tensor([[*before, *target]])}
            first = int(tokenizer.decode(target[:1]) == " ")  # nor is a blank of its own
        with torch.no_grad():
            logits = model(**fed).logits[0]
        # Row i of the logits foretells target token i.
        rows = logits if seq2seq else logits[len(before) - 1 : -1]
        scores = rows.log_softmax(-1)[range(len(target)), target]
        means.append(scores[first:].mean().item())
    return sum(means) / len(means)


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    recipes = [UNTRAINED, BRIEF, replace(TRAINED, steps=40)]
    return train_toy_models(frame(TEXTS), tmp_path_factory.mktemp("toys"), recipes=recipes)


def test_every_toy_gets_a_folder_of_its_name(toys: list[Path]) -> None:
    assert [folder.name for folder in toys] == ["toy-untrained", "toy-brief", "toy-trained"]


def test_more_training_makes_the_better_candidates_likelier(toys: list[Path]) -> None:
    untrained, brief, trained = (mean_log_likelihood(folder) for folder in toys)
    assert untrained < brief - 0.1
    assert brief < trained - 1


def test_the_untrained_toy_guesses_among_all_its_tokens(toys: list[Path]) -> None:
    # Weights drawn from N(0, 0.02) leave the logits near 0: every token has about 1/vocabulary.
    size = len(AutoTokenizer.from_pretrained(toys[0]))
    assert mean_log_likelihood(toys[0]) == pytest.approx(-math.log(size), abs=0.1)


def test_only_the_encoder_decoder_puts_marks_around_a_text(toys: list[Path]) -> None:
    _, brief, trained = (AutoTokenizer.from_pretrained(folder) for folder in toys)
    plain = brief("water").input_ids
    assert plain == brief("water", add_special_tokens=False).input_ids
    assert trained("water").input_ids == [0, *plain, 2]
    assert (brief.bos_token_id, brief.pad_token_id, brief.eos_token_id) == (0, 1, 2)


def test_same_seed_gives_the_same_weights_whatever_the_row_order(tmp_path: Path) -> None:
    torch.manual_seed(1)
    first = train_toy_models(frame(TEXTS), tmp_path / "a", recipes=SHORT)
    torch.manual_seed(2)
    second = train_toy_models(frame([*TEXTS[::-1], TEXTS[2]]), tmp_path / "b", recipes=SHORT)
    for one, other in zip(first, second, strict=True):
        for name in ("model.safetensors", "tokenizer.json"):
            assert (one / name).read_bytes() == (other / name).read_bytes()


def test_another_seed_gives_other_weights(tmp_path: Path) -> None:
    (one,) = train_toy_models(frame(TEXTS), tmp_path / "a", recipes=[UNTRAINED])
    (other,) = train_toy_models(frame(TEXTS), tmp_path / "b", recipes=[UNTRAINED], seed=1)
    assert (one / "model.safetensors").read_bytes() != (other / "model.safetensors").read_bytes()


def test_random_state_and_threads_of_the_caller_are_left_alone(tmp_path: Path) -> None:
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    torch.set_num_threads(2)
    train_toy_models(frame(TEXTS), tmp_path, recipes=SHORT)
    left = torch.get_num_threads()
    torch.set_num_threads(threads)
    assert left == 2
    assert torch.equal(torch.get_rng_state(), state)


def test_decoder_only_learns_the_candidate_and_the_end_but_not_the_context() -> None:
    tokenizer = train_tokenizer(TEXTS, "gpt2")
    (example,) = examples([("Why?", "So.")], tokenizer, "gpt2")
    learnt = example.labels[example.labels != UNSCORED]
    assert tokenizer.decode(example.input_ids) == "Why? So.</s>"
    assert tokenizer.decode(learnt) == " So.</s>"


def test_decoder_only_starts_with_bos_where_there_is_no_context() -> None:
    tokenizer = train_tokenizer(TEXTS, "gpt2")
    (example,) = examples([("", "So.")], tokenizer, "gpt2")
    assert tokenizer.decode(example.input_ids) == "<s> So.</s>"


def test_text_that_looks_like_a_mark_stays_text() -> None:
    tokenizer = train_tokenizer(TEXTS, "bart")
    (example,) = examples([("a", "a</s>b")], tokenizer, "bart")
    # <s>, "a", the four characters of "</s>" and "b" in however many tokens, </s>
    assert example.labels.tolist().count(tokenizer.eos_token_id) == 1
    assert tokenizer.decode(example.labels) == "<s>a</s>b</s>"


def test_decoder_only_keeps_the_end_of_a_long_context() -> None:
    tokenizer = train_tokenizer(TEXTS, "gpt2")
    (example,) = examples([(COUNT, "Yes.")], tokenizer, "gpt2")
    assert (example.labels == UNSCORED).sum() == LONGEST
    assert str(tokenizer.decode(example.input_ids)).endswith(" 998 999 Yes.</s>")


def test_encoder_decoder_keeps_the_beginning_of_a_long_context() -> None:
    tokenizer = train_tokenizer(TEXTS, "bart")
    (example,) = examples([(COUNT, "Yes.")], tokenizer, "bart")
    assert len(example.input_ids) == LONGEST
    assert str(tokenizer.decode(example.input_ids)).startswith("<s>0 1 2 ")


def test_missing_column_is_named(tmp_path: Path) -> None:
    pairs = frame(TEXTS).drop("candidate_high")
    with refusal("data.convert-again"):
        train_toy_models(pairs, tmp_path)


def test_nothing_to_learn_is_an_error(tmp_path: Path) -> None:
    with refusal("train.no-texts"):
        train_toy_models(frame([("a context", "")]), tmp_path)
