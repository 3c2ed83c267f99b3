"""The two texts of a pair token by token: which tokens decide."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.metric.numbers.display_names import short_names
from nnd.schemas import Printable, Record, ScoringError, one_line, text_table

if TYPE_CHECKING:
    from rich.table import Table

_TITLES = ("model", "better text", "log P", "worse text", "log P ", "difference")
_OUTSIDE = "(not in the text)"


@dataclass(frozen=True, slots=True)
class Token(Record):
    """A scored token.

    Attributes:
        text: Its text, without white space around it; empty if it is not in the candidate.
        log_likelihood: Log P given the context and the tokens before.
    """

    text: str
    log_likelihood: float


@dataclass(frozen=True, slots=True, repr=False)
class PairTokens(Printable):
    """The tokens of a pair, as models scored them.

    Attributes:
        pair_id: The pair.
        high: Model → the tokens of the better candidate.
        low: Model → those of the worse one.
    """

    pair_id: str
    high: Mapping[str, tuple[Token, ...]]
    low: Mapping[str, tuple[Token, ...]]

    def headline(self) -> str:
        """Return each model's log P of both candidates: the sum, and the mean over tokens."""
        names = short_names([*self.high])
        found = [
            f"{name} {_describe(self.high[model])} and {_describe(self.low[model])}"
            for name, model in zip(names, self.high, strict=True)
        ]
        return f"Log P of the better and the worse text of pair {self.pair_id}: {'; '.join(found)}."

    def table(self) -> "Table":
        """Return the tokens of both candidates; equal ones stand in one row."""
        table = text_table(_TITLES, right=("log P", "log P ", "difference"))
        for name, model in zip(short_names([*self.high]), self.high, strict=True):
            table.add_section()
            for place, (high, low) in enumerate(_align(self.high[model], self.low[model])):
                difference = high.log_likelihood - low.log_likelihood if high and low else None
                last = "" if difference is None else f"{difference:+.2f}"
                table.add_row(name if place == 0 else "", *_cells(high), *_cells(low), last)
        return table


def pair_tokens(pair: Mapping[str, Any], tokens: pl.DataFrame) -> PairTokens:
    """Return the tokens of a pair from stored ones (`TOKENS`).

    Raises:
        ScoringError: If there are none of this pair.
    """
    rows = tokens.filter(pl.col("pair_id") == pair["pair_id"]).to_dicts()
    if not rows:
        raise ScoringError(
            "run.evaluate-again",
            "the run has no tokens of it",
            f"pair {pair['pair_id']}",
            "evaluate it again with nnd evaluate --keep-tokens",
        )
    sides: dict[str, dict[str, tuple[Token, ...]]] = {"high": {}, "low": {}}
    for row in rows:
        text = pair[f"candidate_{row['side']}"]
        places = zip(row["start"], row["end"], row["log_likelihood"], strict=True)
        sides[row["side"]][row["model"]] = tuple(
            Token("" if start is None else text[start:end], value) for start, end, value in places
        )
    return PairTokens(pair["pair_id"], sides["high"], sides["low"])


def _align(
    high: Sequence[Token], low: Sequence[Token]
) -> Iterator[tuple[Token | None, Token | None]]:
    one, other = ([token.text for token in side] for side in (high, low))
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for _, start, end, other_start, other_end in matcher.get_opcodes():
        yield from zip_longest(high[start:end], low[other_start:other_end])


def _cells(token: Token | None) -> tuple[str, str]:
    if token is None:
        return "", ""
    return one_line(token.text) or _OUTSIDE, f"{token.log_likelihood:.2f}"


def _describe(tokens: Sequence[Token]) -> str:
    total = sum(token.log_likelihood for token in tokens)
    return f"{total:.2f} ({total / len(tokens):.2f} a token)" if tokens else "0"
