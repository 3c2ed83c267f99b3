"""All sources that can be converted by name, with their sets, as a table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from nnd.converters.source.source import FoundSource, find_sources
from nnd.schemas import Printable, counted, read_systems, rule_of, text_table

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS = pl.Schema(
    {
        "name": pl.String(),
        "set": pl.String(),
        "distribution": pl.String(),
        "task": pl.String(),
        "languages": pl.List(pl.String()),
        "licence": pl.String(),
        "rule": pl.String(),
        "pairs": pl.Int64(),
        "redistribution": pl.String(),
        "systems": pl.Int64(),
        "public_systems": pl.Int64(),
        "scorable_systems": pl.Int64(),
        "billions": pl.List(pl.Float64()),
        "variants": pl.List(pl.String()),
        "problem": pl.String(),
    }
)

_PUBLISHED = {"allowed": "yes", "no-derivatives": "ask", "unknown": "ask"}
"""Redistribution → whether pairs may be published, or their owners are to be asked."""


@dataclass(frozen=True, slots=True, repr=False)
class Sources(Printable):
    """The built-in sources and those of installed packages.

    Attributes:
        found: The sources; one that cannot be converted says why.
    """

    found: tuple[FoundSource, ...]

    def __iter__(self) -> Iterator[FoundSource]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def headline(self) -> str:
        """Return how many sources there are; the sample does not count."""
        return f"{counted(sum(not _is_sample(each) for each in self.found), 'source')}."

    def table(self) -> "Table":
        """Return a row for each source and set, with the judged systems that `evaluate` can score.

        The exact models of these are public, and it is known what they read. Their size is as far
        as the source states it.
        """
        rows = (
            [
                _name(row),
                _task(row),
                ", ".join(row["languages"]),
                "n/a" if row["pairs"] is None else f"{row['pairs']:,}",
                _PUBLISHED[row["redistribution"]],
                _scorable(row) if row["systems"] else "none",
            ]
            for row in self._readable()
        )
        systems = "judged systems that load"
        columns = ("source", "task", "texts in", "pairs", "may be published", systems)
        prose = ["task", "may be published"]
        return text_table(columns, rows, right=["pairs", systems], prose=prose)

    def remarks(self) -> list[str]:
        """Return which sources cannot be converted by name, and why."""
        return [f"{each.name}: {each.problem}" for each in self.found if each.problem]

    def details(self) -> "list[Table | str]":
        """Return licence, rule and other readings of each source and set."""
        rows = (
            [_name(row), row["licence"], row["rule"], ", ".join(row["variants"])]
            for row in self._readable()
        )
        return [text_table(("source", "licence", "rule", "variants"), rows)]

    def _readable(self) -> Iterator[Mapping[str, Any]]:
        frame = self.to_frame().filter(pl.col("task").is_not_null())
        return frame.iter_rows(named=True)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each source and set; one that cannot be read has only a problem."""
        return pl.DataFrame([_row(entry) for entry in self.entries()], schema=_COLUMNS)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        return {"sources": self.entries()}

    def entries(self) -> list[dict[str, Any]]:
        """Return the facts of each source and set, with `name`, `distribution` and `problem`."""
        return [entry for each in self.found for entry in _entries(each)]


def sources() -> Sources:
    """List the sources that can be converted, with their sets.

    The list shows task, language, number of pairs, whether they may be published, how many of the
    judged systems can be loaded and scored (`nnd evaluate --judged`), and how large these are; then
    licence, rule and variants. Installed packages
    may add sources (entry point group nnd.sources); their distribution is shown after the name. The
    sample comes last, because it is not a human evaluation.
    """
    return Sources(tuple(sorted(find_sources(), key=_is_sample)))


def _is_sample(found: FoundSource) -> bool:
    return found.name == "sample" and found.distribution is None


def _entries(found: FoundSource) -> list[dict[str, Any]]:
    problem = found.problem and str(found.problem)
    marks = {"name": found.name, "distribution": found.distribution, "problem": problem}
    if found.source is None:
        return [marks]
    sets = [found.source.choose("set", name) for name in found.source.facts.get("sets", {})]
    return [{**source.facts, **marks} for source in (found.source, *sets)]


def _row(entry: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: entry.get(name) for name in _COLUMNS if name != "systems"}
    if "task" in entry:
        rules = (rule_of(entry["quality"], aspect)["rule"] for aspect in entry["aspects"])
        row["rule"] = ", ".join(dict.fromkeys(rules))
        row["pairs"] = (entry["expected"] or {}).get("pairs")
        named = {name: each for name, each in read_systems(entry).items() if name != "*"}
        row["systems"] = len(named)
        row["public_systems"] = sum(each.checkpoint is not None for each in named.values())
        scorable = [each for each in named.values() if each.is_scorable]
        row["scorable_systems"] = len(scorable)
        row["billions"] = sorted({each.billions for each in scorable if each.billions})
        row["variants"] = list(entry.get("variants", {}))
    return row


def _scorable(row: Mapping[str, Any]) -> str:
    """Return how many judged systems load, with the smallest and the largest size stated."""
    sizes = row["billions"]
    ends = dict.fromkeys(f"{each:g}" for each in (*sizes[:1], *sizes[-1:]))
    counts = f"{row['scorable_systems']} of {row['systems']}"
    return f"{counts}\n{'-'.join(ends)}B" if ends else counts


def _task(row: Mapping[str, Any]) -> str:
    """Return what the judged systems do; a set repeats nothing of its source."""
    if row["set"] is not None:
        return ""
    return "invented, for trying out" if row["name"] == "sample" else row["task"].replace("-", " ")


def _name(row: Mapping[str, Any]) -> str:
    """Return what to type: a set is indented below its source."""
    if row["set"] is not None:
        return f"  --set {row['set']}"
    return f"{row['name']} ({row['distribution']})" if row["distribution"] else str(row["name"])
