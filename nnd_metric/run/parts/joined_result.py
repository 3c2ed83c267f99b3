"""The result of one model, joined from results of parts of the data."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from nnd.metric.numbers import SLICE_NUMBERS, TEST_NUMBER, all_rates, each_once, is_close, to_rate
from nnd.metric.run.model_result import NO_BASELINE, ModelResult, with_counts
from nnd.metric.text import find_protocol

_COUNTS = re.compile(r"\|trunc:\d+\|n:\d+(?!.*\|trunc:\d)")
"""The counts in a signature."""

_LANGUAGES = re.compile(r"(\|lang:[^|]*)?\|dtype:(?!.*\|dtype:)")
"""The languages in a signature, if any, before its dtype."""

Stored = Mapping[str, Any]
"""`ModelResult.to_dict` without the values that follow from scored pairs (`without_rates`)."""


def without_rates(result: ModelResult) -> dict[str, Any]:
    """Return a part's result as plain Python values, without what follows from its pairs."""
    counted = with_counts((), result.rates, result.n_crossing, result.protocol)
    rates = result.rates.to_dict()
    return {name: value for name, value in result.to_dict().items() if name not in rates} | {
        "notes": [note for note in result.notes if note not in counted],
        "signature": _retell(_recount(result.signature, 0, 0), ()),
    }


def has_baseline(parts: Sequence[Stored]) -> bool:
    """Whether the candidates of all parts were scored without contexts, if requested."""
    return not any(note.startswith(NO_BASELINE) for part in parts for note in part["notes"])


def rate_parts(
    parts: Sequence[Stored], scored: Iterable[pl.DataFrame], *columns: str | pl.Expr
) -> pl.DataFrame:
    """Return the rows from which the rates of the whole dataset are computed.

    They have the columns that `to_rate` returns, those of SLICES, and `close`: whether the
    deviation of the engine could flip the test; null if there is no deviation.
    """
    deviation, close = _join_work([part["engine"] for part in parts])["deviation"], pl.lit(None)
    if deviation is not None:
        summed = find_protocol(parts[0]["protocol"]).normaliser == "one"
        close = is_close(deviation, summed=summed)
    return to_rate(scored, *SLICE_NUMBERS, close.cast(pl.Boolean).alias("close"), *columns)


def join_parts(parts: Sequence[Stored], rated: pl.DataFrame) -> ModelResult:
    """Return the result for the whole dataset."""
    first, crossings = parts[0], [part["n_crossing"] for part in parts]
    work = _join_work([part["engine"] for part in parts])
    languages = _join_languages([part.get("languages") for part in parts])
    tests_close = each_once(rated.select(TEST_NUMBER, "close"))["close"]
    joined = ModelResult.from_dict(
        {
            **first,
            "device": ", ".join(_distinct(part["device"] for part in parts)),
            "notes": (),
            "n_crossing": None if None in crossings else sum(crossings),
            "engine": work,
            "languages": languages,
            "chat": _join_chats([part["chat"] for part in parts]),
        },
        rates=all_rates(rated.drop("close")),
    )
    notes = _distinct(note for part in parts for note in part["notes"])
    overall = joined.rates.overall
    return replace(
        joined,
        notes=with_counts(notes, joined.rates, joined.n_crossing, joined.protocol),
        n_close=None if work["deviation"] is None else int(tests_close.sum()),
        signature=_retell(
            _recount(joined.signature, overall.truncated, overall.n),
            () if joined.languages is None else joined.languages.given,
        ),
    )


def _join_work(works: Sequence[Stored]) -> dict[str, Any]:
    deviations = [work["deviation"] for work in works if work["deviation"] is not None]
    paths = _distinct(work["path"] for work in works if work["path"] != "none")
    return {
        "path": ", ".join(paths) or "none",
        "switched_off": _distinct(reason for work in works for reason in work["switched_off"]),
        "deviation": max(deviations, default=None),
        "deviation_requests": max((work.get("deviation_requests", 0) for work in works), default=0),
    }


def _join_chats(chats: Sequence[Stored | None]) -> dict[str, Any] | None:
    """Return how contexts were rendered; the example is that of the first part."""
    of_parts = [chat for chat in chats if chat is not None]
    if not of_parts:
        return None
    marked = [chat["neutralised"] for chat in of_parts if "neutralised" in chat]
    return {**of_parts[0], **({"neutralised": sum(marked)} if marked else {})}


def _join_languages(told: Sequence[Stored | None]) -> dict[str, Any] | None:
    """Return the languages that a model was given in any part."""
    of_parts = [each for each in told if each is not None]
    if not of_parts:
        return None
    return {**of_parts[0], "given": sorted({code for each in of_parts for code in each["given"]})}


def _distinct(values: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(values)]


def _recount(signature: str, truncated: int | None, n: int) -> str:
    """Return a signature with other counts, for example those of all parts of a run."""
    before, after = _COUNTS.split(signature)
    return f"{before}|trunc:{truncated}|n:{n}{after}"


def _retell(signature: str, languages: Sequence[str]) -> str:
    """Return a signature with other languages, which parts of the data may differ in."""
    told = f"|lang:{','.join(languages)}" if languages else ""
    return _LANGUAGES.sub(f"{told}|dtype:", signature)
