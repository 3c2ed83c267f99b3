"""The engine against the formula: whatever it batches, shares or sorts, the numbers stay."""

import os
import random
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support import oracle
from support.engine.cases import (
    EMPTY,
    LONG,
    NATS,
    PATH_CASES,
    PATHS,
    REQUESTS,
    SPECIAL,
    Fresh,
    Loaded,
    Tiny,
    assert_same,
    run,
)
from support.tiny_models import BUILDERS

FULL = bool(os.environ.get("NND_TEST_FULL"))

pytestmark = pytest.mark.sampled(6)

Formula = Callable[[str, str, tuple[tuple[str, str], ...]], list[oracle.Score]]


@pytest.fixture(scope="module")
def formula(tiny: Tiny) -> Formula:
    """`formula(name, protocol, requests)`: what they score, worked out once for all paths."""
    return cache(lambda name, protocol, requests: oracle.scores(tiny(name), protocol, requests))


@pytest.mark.parametrize("token_budget", [pytest.param(1, marks=pytest.mark.full), 150, 10_000])
@pytest.mark.parametrize(("name", "protocol", "path"), PATH_CASES)
def test_every_path_equals_the_formula(
    *, name: str, protocol: str, path: str, token_budget: int, formula: Formula, loaded: Loaded
) -> None:
    found = run(loaded(name), protocol, REQUESTS, path=path, token_budget=token_budget)
    assert found.work.path == path
    assert_same(found, formula(name, protocol, tuple(REQUESTS)))


@pytest.mark.parametrize("name", BUILDERS)
def test_the_fastest_path_that_gives_the_numbers_is_taken(name: str, loaded: Loaded) -> None:
    work = run(loaded(name), "native", REQUESTS).work
    assert work.path == PATHS[name][0]
    assert work.deviation is not None
    assert work.deviation < NATS


@pytest.mark.parametrize(("name", "protocol", "path"), PATH_CASES)
def test_empty_contexts_score_like_the_formula(
    name: str, protocol: str, path: str, formula: Formula, loaded: Loaded
) -> None:
    found = run(loaded(name), protocol, EMPTY, path=path)
    assert_same(found, formula(name, protocol, tuple(EMPTY)))


@pytest.mark.parametrize("protocol", ["native", "laban2022"])
@pytest.mark.parametrize("name", BUILDERS)
def test_strings_that_look_like_special_tokens_score_as_text(
    name: str, protocol: str, tiny: Tiny, loaded: Loaded
) -> None:
    found = run(loaded(name), protocol, SPECIAL)
    assert_same(found, oracle.scores(tiny(name), protocol, SPECIAL))


@pytest.mark.parametrize("name", BUILDERS)
def test_order_and_duplicates_do_not_matter(name: str, tiny: Tiny, loaded: Loaded) -> None:
    shuffled = [*REQUESTS, *REQUESTS[:6]]
    random.Random(7).shuffle(shuffled)
    found = run(loaded(name), "native", shuffled, token_budget=200)
    assert_same(found, oracle.scores(tiny(name), "native", shuffled))


@pytest.mark.parametrize("name", BUILDERS)
def test_sum_adds_what_native_averages(name: str, formula: Formula, loaded: Loaded) -> None:
    found = run(loaded(name), "sum", REQUESTS)
    assert_same(found, formula(name, "sum", tuple(REQUESTS)), summed=True)


@pytest.mark.parametrize("name", BUILDERS)
def test_bytes_divides_by_the_candidates_utf8_length(
    name: str, formula: Formula, loaded: Loaded
) -> None:
    found = run(loaded(name), "bytes", REQUESTS)
    assert_same(found, formula(name, "bytes", tuple(REQUESTS)))


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_what_was_divided_by_is_told(name: str, loaded: Loaded) -> None:
    summed, *others = (run(loaded(name), each, REQUESTS) for each in ("sum", "native", "bytes"))
    sizes = [[1] * len(REQUESTS), summed.tokens, [len(text.encode()) for _, text in REQUESTS]]
    for found, size in zip([summed, *others], sizes, strict=True):
        assert found.divisors is not None
        assert found.divisors.tolist() == [*size]
        assert (found.log_likelihood * found.divisors).tolist() == pytest.approx(
            summed.log_likelihood.tolist(), rel=1e-12, nan_ok=True
        )
    pmi = run(loaded(name), "pmi", REQUESTS)
    assert pmi.divisors is not None
    assert pmi.divisors.tolist() == pmi.tokens.tolist()


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_pmi_is_what_the_context_adds_per_token(name: str, tiny: Tiny, loaded: Loaded) -> None:
    found = run(loaded(name), "pmi", REQUESTS)
    alone = [("", candidate) for _, candidate in REQUESTS]
    given, without = (oracle.scores(tiny(name), "native", asked) for asked in (REQUESTS, alone))
    pairs = list(zip(given, without, strict=True))
    assert found.log_likelihood.tolist() == pytest.approx(
        [a.log_likelihood - b.log_likelihood for a, b in pairs], abs=NATS, nan_ok=True
    )
    assert found.tokens.tolist() == [a.tokens for a, _ in pairs] == [b.tokens for _, b in pairs]


@pytest.mark.parametrize("separator", ["", " ", "\n", " \n", " Answer: "])
@pytest.mark.parametrize("name", ["gpt2", "llama", "opt"])
def test_the_separator_is_scored_with_the_candidate(
    name: str, separator: str, tiny: Tiny, loaded: Loaded
) -> None:
    family = tiny(name)
    requests = [*REQUESTS, ("the", "東"), ("the", " 東"), ("the", "  cat")]
    found = run(loaded(name), "native", requests, separator=separator)
    assert_same(found, oracle.scores(family, "native", requests, separator=separator))


@pytest.mark.parametrize("name", ["gpt2", "llama", "opt", "bart", "pegasus", "mbart50"])
@pytest.mark.parametrize("protocol", ["native", "laban2022"])
@pytest.mark.parametrize("keep", ["beginning", "end"])
def test_cut_contexts_score_like_the_formula(
    name: str, protocol: str, keep: str, fresh: Fresh
) -> None:
    family = fresh(name, window=40)  # LONG has 55 tokens or more
    requests = [(LONG, "the"), (LONG, "in the town"), ("the", "the cat in the town"), (LONG, "in")]
    found = run(family, protocol, requests, keep=keep)
    expected = oracle.scores(family, protocol, requests, keep=keep)
    assert [score.truncated for score in expected] == [True, True, False, True]
    assert_same(found, expected)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)


@pytest.mark.parametrize(
    ("name", "path"),
    [(name, path) for name in ("gpt2", "mistral", "t5", "bart") for path in PATHS[name]],
)
@given(
    contexts=st.lists(TEXT, min_size=1, max_size=3),
    picks=st.lists(st.tuples(st.integers(0, 2), TEXT), min_size=1, max_size=8),
    token_budget=st.integers(1, 120),
)
@settings(
    max_examples=100 if FULL else 10,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_texts_in_any_grouping_score_like_the_formula(
    *,
    name: str,
    tiny: Tiny,
    loaded: Loaded,
    contexts: list[str],
    picks: list[tuple[int, str]],
    path: str,
    token_budget: int,
) -> None:
    requests = [(contexts[pick % len(contexts)], candidate) for pick, candidate in picks]
    found = run(loaded(name), "native", requests, path=path, token_budget=token_budget)
    assert_same(found, oracle.scores(tiny(name), "native", requests))
