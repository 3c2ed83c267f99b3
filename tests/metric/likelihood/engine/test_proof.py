"""The proof: a fast path that gives other numbers is not taken, whatever makes them differ."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from support import oracle
from support.engine.cases import (
    LONG,
    PATHS,
    REQUESTS,
    Fresh,
    Loaded,
    Requests,
    Tiny,
    assert_same,
    ids,
    run,
)
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.data.scored_schema import SCORED_SCHEMA
from nnd.metric.likelihood import Scoring
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.engine.precision import PRECISIONS
from nnd.metric.likelihood.engine.proof import Evidence, score_alone
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.numbers.rates.pass_rates import count_close
from nnd.metric.run import evaluate
from nnd.metric.text.encoding.requests import Encoded

Hidden = torch.Tensor


def wrap(family: Family) -> LoadedModel:
    return wrap_model(family.model, family.tokenizer, name=family.name)


@pytest.fixture
def scored_alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of all requests that are scored alone from now on, as a list that grows."""
    seen: list[int] = []

    def watched(loaded: LoadedModel, row: Encoded) -> float:
        seen.append(len(row.context) + len(row.inputs))
        return score_alone(loaded, row)

    monkeypatch.setattr("nnd.metric.likelihood.engine.proof.score_alone", watched)
    return seen


# Leaks. A token here adds a little of an earlier one to itself, as an attention would that does not
# know where a request ends. All look back only, so that nothing about the model itself is amiss.


def mix(family: Family, change: Callable[[Hidden], Hidden]) -> None:
    """Let the first layer's output, [rows, positions, size], go through `change`."""

    def hook(_module: torch.nn.Module, _args: object, out: Any) -> Any:
        return (change(out[0]), *out[1:]) if isinstance(out, tuple) else change(out)

    layers = getattr(family.model.get_decoder(), "h", None) or family.model.get_decoder().layers
    layers[0].register_forward_hook(hook)


def from_neighbour(hidden: Hidden) -> Hidden:
    """Every token sees the one before it in its row."""
    return hidden + 0.1 * torch.nn.functional.pad(hidden, (0, 0, 1, 0))[:, :-1]


def from_far(distance: int) -> Callable[[Hidden], Hidden]:
    """Every token sees the one that stands `distance` before it in its row, if there is any."""

    def change(hidden: Hidden) -> Hidden:
        return hidden + 0.1 * torch.nn.functional.pad(hidden, (0, 0, distance, 0))[:, :-distance]

    return change


def of_row(hidden: Hidden) -> Hidden:
    """Every token sees the first one of its row, weakly."""
    return hidden + 0.01 * hidden[:, :1]


@pytest.mark.parametrize("change", [from_neighbour, from_far(3), of_row])
def test_a_decoder_that_mixes_neighbours_is_not_packed(
    change: Callable[[Hidden], Hidden], fresh: Fresh
) -> None:
    family = fresh("gpt2")
    mix(family, change)
    found = run(family, "native", REQUESTS)
    assert found.work.path != "packed"
    assert found.work.switched_off[0].startswith("packed: ")
    assert "nats from those of requests scored alone" in found.work.switched_off[0]
    exact = run(family, "native", REQUESTS, path="plain", token_budget=1)
    np.testing.assert_allclose(found.log_likelihood, exact.log_likelihood, atol=1e-4)


def test_a_leak_in_an_encoder_decoder_is_seen(fresh: Fresh) -> None:
    family = fresh("bart")
    mix(family, of_row)
    found = run(family, "native", REQUESTS)
    assert found.work.path == "shared"  # its decoder's rows are those of the plain path
    exact = run(family, "native", REQUESTS, path="plain", token_budget=1)
    np.testing.assert_allclose(found.log_likelihood, exact.log_likelihood, atol=1e-4)


class LeakyPositions(torch.nn.Module):
    """Position embeddings of GPT-2 that leak between requests of a packed row.

    A request starts where positions start again at 0; where the one before it was longer than
    `longest`, the next one's tokens all get something of its last one.
    """

    def __init__(self, own: torch.nn.Embedding, longest: int) -> None:
        super().__init__()
        self.weight, self.longest = own.weight, longest

    def forward(self, positions: torch.Tensor) -> torch.Tensor:
        out = torch.nn.functional.embedding(positions, self.weight)
        (starts,) = torch.nonzero(positions[0] == 0, as_tuple=True)
        for start in starts.tolist()[1:]:
            if positions[0, start - 1] >= self.longest:
                out[:, start:] += 0.1 * out[:, start - 1 : start]
        return out


