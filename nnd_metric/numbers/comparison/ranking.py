"""Rank several models, with their significant differences, in one sentence."""

from collections.abc import Container, Mapping, Sequence

from nnd.metric.numbers.display_names import short_names
from nnd.metric.numbers.statistics.dataset_means import EACH_ONCE, mean_over
from nnd.metric.numbers.statistics.interval_text import percent


def mean_ranking(datasets: Sequence[Mapping[str, float | None]]) -> str | None:
    """Return models from best to worst by their mean over datasets; None if no model is on all.

    Args:
        datasets: For each dataset, model → pass rate.
    """
    means = {model: rate for model, rate in mean_over(datasets).items() if rate is not None}
    if not means:
        return None
    named = dict(zip(short_names([*means]), means.values(), strict=True))
    return f"Mean over {len(datasets)} datasets, {EACH_ONCE}: {ranking(named, ())}"


def ranking(rates: Mapping[str, float], better: Container[tuple[str, str]]) -> str:
    """Return models from best to worst, as in "x 60.0 % > y 50.0 %, z 48.0 %".

    The sign means that each model before it is significantly better than each after it.

    Args:
        rates: Name of a model → its pass rate.
        better: (x, y) for each x that is significantly better than y.
    """
    order = sorted(rates, key=lambda name: rates[name], reverse=True)
    text = ""
    for at, name in enumerate(order):
        clear = all((high, low) in better for high in order[:at] for low in order[at:])
        text += f"{' >' if clear else ','} " if at else ""
        text += f"{name} {percent(rates[name])} %"
    return text
