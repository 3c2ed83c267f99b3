"""How well a suite's negatives represent human pairs, as its card shows it.

The numbers are those of `validity.json`, which `nnd compare --by origin --out` writes. A check
refuses numbers that were computed from other pairs than the suite's own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from nnd.cards.markdown import Table, code, escape
from nnd.schemas import Problem, check_document, pairs_digest

MADE_PAIRS = "How well made pairs represent human pairs"
"""Section of the card of a suite whose negatives were compared."""

_ORIGINS = ("human", "constructed")
_BASELINES = {
    "shorter_wins": "picking the shorter text",
    "longer_wins": "picking the longer text",
    "copy_wins": "picking the text that copies more of the context",
}
_COMPARED = ("made pairs", "compared pairs", "difference, points")
_REMEDY = (
    "evaluate the suite and write it again with `nnd compare --by origin --out`, or remove the file"
)


def check_validity(
    validity: Mapping[str, Any], manifest: Mapping[str, Any], sets: Mapping[str, pl.DataFrame]
) -> Iterator[Problem]:
    """Yield what is wrong with the validity of a suite: its form, or numbers from other pairs."""
    if wrong := list(check_document("validity", validity)):
        yield from wrong
        return
    made: dict[str, set[str]] = {}
    for entry in manifest.get("sets", ()):
        if entry["kind"] == "negatives" and entry["name"] in sets:
            made.setdefault(entry["operation"], set()).update(sets[entry["name"]]["pair_id"])
    for compared in validity["operations"]:
        what = f'negatives made by "{compared["operation"]}"'
        ids = made.get(compared["operation"])
        if ids is None:
            yield Problem(None, "operations", f"the data has no {what}", _REMEDY)
        elif pairs_digest(ids) != compared["digest"]:
            message = f"the {what} that were compared are not those of the data"
            yield Problem(None, "operations", message, _REMEDY)


def validity_sentences(validity: Mapping[str, Any]) -> list[str]:
    """Return the models that the pairs were compared with, and the findings."""
    models = dict.fromkeys(model for each in validity["operations"] for model in each["models"])
    return [f"Measured with {', '.join(map(code, models))}.", *map(escape, validity["sentences"])]


def validity_tables(validity: Mapping[str, Any]) -> list[Table]:
    """Return how often models pass made and human pairs, and how often simple choices do."""
    operations = validity["operations"]
    rates = [
        (code(compared["operation"]), code(model), *_rate_cells(of, origin, compared["categories"]))
        for compared in operations
        for model, of in compared["models"].items()
        for origin in _ORIGINS
        if origin in of
    ]
    held = {origin for each in operations for of in each["models"].values() for origin in of}
    origins = [origin for origin in ("made", *_ORIGINS) if origin in held]
    giveaways = [
        (code(each["operation"]), choice, *cells)
        for each in operations
        for baseline, choice in _BASELINES.items()
        for of in [next(iter(each["models"].values()))]  # texts are the same for every model
        for cells in [[_reached(of, origin, baseline) for origin in origins]]
        if any(cells)
    ]
    pairs = tuple(f"{origin} pairs" for origin in origins)
    return [
        Table(("operation", "model", "compared with", *_COMPARED), "lllrrr", rates),
        Table(("operation", "choice", *pairs), "ll" + "r" * len(origins), giveaways),
    ]


def _rate_cells(
    of: Mapping[str, Any], origin: str, categories: Sequence[str]
) -> tuple[str, str, str, str]:
    made, other = of["made"], of[origin]
    named = ", ".join(map(code, categories))
    points = "none"
    if other["difference"] is not None:
        points = f"{100 * other['difference']:+.1f}"
        if other["interval"] is not None:
            points += " [{:+.1f}, {:+.1f}]".format(*(100 * bound for bound in other["interval"]))
    return (
        f"{origin} pairs of {named}" if named else f"all {origin} pairs",
        _rate(made["pass_rate"], made["n"]),
        _rate(other["pairs"]["pass_rate"], other["pairs"]["n"]),
        points,
    )


def _reached(of: Mapping[str, Any], origin: str, baseline: str) -> str:
    """Return what a baseline reaches, undecided tests counting half."""
    if origin not in of:
        return ""
    rate = of["made"] if origin == "made" else of[origin]["pairs"]
    reached = rate["baselines"].get(baseline)
    return "" if reached is None else f"{100 * reached['with_coin']:.1f} %"


def _rate(rate: float | None, n: int) -> str:
    return "none" if rate is None else f"{100 * rate:.1f} % of {n:,}"
