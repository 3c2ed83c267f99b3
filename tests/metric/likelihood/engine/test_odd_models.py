"""Models that most paths get wrong: their numbers are those of the request alone, or none."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from support import oracle
from support.engine.cases import Requests, ids, run
from support.models.odd_models import LIMIT, ODD, build_odd, deepseek_v32, gemma3n, reformer
from support.refusals import refusal
from support.screens.commands import Nnd
from support.tiny_models import SENTENCES, Family

from nnd.metric.likelihood import Scoring, bytes_per_position, number_in, wrap_model
from nnd.metric.run import evaluate

WORDS = " ".join(SENTENCES).split()
# Contexts of 2 to 100 tokens, with candidates of 1 to 9 words: on both sides of every boundary, and
# from many a context across it.
PAIRS = pl.DataFrame(
    [
        (" ".join([*WORDS, *WORDS][start : start + words]), " ".join(high), " ".join(low))
        for start, words in enumerate((1, 3, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 24, 34))
        for high, low in (
            (WORDS[2:3], WORDS[5:8]),
            (WORDS[8:12], WORDS[9:15]),
            (WORDS[20:29], WORDS[30:31]),
        )
    ],
    ["context", "candidate_high", "candidate_low"],
    orient="row",
)
REQUESTS = [(row[0], text) for row in PAIRS.rows() for text in row[1:]]


def one_by_one(family: Family, requests: Requests) -> list[float]:
    """Score every request in float64 with a model that has read nothing else."""
    exact = copy.deepcopy(family.model).to(family.exact)
    fed = oracle.feed(family, "native", requests)
    return [
        oracle.score(copy.deepcopy(exact), each, "native", candidate).log_likelihood
        for each, (_, candidate) in zip(fed, requests, strict=True)
    ]


def lengths(family: Family) -> list[int]:
    return [len(row.context) + len(row.inputs) for row in ids(family, "native", REQUESTS)]


def test_the_requests_stand_on_both_sides_of_phi3s_limit_and_across_it() -> None:
    rows = ids(build_odd("phi3"), "native", REQUESTS)
    assert min(lengths(build_odd("phi3"))) < LIMIT < max(lengths(build_odd("phi3")))
    across = [row for row in rows if len(row.context) <= LIMIT < len(row.context + row.inputs)]
    assert len(across) > 5
    totals = {len(row.context + row.inputs) for row in rows}
    assert {LIMIT, LIMIT + 1} <= totals


def evaluated(
    family: Family, folder: Path, nnd: Nnd, *options: str
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Run `nnd evaluate` as a user does; return the likelihoods, and what the engine did."""
    family.model.save_pretrained(folder / "model")
    family.tokenizer.save_pretrained(folder / "model")
    PAIRS.write_parquet(folder / "pairs.parquet")
    assert nnd(*COMMAND, *options).code == 0
    (result,) = json.loads((folder / "run" / "result.json").read_text())["results"]
    return pl.read_parquet(folder / "run" / "log_likelihoods.parquet"), result["engine"]


