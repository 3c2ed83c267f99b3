"""Sets that are slices of the human pairs."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from nnd.converters.make.suite_folder import SuiteSet, set_facts
from nnd.schemas import NNDError


class Slicing(NamedTuple):
    """Functions of the metric that slice pairs; converters cannot import them.

    Attributes:
        by: (pairs, axis, annotations) → pair_id and slice (AXIS=VALUE), a row for every slice that
            a pair is in.
        where: (pairs, SQL condition, annotations) → whether it is true for each pair.
    """

    by: Callable[[pl.DataFrame, str, pl.DataFrame], pl.DataFrame]
    where: Callable[[pl.DataFrame, str, pl.DataFrame], Sequence[bool]]


def slice_set(
    pairs: pl.DataFrame, annotations: pl.DataFrame, entry: Mapping[str, Any], slicing: Slicing
) -> SuiteSet:
    """Return the slice that an entry of a definition describes.

    Args:
        pairs: The human pairs, rows of the pair schema.
        annotations: What the pairs were made from.
        entry: Has `by` and `value`, or `where`.
        slicing: Functions that slice pairs.

    Raises:
        NNDError: If it has no pairs, its name cannot be the name of a file, or pairs cannot be
            sliced in this way.
    """
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
        known = f"; there are {', '.join(values['value'].unique(maintain_order=True))}"
    if members.is_empty():
        chosen = ", ".join(f"{key}: {value}" for key, value in parameters.items())
        raise NNDError(f"the slice has no pairs ({chosen}){known}")
    name = entry.get("name") or f"slice-{entry['value'].lower()}"
    facts = set_facts(
        name, "slice", operation, members, parameters=parameters, note=entry.get("note")
    )
    return SuiteSet(facts, members)
