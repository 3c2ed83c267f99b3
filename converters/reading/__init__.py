"""Bytes to records: text, JSON, delimited tables, workbooks, archives, YAML."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from nnd.schemas.reading.yaml import (
        line_finder as line_finder,
        load_yaml as load_yaml,
    )

    from .archives import (
        ARCHIVES as ARCHIVES,
        MOST_BYTES as MOST_BYTES,
        find_member as find_member,
        read_archive as read_archive,
        read_members as read_members,
    )
    from .parquet_files import (
        read_parquet_rows as read_parquet_rows,
    )
    from .records import (
        Cells as Cells,
        Record as Record,
        as_records as as_records,
        cells_of as cells_of,
        load_json as load_json,
        parse_number as parse_number,
        quoted as quoted,
        read_cells as read_cells,
        read_jsonl as read_jsonl,
        shown as shown,
        spells_number as spells_number,
    )
    from .table_rows import (
        SUFFIXES as SUFFIXES,
        by_header as by_header,
        guess_cells as guess_cells,
        is_lines as is_lines,
        read_rows as read_rows,
    )
    from .text_files import (
        decode as decode,
        read_lines as read_lines,
        read_text as read_text,
    )
    from .workbook import (
        read_workbook as read_workbook,
        sheet_names as sheet_names,
    )
    from .yaml import (
        read_yaml as read_yaml,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
