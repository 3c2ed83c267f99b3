"""Where a context ends and a candidate begins: whose the blank is, and what lies across."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from hypothesis import given, strategies as st
from support.tiny_models import Family
from support.tokenizer_kinds import (
    KINDS,
    build_kind,
    characters,
    joining,
    save_with_legacy_tokenizer,
    without_line_breaks,
)
from transformers import AutoTokenizer

from nnd.metric.cli.command import app
from nnd.metric.data.run_folder import read_run
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text.encoding.assembly import encode
from nnd.metric.text.encoding.boundary import continue_with, find_crossings
from nnd.metric.text.encoding.protocols import PROTOCOLS

Tiny = Callable[[str], Family]
Loaded = Callable[[str], LoadedModel]
Kind = Callable[[str], Any]

CANDIDATES = (
    *("20 minutes", "twenty minutes", "Tesla was born in 1856.", "東京", "(1884)", "!"),
    *(" two blanks", "a line\nbreak", "the dog  "),
)
CONTEXTS = ("The cat sat", "printed in 1884", "on the mat.", "Who wrote it?\n", "Q: who\nA:")


@pytest.fixture(scope="module")
def kind(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Kind:
    made: dict[str, Any] = {}

    def build(name: str) -> Any:
        if name not in made:
            made[name] = build_kind(name, tiny, tmp_path_factory.mktemp("model"))
        return made[name]

    return build


def joint(tokenizer: Any, context: str, rest: str) -> list[int] | None:
    """What `rest` adds to a context when both are encoded as one text, if that can be told."""
    before = tokenizer.encode(context, add_special_tokens=False)
    whole = tokenizer.encode(context + rest, add_special_tokens=False)
    return whole[len(before) :] if whole[: len(before)] == before else None


# Whose the blank is


@pytest.mark.parametrize(
    ("name", "twenty", "river"),
    [
        ("byte-level", ["Ġ", "2", "0"], ["Ġriver"]),
        ("byte-level, digits split", ["Ġ", "2", "0"], ["Ġriver"]),
        ("SentencePiece", ["▁", "<0x32>", "<0x30>"], ["▁river"]),
        ("SentencePiece, Prepend", ["▁", "<0x32>", "<0x30>"], ["▁river"]),
        ("Unigram", ["▁", "<unk>"], ["▁river"]),
        ("bytes", ["Ġ", "2", "0"], ["Ġ", "r", "i", "v", "e", "r"]),
        ("characters", [" ", "<unk>", "<unk>"], [" ", "r", "i", "v", "e", "r"]),
    ],
)
def test_a_blank_that_stays_a_token_is_the_candidates(
    name: str, twenty: list[str], river: list[str], kind: Kind
) -> None:
    tokenizer = kind(name)
    found = continue_with(tokenizer, ["20", "river"], " ")
    assert [tokenizer.convert_ids_to_tokens(list(each.ids)) for each in found] == [twenty, river]


@pytest.mark.parametrize("separator", [" ", "\n", ""])
@pytest.mark.parametrize("name", KINDS)
def test_tokens_are_those_of_running_text_or_the_pair_is_told(
    name: str, separator: str, kind: Kind
) -> None:
    tokenizer = kind(name)
    requests = [(context, text) for context in CONTEXTS for text in CANDIDATES]
    made = continue_with(tokenizer, CANDIDATES, separator)
    crosses = find_crossings(tokenizer, requests, separator)
    assert crosses == [
        joint(tokenizer, context, separator + text) != list(made[CANDIDATES.index(text)].ids)
        for context, text in requests
    ]
    if separator == " ":  # as almost everybody runs it
        assert not any(crosses)


def test_a_prepended_blank_is_not_doubled(kind: Kind) -> None:
    tokenizer = kind("SentencePiece, Prepend")
    alone = tokenizer(" cat", add_special_tokens=False)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(alone)[:2] == ["▁", "▁c"]
    (found,) = continue_with(tokenizer, ["cat"], " ")
    assert tokenizer.convert_ids_to_tokens(list(found.ids)) == ["▁c", "at"]


@pytest.mark.parametrize("separator", ["", " ", "\n\n"])
@pytest.mark.parametrize("name", KINDS)
def test_an_empty_candidate_has_no_tokens(name: str, separator: str, kind: Kind) -> None:
    assert continue_with(kind(name), [""], separator)[0].ids == ()


def test_a_candidate_of_which_nothing_is_left_has_no_tokens() -> None:
    found = continue_with(without_line_breaks(), ["\n", "\n\n", "a\n"], " ")
    assert [len(each.ids) for each in found] == [0, 0, 2]


def test_unknown_characters_are_something(kind: Kind) -> None:
    tokenizer = kind("Unigram")  # does not know the line break either, and one token stands for all
    ids = tokenizer.encode("the\n東京", add_special_tokens=False)
    assert tokenizer.convert_ids_to_tokens(ids) == ["▁t", "he", "<unk>"]
    found = continue_with(tokenizer, ["東京", ""], "\n")
    assert [len(each.ids) for each in found] == [1, 0]


def test_no_candidates_have_no_tokens(tiny: Tiny) -> None:
    assert continue_with(tiny("gpt2").tokenizer, [], " ") == []
    assert find_crossings(tiny("gpt2").tokenizer, [], " ") == []


@pytest.mark.parametrize("name", KINDS)
def test_the_same_tokens_follow_every_context_and_none(
    name: str, kind: Kind, loaded: Loaded
) -> None:
    model = wrap_model(loaded("gpt2").model, kind(name))
    contexts = ["", *CONTEXTS, ("<s>Q: ", "who", "\nA:")]
    requests = [(context, text) for text in CANDIDATES for context in contexts]
    encoded = [each.targets for each in encode(model, PROTOCOLS["native"], requests)]
    for first in range(0, len(requests), len(contexts)):
        assert len(set(encoded[first : first + len(contexts)])) == 1


# Across the boundary


def test_a_token_across_the_boundary_is_told() -> None:
    tokenizer = joining("t ")  # "cat sat" has one token for the "t" and the blank
    assert tokenizer.tokenize("cat s") == ["c", "a", "t ", "s"]
    requests = [("the cat", "sat"), ("the dog", "sat"), ("the cat", "")]
    assert find_crossings(tokenizer, requests, " ") == [True, False, False]
    (found,) = continue_with(tokenizer, ["sat"], " ")
    assert tokenizer.convert_ids_to_tokens(list(found.ids)) == [" ", "s", "a", "t"]


@pytest.mark.parametrize(
    ("joined", "probed"), [(("a ",), True), (("a ", "e ", "1 "), False)], ids=["one", "all"]
)
def test_where_probes_melt_into_what_follows_another_or_none_is_taken(
    joined: tuple[str, ...],
    probed: bool,  # noqa: FBT001
) -> None:
    tokenizer = joining(*joined)
    (found,) = continue_with(tokenizer, ["sat"], " ")
    assert found.probed == probed
    assert tokenizer.convert_ids_to_tokens(list(found.ids)) == [" ", "s", "a", "t"]
    if not probed:  # the candidate's own tokens are taken, and told
        requests = [("the cat", "sat"), ("the cat", "")]
        assert find_crossings(tokenizer, requests, " ") == [True, False]


def test_behind_a_special_token_a_text_starts_anew(kind: Kind) -> None:
    tokenizer = kind("SentencePiece, Prepend")  # puts a blank there too
    literal = (("Q: ", "who", "</s>"), "cat")
    data = (("Q: ", "who </s>"), "cat")
    assert find_crossings(tokenizer, [literal, data], " ") == [True, False]


@given(st.data())
def test_the_end_of_a_context_decides_as_the_whole_does(data: st.DataObject) -> None:
    tokenizer = data.draw(st.sampled_from([characters(), joining("t ", " s"), joining("e ")]))
    words = st.sampled_from(["the", "cat", "sat", "river", " ", "a", "dog."])
    context = " ".join(data.draw(st.lists(words, min_size=1, max_size=40)))
    candidate = data.draw(st.sampled_from(["sat", "the", "on"]))
    (found,) = continue_with(tokenizer, [candidate], " ")
    whole = joint(tokenizer, context, f" {candidate}")
    assert find_crossings(tokenizer, [(context, candidate)], " ") == [whole != list(found.ids)]


# In numbers


def test_a_token_more_is_counted(loaded: Loaded, kind: Kind) -> None:
    model = wrap_model(loaded("gpt2").model, kind("byte-level, digits split"))
    found = Engine(model)([("It took", "20"), ("It took", "")])
    assert found.tokens.tolist() == [3, 0]  # the blank, 2 and 0
    assert math.isnan(found.log_likelihood[1])


def test_mistral_with_a_legacy_tokenizer_scores_running_text(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From its files, through the command; the loop reads whole texts, one by one, in float64."""
    folder = tmp_path / "mistral"
    folder.mkdir()
    save_with_legacy_tokenizer(tiny("mistral"), folder)
    pairs = pl.DataFrame(
        {
            "context": ["It took", "The cat sat on the mat and the dog"] * 2,
            "candidate_high": ["20 minutes", "ran over the hill.", "the river", "東京"],
            "candidate_low": ["twenty minutes", "is looking", "1884", "in London"],
        }
    )
    pairs.write_parquet(tmp_path / "pairs.parquet")
    command = ["evaluate", "--model", str(folder), "--data", str(tmp_path / "pairs.parquet")]
    app([*command, "--out", str(tmp_path / "run"), "--no-unconditional"], standalone_mode=False)
    capsys.readouterr()
    scored = read_run(tmp_path / "run")

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model: Any = type(tiny("mistral").model).from_pretrained(folder, dtype=torch.float64)
    for side in ("high", "low"):
        columns = pairs["context"], pairs[f"candidate_{side}"], scored[f"ll_{side}"]
        for context, candidate, ll in zip(*columns, strict=True):
            text = tokenizer(f"{context} {candidate}", return_tensors="pt")["input_ids"]
            start = len(tokenizer(context)["input_ids"])
            with torch.no_grad():
                logits = model.eval()(text).logits[0, start - 1 : -1].log_softmax(-1)
            terms = logits.gather(1, text[0, start:].unsqueeze(1))
            assert ll == pytest.approx(float(terms.mean()), abs=1e-4)
