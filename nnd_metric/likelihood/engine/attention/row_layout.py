"""Where everything is in one packed row: the contexts first, then the candidates of each.

A context sees itself; a candidate sees itself and its context, if that is in the same row. Each of
them is a sequence, and all are numbered in their order in the row.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

QUERIES = 256  # most tokens of neighbouring candidates in one masked block

Sees: TypeAlias = Callable[
    [torch.Tensor | None, torch.Tensor | None, torch.Tensor, torch.Tensor], torch.Tensor
]
"""Whether queries see keys, by their places in the row; batch and head are ignored."""


class Block(NamedTuple):
    """Some neighbouring queries that see the same stretches of keys.

    Attributes:
        queries: Their places in the row.
        keys: Places of keys; those of the queries come last, if they are included.
        seen: Whether a query sees all of these keys, its past (if keys and queries are the same),
            or some, as decided by `Layout.sees`.
        reach: The largest position among the queries, plus one.
    """

    queries: slice
    keys: tuple[slice, ...]
    seen: Literal["all", "past", "some"]
    reach: int

    @property
    def size(self) -> int:
        """The number of scores for one head."""
        queries, *keys = (place.stop - place.start for place in (self.queries, *self.keys))
        return int(queries * sum(keys))


class SequenceEnds(NamedTuple):
    """Sequences laid end to end, in the form that kernels for variable lengths take.

    Attributes:
        ends: int32 [sequences + 1] on the device: 0, then the end of each.
        longest: An upper bound of their lengths.
    """

    ends: torch.Tensor
    longest: int


@dataclass(frozen=True, eq=False)
class Layout:
    """Where everything is in the row of one forward pass.

    Attributes:
        contexts: Lengths of the contexts in this row.
        candidates: Lengths of the candidates of each context; those after the last context see only
            themselves.
        encoded: Lengths of the contexts in the encoder's row; the candidates see them too.
        device: Where its tensors are.
        calls: Number of layers served; it stays 0 for a model that never calls `attend`.
        masks: Masks that kernels have made for this row; layers on its device share them.
        others: The same layout on other devices.
    """

    contexts: Sequence[int] = ()
    candidates: Sequence[Sequence[int]] = ()
    encoded: Sequence[int] = ()
    causal: bool = True
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    calls: list[int] = field(default_factory=lambda: [0])
    masks: dict[Hashable, Any] = field(default_factory=dict)
    others: dict[torch.device, "Layout"] = field(default_factory=dict)

    def on(self, device: torch.device) -> "Layout":
        """Return the layout for layers on a device: a model may be spread over several."""
        if device == self.device:
            return self
        if device not in self.others:
            self.others[device] = replace(self, device=device, masks={})
        return self.others[device]

    @cached_property
    def lengths(self) -> list[int]:
        """The length of every sequence."""
        return [*self.contexts, *chain.from_iterable(self.candidates)]

    @cached_property
    def groups(self) -> list[int]:
        """The number of tokens of the candidates of each context."""
        return [sum(lengths) for lengths in self.candidates]

    @cached_property
    def whose(self) -> npt.NDArray[np.int64]:
        """The number of each sequence's context; that of a context is its own."""
        of_candidates = np.repeat(np.arange(len(self.groups)), [*map(len, self.candidates)])
        return np.concatenate([np.arange(len(self.contexts)), of_candidates])

    @cached_property
    def positions(self) -> npt.NDArray[np.int64]:
        """The position of every token within its own request."""
        before = np.zeros(max(len(self.contexts), len(self.groups)), dtype=np.int64)
        before[: len(self.contexts)] = self.contexts
        first = before[self.whose]
        first[: len(self.contexts)] = 0
        starts = np.cumsum(self.lengths) - self.lengths
        return np.arange(sum(self.lengths)) + np.repeat(first - starts, self.lengths)

    @cached_property
    def reach(self) -> int:
        """The largest position in the row, plus one."""
        return int(self.positions.max(initial=-1)) + 1

    @cached_property
    def position(self) -> torch.Tensor:
        """`positions` on the device."""
        return to_device(self.positions, self.device)

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks of attention within the row; together their queries are the row."""
        contexts = _places(self.contexts)
        blocks = [
            Block(place, (place,), "past" if self.causal else "all", place.stop - place.start)
            for place in contexts
            if place.stop > place.start
        ]
        start = sum(self.contexts)
        for number, lengths in enumerate(self.candidates):
            context = contexts[number] if number < len(contexts) else slice(0, 0)
            first = context.stop - context.start
            for some in _chunks(lengths):
                here = slice(start, start + sum(some))
                keys = (context, here) if first else (here,)
                past = not first and len(some) == 1
                blocks.append(Block(here, keys, "past" if past else "some", first + max(some)))
                start = here.stop
        return blocks

    @cached_property
    def crossings(self) -> list[Block]:
        """Blocks of attention to the encoder's row."""
        places = zip(_places(self.groups), _places(self.encoded), strict=True)
        return [Block(queries, (keys,), "all", 0) for queries, keys in places]

    @property
    def contexts_and_behind(self) -> tuple[slice, slice]:
        """The places of all contexts in the row, and of all candidates that see one of them."""
        start = sum(self.contexts)
        return slice(0, start), slice(start, start + sum(self.groups[: len(self.contexts)]))

    @cached_property
    def sequence_ends(self) -> SequenceEnds:
        """Where the sequences of the row end."""
        return self._ends(self.lengths)

    @cached_property
    def context_ends(self) -> SequenceEnds:
        """Where the contexts that candidates attend to end, in this row or the encoder's."""
        return self._ends(self.encoded or self.contexts)

    @cached_property
    def group_ends(self) -> SequenceEnds:
        """Where the candidates of each such context end, counted from the first candidate."""
        return self._ends(self.groups[: len(self.encoded or self.contexts)])

    def sees(self, window: int | None) -> Sees:
        """Return a function that says whether a token of the row sees another, within a window."""
        name = ("sees", window)
        if name not in self.masks:
            self.masks[name] = self._make_sees(window)
        found: Sees = self.masks[name]
        return found

    def _make_sees(self, window: int | None) -> Sees:
        numbers = np.arange(len(self.lengths))
        numbers[len(self.contexts) :] += len(self.groups)  # no candidate has a context's number
        number = to_device(np.repeat(numbers, self.lengths), self.device)
        context = to_device(np.repeat(self.whose, self.lengths), self.device)
        position = self.position
        # Tensors, not numbers: a compiled function need not be compiled again for another window.
        nearest, farthest = 0 if self.causal else -self.reach, window or self.reach
        least, most = to_device(np.array([nearest, farthest]), self.device)

        def sees(
            _batch: torch.Tensor | None,
            _head: torch.Tensor | None,
            query: torch.Tensor,
            key: torch.Tensor,
        ) -> torch.Tensor:
            own = (number[key] == number[query]) | (number[key] == context[query])
            distance = position[query] - position[key]
            seen: torch.Tensor = own & (distance >= least) & (distance < most)
            return seen

        return sees

    def _ends(self, lengths: Sequence[int]) -> SequenceEnds:
        ends = np.cumsum([0, *lengths], dtype=np.int32)
        return SequenceEnds(to_device(ends, self.device), max(lengths, default=0))


def to_device(values: npt.NDArray[Any], device: torch.device) -> torch.Tensor:
    """Copy an array to a device without waiting for a GPU."""
    copied = torch.from_numpy(values)
    if device.type == "cuda":
        copied = copied.pin_memory()
    return copied.to(device, non_blocking=True)


def _places(lengths: Sequence[int]) -> list[slice]:
    """Return the places of sequences that are laid end to end."""
    return [slice(*ends) for ends in pairwise(accumulate(lengths, initial=0))]


def _chunks(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group neighbouring candidates into at most `QUERIES` tokens, or a longer one alone."""
    chunk: list[int] = []
    for length in lengths:
        if chunk and sum(chunk) + length > QUERIES:
            yield chunk
            chunk = []
        chunk.append(length)
    if chunk:
        yield chunk
