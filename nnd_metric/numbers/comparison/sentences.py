"""Differences between two models in plain sentences."""

from collections.abc import Iterator, Mapping

from nnd.metric.numbers.comparison.differences import DETECTABLE, Difference, Differences, Verdict
from nnd.metric.numbers.statistics.context_intervals import FEW_CONTEXTS
from nnd.metric.numbers.statistics.significance import LEVEL

_COLUMNS = {
    "error_category": "error category",
    "aspect": "aspect",
    "category": "context category",
    "error_group": "error group",
}


def findings(a: str, b: str, differences: Differences) -> Iterator[str]:
    """Yield sentences that say which model is better, overall and by category.

    Args:
        a: Name of the first model.
        b: Name of the second.
        differences: Between the two.
    """
    yield _overall(a, b, differences.overall)
    if differences.overall.verdict == "untested":
        return
    for column, by_value in differences.by.items():
        if len(by_value) > 1:
            yield f"By {_COLUMNS[column]}: {_by_value(a, b, by_value)}."


def left_out(a: str, b: str, unscored: int, only_in_a: int, only_in_b: int) -> Iterator[str]:
    """Yield sentences on tests that were left out or lack a likelihood.

    Args:
        a: Name of the first model.
        b: Name of the second.
        unscored: Number of tests without a likelihood of one model or both.
        only_in_a: Number of pairs that only the first was scored on.
        only_in_b: Number of pairs that only the second was scored on.
    """
    if only_in_a or only_in_b:
        yield (
            f"Left out: {only_in_a:,} pairs scored only with {a}, and {only_in_b:,} scored only "
            f"with {b}."
        )
    if unscored:
        yield f"{unscored:,} tests lack a likelihood of one model or both; they count as failures."


def _overall(a: str, b: str, difference: Difference) -> str:
    if difference.pass_rate_a is None or difference.pass_rate_b is None:
        return f"{a} and {b} cannot be compared: they share no pair."
    rates = [100 * difference.pass_rate_a, 100 * difference.pass_rate_b]
    if difference.verdict == "untested":
        return (
            f"{a} passes {rates[0]:.1f} % and {b} {rates[1]:.1f} % of {difference.n:,} tests; "
            "the difference is not tested."
        )
    bounds = [100 * bound for bound in difference.interval or ()]
    if difference.verdict == "b":  # the better one comes first
        a, b, rates, bounds = b, a, rates[::-1], [-bound for bound in reversed(bounds)]
    interval = f" [{', '.join(f'{bound:+.1f}' for bound in bounds)}]" if bounds else ""
    numbers = (
        f"{rates[0]:.1f} % against {rates[1]:.1f} % of {difference.n:,} tests, a difference of "
        f"{rates[0] - rates[1]:+.1f} points{interval}, {_p(difference.p)}"
    )
    if difference.verdict == "undecided":
        verdict = f"{a} and {b} do not differ significantly overall: {numbers}"
        return f"{verdict}{_why_undecided(difference)}{_needed(difference)}."
    return f"{a} is better than {b} overall: {numbers}."


def _why_undecided(difference: Difference) -> str:
    """Explain an undecided difference of which one criterion is significant; else return ""."""
    if difference.interval is None:
        return "; all tests are of one context, so there is no interval"
    significant = difference.p is not None and difference.p < LEVEL
    reaches = difference.interval[0] <= 0 <= difference.interval[1]
    if significant and reaches:
        return "; unlike the interval, McNemar's test treats tests of one context as independent"
    if not significant and not reaches:
        return "; the interval excludes 0, but McNemar's p is not below 0.05"
    return ""


def _needed(difference: Difference) -> str:
    if difference.needed is None:
        return ""
    tests, contexts = difference.needed.tests, difference.needed.contexts
    points = f"{100 * DETECTABLE:.0f} points"
    return f"; to detect {points} takes about {tests:,} tests of {contexts:,} contexts like these"


def _by_value(a: str, b: str, differences: Mapping[str, Difference]) -> str:
    where: dict[Verdict | None, list[str]] = {"a": [], "b": [], "undecided": [], None: []}
    for value, difference in differences.items():
        where[difference.verdict if difference.n else None].append(value)
    texts: dict[Verdict | None, str] = {
        "a": f"{a} is better at ",
        "b": f"{b} is better at ",
        "undecided": "the difference is not significant at ",
        None: "the models share no pair of ",
    }
    return "; ".join(text + ", ".join(where[key]) for key, text in texts.items() if where[key])


def few_contexts(overall: Difference) -> Iterator[str]:
    """Yield a caveat on rough intervals, if the tests have few contexts."""
    if 1 < overall.contexts < FEW_CONTEXTS:
        yield (
            f"The tests have {overall.contexts} contexts; with fewer than {FEW_CONTEXTS}, "
            "intervals are rough."
        )


def _p(value: float | None) -> str:
    if value is None:
        return "no p"
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.4f}"  # noqa: PLR2004 - four places
