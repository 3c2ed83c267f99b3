"""The plan, counted again: nothing lost, nothing twice, and never more at once than the budget."""

import math
import os
import time
from collections import Counter
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings, strategies as st
from support.engine.cases import PATHS, REQUESTS, Fresh, ids

from nnd.metric.likelihood.engine.batch_plan import (
    Batch,
    Planner,
    plan_begun,
    plan_cached,
    plan_decoder,
    plan_encoder_decoder,
    plan_packed,
    plan_shared,
)
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.text.encoding.requests import Encoded

PLANNERS = (plan_packed, plan_cached, plan_shared, plan_decoder, plan_encoder_decoder)
READ_ONCE = (plan_packed, plan_cached, plan_shared)
AMPLE = 1_000_000
FULL = bool(os.environ.get("NND_TEST_FULL"))


@st.composite
def requests(draw: st.DrawFn) -> list[Encoded]:
    """Distinct requests: contexts shared or not, empty or long; each has something scored."""
    lengths = draw(st.lists(st.integers(0, 60), min_size=1, max_size=6))
    contexts = [(number, *range(length)) for number, length in enumerate(lengths)]
    made = []
    for number in range(draw(st.integers(0, 20))):
        context = draw(st.sampled_from([*contexts, ()]))
        n = draw(st.sampled_from([0, 1, 2, 3, 6, 12]))
        targets = (number, *range(n))
        marks = draw(st.integers(1, 2 ** (n + 1) - 1))
        scored = tuple(bool(marks >> at & 1) for at in range(n + 1))
        made.append(Encoded(context, targets, targets, scored, truncated=False))
    return made


PLANNED = (requests(), st.integers(1, 200), st.integers(1, 40))
SETTINGS = settings(derandomize=True, max_examples=500 if FULL else 30)


@pytest.mark.parametrize("plan", PLANNERS)
@given(*PLANNED)
@SETTINGS
def test_every_request_is_in_exactly_one_call(
    plan: Planner, rows: list[Encoded], budget: int, logits: int
) -> None:
    batches = plan(rows, budget, logits)
    planned = Counter(number for batch in batches for call in batch.calls for number in call)
    assert planned == Counter(range(len(rows)))
    assert all(call for batch in batches for call in batch.calls)
    assert batches == plan(rows, budget, logits)


@pytest.mark.parametrize("plan", READ_ONCE)
@given(*PLANNED)
@SETTINGS
def test_a_context_is_read_once_unless_its_candidates_outgrow_the_budget(
    plan: Planner, rows: list[Encoded], budget: int, logits: int
) -> None:
    batches = plan(rows, budget, logits)
    for batch in batches:
        assert len(set(batch.contexts)) == len(batch.contexts)
        assert {rows[number].context for number in batch.requests} == set(batch.contexts)
    read = Counter(context for batch in batches for context in batch.contexts)
    for context, times in read.items():
        own = [row for row in rows if row.context == context]
        whole = len(context) + sum(len(row.inputs) for row in own)
        assert times == 1 or (plan is plan_packed and whole > budget)


@pytest.mark.parametrize("plan", [plan_decoder, plan_encoder_decoder])
@given(*PLANNED)
@SETTINGS
def test_the_plain_way_reads_one_call_at_a_time_and_shares_no_context(
    plan: Planner, rows: list[Encoded], budget: int, logits: int
) -> None:
    for batch in plan(rows, budget, logits):
        assert batch.contexts == ()
        assert len(batch.calls) == 1


# What enters the model, from the shapes of the calls that `packed` and `unpacked` make.


def widest(lengths: Sequence[int]) -> int:
    return len(lengths) * max(lengths)


def entering(plan: Planner, rows: Sequence[Encoded], batch: Batch) -> int:
    contexts = [len(context) for context in batch.contexts]
    read = [[len(rows[number].inputs) for number in call] for call in batch.calls]
    if plan is plan_packed:
        return sum(contexts) + sum(map(sum, read))
    if plan is plan_decoder:
        (call,) = batch.calls
        return widest([len(rows[n].context) + len(rows[n].inputs) for n in call])
    if plan is plan_encoder_decoder:
        (call,) = batch.calls
        return widest([len(rows[n].context) for n in call]) + sum(map(widest, read))
    return widest(contexts) + sum(map(widest, read))


def held(plan: Planner, rows: Sequence[Encoded], batch: Batch) -> list[tuple[int, int]]:
    """Positions held at once, and how many requests (or contexts) they belong to."""
    if plan in (plan_packed, plan_decoder):
        return [(entering(plan, rows, batch), len(batch.requests))]
    found = []
    contexts = batch.contexts or [rows[number].context for number in batch.requests]
    width = max(map(len, contexts))
    if plan is plan_shared:
        found.append((len(contexts) * width, len(contexts)))
    for call in batch.calls:
        width = max(map(len, contexts)) if plan is plan_shared else 0
        width = width or max(len(rows[number].context) for number in call)
        own = max(len(rows[number].inputs) for number in call)
        found.append((len(call) * (width + own), len(call)))
    return found


