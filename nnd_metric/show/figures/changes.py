"""Changes of pass rates: by the sets of a suite for each model, and by choices in scoring."""

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from nnd.metric.numbers import percent
from nnd.metric.show.drawing.marks import Drawing
from nnd.metric.show.figures.differences import AxisEnds, Bar, draw_differences

if TYPE_CHECKING:
    from nnd.metric.numbers import Effects
    from nnd.metric.run import Variation

OF_SETS = (
    "Difference of the pass rates in points with its 95 % interval over human contexts. Perturbed "
    "pairs are compared with their own parents (paired), other sets with all other human tests. "
    "Filled: the interval excludes 0, and p is below 0.05 (sign flips over contexts, "
    "or a score test for sets without parents). "
    "Open: the difference is not significant."
)
OF_CHOICES = (
    "Difference of the pass rate from that of the default in points, with its 95 % interval "
    "(paired, over independent contexts). To the right, the share of the verdicts that differ from "
    "those of the default. Filled: the interval excludes 0, and p, of sign flips over these, is "
    "below 0.05 after Holm's adjustment over the choices. Open: the difference is not significant."
)

_WORDS = ("passes more", "passes less")
_PARTS = "by_error_category"


def draw_effects(names: Mapping[str, str], effects: "Effects") -> Drawing | None:
    """Draw the effects of sets, a block per set and a row per model; None if there are none.

    `names` gives every model of the report → its name here, in the order of the report.
    """
    places = {model: place for place, model in enumerate(names)}
    blocks = []
    for sets in zip(*effects.by_model.values(), strict=True):
        bars = [
            Bar(names[model], each, places[model], places[model], _WORDS, model=model)
            for model, each in zip(effects.by_model, sets, strict=True)
            if each.difference is not None
        ]
        blocks += [(sets[0].set, bars)] if bars else []
    data = [
        {"model": model, **{key: value for key, value in each.to_dict().items() if key != _PARTS}}
        for model, sets in effects.by_model.items()
        for each in sets
    ]
    drawn = ("effects", "Effects of the sets", OF_SETS)
    return draw_differences(drawn, AxisEnds(*_WORDS), blocks, data)


def draw_flips(variation: "Variation") -> Drawing | None:
    """Draw the differences of choices from the default, a block per dimension; None if none."""
    known = [each for each in variation.choices if each.flipped is not None]
    blocks = []
    for place, (dimension, choices) in enumerate(groupby(known, lambda each: each.dimension)):
        flipped = [(each, f"{percent(each.flipped or 0)} %") for each in choices]
        bars = [Bar(each.choice, each, place, place, _WORDS, note) for each, note in flipped]
        blocks.append((dimension, bars))
    drawn, ends = ("flips", "Verdicts that flip", OF_CHOICES), AxisEnds(*_WORDS, "flipped")
    return draw_differences(drawn, ends, blocks, [each.to_dict() for each in variation.choices])
