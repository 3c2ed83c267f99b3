"""The result of one model on one set of pairs, from its log-likelihoods."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import polars as pl

from nnd.metric.data import TOKENS
from nnd.metric.likelihood import Work
from nnd.metric.numbers import PassRates, PublishedPasses, caveats, few_tokens
from nnd.metric.run.model_cost import ModelCost
from nnd.metric.text import PROTOCOLS, Rendering, ToldLanguages, find_protocol
from nnd.schemas import SPARSE, Count, FlatKeys, Limit, Name, Record, StoredAs

NO_BASELINE = "no baseline without contexts: "
"""Beginning of the note on a missing baseline."""


@dataclass(frozen=True, slots=True)
class FirstRequest(Record):
    """A request as the model read it.

    Attributes:
        context: What was read before the candidate; of a long text, its first and its last
            characters.
        candidate: What was scored.
    """

    context: str
    candidate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult(Record):
    """The result of one model.

    Attributes:
        model: Its name.
        version: Hub commit, or the SHA-256 of its weights.
        protocol: Name of the protocol: which tokens are scored, and what they are divided by.
        template: Name or text of the template that rendered contexts.
        instruction: The first 6 digits of the SHA-256 of the instruction that contexts were read
            with; None without one. Older results lack it.
        languages: The languages that a multilingual model was given, and that the user asked for;
            None for other models. Older results lack it.
        chat: How contexts were rendered as chats, or why not. Older results, which read plain text,
            lack it.
        request: The first request. Older results lack it.
        dtype: Precision of the weights.
        device: The device it ran on.
        parameters: Number of its weights, embeddings included; tied ones count once.
        quantised: The format of quantised weights, such as `bnb-nf4`; None if they are plain
            floats. Older results lack it.
        weight_bytes: Memory that the weights take, in bytes. Older results lack it.
        unquantised_bytes: Memory that they would take unquantised, in `dtype`, in bytes. Older
            results lack it.
        rates: Pass rates.
        cluster: What the clusters of contexts are called that intervals are over, such as
            paragraph; None if nothing is declared. Older results lack it: they are over contexts.
        n_whole: Number of tests of the data, if only a part of them was scored.
        notes: Caveats and notes, a sentence each.
        n_close: Tests whose margin is smaller than the deviation of the engine, so that rounding
            could change the verdict; None if the deviation is unknown.
        n_crossing: Tests whose tokens are not those of context and candidate encoded together; None
            if the two are never one text, as for encoder-decoders.
        work: How the engine computed the likelihoods.
        signature: Everything that decides the numbers, in one line.
        published: What others published for the model on these tests, if the list of runs states
            it.
    """

    model: Name
    version: Name
    protocol: Annotated[str, Limit("enum", (*PROTOCOLS,))]
    template: Name
    instruction: Annotated[str | None, Limit("pattern", "^[0-9a-f]{6}$")] = None
    languages: Annotated[ToldLanguages | None, SPARSE] = None
    chat: Rendering | None = None
    request: FirstRequest | None = None
    dtype: Name
    device: Name
    parameters: Count
    quantised: str | None = None
    weight_bytes: Count | None = None
    unquantised_bytes: Count | None = None
    rates: Annotated[PassRates, FlatKeys()]
    cluster: Annotated[str | None, SPARSE] = None
    n_whole: Annotated[Count | None, SPARSE] = None
    notes: tuple[str, ...]
    n_close: Count | None
    n_crossing: Count | None
    work: Annotated[Work, StoredAs("engine")]
    signature: Name
    published: Annotated[PublishedPasses | None, SPARSE] = None

    def memory(self) -> str:
        """Return in words the memory of the weights, quantised and unquantised."""
        taken = f"the weights take {(self.weight_bytes or 0) / 1e6:,.1f} MB of memory"
        if self.quantised is None or self.unquantised_bytes is None:
            return taken
        before = f"{self.unquantised_bytes / 1e6:,.1f} MB as {self.dtype}"
        return f"{taken} ({self.quantised}), and {before}"


class ScoredModel(NamedTuple):
    """A result with its scored pairs: `model`, and the columns of SCORED_SCHEMA or CHILD_SCHEMA.

    `children` are the pairs of the sets of a suite, `tokens` the log-likelihoods of tokens (the
    columns of TOKENS): none unless they are kept. `cost` is None if it is unknown.
    """

    result: ModelResult
    pairs: pl.DataFrame
    children: pl.DataFrame
    tokens: pl.DataFrame = pl.DataFrame(schema=TOKENS)
    cost: ModelCost | None = None


def with_counts(
    notes: Iterable[str], rates: PassRates, crossing: int | None, protocol: str
) -> tuple[str, ...]:
    """Return notes about a model, and those that follow from counts."""
    told = [*caveats(rates.overall), *notes]
    if find_protocol(protocol).normaliser == "tokens":
        told += few_tokens(rates.overall)
    if crossing:
        told.append(
            f"in {crossing:,} of {rates.overall.n:,} tests, context and candidate encoded as one "
            "text would give other tokens where they meet; they are encoded apart"
        )
    return tuple(told)
