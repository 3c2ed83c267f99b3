"""The plan: which requests go through the model together, and what each batch reads once.

A plan is data. Every request is in exactly one call of one batch; a context is read once by each
batch that holds it, and only a context whose candidates outgrow the budget is in more than one.
Decoder-only models also read the common beginning of contexts, such as a chat's system turn or a
prompt's examples, once for each batch.
The budget bounds the positions that are held at once; only a single request longer than that
exceeds it, in a batch of its own.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TypeAlias, TypeVar

from nnd.metric.text import Encoded, Ids

Item = TypeVar("Item")

_LEAST_BEGINNING = 64  # tokens: sharing fewer costs as much as it saves


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests that go through the model together.

    Attributes:
        contexts: Contexts read once for all calls of the batch; empty if every request reads its
            own.
        calls: Numbers of the requests that go through the model side by side.
        tokens: Positions that enter the model, padding included.
        beginning: How many tokens at the beginning of all contexts are read once for all of them.
    """

    contexts: tuple[Ids, ...]
    calls: tuple[tuple[int, ...], ...]
    tokens: int
    beginning: int = 0

    @property
    def requests(self) -> tuple[int, ...]:
        """The numbers of its requests, call by call."""
        return tuple(chain.from_iterable(self.calls))


Planner: TypeAlias = Callable[[Sequence[Encoded], int, int], list[Batch]]
"""Plans requests, given rows, the budget in positions, and the most rows of logits at once
(packed paths ignore the last: they make logits in parts)."""


def plan_packed(rows: Sequence[Encoded], budget: int, _logits: int) -> list[Batch]:
    """Plan one row of everything, end to end: nothing is padded, nothing read twice."""
    return _pack(rows, _by_context(rows), budget, 0)


def plan_begun(rows: Sequence[Encoded], budget: int, _logits: int) -> list[Batch]:
    """Plan as `plan_packed` does, but read a common beginning once for each row.

    Contexts without a long beginning, such as those of the baseline, are planned apart.
    """
    groups = _by_context(rows)
    long = [group for group in groups if len(group[0]) > _LEAST_BEGINNING]
    beginning = _common_beginning([context for context, _ in long])
    if beginning < _LEAST_BEGINNING or 2 * beginning > budget:
        return plan_packed(rows, budget, _logits)
    short = [group for group in groups if len(group[0]) <= _LEAST_BEGINNING]
    return [*_pack(rows, long, budget, beginning), *_pack(rows, short, budget, 0)]


def _common_beginning(contexts: Sequence[Ids]) -> int:
    """Return how many tokens all contexts begin with; each has at least one more."""
    if len(contexts) < 2:  # noqa: PLR2004 - what two have in common
        return 0
    first, last = min(contexts), max(contexts)  # all others are between the two
    most = min(map(len, contexts)) - 1
    pairs = zip(first[:most], last[:most], strict=True)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), most)


def _pack(
    rows: Sequence[Encoded], groups: Sequence[tuple[Ids, list[int]]], budget: int, beginning: int
) -> list[Batch]:
    """Plan rows of contexts with their requests, each after a beginning."""
    room = budget - beginning

    def cost(group: tuple[Ids, list[int]]) -> int:
        context, members = group
        return len(context) - beginning + sum(len(rows[number].inputs) for number in members)

    parts = [
        (context, part)
        for context, members in groups
        for part in _fill_up(
            members, lambda number: len(rows[number].inputs), room - len(context) + beginning
        )
    ]
    parts.sort(key=cost, reverse=True)
    batches = []
    for some in _fill_up(parts, cost, room):
        whole: dict[Ids, list[int]] = {}  # parts of one context may come together again
        for context, members in some:
            whole.setdefault(context, []).extend(members)
        numbers = tuple(number for members in whole.values() for number in members)
        tokens = beginning + sum(map(cost, whole.items()))
        batches.append(Batch(tuple(whole), (numbers,), tokens, beginning))
    return batches


def plan_cached(rows: Sequence[Encoded], budget: int, logits: int) -> list[Batch]:
    """Plan a context's keys and values, read once and repeated over its padded candidates."""
    batches = []
    for context, members in sorted(_by_context(rows), key=lambda group: -len(group[0])):

        def fits(some: list[int], context: Ids = context) -> bool:
            widths = [len(rows[number].inputs) for number in some]
            held, made = len(some) * (len(context) + widths[0]), len(some) * widths[0]
            return held <= budget and made <= logits and _is_tight(widths)

        members.sort(key=lambda number: -len(rows[number].inputs))
        calls = tuple(map(tuple, _fill(members, fits)))
        read = sum(len(call) * len(rows[call[0]].inputs) for call in calls)
        batches.append(Batch((context,), calls, len(context) + read))
    return batches


