"""The folder of a suite: the files of the converted folder, `sets/NAME.parquet`, the manifest."""

import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import polars as pl

from nnd.cards import renew_card
from nnd.converters.folder import card_in, write_manifest, write_rows
from nnd.converters.pairs import report_lengths
from nnd.schemas import (
    CONTEXT,
    MANIFEST,
    FrameName,
    NNDError,
    Printable,
    SchemaError,
    check_replaceable,
    counted,
    counts_in_words,
    polars_schema,
    read_frame,
    read_manifest,
    read_with,
    replace_folder,
    text_table,
)


class Parents(NamedTuple):
    """A converted folder that did not change since it was written, with rows of the pair schema."""

    folder: Path
    manifest: dict[str, Any]
    pairs: pl.DataFrame


def read_parents(data: str | Path) -> Parents:
    """Return the content of a converted folder from which a suite can be made.

    It has pairs, is not a suite itself, and no file differs from the manifest.
    """
    folder = Path(data)
    manifest = read_manifest(folder)
    if "sets" in manifest:
        raise SchemaError("data.is-a-suite", "is a suite", folder)
    read_with(folder / MANIFEST, manifest.get("outputs", {}))
    pairs = read_frame(folder, "pairs", polars_schema("pair").names())
    if pairs.is_empty():
        raise SchemaError(
            "data.no-pairs", "holds no pairs, so nothing can be derived from it", folder
        )
    return Parents(folder, manifest, pairs)


if TYPE_CHECKING:
    from rich.table import Table

_COUNTS = ("pairs", "parents", "unchanged", "rejected", "dropped")


@dataclass(frozen=True, slots=True, repr=False)
class SuiteReport(Printable):
    """A suite that was written.

    Attributes:
        folder: Its folder.
        source: Name of the source.
        sets: The entry of each set in the manifest.
    """

    folder: Path
    source: str
    sets: tuple[Mapping[str, Any], ...]

    def headline(self) -> str:
        """Return the number of sets, the source and the folder."""
        pairs = sum(entry["pairs"] for entry in self.sets)
        made = f"{counted(len(self.sets), 'set')} with {counted(pairs, 'pair')}"
        return f"{made} from {self.source}, written to {self.folder}."

    def table(self) -> "Table":
        """Return a row for each set."""
        rows = (
            [entry["name"], entry["kind"], *(_count(entry[name]) for name in _COUNTS)]
            for entry in self.sets
        )
        return text_table(("set", "kind", *_COUNTS), rows, right=_COUNTS)

    def remarks(self) -> list[str]:
        """Return why texts or pairs were rejected."""
        return [
            f"{entry['name']} refused {rejected}: {reasons}."
            for entry in self.sets
            if (reasons := counts_in_words(entry["refusals"] or {}))
            and (rejected := counted(entry["rejected"], _UNITS[entry["kind"]]))
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each set, without its parameters and refusals."""
        names = [name for name in self.sets[0] if name not in ("parameters", "refusals")]
        return pl.DataFrame([{name: entry[name] for name in names} for entry in self.sets])


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


Kind = Literal["perturbation", "slice", "shift", "negatives"]

_UNITS: Mapping[Kind, str] = {"perturbation": "pair", "negatives": "text"}
"""Kind of set → what may be rejected."""

OUTCOMES = ("changed", "unchanged", "rejected", "dropped")
"""Outcomes for a pair, or for a text that a negative is made from."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


class DerivedSet(NamedTuple):
    """A set of a suite: its entry in the manifest, and rows of the pair schema."""

    facts: Mapping[str, Any]
    pairs: pl.DataFrame


def make_set(
    name: str,
    kind: Kind,
    operation: str,
    pairs: pl.DataFrame,
    *,
    parameters: Mapping[str, Any],
    seed: int | None = None,
    variants: int | None = None,
    counts: Mapping[str, int] | None = None,
    refusals: Mapping[str, int] | None = None,
    note: str | None = None,
) -> DerivedSet:
    """Return a set with its entry in the manifest.

    `counts` has the number of each of OUTCOMES, None if pairs are chosen and not changed;
    `refusals` has why texts (of negatives) or pairs were rejected → how many, None if none was.
    """
    if pairs.is_empty():
        outcomes = {**(refusals or {}), **(counts or {})} | ({"rejected": 0} if refusals else {})
        why = counts_in_words({what: n for what, n in outcomes.items() if n})
        raise NNDError(
            "data.no-pairs", f'"{name}" makes no pair: {why}', remedy="leave the operation out"
        )
    has_children = pairs["parent_id"].null_count() < pairs.height
    facts = {
        "name": name,
        "kind": kind,
        "operation": operation,
        "parameters": dict(parameters),
        "seed": seed,
        "variants": variants,
        "pairs": pairs.height,
        "parents": pairs["parent_id"].drop_nulls().n_unique() if has_children else None,
        "contexts": pairs.select(pl.struct(CONTEXT).n_unique()).item(),
        **(counts or dict.fromkeys(OUTCOMES)),
        "refusals": None if refusals is None else dict(refusals),
        "lengths": report_lengths(pairs) if kind == "negatives" else None,
        "note": note,
    }
    return DerivedSet(facts, pairs)


def check_place(parents: Parents, out: Path) -> None:
    """Check, before long work, that a suite can be written to a folder."""
    if out.resolve() == parents.folder.resolve():
        raise NNDError("place.never-replaced", "is the folder that the suite is made from", out)
    check_replaceable(out, document=MANIFEST, beside=card_in(out))


def check_names(names: Iterable[str]) -> None:
    """Check that the names of sets differ, and can be names of files on every system."""
    seen = set[str]()
    for name in names:
        if not _NAME.fullmatch(name):
            raise NNDError(
                "suite.set-name",
                f'"{name}" is not a name for a set',
                remedy="write small letters, digits, ., _ and -, such as typos-0.05",
            )
        if name in get_args(FrameName):
            raise NNDError("suite.set-name", f'"{name}" is the name of a part of every dataset')
        if name in seen:
            raise NNDError("name.twice", f'there are two sets called "{name}"')
        seen.add(name)


def write_suite(parents: Parents, sets: Iterable[DerivedSet], out: str | Path) -> SuiteReport:
    """Write a suite to a new folder, or replace an older one.

    The files of the parents are copied unchanged. Each of the sets, in the order of the definition,
    is written before the next is made; after an error nothing is written.
    """
    check_place(parents, Path(out))
    cards = card_in(Path(out))
    with replace_folder(Path(out), document=MANIFEST, beside=cards) as fresh:
        for name in parents.manifest["outputs"]:
            (fresh / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(parents.folder / name, fresh / name)
        outputs, entries = dict(parents.manifest["outputs"]), list[Mapping[str, Any]]()
        for facts, pairs in sets:
            check_names([*(entry["name"] for entry in entries), facts["name"]])
            path = f"sets/{facts['name']}.parquet"
            outputs[path] = write_rows(pairs, fresh / path)
            entries.append(facts)
        if not entries:
            raise NNDError("input.missing", "`sets` is empty")
        write_manifest({**parents.manifest, "outputs": outputs, "sets": entries}, fresh)
        for name in cards:
            renew_card(Path(out, name), fresh)
    return SuiteReport(Path(out), parents.manifest["source"]["name"], tuple(entries))
