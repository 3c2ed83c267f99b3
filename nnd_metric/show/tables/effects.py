"""Effects of the sets of a suite on pass rates, as tables for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from nnd.metric.numbers import short_names
from nnd.metric.show.tables.cells import NOTHING, p_value, points, share
from nnd.schemas import text_table

if TYPE_CHECKING:
    from rich.table import Table

_Suites: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]

_NUMBERS = ("tests", "pass rate, %", "points [95 %]", "p")


def effects_table(suites: _Suites) -> "Table":
    """Return the effect of each set on pass rates: a row per set, or a block with a row per model.

    The difference is that from the parents of perturbed pairs, or from the rest of the tests.

    Args:
        suites: Model → `result["suite"]`.
    """
    table = text_table(["set", *_NUMBERS], right=_NUMBERS)
    names = short_names([*suites])
    for sets in zip(*suites.values(), strict=True):
        if len(names) == 1:
            table.add_row(sets[0]["set"], *_compared(sets[0]))
            continue
        table.add_row(sets[0]["set"])
        for name, effect in zip(names, sets, strict=True):
            table.add_row(f"  {name}", *_compared(effect))
        table.add_section()
    return table


def category_effects_table(suites: _Suites) -> "Table":
    """Return a row per set, model and error category, with discordant counts and Holm's p.

    Args:
        suites: Model → `result["suite"]`.
    """
    counts = ("only parent passed", "only child passed")
    numbers = [*_NUMBERS[:2], "parents or rest, %", _NUMBERS[2], *counts, "p", "p (Holm)"]
    table = text_table(["set", "model", "error category", *numbers], right=numbers)
    for model, name in zip(suites, short_names([*suites]), strict=True):
        for effect in suites[model]:
            for value, each in _parts(effect):
                discordant = (NOTHING if each[n] is None else f"{each[n]:,}" for n in ("b", "c"))
                tests, rate, difference, p = _compared(each)
                beside = (tests, rate, share(_others(each)), difference, *discordant, p)
                table.add_row(effect["set"], name, value, *beside, p_value(each["p_holm"]))
        table.add_section()
    return table


def _parts(effect: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "overall", effect
    yield from effect["by_error_category"].items()


def _compared(effect: Mapping[str, Any]) -> list[str]:
    return [
        f"{effect['n']:,}",
        share(effect["pass_rate"]),
        points(effect["delta"], effect["interval"]),
        p_value(effect["p"]),
    ]


def _others(effect: Mapping[str, Any]) -> float | None:
    """Return the pass rate that a set is compared with."""
    rate: float | None = effect[
        "rest_pass_rate" if effect["parents"] is None else "parents_pass_rate"
    ]
    return rate
