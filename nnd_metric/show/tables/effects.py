"""Effects of the sets of a suite, and of scoring choices, as tables for a terminal."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from nnd.metric.numbers import in_brackets, short_names
from nnd.metric.show.tables.cells import explain_stars, pass_rate, share
from nnd.metric.show.tables.differences import difference_table

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric.numbers import Effect, Effects
    from nnd.metric.run import Variant, Variation

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


def variation_table(variation: "Variation") -> "Table":
    """Return a row for the default, and a block per dimension with a row per choice."""
    columns: dict[str, str | Callable[[Variant], str]] = {
        "pass, % [95 %]": lambda each: pass_rate(each.rate, each.rate_interval),
        "points [95 %]": "lead",
        "flipped, % [95 %]": lambda e: f"{share(e.flipped)}{in_brackets(e.flipped_interval)}",
    }
    blocks = [
        (dimension, [((each.choice,), each) for each in choices])
        for dimension, choices in groupby(variation.choices, lambda each: each.dimension)
    ]
    default = variation.default
    above = ("default", pass_rate(default.pass_rate, default.interval), "", "")
    return explain_stars(difference_table(["choice"], columns, blocks, above=above))