@pytest.mark.parametrize("longest", [0, 40])
def test_a_leak_from_one_context_to_the_next_is_seen(longest: int, fresh: Fresh) -> None:
    """Within a context nothing is wrong, and with `longest` only behind a long one."""
    family = fresh("gpt2")
    expected = oracle.scores(family, "native", REQUESTS)
    trunk = family.model.transformer
    trunk.wpe = LeakyPositions(trunk.wpe, longest)
    alone = [request for request in REQUESTS if request[0] == LONG]
    assert run(family, "native", alone).work.path == "packed"
    found = run(family, "native", REQUESTS)
    assert found.work.path == "cached"
    assert_same(found, expected)


def test_the_reason_stands_in_the_result(fresh: Fresh) -> None:
    family = fresh("gpt2")
    mix(family, of_row)
    data = pl.DataFrame({"context": ["the", LONG], "candidate_high": "cat", "candidate_low": "in"})
    (told,) = evaluate(wrap(family), data).to_dict()["results"]
    engine = json.loads(json.dumps(told))["engine"]
    assert engine["path"] != "packed"
    (reason,) = [reason for reason in engine["switched_off"] if reason.startswith("packed: ")]
    assert "nats from those of requests scored alone, more than 1e-04" in reason


@pytest.mark.parametrize("name", ["bloom", "mamba", "fsmt"])
def test_every_faster_path_has_its_reason(name: str, loaded: Loaded) -> None:
    work = run(loaded(name), "native", REQUESTS).work
    kind = ("packed", "shared", "plain") if name == "fsmt" else ("packed", "cached", "plain")
    faster = kind[: kind.index(work.path)]
    assert tuple(reason.split(":")[0] for reason in work.switched_off) == faster


def test_a_fault_that_is_none_of_ours_switches_off_too(
    fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = fresh("bart")
    monkeypatch.setattr(family.model, "get_decoder", lambda: 1 / 0)
    found = run(family, "native", REQUESTS)
    assert found.work.switched_off == ("packed: division by zero",)
    assert_same(found, oracle.scores(family, "native", REQUESTS))


# What is refused


@pytest.mark.parametrize("path", [None, "packed", "plain"])
@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_nan_is_an_error(name: str, path: str | None, fresh: Fresh) -> None:
    family = fresh(name)
    with torch.no_grad():
        family.model.get_decoder().layers[0].fc1.weight.fill_(math.nan) if name == "bart" else (
            family.model.transformer.h[0].mlp.c_fc.weight.fill_(math.nan)
        )
    with refusal("model.damaged"):
        run(family, "native", REQUESTS, path=path)


def test_nan_that_comes_later_than_the_proof_is_an_error(fresh: Fresh) -> None:
    family = fresh("gpt2")
    engine = Engine(wrap(family), token_budget=1)
    engine(REQUESTS)
    with torch.no_grad():
        family.model.transformer.h[0].mlp.c_fc.weight.fill_(math.nan)
    with refusal("model.damaged", "gpt2"):
        engine(REQUESTS)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("bloom", "packed"),
        ("mamba", "cached"),
        ("prophetnet", "packed"),
    ],
)
def test_a_path_that_cannot_be_taken_is_an_error_that_says_why(
    name: str, path: str, loaded: Loaded
) -> None:
    assert path not in PATHS[name]
    with refusal("model.damaged"):
        run(loaded(name), "native", REQUESTS, path=path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("gpt2", "fast"),
        ("gpt2", "shared"),
        ("bart", "cached"),
    ],
)
def test_an_unknown_path_is_an_error(name: str, path: str, loaded: Loaded) -> None:
    with refusal("option.unknown-value"):
        run(loaded(name), "native", REQUESTS, path=path)


# Half precision


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["gpt2", "llama", "t5", "bart"])
def test_half_precision_takes_the_fast_path_within_its_bound(
    name: str, dtype: str, fresh: Fresh, tiny: Tiny
) -> None:
    family = fresh(name)
    family.model.to(getattr(torch, dtype))
    found = run(family, "native", REQUESTS)
    assert (found.work.path, found.work.switched_off) == ("packed", ())
    assert found.work.deviation is not None
    assert found.work.deviation <= PRECISIONS[dtype].bound
    exact = [score.log_likelihood for score in oracle.scores(tiny(name), "native", REQUESTS)]
    # Far from float32, and no wonder; far from it in any other way would be a mistake.
    np.testing.assert_allclose(found.log_likelihood, exact, atol=0.3)


