"""What a list of runs would download, which models fit this machine, and what is left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nnd.metric.numbers import short_names
from nnd.metric.run.cost.download import Download, find_downloads
from nnd.metric.run.cost.fitting import check_scorable
from nnd.metric.run.lists.list_entries import RunEntry
from nnd.metric.run.survival import reason_of
from nnd.schemas import Printable, Record, counted, text_table

if TYPE_CHECKING:
    from rich.table import Table

_UNKNOWN = "unknown"
_GB = 1e9


@dataclass(frozen=True, slots=True)
class EntryEstimate(Record):
    """What an entry of a list of runs would take.

    Attributes:
        elements: What of a paper it repeats.
        model: Its model.
        data: What is scored.
        download_bytes: Size of the weights that are not on this machine; 0 if they are, None if
            it is not known.
        download_source: Who says so: this machine, the Hub, or the list; None if unknown.
        left_out: Why it would be left out, or None.
        is_available: Whether anybody can load the model.
    """

    elements: tuple[str, ...]
    model: str
    data: tuple[str, ...]
    download_bytes: int | None
    download_source: Literal["here", "hub", "list"] | None
    left_out: str | None
    is_available: bool = True

    @property
    def size(self) -> str:
        """What has to be downloaded, in GB."""
        if not self.is_available:
            return ""
        return _UNKNOWN if self.download_bytes is None else _gigabytes(self.download_bytes)


@dataclass(frozen=True, slots=True, repr=False)
class ListEstimate(Printable):
    """What a list of runs would take.

    Attributes:
        entries: One per entry of the list with a model, in its order.
        scorers: Number of entries with a scorer, of which nothing is estimated.
    """

    entries: tuple[EntryEstimate, ...]
    scorers: int = 0

    def headline(self) -> str:
        """Return how many entries would run, and what has to be downloaded for them."""
        running = [entry for entry in self.entries if entry.left_out is None]
        return (
            f"{len(running)} of {len(self.entries)} entries would run on this machine, after a "
            f"download of {_total(running)}; with all models, {_total(self.entries)}."
        )

    def table(self) -> "Table":
        """Return a row per entry; a number in brackets is the reason why it is left out."""
        numbered = any(entry.elements for entry in self.entries)
        titles = [*(["repeats"] if numbered else []), "model", "data", "GB"]
        table = text_table(titles, right=["GB"], prose=["repeats"])
        models = [*dict.fromkeys(entry.model for entry in self.entries)]
        names = dict(zip(models, short_names(models), strict=True))
        notes = {reason: f"({number})" for number, reason in enumerate(self._reasons(), start=1)}
        for entry in self.entries:
            note = "" if entry.left_out is None else notes[_without_model(entry)]
            first = [", ".join(entry.elements)] if numbered else []
            cell = f"{entry.size} {note}".strip()
            table.add_row(*first, names[entry.model], ", ".join(entry.data), cell)
        return table

    def remarks(self) -> list[str]:
        """Return why entries are left out, and where the sizes are from."""
        numbered = enumerate(self._reasons(), start=1)
        return [*(f"({number}) {reason}" for number, reason in numbered), *self._sources()]

    def _reasons(self) -> list[str]:
        """Return why entries are left out, each reason once."""
        left_out = (entry for entry in self.entries if entry.left_out is not None)
        return [*dict.fromkeys(map(_without_model, left_out))]

    def _sources(self) -> Iterator[str]:
        sources = {entry.download_source for entry in self.entries if entry.is_available}
        if "list" in sources:
            yield (
                "The Hub did not say how large all models are; those sizes are stated in the list."
            )
        if None in sources:
            yield "Unknown sizes: neither the Hub nor the list states them."
        yield "Sizes are of weights alone, each model counted once."
        if self.scorers:
            yield f"Not in the table: {counted(self.scorers, 'scorer')} of the list."


def estimate_entries(
    entries: Sequence[RunEntry], reasons: Sequence[str | None], *, scorers: int = 0
) -> ListEstimate:
    """Return what the entries would take.

    Args:
        entries: The entries with a model.
        reasons: Of each entry, why it is left out whatever its model is, or None.
        scorers: Number of the other entries.
    """
    asked = {entry.model: entry.loading for entry in entries if entry.unavailable is None}
    stated = {entry.model: entry.download for entry in entries if entry.download is not None}
    downloads = find_downloads(asked.items(), stated)
    fits: dict[object, str | None] = {}
    found = []
    for entry, reason in zip(entries, reasons, strict=True):
        if reason is None:
            key = (entry.model, entry.loading)
            if key not in fits:
                fits[key] = _unfit(entry)
            reason = fits[key]  # noqa: PLW2901 - the first of two reasons
        size, is_available = downloads.get(entry.model, Download(None)), entry.unavailable is None
        found.append(
            EntryEstimate(
                entry.elements,
                entry.model,
                entry.data,
                size.bytes if is_available else None,
                size.source if is_available else None,
                reason,
                is_available,
            )
        )
    return ListEstimate(tuple(found), scorers)


def _unfit(entry: RunEntry) -> str | None:
    """Return why this machine cannot score a model, or None."""
    try:
        check_scorable(entry.model, entry.loading)
    except Exception as error:  # noqa: BLE001 - models and their custom code may raise anything
        return reason_of(error)
    return None


def _without_model(entry: EntryEstimate) -> str:
    """Return why an entry is left out, without the name of its model, which is next to it."""
    return (entry.left_out or "").removeprefix(f"{entry.model}: ")


def _total(entries: Sequence[EntryEstimate]) -> str:
    """Return the sizes together, each model once, and how many of them are unknown."""
    sizes = {entry.model: entry.download_bytes for entry in entries if entry.is_available}
    unknown = sum(size is None for size in sizes.values())
    known = _gigabytes(sum(size for size in sizes.values() if size is not None))
    beside = f" and {counted(unknown, 'model')} of unknown size" if unknown else ""
    return f"{known} GB{beside}"


def _gigabytes(size: int) -> str:
    return f"{size / _GB:.3g}"
