"""The file of one finished part: its scored pairs, and the model and options.

It is written atomically, so a part exists completely or not at all. Its metadata holds the SHA-256
of the file with zeros in the place of this digest.
"""

import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from nnd.metric.data import SCORED_SCHEMA
from nnd.metric.run.parts.run_plan import Plan
from nnd.schemas import ScoringError, write_whole

ROWS = pl.Schema(
    {"table": pl.String(), "row": pl.Int64(), "parent_id": pl.String(), **SCORED_SCHEMA}
)
"""Columns of a part: of the pairs, whose table is "", and of the sets of a suite."""

_FOOTER, _DIGEST = b"nnd", b"nnd-sha256"
_ZEROS = b"0" * 64
_DIGITS = re.compile(_DIGEST + rb"[^0-9a-f]{1,9}([0-9a-f]{64})")


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


def write_part(path: Path, rows: pl.DataFrame, footer: Footer) -> None:
    """Write a part (errors as in `write_whole`)."""
    text = json.dumps(footer._asdict()).encode()
    metadata = {_FOOTER: text, _DIGEST: _ZEROS}
    table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), buffer, compression="zstd")
    raw = buffer.getvalue()
    write_whole(path, _with_digest(raw, hashlib.sha256(raw).hexdigest().encode()))


def _with_digest(raw: bytes, digest: bytes) -> bytes:
    place = _DIGITS.search(raw)
    if place is None:
        raise ValueError("it has no digest")
    return raw[: place.start(1)] + digest + raw[place.end(1) :]


def _read_whole(path: Path) -> pa.BufferReader:
    """Return the bytes of a part if they did not change since they were written."""
    raw = path.read_bytes()
    digest = hashlib.sha256(_with_digest(raw, _ZEROS)).hexdigest().encode()
    if raw != _with_digest(raw, digest):
        raise ValueError("it was changed since it was written")
    return pa.BufferReader(raw)


def read_footer(plan: Plan, model: str, part: int) -> Footer:
    """Read the description of a part from its file.

    Raises DamagedPartError if the part is damaged, ScoringError if it belongs to another plan.
    """
    with _opened(path := plan.path(model, part)) as file:
        footer = Footer(**json.loads(file.metadata.metadata[_FOOTER]))
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
    with _opened(path := plan.path(model, part)) as file:
        rows = pl.DataFrame(pl.from_arrow(file.read()), ROWS)
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
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Yield the file of a part; errors of the file inside the block mean that it is damaged."""
    try:
        with pq.ParquetFile(_read_whole(path)) as file:
            yield file
    except (
        *(OSError, ValueError, LookupError, TypeError),
        *(pa.ArrowException, pl.exceptions.PolarsError),
    ) as error:
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