@pytest.mark.parametrize("plan", PLANNERS)
@given(*PLANNED)
@SETTINGS
def test_tokens_are_the_positions_that_enter_padding_included(
    plan: Planner, rows: list[Encoded], budget: int, logits: int
) -> None:
    for batch in plan(rows, budget, logits):
        assert batch.tokens == entering(plan, rows, batch)


@pytest.mark.parametrize("plan", PLANNERS)
@given(*PLANNED)
@SETTINGS
def test_only_a_single_request_exceeds_the_budget(
    plan: Planner, rows: list[Encoded], budget: int, logits: int
) -> None:
    for batch in plan(rows, budget, logits):
        assert all(positions <= budget or n == 1 for positions, n in held(plan, rows, batch))


@pytest.mark.parametrize("plan", [plan_cached, plan_shared, plan_decoder, plan_encoder_decoder])
@given(*PLANNED)
@SETTINGS
def test_only_a_single_request_makes_more_rows_of_logits_than_allowed(
    plan: Planner, rows: list[Encoded], budget: int, logits: int
) -> None:
    for batch in plan(rows, budget, logits):
        for call in batch.calls:
            ends = [len(rows[n].context) + len(rows[n].inputs) for n in call]
            kept = max(ends) - min(len(rows[n].context) for n in call)
            widths = [len(rows[n].inputs) for n in call]
            made = len(call) * (kept if plan is plan_decoder else max(widths))
            assert made <= logits or len(call) == 1


@pytest.mark.parametrize("plan", [plan_cached, plan_shared, plan_decoder])
@given(*PLANNED)
@SETTINGS
def test_no_more_than_a_quarter_is_padding(
    plan: Planner, rows: list[Encoded], budget: int, logits: int
) -> None:
    for batch in plan(rows, budget, logits):
        padded = [[len(rows[number].inputs) for number in call] for call in batch.calls]
        if plan is plan_shared:
            padded = [[len(context) for context in batch.contexts]]
        if plan is plan_decoder:
            padded = [[len(rows[n].context) + len(rows[n].inputs) for n in batch.requests]]
        assert all(4 * sum(lengths) >= 3 * widest(lengths) for lengths in padded)


@pytest.mark.parametrize("plan", [plan_shared, plan_encoder_decoder])
@given(*PLANNED)
@SETTINGS
def test_decoder_inputs_are_never_padded(
    plan: Planner, rows: list[Encoded], budget: int, logits: int
) -> None:
    for batch in plan(rows, budget, logits):
        for call in batch.calls:
            assert len({len(rows[number].inputs) for number in call}) == 1


@given(requests())
@SETTINGS
def test_packing_reads_nothing_twice_where_there_is_room(rows: list[Encoded]) -> None:
    batches = plan_packed(rows, AMPLE, 1)
    assert len(batches) == min(1, len(rows))
    assert sum(batch.tokens for batch in batches) == unique_tokens(rows)


def unique_tokens(rows: Sequence[Encoded]) -> int:
    contexts = {row.context for row in rows}
    return sum(map(len, contexts)) + sum(len(row.inputs) for row in set(rows))


def test_packing_cuts_by_hand() -> None:
    def row(context: int, inputs: int, first: int) -> Encoded:
        ids = tuple(range(first, first + inputs))
        return Encoded((context,) * context, ids, ids, (True,) * inputs, truncated=False)

    # Context of 4 with candidates of 3, 3, 2: 4 + 3 + 3 = 10 fills the budget, 4 + 2 = 6 is left.
    # Context of 2 with a candidate of 2: 4, which fits beside the 6. Context of 9 with one of 5: 14
    # is too long for any batch, and has one of its own, the first as it is the longest.
    rows = [row(4, 3, 10), row(2, 2, 20), row(4, 3, 30), row(9, 5, 40), row(4, 2, 50)]
    assert plan_packed(rows, 10, 1) == [
        Batch(((9,) * 9,), ((3,),), 14),
        Batch(((4,) * 4,), ((0, 2),), 10),
        Batch(((4,) * 4, (2,) * 2), ((4, 1),), 10),
    ]


def begun(context: tuple[int, ...], first: int, inputs: int = 2) -> Encoded:
    ids = tuple(range(first, first + inputs))
    return Encoded(context, ids, ids, (True,) * inputs, truncated=False)


PROMPT = tuple(range(100, 170))
"""70 tokens that contexts begin with."""


def test_what_all_long_contexts_begin_with_is_read_once_for_each_row() -> None:
    contexts = [(*PROMPT, 1), (*PROMPT, 2, 3), (*PROMPT, 1, 4)]
    rows = [begun(context, 10 * number) for number, context in enumerate([*contexts, (7,), ()])]
    # 70 + (1 + 2) + (2 + 2) + (2 + 2) = 81; the contexts without the prompt are read apart
    assert plan_begun(rows, AMPLE, 1) == [
        Batch((contexts[1], contexts[2], contexts[0]), ((1, 2, 0),), 81, 70),
        Batch(((7,), ()), ((3, 4),), 5),
    ]
    # In a budget of 75 only the last fits, or one of the others, after the prompt.
    assert [batch.tokens for batch in plan_begun(rows[:3], 75, 1)] == [74, 74, 73]