def plan_shared(rows: Sequence[Encoded], budget: int, logits: int) -> list[Batch]:
    """Plan encoder states, made once per context; decoder inputs of one length side by side.

    Decoder inputs are never padded: ProphetNet lets later positions change earlier ones.
    """
    members_of = dict(_by_context(rows))
    contexts = sorted(members_of, key=lambda context: -len(context))
    batches = []
    for some in _fill(
        contexts,
        lambda some: len(some) * len(some[0]) <= budget and _is_tight([*map(len, some)]),
    ):
        width = len(some[0])
        members = [number for context in some for number in members_of[context]]
        calls = _side_by_side(rows, members, width, budget, logits)
        read = sum(len(rows[number].inputs) for number in members)
        batches.append(Batch(tuple(some), calls, len(some) * width + read))
    return batches


def plan_decoder(rows: Sequence[Encoded], budget: int, logits: int) -> list[Batch]:
    """Plan rows of context and candidate, padded to the longest (plain path, decoder-only)."""

    def fits(some: list[int]) -> bool:
        widths = [rows[number].length for number in some]
        kept = widths[0] - min(len(rows[number].context) for number in some)
        return len(some) * widths[0] <= budget and len(some) * kept <= logits and _is_tight(widths)

    calls = _fill(_longest_first(rows), fits)
    return [Batch((), (tuple(call),), len(call) * rows[call[0]].length) for call in calls]


def plan_masked(rows: Sequence[Encoded], budget: int, _logits: int) -> list[Batch]:
    """Plan padded rows of masked models, which make logits in parts and only where they score."""
    return plan_decoder(rows, budget, budget)


def plan_encoder_decoder(rows: Sequence[Encoded], budget: int, logits: int) -> list[Batch]:
    """Plan requests that each read their own context (plain path, encoder-decoder)."""
    batches = []
    numbers = sorted(range(len(rows)), key=lambda number: -len(rows[number].context))
    widest = max((len(rows[number].context) for number in numbers), default=0)
    for call in _side_by_side(rows, numbers, widest, budget, logits):
        width = max(len(rows[number].context) for number in call)
        tokens = len(call) * (width + len(rows[call[0]].inputs))
        batches.append(Batch((), (call,), tokens))
    return batches


def plan_alone(rows: Sequence[Encoded], _budget: int, _logits: int) -> list[Batch]:
    """Plan every request by itself, the longest first."""
    return [Batch((), ((number,),), rows[number].length) for number in _longest_first(rows)]


def _longest_first(rows: Sequence[Encoded]) -> list[int]:
    return sorted(range(len(rows)), key=lambda number: -rows[number].length)


def _side_by_side(
    rows: Sequence[Encoded], numbers: Iterable[int], width: int, budget: int, logits: int
) -> tuple[tuple[int, ...], ...]:
    """Fill calls with decoder inputs of one length, each with a context of `width`."""

    def length(number: int) -> int:
        return len(rows[number].inputs)

    calls: list[tuple[int, ...]] = []
    for own, group in groupby(sorted(numbers, key=length, reverse=True), key=length):
        same, most = tuple(group), max(1, min(budget // (width + own), logits // own))
        calls += (same[start : start + most] for start in range(0, len(same), most))
    return tuple(calls)


def _by_context(rows: Sequence[Encoded]) -> list[tuple[Ids, list[int]]]:
    """Return each context with the numbers of its requests, in order of appearance."""
    members: dict[Ids, list[int]] = {}
    for number, row in enumerate(rows):
        members.setdefault(row.context, []).append(number)
    return list(members.items())


def _is_tight(widths: Sequence[int]) -> bool:
    """Whether rows of these widths, the widest first, are at least three quarters full."""
    return 4 * sum(widths) >= 3 * len(widths) * widths[0]


def _fill(items: Iterable[Item], fits: Callable[[list[Item]], bool]) -> list[list[Item]]:
    """Cut a sequence into the longest parts that fit; a part has at least one item."""
    runs: list[list[Item]] = []
    for item in items:
        if runs and fits([*runs[-1], item]):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def _fill_up(items: Iterable[Item], cost: Callable[[Item], int], budget: int) -> list[list[Item]]:
    """Cut a sequence into parts of at most the budget's cost; a part has at least one item."""
    runs: list[list[Item]] = []
    left = 0
    for item in items:
        price = cost(item)
        left -= price
        if not runs or left < 0:
            runs.append([])
            left = budget - price
        runs[-1].append(item)
    return runs
