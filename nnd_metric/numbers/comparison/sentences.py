"""Differences between two models in plain sentences."""

from collections.abc import Iterator, Mapping

from nnd.metric.numbers.comparison.model_differences import (
    DETECTABLE,
    ModelDifference,
    SampleSize,
)
from nnd.metric.numbers.rates.cluster_words import few_clusters, noun_of, over_clusters
from nnd.metric.numbers.statistics.context_intervals import FEW_CONTEXTS
from nnd.metric.numbers.statistics.significance import LEVEL
from nnd.schemas import counted

_COLUMNS = {
    "error_category": "error category",
    "aspect": "aspect",
    "category": "context category",
    "error_group": "error group",
}


def findings(
    first: str,
    second: str,
    overall: ModelDifference,
    by: Mapping[str, Mapping[str, ModelDifference]],
    cluster: str | None = None,
) -> Iterator[str]:
    """Yield sentences that say which model is better, overall and by category.

    `cluster` is what the data calls what contexts share, such as paragraph, or None.
    """
    yield _overall(first, second, overall, cluster)
    if overall.verdict == "untested":
        return
    for column, by_value in by.items():
        if len(by_value) > 1:
            yield f"By {_COLUMNS[column]}: {_by_value(first, second, by_value)}."


def left_out(
    a: str,
    b: str,
    overall: ModelDifference,
    only_in_a: int,
    only_in_b: int,
    *,
    cluster: str | None = None,
) -> Iterator[str]:
    """Yield sentences on few contexts, and on tests that were omitted or lack a likelihood."""
    if few := few_clusters(overall, cluster):
        yield f"{few[0].upper()}{few[1:]}."
    elif 1 < overall.contexts < FEW_CONTEXTS:
        yield (
            f"The tests have {overall.contexts} contexts; with fewer than {FEW_CONTEXTS}, "
            "intervals are rough."
        )
    if only_in_a or only_in_b:
        yield (
            f"Left out: {only_in_a:,} pairs scored only with {a}, and {only_in_b:,} scored only "
            f"with {b}."
        )
    if n := overall.unscored:
        yield f"{n:,} tests lack a likelihood of one model or both; they count as failures."
    if overall.undecidable:
        yield (
            f"{overall.undecidable:,} tests are undecidable for one model or both, whose tokenizer "
            "reads both texts as the same tokens; they count as failures."
        )


def _overall(first: str, second: str, difference: ModelDifference, cluster: str | None) -> str:
    if difference.rate is None or difference.other is None:
        return f"{first} and {second} cannot be compared: they share no pair."
    rates = [100 * difference.rate, 100 * difference.other]
    if difference.verdict == "untested":
        return (
            f"{first} passes {rates[0]:.1f} % and {second} {rates[1]:.1f} % of {difference.n:,} "
            "tests; the difference is not tested."
        )
    if difference.verdict == "second":  # the better one comes first
        return _overall(second, first, difference.turned(), cluster)
    bounds = ", ".join(f"{100 * bound:+.1f}" for bound in difference.interval or ())
    numbers = (
        f"{rates[0]:.1f} % against {rates[1]:.1f} % of {difference.n:,} "
        f"tests{over_clusters(difference, cluster)}, a difference of "
        f"{rates[0] - rates[1]:+.1f} points{bounds and f' [{bounds}]'}, {_p(difference.p)}"
    )
    if difference.verdict == "undecided":
        verdict = f"{first} and {second} do not differ significantly overall: {numbers}"
        return f"{verdict}{_why_undecided(difference, cluster)}{_needed(difference, cluster)}."
    return f"{first} is better than {second} overall: {numbers}."


def _why_undecided(difference: ModelDifference, cluster: str | None) -> str:
    """Explain an undecided difference of which one criterion is significant; else return ""."""
    if difference.interval is None:
        one = noun_of(difference, cluster)
        return f"; all tests are of one {one}, so there is no interval"
    significant = difference.p is not None and difference.p < LEVEL
    reaches = difference.interval[0] <= 0 <= difference.interval[1]
    if significant and reaches:
        return "; p is below 0.05, but the interval includes 0"
    if not significant and not reaches:
        return "; the interval excludes 0, but p is not below 0.05"
    return ""


def _needed(difference: ModelDifference, cluster: str | None) -> str:
    if difference.needed is None:
        return ""
    return f"; {tests_needed(difference.needed, noun_of(difference, cluster))}"


def tests_needed(needed: SampleSize, noun: str) -> str:
    """Say how many tests, of how many clusters called `noun`, detect a small difference."""
    return (
        f"to detect {100 * DETECTABLE:.0f} points takes about {needed.tests:,} tests of "
        f"{counted(needed.clusters, noun)} like these"
    )


def _by_value(first: str, second: str, differences: Mapping[str, ModelDifference]) -> str:
    texts = {
        "first": f"{first} is better at ",
        "second": f"{second} is better at ",
        "undecided": "the difference is not significant at ",
        "untested": "the models share no pair of ",
    }
    where: dict[str, list[str]] = {verdict: [] for verdict in texts}
    for value, difference in differences.items():
        where[difference.verdict].append(value)
    return "; ".join(texts[verdict] + ", ".join(each) for verdict, each in where.items() if each)


def _p(value: float | None) -> str:
    if value is None:
        return "no p"
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.4f}"  # noqa: PLR2004 - four places
