"""Several models in order, with what is known of their differences, in one sentence."""

from collections.abc import Container, Mapping

from nnd.metric.statistics import percent


def ranking(rates: Mapping[str, float], better: Container[tuple[str, str]]) -> str:
    """Return models from best to worst, as in "x 60.0 % > y 50.0 %, z 48.0 %".

    The sign says that each model before it is better than each behind it.

    Args:
        rates: Name of a model → its pass rate.
        better: (x, y) for each x whose lead over y is significant.
    """
    order = sorted(rates, key=lambda name: rates[name], reverse=True)
    told = ""
    for at, name in enumerate(order):
        clear = all((high, low) in better for high in order[:at] for low in order[at:])
        told += f"{' >' if clear else ','} " if at else ""
        told += f"{name} {percent(rates[name])} %"
    return told