# What is proven


def lengths(family: Family, requests: Requests) -> list[int]:
    rows = [row for row in ids(family, "native", requests) if any(row.scored)]
    return [len(row.context) + len(row.inputs) for row in rows]


def test_a_longer_request_is_proven_anew(fresh: Fresh, scored_alone: list[int]) -> None:
    family = fresh("gpt2")
    engine = Engine(wrap(family))
    short, longer = [("the", "cat"), ("the", "a dog")], [(LONG, "the"), ("the", "cat")]
    engine(short)
    assert sorted(scored_alone) == sorted(lengths(family, short))
    scored_alone.clear()
    engine(short[:1])
    assert scored_alone == []
    engine(longer)
    assert sorted(scored_alone) == sorted(lengths(family, longer))
    scored_alone.clear()
    engine(short)
    engine(longer)
    assert scored_alone == []


def test_a_proof_covers_the_longest_request_of_its_run(
    fresh: Fresh, scored_alone: list[int]
) -> None:
    """Neither of the longest context nor of the shortest, and yet the longest of all."""
    family = fresh("gpt2")
    requests = [(LONG, "the"), ("Who wrote the book?", f"{LONG} the dog"), ("the", "cat")]
    engine = Engine(wrap(family))
    engine(requests)
    assert max(scored_alone) == max(lengths(family, requests))
    scored_alone.clear()
    engine(requests)
    assert scored_alone == []


def test_padding_that_no_proof_saw_is_checked(fresh: Fresh, scored_alone: list[int]) -> None:
    """The first run has a single request, and so no padding, but covers the length of both."""
    family = fresh("gpt2")
    engine = Engine(wrap(family), path="plain")
    longest, padded = (LONG, "the cat"), (LONG.partition(" ")[2], "the cat")
    engine([longest])
    scored_alone.clear()
    engine([longest, padded])
    assert scored_alone == lengths(family, [padded])
    scored_alone.clear()
    engine([longest, padded])
    assert scored_alone == []


def some_pairs(words: int) -> list[tuple[str, str]]:
    """400 requests in 200 contexts of a few words each."""
    text = LONG.split()
    contexts = [" ".join(text[n % 7 : n % 7 + words]) + f" {n}" for n in range(200)]
    return [(context, candidate) for context in contexts for candidate in ("the cat", "a hill")]


def test_some_requests_are_checked_in_every_run(fresh: Fresh, scored_alone: list[int]) -> None:
    """As many as make a hundredth of its positions, the same ones each time."""
    family = fresh("gpt2")
    seen = []
    for _ in range(2):
        engine, requests = Engine(wrap(family)), some_pairs(3)
        engine(requests)
        scored_alone.clear()
        tokens = engine(requests).work.tokens
        assert 0.004 * tokens < sum(scored_alone) <= 0.015 * tokens
        seen.append(scored_alone.copy())
    assert seen[0] == seen[1]


def test_small_calls_are_checked_now_and_then(fresh: Fresh, scored_alone: list[int]) -> None:
    """A hundredth of a call is less than one request, and a hundredth of 40 calls is not."""
    engine, requests = Engine(wrap(fresh("gpt2"))), some_pairs(3)[::10]
    engine(requests)
    scored_alone.clear()
    tokens = sum(engine(requests).work.tokens for _ in range(40))
    assert 0.005 * tokens < sum(scored_alone) < 0.0075 * tokens


def test_few_requests_are_drawn_and_fewer_in_every_further_call(tiny: Tiny) -> None:
    """A GPU takes as long for one request alone as for thousands of positions in a batch."""
    rows, evidence = ids(tiny("gpt2"), "native", some_pairs(3)), Evidence()
    drawn = [evidence.draw(rows, of=1_000_000) for _ in range(8)]
    assert [*map(len, drawn)] == [32, 16, 8, 4, 2, 1, 1, 1]
    assert max(drawn[0]) - min(drawn[0]) > len(rows) / 2  # from all over the run


def test_a_path_found_wrong_during_the_run_is_not_believed(fresh: Fresh) -> None:
    """An earlier proof says that it is right; a request drawn at random says that it is not."""
    family = fresh("gpt2")
    requests = some_pairs(3)
    engine = Engine(wrap(family))
    assert engine(requests).work.path == "packed"
    trunk = family.model.transformer
    trunk.wpe = LeakyPositions(trunk.wpe, 0)
    found = engine(requests)
    assert found.work.path == "cached"
    assert "packed: " in found.work.switched_off[0]
    assert_same(found, oracle.scores(fresh("gpt2"), "native", requests))


