"""Reworded texts: contexts and candidates change, but the ids of pairs do not."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import polars as pl

from nnd.metric.data import PairSet, parts_of
from nnd.schemas import NORMAL_FORMS

RAW = "raw"
"""Texts as they are stored."""


class Rewording(NamedTuple):
    """A way to write texts."""

    change: Callable[[str], str]
    of_contexts: bool = True


def _add_stop(text: str) -> str:
    return f"{text}." if text[-1:].isalnum() else text


def _remove_stop(text: str) -> str:
    return text if text.endswith("..") else text.removesuffix(".")


REWORDINGS: dict[str, Rewording] = {
    "nfc": Rewording(NORMAL_FORMS["nfc"]),
    "whitespace": Rewording(NORMAL_FORMS["whitespace"]),
    "detokenised": Rewording(NORMAL_FORMS["detokenise"]),
    "lower": Rewording(str.lower),
    "full-stop": Rewording(_add_stop, of_contexts=False),
    "no-full-stop": Rewording(_remove_stop, of_contexts=False),
}
"""Name → how texts are written; the last two add or remove the full stop that ends a candidate."""


def reword(pairs: PairSet, name: str) -> PairSet:
    """Return pairs whose texts are written in another way."""
    if name == RAW:
        return pairs
    rewording = REWORDINGS[name]
    change = cache(rewording.change)
    rows = pairs.pairs
    columns = ["candidate_high", "candidate_low", *(["context"] if rewording.of_contexts else [])]
    new = [pl.Series(column, map(change, rows[column]), pl.String) for column in columns]
    if rewording.of_contexts and "inputs" in rows.columns:
        new.append(_reworded_parts(rows, change))
    return replace(pairs, pairs=rows.with_columns(new), part=(*pairs.part, ("normalise", name)))


def _reworded_parts(rows: pl.DataFrame, change: Callable[[str], str]) -> pl.Series:
    parts = [
        None if each is None else [{"key": k, "value": change(text)} for k, text in each.items()]
        for each in parts_of(rows)
    ]
    return pl.Series("inputs", parts, pl.List(pl.Struct({"key": pl.String, "value": pl.String})))
