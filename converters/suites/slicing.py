"""Sets that are slices of the human pairs."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from nnd.converters.derive import SuiteSet, set_facts
from nnd.schemas import NNDError


class Slicing(NamedTuple):
    """How pairs are sliced, as the metric does it, which the converters know nothing of.

    Attributes:
        by: Pairs, what to slice by, and annotations to a row for every slice that a pair is in:
            pair_id, slice (AXIS=VALUE).
        where: Pairs, an SQL condition, and annotations to whether it is true of each pair.
    """

    by: Callable[[pl.DataFrame, str, pl.DataFrame], pl.DataFrame]
    where: Callable[[pl.DataFrame, str, pl.DataFrame], Sequence[bool]]


def slice_set(
    pairs: pl.DataFrame, annotations: pl.DataFrame, entry: Mapping[str, Any], slicing: Slicing
) -> SuiteSet:
    """Return the slice that an entry of a definition asks for.

    Args:
        pairs: The human pairs, rows of the pair schema.
        annotations: What they were made of.
        entry: With `by` and `value`, or with `where`.
        slicing: How pairs are sliced.

    Raises:
        NNDError: If no pair is in it, it has no name that can be a file's, or pairs cannot be
            sliced so.
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
        told = ", ".join(f"{key}: {value}" for key, value in parameters.items())
        raise NNDError(f"no pair is in the slice ({told}){known}")
    name = entry.get("name") or f"slice-{entry['value'].lower()}"
    facts = set_facts(
        name, "slice", operation, members, parameters=parameters, note=entry.get("note")
    )
    return SuiteSet(facts, members)
