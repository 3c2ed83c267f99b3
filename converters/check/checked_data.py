"""The data that checks look at: pairs, and the annotations that they come from, if known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from nnd.converters.folder import Conversion
from nnd.schemas import CONTEXT, DISTINCT, SchemaName, polars_schema

_SIDES = ("high", "low")


@dataclass(frozen=True)
class CheckedData:
    """Pairs, and what else is known of them.

    Columns of the pairs may be missing. The facts are the content of source.yaml; empty if it is
    not known.
    """

    name: str
    pairs: pl.DataFrame
    annotations: pl.DataFrame | None = None
    references: pl.DataFrame | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, conversion: Conversion) -> "CheckedData":
        """Return what `nnd convert` makes."""
        source = conversion.manifest["source"]
        frames = conversion.pairs, conversion.annotations, conversion.references
        return cls(source["name"], *frames, source)

    @cached_property
    def tests(self) -> pl.DataFrame:
        """The pairs with all columns, each (high, low) of a context once, in order."""
        return _whole(self.pairs, "pair").unique(DISTINCT, keep="first", maintain_order=True)

    @cached_property
    def candidates(self) -> pl.DataFrame:
        """A row for each judgement of a candidate; of pairs alone, one for each of its pairs.

        The columns are those of the annotation schema.
        """
        if self.annotations is not None:
            return _whole(self.annotations, "annotation")
        pairs = _whole(self.pairs, "pair")
        known = [*CONTEXT, "context", "inputs", "aspect", "group"]
        both = [
            pairs.select(
                *known,
                candidate_id=f"{side}_id",
                candidate=f"candidate_{side}",
                system=f"system_{side}",
                label="label_high" if side == "high" else "error_category",
            )
            for side in _SIDES
        ]
        return _whole(pl.concat(both), "annotation")

    @cached_property
    def contexts(self) -> pl.DataFrame:
        """Each context once, in order, with its inputs, and the first better text if it has one."""
        better = self.tests.group_by(CONTEXT).agg(better=pl.col("candidate_high").first())
        distinct = self.candidates.unique(CONTEXT, maintain_order=True)
        return distinct.select(*CONTEXT, "context", "inputs").join(
            better, on=CONTEXT, how="left", nulls_equal=True, maintain_order="left"
        )

    @cached_property
    def all_references(self) -> pl.DataFrame:
        """The references, with all columns."""
        return _whole(pl.DataFrame() if self.references is None else self.references, "reference")

    @cached_property
    def texts(self) -> pl.DataFrame:
        """Each text of a candidate once for a context: context, candidate and its system."""
        return self.candidates.unique([*CONTEXT, "candidate", "system"], maintain_order=True)


def _whole(frame: pl.DataFrame, schema: SchemaName) -> pl.DataFrame:
    """Return the columns of a schema; those that are missing are null."""
    return frame.select(
        pl.col(name) if name in frame.columns else pl.lit(None, dtype).alias(name)
        for name, dtype in polars_schema(schema).items()
    )
