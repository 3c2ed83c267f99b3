"""The file of one finished part: its scored pairs, and the model and options."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from nnd.metric.data import SCORED_SCHEMA
from nnd.metric.run.model_cost import COST, ModelCost, add_costs, cost_bytes, read_costs
from nnd.metric.run.parts.run_plan import Plan
from nnd.metric.run.sealed_rows import DAMAGE, SealedRows, write_sealed
from nnd.schemas import ScoringError, write_whole

ROWS = pl.Schema(
    {"table": pl.String(), "row": pl.Int64(), "parent_id": pl.String(), **SCORED_SCHEMA}
)
"""Columns of a part: of the pairs, whose table is "", and of the sets of a suite."""


class Footer(NamedTuple):
    """The description of a part in its file.

    `made_by` has versions and options that must be the same in all parts of a model; `plan` is the
    digest of the plan, and the result is `without_rates`.
    """

    plan: str
    part: int
    made_by: Mapping[str, Any]
    result: Mapping[str, Any]


class DamagedPartError(ScoringError):
    """A part cannot be read, or does not hold the planned rows: it must be scored again."""


def write_part(path: Path, rows: pl.DataFrame, footer: Footer, cost: ModelCost | None) -> None:
    """Write a part, and beside it what it cost (errors as in `write_whole`)."""
    if cost is not None:
        with suppress(OSError):  # at worst, the merged run has no bill
            write_whole(cost_path(path), cost_bytes([cost]))
    write_sealed(path, rows, footer._asdict())


def cost_path(part: Path) -> Path:
    """Return the path of what a part cost."""
    return part.with_suffix(f".{COST}")


def joined_cost(plan: Plan, model: str) -> list[ModelCost]:
    """Return what all parts of a model cost together; nothing unless that of each is known."""
    paths = [cost_path(plan.path(model, part)) for part in range(plan.parts)]
    costs = [read_costs(path).get(model) for path in paths]
    known = [each for each in costs if each is not None]
    return [add_costs(known)] if len(known) == len(costs) else []


def read_footer(plan: Plan, model: str, part: int) -> Footer:
    """Read the description of a part from its file.

    Raises DamagedPartError if the part is damaged, ScoringError if it belongs to another plan.
    """
    with _opened(path := plan.path(model, part)) as sealed:
        footer = Footer(**sealed.facts)
    if (footer.plan, footer.part) != (plan.digest, part):
        raise ScoringError(
            "run.another-plan",
            "this part belongs to another plan",
            path,
            "name another folder with --out, or remove this file",
        )
    return footer


def read_part(plan: Plan, model: str, part: int) -> pl.DataFrame:
    """Read the rows of a part: columns of ROWS, in the order of the plan.

    Raises DamagedPartError if the part is damaged, or its rows are not those of the plan.
    """
    with _opened(path := plan.path(model, part)) as sealed:
        rows = pl.DataFrame(sealed.read(), ROWS)
    if not rows.select("table", "row").equals(planned_rows(plan, part)):
        raise DamagedPartError("run.parts-missing", "the file does not hold the planned rows", path)
    return rows


def is_finished(plan: Plan, model: str, part: int) -> bool:
    """Whether a part exists and is undamaged."""
    try:
        read_footer(plan, model, part)
        read_part(plan, model, part)
    except DamagedPartError:
        return False
    return True


@contextmanager
def _opened(path: Path) -> Iterator[SealedRows]:
    """Yield the file of a part; errors of the file inside the block mean that it is damaged."""
    try:
        yield SealedRows(path)
    except DAMAGE as error:
        reason = str(error).partition("\n")[0]
        raise DamagedPartError("run.parts-missing", f"cannot be read: {reason}", path) from error


def planned_rows(plan: Plan, part: int) -> pl.DataFrame:
    """Return the table and row number of every pair of a part, in order."""
    numbers = [
        pl.DataFrame({"row": pl.int_range(start, stop, eager=True)}).select(
            pl.lit(table).alias("table"), "row"
        )
        for table, spans in plan.spans_of(part).items()
        for start, stop in spans
    ]
    return pl.concat(numbers)


def check_made_alike(path: Path, first: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Check that two parts of a model were made by the same weights and versions."""
    for name, there in first.items():
        here = other.get(name)
        if here != there:
            raise ScoringError(
                "run.another-plan",
                f"this part was made with {name} {there}, but other parts with {here}",
                path,
                "remove the parts of one kind, and score them again like the others",
            )
