"""What a self-test found: how far a model's numbers are from float64, and what else differs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from nnd.metric.numbers import Result, short_names
from nnd.schemas import (
    SELFTEST,
    Amount,
    Count,
    Name,
    Record,
    counted,
    frame_schema,
    own_files,
    record_frame,
    replace_own,
    write_document,
)

TOLERANCE: Final = 5e-5
"""Largest difference that counts as agreement, in nats per scored token.

Rounding in float32 moves SmolLM2-135M by up to 1.4e-5 and Gemma-3 270M by up to 3.3e-5, over 200
questions of Quiz Design.
"""


@dataclass(frozen=True, slots=True)
class Worst(Record):
    """The request whose number differs the most.

    Attributes:
        pair: Id of the pair.
        candidate: Which candidate of the pair: high or low.
        engine: Its log-likelihood as nnd computes it, as the protocol normalises it.
        float64: The same number by the self-test.
    """

    pair: Name
    candidate: Name
    engine: float
    float64: float


@dataclass(frozen=True, slots=True)
class ProtocolTest(Record):
    """The requests of the pairs under one protocol.

    Attributes:
        protocol: The protocol.
        path: The path of the engine through the model.
        requests: How many numbers were compared: two for each pair.
        difference: Largest difference from float64, in nats per scored token; None if no request
            has a token to score.
        ids_differ: Requests whose token ids, or the choice of those that are scored, differ.
        verdicts_differ: Pairs of which one side says that the model passes, and the other does not.
        as_one: Requests whose ids are also those of context and candidate read as one text, or of
            the whole chat by `apply_chat_template`. Others have a token that would cross the
            boundary; for encoder-decoders, which read two texts, all count.
        worst: Where the difference is the largest.
    """

    protocol: Name
    path: Name
    requests: Count
    difference: Amount | None
    ids_differ: Count
    verdicts_differ: Count
    as_one: Count
    worst: Worst | None

    @property
    def ok(self) -> bool:
        """Whether numbers, ids and verdicts agree."""
        return (self.difference or 0.0) <= TOLERANCE and not (
            self.ids_differ or self.verdicts_differ
        )


@dataclass(frozen=True, slots=True, repr=False)
class SelfTest(Result):
    """A model's numbers against an independent computation in float64.

    Attributes:
        model: Name of the model.
        version: Its Hub commit, or the SHA-256 of its weights.
        data: Name of the data.
        pairs: How many pairs were scored.
        tolerance: Largest difference that counts as agreement, in nats per scored token.
        protocols: What was found under each protocol.
        notes: What was left out, and why.
    """

    model: Name
    version: Name
    data: Name
    pairs: Count
    tolerance: Amount
    protocols: tuple[ProtocolTest, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all protocols agree."""
        return all(each.ok for each in self.protocols)

    @property
    def difference(self) -> float | None:
        """Largest difference from float64, in nats per scored token."""
        known = [each.difference for each in self.protocols if each.difference is not None]
        return max(known, default=None)

    def headline(self) -> str:
        """Return whether the model's numbers agree with float64, and what differs."""
        (name,), requests = short_names([self.model]), sum(each.requests for each in self.protocols)
        on = f"on {counted(requests, 'request')} of {self.data}"
        largest = "n/a" if self.difference is None else f"{self.difference:.1e}"
        if self.ok:
            return f"{name} agrees with float64 to {largest} nats per token {on}."
        return f"{name} does not agree with float64 {on}: {', '.join(self._faults(largest))}."

    def _faults(self, largest: str) -> list[str]:
        ids = sum(each.ids_differ for each in self.protocols)
        verdicts = sum(each.verdicts_differ for each in self.protocols)
        faults = []
        if (self.difference or 0.0) > self.tolerance:
            faults.append(f"up to {largest} nats per token, where {self.tolerance:.0e} is allowed")
        faults += [f"the token ids of {counted(ids, 'request')}"] if ids else []
        faults += [f"{counted(verdicts, 'verdict')}"] if verdicts else []
        return faults

    def remarks(self) -> list[str]:
        """Return where faults are, and what was left out."""
        worst = [
            f"{each.protocol}: most in the {each.worst.candidate} candidate of pair "
            f"{each.worst.pair}, {each.worst.engine:.6f} here, {each.worst.float64:.6f} in float64."
            for each in self.protocols
            if each.worst is not None and not each.ok
        ]
        return [*worst, *self.notes]

    def to_frame(self) -> pl.DataFrame:
        """Return a row per protocol."""
        return record_frame(
            [*frame_schema(ProtocolTest)], [({}, each) for each in self.protocols], ProtocolTest
        )

    def write(self, folder: str | Path) -> None:
        """Write selftest.json to a folder, such as that of a result.

        Raises:
            NNDError: If a file of that name exists that nnd did not write.
            OSError: If it cannot be written.
        """
        path = Path(folder) / SELFTEST
        with replace_own(path, lambda own: own.name in own_files(own.parent, SELFTEST)) as fresh:
            write_document(fresh.parent, self.to_dict(), document=fresh.name)
