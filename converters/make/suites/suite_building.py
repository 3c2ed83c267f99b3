"""From a definition and a converted folder to a suite."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from nnd.converters.make.negating import make_negatives
from nnd.converters.make.originals import good_texts
from nnd.converters.make.perturbing import perturb
from nnd.converters.make.shifts import SHIFTS, shift_set
from nnd.converters.make.suite_folder import (
    DerivedSet,
    Parents,
    SuiteReport,
    check_place,
    make_set,
    read_parents,
    write_suite,
)
from nnd.converters.make.suites.definition import Definition
from nnd.converters.make.suites.hand_made import hand_made_set
from nnd.converters.make.text_operations.spelling import find_operation
from nnd.schemas import NNDError, SchemaError, read_frame


class Slicing(NamedTuple):
    """Functions of the metric that slice pairs; converters cannot import them.

    Attributes:
        by: (pairs, axis, annotations) → pair_id and slice (AXIS=VALUE), a row for every slice that
            a pair is in.
        where: (pairs, SQL condition, annotations) → whether it is true for each pair.
    """

    by: Callable[[pl.DataFrame, str, pl.DataFrame], pl.DataFrame]
    where: Callable[[pl.DataFrame, str, pl.DataFrame], Sequence[bool]]


def _slice_set(
    pairs: pl.DataFrame, annotations: pl.DataFrame, entry: Mapping[str, Any], slicing: Slicing
) -> DerivedSet:
    """Return the slice that `by` and `value` of an entry describe, or `where`."""
    if "where" in entry:
        operation, parameters = "where", {"where": entry["where"]}
        members = pairs.filter(pl.Series(slicing.where(pairs, entry["where"], annotations)))
        known = ""
    else:
        operation = re.split("[:=]", entry["by"], maxsplit=1)[0]
        parameters = {"by": entry["by"], "value": entry["value"]}
        found = slicing.by(pairs, entry["by"], annotations)
        values = found.select("pair_id", value=pl.col("slice").str.replace("^[^=]*=", ""))
        own = values.filter(pl.col("value") == entry["value"])["pair_id"]
        members = pairs.filter(pl.col("pair_id").is_in(own.implode()))
        known = f", only {', '.join(values['value'].unique(maintain_order=True))}"
    if members.is_empty():
        chosen = ", ".join(f"{key}: {value}" for key, value in parameters.items())
        raise NNDError("slice.empty", f"the slice has no pairs ({chosen}){known}")
    name = entry.get("name") or f"slice-{entry['value'].lower()}"
    return make_set(
        name, "slice", operation, members, parameters=parameters, note=entry.get("note")
    )


def build_suite(
    definition: Definition, data: str | Path, out: str | Path, slicing: Slicing
) -> SuiteReport:
    """Build the suite that a definition describes; the same input gives the same bytes."""
    parents = read_parents(data)
    source = parents.manifest["source"]["name"]
    if source != definition.source:
        raise SchemaError(
            "suite.definition",
            f"is for the source {definition.source}, but {data} holds {source}",
            definition.path,
            f"name a folder converted from {definition.source} with --data",
        )
    check_place(parents, Path(out))
    return write_suite(parents, _sets(definition, parents, slicing), out)


def _sets(definition: Definition, parents: Parents, slicing: Slicing) -> Iterator[DerivedSet]:
    annotations = read_frame(parents.folder, "annotations")
    for number, (kind, entry) in enumerate(definition.sets, start=1):
        try:
            if kind == "op":
                yield _derived_set(definition, parents, entry)
            elif kind == "file":
                yield hand_made_set(parents.pairs, definition.path.parent / entry["file"], entry)
            elif kind in SHIFTS:
                yield shift_set(parents.pairs, kind, entry, seed=definition.seed)
            else:
                yield _slice_set(parents.pairs, annotations, entry, slicing)
        except NNDError as error:
            raise error.inside(f"{definition.path}: set {number}") from error


def _derived_set(definition: Definition, parents: Parents, entry: Mapping[str, Any]) -> DerivedSet:
    """Return the perturbed pairs or negatives that an entry describes."""
    options: dict[str, Any] = {"seed": definition.seed}
    options |= {key: entry[key] for key in ("seed", "variants", "name", "note") if key in entry}
    operation = find_operation(entry["op"], keeps_label="negatives" not in entry)
    if which := entry.get("negatives"):
        texts = good_texts(parents, which, entry.get("aspect"))
        return make_negatives(texts, operation, which=which, **options)
    if "on" in entry:
        operation = operation.applied_to(entry["on"])
    return perturb(parents.pairs, operation, **options)
