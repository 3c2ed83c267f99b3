"""Effects of the sets of a suite on pass rates, as tables for a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nnd.metric.numbers import short_names
from nnd.metric.show.tables.differences import difference_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.numbers import Effect, Effects

_NUMBERS = {"tests": "n", "pass rate, %": "rate", "points [95 %]": "lead", "p": "p"}


def effects_table(effects: "Effects") -> "Table":
    """Return the effect of each set on pass rates: a row per set, or a block with a row per model.

    The difference is that from the parents of perturbed pairs, or from the rest of the tests.
    """
    names = short_names([*effects.by_model])
    sets = [*zip(*effects.by_model.values(), strict=True)]
    if len(names) == 1:
        blocks = [("", [([each.set], each) for (each,) in sets])]
    else:
        blocks = [
            (of_models[0].set, [([name], e) for name, e in zip(names, of_models, strict=True)])
            for of_models in sets
        ]
    return difference_table(["set"], _NUMBERS, blocks)


def category_effects_table(effects: "Effects") -> "Table":
    """Return a row per set, model and error category, with discordant counts and Holm's p."""
    columns = {
        "tests": "n",
        "pass rate, %": "rate",
        "parents or rest, %": "other",
        "points [95 %]": "lead",
        "only parent passed": "only_second",
        "only child passed": "only_first",
        "p": "p",
        "p (Holm)": "p_holm",
    }

    def rows(model: str, name: str) -> Iterator[tuple[list[str], "Effect"]]:
        for of_set in effects.by_model[model]:
            yield [of_set.set, name, "overall"], of_set
            for value, effect in of_set.by_error_category.items():
                yield [of_set.set, name, value], effect

    models = [*effects.by_model]
    blocks = [
        ("", rows(model, name)) for model, name in zip(models, short_names(models), strict=True)
    ]
    return difference_table(["set", "model", "error category"], columns, blocks)
