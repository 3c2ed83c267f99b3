"""How well a suite's negatives represent human pairs, as its card shows it.

The numbers are those of `validity.json`, which `nnd compare --by origin --out` writes. A check
refuses numbers that were computed from other pairs than the suite's own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from nnd.cards.markdown import Table, code, escape
from nnd.schemas import Problem, check_rows, pairs_digest

MADE_PAIRS = "How well made pairs represent human pairs"
"""Section of the card of a suite whose negatives were compared."""

_ORIGINS = ("human", "constructed")
_BASELINES = {
    "shorter_wins": "picking the shorter text",
    "longer_wins": "picking the longer text",
    "copy_wins": "picking the text that copies more of the context",
}
_REMEDY = (
    "evaluate the suite and write it again with `nnd compare --by origin --out`, or remove the file"
)


def check_validity(
    validity: Mapping[str, Any], manifest: Mapping[str, Any], sets: Mapping[str, pl.DataFrame]
) -> Iterator[Problem]:
    """Yield what is wrong with the validity of a suite: its form, or numbers from other pairs.

    Args:
        validity: What validity.json holds.
        manifest: The suite's.
        sets: Name → the pairs of a set, with their pair_id.
    """
    wrong = [replace(problem, row=None) for problem in check_rows("validity", [validity])]
    yield from wrong
    if wrong:
        return
    made = _negatives(manifest, sets)
    for found in validity["operations"]:
        operation = found["operation"]
        if operation not in made:
            message = f'the data has no negatives made by "{operation}"'
            yield Problem(None, "operations", message, _REMEDY)
        elif pairs_digest(made[operation]) != found["digest"]:
            message = (
                f'the negatives made by "{operation}" that were compared are not those of the data'
            )
            yield Problem(None, "operations", message, _REMEDY)


def _negatives(
    manifest: Mapping[str, Any], sets: Mapping[str, pl.DataFrame]
) -> dict[str, set[str]]:
    """Return operation → the ids of all negatives that it made."""
    found: dict[str, set[str]] = {}
    for entry in manifest.get("sets", ()):
        if entry["kind"] == "negatives" and entry["name"] in sets:
            found.setdefault(entry["operation"], set()).update(sets[entry["name"]]["pair_id"])
    return found


def validity_sentences(validity: Mapping[str, Any]) -> list[str]:
    """Return the models that the pairs were compared with, and the findings."""
    models = dict.fromkeys(model for each in validity["operations"] for model in each["models"])
    return [f"Measured with {', '.join(map(code, models))}.", *map(escape, validity["sentences"])]


def validity_tables(validity: Mapping[str, Any]) -> list[Table]:
    """Return how often models pass made and human pairs, and how often simple choices do."""
    return [_rates_table(validity["operations"]), _giveaways_table(validity["operations"])]


def _rates_table(operations: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        (
            code(each["operation"]),
            code(model),
            _compared_with(origin, each["categories"]),
            _rate(of["made"]["pass_rate"], of["made"]["n"]),
            _rate(of[origin]["pairs"]["pass_rate"], of[origin]["pairs"]["n"]),
            _points(of[origin]["difference"], of[origin]["interval"]),
        )
        for each in operations
        for model, of in each["models"].items()
        for origin in _ORIGINS
        if origin in of
    ]
    header = (
        "operation",
        "model",
        "compared with",
        "made pairs",
        "compared pairs",
        "difference, points",
    )
    return Table(header, "lllrrr", tuple(rows))


def _compared_with(origin: str, categories: list[str]) -> str:
    named = ", ".join(map(code, categories))
    return f"{origin} pairs of {named}" if named else f"all {origin} pairs"


def _giveaways_table(operations: Sequence[Mapping[str, Any]]) -> Table:
    held = {origin for each in operations for of in each["models"].values() for origin in of}
    origins = [origin for origin in ("made", *_ORIGINS) if origin in held]
    rows = tuple(
        (code(each["operation"]), choice, *cells)
        for each in operations
        for baseline, choice in _BASELINES.items()
        for of in [next(iter(each["models"].values()))]  # texts are the same for every model
        for cells in [[_reached(of, origin, baseline) for origin in origins]]
        if any(cells)
    )
    header = ("operation", "choice", *(f"{origin} pairs" for origin in origins))
    return Table(header, "ll" + "r" * len(origins), rows)


def _reached(of: Mapping[str, Any], origin: str, baseline: str) -> str:
    """Return what a baseline reaches, undecided tests counting half."""
    if origin not in of:
        return ""
    rate = of["made"] if origin == "made" else of[origin]["pairs"]
    found = rate["baselines"].get(baseline)
    return "" if found is None else _percent(found["with_coin"])


def _rate(rate: float | None, n: int) -> str:
    return "none" if rate is None else f"{_percent(rate)} of {n:,}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(difference: float | None, interval: list[float] | None) -> str:
    if difference is None:
        return "none"
    bounds = (
        "" if interval is None else " [{:+.1f}, {:+.1f}]".format(*(100 * at for at in interval))
    )
    return f"{100 * difference:+.1f}{bounds}"
