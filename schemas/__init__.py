"""The contract between converters and the metric: JSON Schemas, checks, and the error tree."""

from nnd.schemas.check import Problem, check_frame, check_rows
from nnd.schemas.contract import SCHEMA_NAMES, SchemaName, load_schema, polars_schema, rows_of
from nnd.schemas.errors import (
    LicenceError,
    NNDError,
    PublishError,
    SchemaError,
    SourceError,
    one_line,
)

__all__ = [
    "SCHEMA_NAMES",
    "LicenceError",
    "NNDError",
    "Problem",
    "PublishError",
    "SchemaError",
    "SchemaName",
    "SourceError",
    "check_frame",
    "check_rows",
    "load_schema",
    "one_line",
    "polars_schema",
    "rows_of",
]
