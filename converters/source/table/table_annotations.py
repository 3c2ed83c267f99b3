"""From the table files of a source to annotations, by its `table` sections."""

from collections.abc import Iterator
from dataclasses import replace

from nnd.converters import Annotation, Reference
from nnd.converters.source.source import Source
from nnd.converters.source.source_files import Files
from nnd.converters.source.table.candidate_rows import candidate_annotations
from nnd.converters.source.table.error_spans import span_annotations
from nnd.converters.source.table.pair_rows import pair_annotations
from nnd.converters.source.table.row_cells import RowReader
from nnd.converters.source.table.row_steps import read_table, steps_of
from nnd.converters.source.table.section import Table, check_table, only_aspect, tables_of


def has_table(source: Source) -> bool:
    """Say whether a source has `table` sections."""
    return bool(tables_of(source))


def table_annotations(files: Files) -> Iterator[Annotation]:
    """Yield the annotations of a source's tables, section by section."""
    tables = tables_of(files.source)
    for table in tables:
        check_table(table, files.source)
        steps_of(table, files)  # finds wrong expressions before any file is read
    for table in tables:
        yield from _annotations(table, files)


def table_references(files: Files) -> Iterator[Reference]:
    """Yield the references of a source's tables; rows of one context repeat them."""
    quiet = replace(files, oddities=[])  # reading the annotations already reports odd rows
    for table in tables_of(files.source):
        columns, contexts = table.get("references", []), RowReader(table)
        for row in read_table(table, quiet) if columns else ():
            context = contexts.context(row)
            for text in (text for column in columns for text in row.listed(column)):
                if text.strip():
                    yield Reference(
                        where=row.where,
                        context_id=context.context_id,
                        reference=text,
                        split=context.split,
                    )


def _annotations(table: Table, files: Files) -> Iterator[Annotation]:
    rows = read_table(table, files)
    match table:
        case {"pairs": pairs}:
            return pair_annotations(rows, table, only_aspect(pairs, files.source), files)
        case {"spans": spans}:
            return span_annotations(rows, table, only_aspect(spans, files.source), files)
    return candidate_annotations(rows, table)
