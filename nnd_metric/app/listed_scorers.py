"""The scorers of a list of runs, beside its models."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nnd.metric.data import name_datasets
from nnd.metric.other_metrics import MetricRow, MetricTable, metrics
from nnd.metric.run import ScorerEntry, Trouble
from nnd.schemas import Printable, text_table

if TYPE_CHECKING:
    from rich.table import Table

METRICS = "metrics"
"""Folder of their results, in that of the list."""


@dataclass(frozen=True, slots=True, repr=False)
class ListedScorers(Printable):
    """The scorers of a list on one dataset.

    Attributes:
        data: The dataset.
        found: Scorer → how often it passes, and how well it agrees with people.
        entries: Scorer → its entry.
    """

    data: str
    found: Mapping[str, MetricTable]
    entries: Mapping[str, ScorerEntry]

    def headline(self) -> str:
        """Return what the table shows."""
        return f"Scorers on {self.data}: pass rates, and agreement with people on candidates."

    def table(self) -> "Table":
        """Return the pass rate of each scorer, and its correlation beside the published one."""
        columns = ("pass rate, %", "Spearman", "n", "published", "n, published")
        table = text_table(["scorer", *columns], right=columns)
        for name, row in self._rows():
            table.add_row(name, *_ours(row), *_published(self.entries[name]))
        return table

    def remarks(self) -> list[str]:
        """Return where the published numbers are from, and what to know of ours."""
        published = (entry.published for entry in self.entries.values())
        sources = dict.fromkeys(each.source for each in published if each is not None)
        notes = dict.fromkeys(note for each in self.found.values() for note in each.notes)
        return [*(f"Published in {source}." for source in sources), *notes]

    def to_dict(self) -> dict[str, Any]:
        """Return scorer → its result, as `nnd metrics --json` prints it."""
        return {name: table.to_dict() for name, table in self.found.items()}

    def _rows(self) -> Iterator[tuple[str, MetricRow]]:
        for name, table in self.found.items():
            (row,) = table.rows
            yield name, row


def measure_listed(
    entries: Sequence[ScorerEntry], place: Path, trouble: Trouble
) -> dict[str, ListedScorers]:
    """Return dataset → its scorers, written to `PLACE/metrics/DATASET/SCORER`.

    A scorer that fails is trouble, and the others are computed.
    """
    found: dict[str, ListedScorers] = {}
    for data in dict.fromkeys(entry.data for entry in entries):
        (name,) = name_datasets([data])
        own = {entry.scorer: entry for entry in entries if entry.data == data}
        tables: dict[str, MetricTable] = {}
        for scorer, entry in own.items():
            folder = place / METRICS / name / re.sub(r"[^\w.-]+", "-", scorer)
            template = entry.template or "default"
            with trouble.survived(scorer, name), entry.named():
                tables[scorer] = metrics(data=data, scorers=scorer, template=template, out=folder)
        if tables:
            found[name] = ListedScorers(name, tables, own)
    return found


def _ours(row: MetricRow) -> Iterator[str]:
    rate = None if row.rates is None else row.rates.overall.pass_rate
    (agreement, *_) = row.candidates.values()
    rho = agreement.sample["spearman"]
    yield "n/a" if rate is None else f"{100 * rate:.1f}"
    yield "n/a" if rho is None else f"{rho:.4f}"
    yield f"{agreement.n:,}"


def _published(entry: ScorerEntry) -> tuple[str, str]:
    published = entry.published
    return ("", "") if published is None else (f"{published.spearman:.4f}", f"{published.n:,}")