def test_a_path_that_raises_in_the_run_gives_way(fresh: Fresh) -> None:
    family = fresh("gpt2")
    loaded = wrap(family)
    engine, requests = Engine(loaded, token_budget=150), some_pairs(3)
    engine(requests[:8])
    rows: list[int] = []

    def fail_late(_module: object, args: tuple[torch.Tensor, ...]) -> None:
        rows.append(len(args[0]))
        if len(rows) > 20 and args[0].shape[1] > 100:  # a packed row
            message = "a shape that it does not like"
            raise ValueError(message)

    family.model.transformer.wte.register_forward_pre_hook(fail_late)
    found = engine(requests)
    assert found.work.switched_off == ("packed: a shape that it does not like",)
    assert_same(found, oracle.scores(family, "native", requests))


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_the_deviation_is_no_less_than_rounding(name: str, loaded: Loaded) -> None:
    """Two ways through a model round alike in many places, and exact arithmetic does not."""
    assert run(loaded(name), "native", [("the", "cat")]).work.deviation == 1e-6


# How many tests the deviation could turn


def scored(*rows: tuple[float | None, float | None, int, int]) -> pl.DataFrame:
    """Tests with ll_high, ll_low, tokens_high and tokens_low, each in a context of its own."""
    return pl.DataFrame(
        [
            {
                "pair_id": f"{number}",
                "context_id": f"{number}",
                "high_id": "h",
                "low_id": "l",
                "ll_high": high,
                "ll_low": low,
                "tokens_high": tokens_high,
                "tokens_low": tokens_low,
            }
            for number, (high, low, tokens_high, tokens_low) in enumerate(rows)
        ],
        SCORED_SCHEMA,
    )


BELOW, BELOW_AND_FAILED = (-1.0, -1.125, 9, 9), (-1.125, -1.0, 9, 9)
TIED, AT, ABOVE, UNKNOWN = (-1.0, -1.0, 9, 9), (-1.0, -1.25, 9, 9), (-2, -1, 9, 9), (-1, None, 9, 0)


@pytest.mark.parametrize(
    ("rows", "summed", "close"),
    [
        ([BELOW], False, 1),
        ([BELOW_AND_FAILED], False, 1),
        ([TIED], False, 1),
        ([AT], False, 0),
        ([ABOVE], False, 0),
        ([UNKNOWN], False, 0),
        ([BELOW, BELOW, AT], False, 2),
        ([], False, 0),
        # 0.25 nats for each of 5 tokens are 1.25, more than the margin of 1; for 4 they are 1.
        ([(-8.0, -9.0, 3, 5)], True, 1),
        ([(-8.0, -9.0, 5, 3)], True, 1),
        ([(-8.0, -9.0, 3, 4)], True, 0),
    ],
)
def test_a_test_is_close_below_the_deviation(rows: list[Any], *, summed: bool, close: int) -> None:
    """Of sums it counts for every token of the longer candidate; with two categories, once."""
    assert count_close(scored(*rows), 0.25, summed=summed) == close
    assert count_close(pl.concat([scored(*rows)] * 2), 0.25, summed=summed) == close


@pytest.mark.parametrize("protocol", ["native", "sum"])
def test_the_result_tells_the_close_tests(protocol: str, fresh: Fresh) -> None:
    family = fresh("llama")
    family.model.bfloat16()
    words = ("the", "cat", "dog", "in", "town", "hill", "a", "river", "fox", "mat")
    data = pl.DataFrame(
        [
            {"context": context, "candidate_high": high, "candidate_low": low}
            for context in ("the", LONG)
            for high in words
            for low in words
            if high != low
        ]
    )
    found = evaluate(wrap(family), data, scoring=Scoring(protocol=protocol))
    (result,) = found.results
    assert result.work.deviation is not None
    assert result.work.deviation > 0
    close = 0
    for row in found.scored.rows(named=True):
        tokens = max(row["tokens_high"], row["tokens_low"]) if protocol == "sum" else 1
        close += abs(row["ll_high"] - row["ll_low"]) < result.work.deviation * tokens
    assert result.n_close == close > 0
    assert found.to_dict()["results"][0]["n_close"] == close
