"""Negatives of references that are not in a converted folder, for training.

A table has the columns context and reference, and perhaps split and context_id; each row of what is
written also has `negatives`: the texts that the operations made of its reference, and those that it
had before. A reference that no operation changes keeps its row: the likelihood of the right text is
learnt from it, too.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from nnd.converters.make.negating import make_negatives
from nnd.converters.make.suite_folder import DerivedSet, SuiteReport
from nnd.converters.make.text_operations.operation import Operation
from nnd.schemas import (
    NEGATIVES_FACTS,
    REFERENCE_ROWS,
    FileRecord,
    NNDError,
    SchemaError,
    check_replaceable,
    find_options,
    fingerprint,
    list_files,
    polars_schema,
    read_rows,
    replace_folder,
    write_document,
)

_PAIR = polars_schema("pair")
_NEGATIVES = "negatives"


def derive_from_table(
    table: Path, operations: Sequence[Operation], *, out: Path, seed: int, variants: int
) -> SuiteReport:
    """Write the references of a table with their negatives, and negatives.json.

    Raises NNDError if a row lacks a text, or an operation makes nothing; nothing is written then.
    """
    check_replaceable(out, document=NEGATIVES_FACTS)
    records = list(read_rows(table, table.name, find_options(table)))
    texts = _right_texts(records, table)
    sets = [
        make_negatives(texts, operation, which="references", seed=seed, variants=variants)
        for operation in operations
    ]
    with replace_folder(out, document=NEGATIVES_FACTS) as fresh:
        _with_negatives(records, texts, sets).write_ndjson(fresh / REFERENCE_ROWS)
        read = {"name": table.name, **fingerprint(table), "rows": len(records)}
        facts = {"table": read, "sets": [made.facts for made in sets]}
        outputs = list_files(fresh, [REFERENCE_ROWS])
        write_document(fresh, {**facts, "outputs": outputs}, document=NEGATIVES_FACTS)
    return SuiteReport(out, table.stem, tuple(made.facts for made in sets))


def _right_texts(records: Sequence[FileRecord], table: Path) -> pl.DataFrame:
    """Return the references as texts that negatives are made from (`originals.good_texts`)."""
    rows, seen = list[dict[str, Any]](), Counter[tuple[str | None, str]]()
    for record in records:
        row = _right_text(record)
        place = (row["split"], row["context_id"])
        seen[place] += 1
        rows.append({**row, "high_id": f"{row['context_id']}/reference.{seen[place]}"})
    if not rows:
        raise SchemaError("file.empty", "the table has no rows", table)
    return pl.DataFrame(rows, _PAIR, orient="row").with_columns(cluster="context_id")


def _right_text(record: FileRecord) -> dict[str, Any]:
    context, reference = record.text("context"), record.text("reference")
    if not reference.strip():
        raise SchemaError(
            "cell.null", "the reference is blank", record.where, "leave out the row, or fill it in"
        )
    has_id = record.fields.get("context_id") not in (None, "")
    digest = hashlib.sha256(context.encode()).hexdigest()[:16]
    context_id = record.identifier("context_id") if has_id else digest
    return {
        "split": record.optional_text("split"),
        "context_id": context_id,
        "context": context,
        "candidate_high": reference,
    }


def _with_negatives(
    records: Sequence[FileRecord], texts: pl.DataFrame, sets: Sequence[DerivedSet]
) -> pl.DataFrame:
    made: dict[tuple[str | None, str], list[str]] = {key: [] for key in _keys(texts)}
    for each in sets:
        for key, text in zip(_keys(each.pairs), each.pairs["candidate_low"], strict=True):
            made[key].append(text)
    rows = list[dict[str, Any]]()
    for record, own in zip(records, made.values(), strict=True):
        before = [] if record.fields.get(_NEGATIVES) is None else record.texts(_NEGATIVES)
        rows.append({**record.fields, _NEGATIVES: [*dict.fromkeys([*before, *own])]})
    schema = {_NEGATIVES: pl.List(pl.String)}
    return pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)


def _keys(rows: pl.DataFrame) -> list[tuple[str | None, str]]:
    return rows.select("split", "high_id").rows()


def check_options(negatives: str | None, aspect: str | None, table: Path) -> None:
    """Check the options of `derive` that cannot go with a table of references."""
    if negatives != "references":
        raise NNDError(
            "option.conflict",
            "a table of references has no pairs to change",
            table,
            "make negatives of it with --negatives references, or name a converted folder",
        )
    if aspect is not None:
        raise NNDError("option.conflict", "a table of references has no aspects", "--aspect")
