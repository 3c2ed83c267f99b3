"""Where everything is in one packed row: the contexts first, then the candidates of each.

A context sees itself; a candidate sees itself and its context, if that is in the same row. Before
them may be a common beginning of all contexts, which all see. Each of them is a sequence, and all
are numbered in their order in the row.
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
        contexts: Lengths of the contexts in this row, without their common beginning.
        candidates: Lengths of the candidates of each context; those after the last context see only
            themselves.
        encoded: Lengths of the contexts in the encoder's row; the candidates see them too.
        beginning: Length of the common beginning; then every candidate has a context.
        device: Where its tensors are.
        calls: Number of layers served; it stays 0 for a model that never calls `attend`.
        masks: Masks that kernels have made for this row; layers on its device share them.
        others: The same layout on other devices.
    """

    contexts: Sequence[int] = ()
    candidates: Sequence[Sequence[int]] = ()
    encoded: Sequence[int] = ()
    beginning: int = 0
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
        begun = [self.beginning] if self.beginning else []
        return [*begun, *self.contexts, *chain.from_iterable(self.candidates)]

    @cached_property
    def groups(self) -> list[int]:
        """The number of tokens of the candidates of each context."""
        return [sum(lengths) for lengths in self.candidates]

    @cached_property
    def whose(self) -> npt.NDArray[np.int64]:
        """The number of each sequence's context; that of a context or the beginning is its own."""
        before = int(self.beginning > 0)
        of_candidates = np.repeat(np.arange(len(self.groups)), [*map(len, self.candidates)])
        first = np.arange(before + len(self.contexts))
        return np.concatenate([first, before + of_candidates])

    @cached_property
    def positions(self) -> npt.NDArray[np.int64]:
        """The position of every token within its own request."""
        begun, contexts = int(self.beginning > 0), len(self.contexts)
        before = np.zeros(begun + max(contexts, len(self.groups)), dtype=np.int64)
        before[begun : begun + contexts] = self.contexts
        first = self.beginning + before[self.whose]
        first[begun : begun + contexts] = self.beginning
        first[:begun] = 0
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
        begun = _places([self.beginning]) if self.beginning else []
        contexts = _places(self.contexts, self.beginning)
        past: Literal["all", "past"] = "past" if self.causal else "all"
        blocks = [Block(place, (place,), past, place.stop) for place in begun]
        blocks += [
            Block(place, (*begun, place), "some" if begun else past, self.beginning + _size(place))
            for place in contexts
            if _size(place)
        ]
        start = self.beginning + sum(self.contexts)
        for number, lengths in enumerate(self.candidates):
            before = [place for place in (*begun, *contexts[number : number + 1]) if _size(place)]
            first = sum(map(_size, before))
            for some in _chunks(lengths):
                here = slice(start, start + sum(some))
                keys = (*before, here)
                seen: Literal["past", "some"] = "some" if first or len(some) > 1 else "past"
                blocks.append(Block(here, keys, seen, first + max(some)))
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
        start = self.beginning + sum(self.contexts)
        behind = slice(start, start + sum(self.groups[: len(self.contexts)]))
        return slice(self.beginning, start), behind

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

    @cached_property
    def beginning_ends(self) -> tuple[SequenceEnds, SequenceEnds]:
        """Where all that sees the beginning ends, counted from its end, and where that is."""
        after = sum(self.lengths) - self.beginning
        return self._ends([after]), self._ends([self.beginning])

    def sees(self, window: int | None) -> Sees:
        """Return a function that says whether a token of the row sees another, within a window."""
        name = ("sees", window)
        if name not in self.masks:
            self.masks[name] = self._make_sees(window)
        found: Sees = self.masks[name]
        return found

    def _make_sees(self, window: int | None) -> Sees:
        numbers = np.arange(len(self.lengths))
        contexts = int(self.beginning > 0) + len(self.contexts)
        numbers[contexts:] += len(self.groups)  # no candidate has a context's number
        number = to_device(np.repeat(numbers, self.lengths), self.device)
        context = to_device(np.repeat(self.whose, self.lengths), self.device)
        position = self.position
        # Tensors, not numbers: a compiled function need not be compiled again for another window.
        nearest, farthest = 0 if self.causal else -self.reach, window or self.reach
        limits = np.array([nearest, farthest, self.beginning])
        least, most, begun = to_device(limits, self.device)

        def sees(
            _batch: torch.Tensor | None,
            _head: torch.Tensor | None,
            query: torch.Tensor,
            key: torch.Tensor,
        ) -> torch.Tensor:
            own = (number[key] == number[query]) | (number[key] == context[query]) | (key < begun)
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


def _places(lengths: Sequence[int], start: int = 0) -> list[slice]:
    """Return the places of sequences that are laid end to end."""
    return [slice(*ends) for ends in pairwise(accumulate(lengths, initial=start))]


def _size(place: slice) -> int:
    return int(place.stop - place.start)


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