@pytest.mark.parametrize(
    ("contexts", "budget"),
    [
        ([(*PROMPT, 1)], AMPLE),  # one context, whose beginning nothing shares
        ([(*PROMPT[:60], 1, *PROMPT), (*PROMPT[:60], 2, *PROMPT)], AMPLE),  # too few tokens
        ([(*PROMPT, 1), (*PROMPT, 2)], 139),  # more than half of a row
        ([(*PROMPT, 1), (0, *PROMPT)], AMPLE),
    ],
)
def test_beginnings_that_are_not_worth_sharing(
    contexts: list[tuple[int, ...]], budget: int
) -> None:
    rows = [begun(context, 10 * number) for number, context in enumerate(contexts)]
    assert plan_begun(rows, budget, 1) == plan_packed(rows, budget, 1)


def test_a_context_that_others_begin_with_keeps_a_token() -> None:
    rows = [begun(PROMPT, 1), begun((*PROMPT, 1), 2)]
    (batch,) = plan_begun(rows, AMPLE, 1)
    assert (batch.beginning, batch.tokens) == (69, 69 + 1 + 2 + 2 + 2)


@given(*PLANNED)
@SETTINGS
def test_beginnings_change_nothing_else(rows: list[Encoded], budget: int, logits: int) -> None:
    longer = [row._replace(context=(*PROMPT, *row.context, 0)) for row in rows]
    batches = plan_begun(longer, budget + 140, logits)
    numbers = [number for batch in batches for number in batch.requests]
    assert sorted(numbers) == [*range(len(rows))]
    for batch in batches:
        contexts = [len(context) - batch.beginning for context in batch.contexts]
        read = sum(len(rows[number].inputs) for number in batch.requests)
        assert batch.tokens == batch.beginning + sum(contexts) + read
        assert {longer[number].context for number in batch.requests} == {*batch.contexts}
        assert batch.tokens <= budget + 140 or len(batch.requests) == 1
        assert len({context[: batch.beginning] for context in batch.contexts}) == 1


def test_parts_of_one_context_that_meet_again_read_it_once() -> None:
    # Context of 1 with candidates of 1, 5, 1, of which neighbours are too long for a batch of 6: 7
    # with their context. The first and the last meet in a batch, and are 3 with theirs.
    lengths = [range(1), range(1, 6), range(6, 7)]
    rows = [Encoded((9,), (*n,), (*n,), (True,) * len(n), truncated=False) for n in lengths]
    assert plan_packed(rows, 6, 1) == [
        Batch(((9,),), ((1,),), 6),
        Batch(((9,),), ((0, 2),), 3),
    ]


@pytest.mark.parametrize(("shared", "budget"), [(1, 32_768), (4, 32_768), (10_000, 2_048)])
def test_planning_40_000_requests_takes_less_than_two_seconds(shared: int, budget: int) -> None:
    rows = [
        Encoded(
            (number // shared,) * 300,
            (number,) * (5 + number % 30),
            (number,) * (5 + number % 30),
            (True,) * (5 + number % 30),
            truncated=False,
        )
        for number in range(40_000)
    ]
    start = time.process_time()
    plan_packed(rows, budget, 1)
    assert time.process_time() - start < 2


# What a model really reads


def count_positions(model: torch.nn.Module) -> list[int]:
    """Return a list that gets the number of ids of every call of an embedding of words."""
    seen: list[int] = []
    words = {
        module for name, module in model.named_modules() if name.endswith(("wte", "embed_tokens"))
    }
    for module in words:
        module.register_forward_hook(lambda _module, args, _out: seen.append(args[0].numel()))
    return seen


@pytest.mark.sampled(3)
@pytest.mark.parametrize("budget", [1, 150, AMPLE])
@pytest.mark.parametrize(
    ("name", "path"),
    [(name, path) for name in ("gpt2", "t5", "bart") for path in PATHS[name]],
)
def test_what_enters_the_embeddings_is_what_the_work_tells(
    name: str, path: str, budget: int, fresh: Fresh
) -> None:
    family = fresh(name)
    engine = Engine(
        wrap_model(family.model, family.tokenizer, name=name), path=path, token_budget=budget
    )
    engine(REQUESTS)  # proves the path; what it proved stays with the engine
    engine.evidence.spare = -math.inf  # no request is drawn at random, to be read alone
    entered = count_positions(family.model)
    work = engine(REQUESTS).work
    assert (work.path, sum(entered)) == (path, work.tokens)


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5", "bart"])
def test_packed_every_token_enters_once(name: str, fresh: Fresh) -> None:
    family = fresh(name)
    engine = Engine(wrap_model(family.model, family.tokenizer, name=name))
    engine(REQUESTS)
    engine.evidence.spare = -math.inf  # as above
    entered = count_positions(family.model)
    work = engine([*REQUESTS, *reversed(REQUESTS)]).work
    rows = [row for row in ids(family, "native", REQUESTS) if any(row.scored)]
    assert (work.path, work.tokens) == ("packed", unique_tokens(rows))
    assert sum(entered) == unique_tokens(rows)