COMMAND = ["evaluate", "--model=model", "--data=pairs.parquet", "--out=run"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("budget", ["100", pytest.param("4000", marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ODD)
def test_the_command_gives_the_numbers_of_one_by_one(
    name: str, budget: str, tmp_path: Path, nnd: Nnd
) -> None:
    family = build_odd(name)
    scored, engine = evaluated(family, tmp_path, nnd, "--token-budget", budget)
    assert scored["characters_high"].equals(PAIRS["candidate_high"].str.len_chars().cast(pl.Int64))
    found = [value for row in scored.select("ll_high", "ll_low").rows() for value in row]
    gap = np.abs(np.array(found) - one_by_one(family, REQUESTS)).max()
    assert gap < 1e-4
    assert engine["deviation"] >= gap / 10
    if budget == "4000":  # fewer at once are seldom padded, and plain may be right
        assert engine["path"] == PATHS[name]


PATHS = {"phi3": "packed", "dynamic": "packed", "falcon_h1": "plain", "bigbird_pegasus": "alone"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", ["packed", "plain", "alone"])
@pytest.mark.parametrize("name", ["phi3", "dynamic"])
def test_positions_that_depend_on_length_are_those_of_the_request(name: str, path: str) -> None:
    family = build_odd(name)
    found = run(family, "native", REQUESTS, path=path, token_budget=400)
    np.testing.assert_allclose(
        found.log_likelihood, one_by_one(family, REQUESTS), atol=1e-4, rtol=0
    )


def test_a_context_that_would_be_read_otherwise_is_not_shared() -> None:
    with refusal("model.damaged", "Phi3ForCausalLM"):
        run(build_odd("phi3"), "native", REQUESTS, path="cached")


def test_one_side_of_the_limit_is_shared_as_ever() -> None:
    """Every token once, on each side of the limit; the others would be read twice."""
    family = build_odd("phi3")
    work = run(family, "native", REQUESTS, token_budget=100_000).work
    rows = set(ids(family, "native", REQUESTS))
    sides = {(row.context, len(row.context + row.inputs) > LIMIT) for row in rows}
    unique = sum(len(context) for context, _ in sides) + sum(len(row.inputs) for row in rows)
    assert (work.path, work.tokens) == ("packed", unique)


def test_a_model_that_changes_as_it_reads_is_handed_back_as_it_was() -> None:
    family = build_odd("bigbird_pegasus")
    encoder = family.model.get_encoder()
    attention = encoder.layers[0].self_attn.self
    run(family, "native", REQUESTS)
    assert encoder.attention_type == "block_sparse"
    assert encoder.layers[0].self_attn.self is attention


@pytest.mark.parametrize("path", [None, "plain", "alone"])
@pytest.mark.parametrize(
    ("hash_seed", "code"), [(None, "model.damaged"), (7, "model.not-a-language-model")]
)
def test_hashed_attention_is_refused(hash_seed: int | None, code: str, path: str | None) -> None:
    with torch.random.fork_rng(), refusal(code):
        run(reformer(hash_seed), "native", REQUESTS, path=path)


def test_what_reads_nothing_sensible_is_not_believed_because_it_is_plain() -> None:
    work = run(build_odd("bigbird_pegasus"), "native", REQUESTS).work
    assert [reason.split(":")[0] for reason in work.switched_off] == ["packed", "shared", "plain"]
    assert "nats from those of requests scored alone" in work.switched_off[-1]


def test_layers_of_different_widths_are_scored(tmp_path: Path, nnd: Nnd) -> None:
    family = gemma3n()
    scored, _ = evaluated(family, tmp_path, nnd)
    found = [value for row in scored.select("ll_high", "ll_low").rows() for value in row]
    np.testing.assert_allclose(found, one_by_one(family, REQUESTS), atol=1e-4, rtol=0)
    assert nnd(*COMMAND, "--dry-run").code == 0


def test_a_position_takes_the_memory_of_the_widest_layer() -> None:
    family = gemma3n()
    loaded = wrap_model(family.model, family.tokenizer)
    # 8 hidden vectors, 3 of the widest feed-forward layer, and keys and values of 4 layers.
    assert bytes_per_position(loaded) == 4 * (8 * 32 + 3 * 64 + 4 * 4 * 32)


@pytest.mark.parametrize("value", [None, [], "wide", [None, "wide"], 2.5])
def test_a_config_that_says_something_else_does_not_end_a_run(value: object) -> None:
    config = SimpleNamespace(intermediate_size=value)
    assert number_in(config, ("intermediate_size", "d_ff"), 7) == 7


@pytest.mark.parametrize(("build", "moved"), [(deepseek_v32, True), (gemma3n, False)])
def test_a_model_whose_numbers_move_with_the_row_is_said_to(
    build: Callable[[], Family], *, moved: bool
) -> None:
    family = build()
    model = wrap_model(family.model, family.tokenizer, name="tiny")
    (result,) = evaluate(model, PAIRS, scoring=Scoring(cache=False)).results
    said = [note for note in result.notes if "depend on the length of the row" in note]
    assert len(said) == moved
    assert (result.work.path == "alone") == moved
