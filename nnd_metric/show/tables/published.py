"""Published passes beside those of a run."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nnd.metric.numbers import PassRates, PublishedPasses, beside_published, percent, short_names
from nnd.metric.show.tables.cells import NOTHING
from nnd.schemas import counted, listed, text_table

if TYPE_CHECKING:
    from rich.table import Table

_TITLES = ("published", "here", "difference", "expected")


class PublishedModel(NamedTuple):
    """The rates of a model on a dataset, and what others published for it."""

    model: str
    dataset: str
    rates: PassRates
    published: PublishedPasses


def published_table(models: Sequence[PublishedModel]) -> "Table":
    """Return the passes that were published beside ours: a row per model and dataset."""
    table = text_table(["tests passed", "dataset", *_TITLES], right=_TITLES)
    distinct = [*dict.fromkeys(each.model for each in models)]
    names = dict(zip(distinct, short_names(distinct), strict=True))
    for model, dataset, rates, published in models:
        table.add_row(names[model], dataset, *next(_cells(rates, published))[1:])
    return table


def published_details(models: Sequence[PublishedModel]) -> "Table":
    """Return a row per model and category of tests, of one dataset."""
    table = text_table(["tests passed", "of", *_TITLES], right=_TITLES)
    for model, _, rates, published in models:
        for number, row in enumerate(_cells(rates, published)):
            table.add_row("" if number else model, *row)
        table.add_section()
    return table


def published_notes(models: Sequence[PublishedModel]) -> list[str]:
    """Return where the numbers were published, and why ours may differ: each reason once."""
    sources: dict[str, dict[str, None]] = {}
    for each in models:
        sources.setdefault(each.published.reason, {})[each.published.source] = None
    return [f"Published in {listed([*of])}. {reason}" for reason, of in sources.items()]


def _cells(rates: PassRates, published: PublishedPasses) -> Iterator[tuple[str, ...]]:
    for row in beside_published(rates, published):
        is_same = row.difference is not None
        yield (
            row.value or "all tests",
            _passes(*row.published),
            NOTHING if row.ours is None else _passes(*row.ours),
            f"{row.difference:+,}" if is_same else "other tests",
            _expected(published) if is_same and row.value is None else "",
        )


def _passes(passes: int, n: int) -> str:
    return f"{passes:,} of {n:,}" + (f" ({percent(passes / n)} %)" if n else "")


def _expected(published: PublishedPasses) -> str:
    if published.expected is None:
        return NOTHING
    return f"at most {counted(published.expected, 'test')}" if published.expected else "none"
