"""Running the converter of a source."""

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nnd.converters import Annotation, Reference
from nnd.converters.source.source import Source, load_converter
from nnd.converters.source.source_files import Files
from nnd.converters.source.table.table_annotations import (
    has_table,
    table_annotations,
    table_references,
)
from nnd.schemas import NNDError, SourceError, one_line

Row = TypeVar("Row", Annotation, Reference)


class Converter(NamedTuple):
    """The generators that read the files of a source; their uncaught errors name file and line."""

    annotations: Callable[[Files], Iterator[Annotation]]  # yields the annotations
    # Yields the references, if the source has any.
    references: Callable[[Files], Iterator[Reference]]


def say_whose_rights(code: Path) -> None:
    """Say on stderr that a Python file from outside of nnd is about to run.

    It runs in this process: in the sandbox of `check-source`, its rows would have to be written to
    a file and read back, and most machines have no sandbox that holds.
    """
    line = f"nnd: running {code} with your rights; read it first if you did not write it"
    sys.stderr.write(f"{one_line(line)}\n")


def choose_converter(source: Source) -> Converter:
    """Return a source's own converter, or the one for tables if it has only `table` sections."""
    is_table = has_table(source) and not (source.folder / "convert.py").exists()
    found: Mapping[str, Any] = _TABLES if is_table else load_converter(source)
    return Converter(
        partial(_explaining, source, found["annotations"]),
        partial(_explaining, source, found.get("references", lambda _: ())),
    )


_TABLES = {"annotations": table_annotations, "references": table_references}


def _explaining(
    source: Source, generator: Callable[[Files], Iterable[Row]], files: Files
) -> Iterator[Row]:
    try:
        yield from generator(files)
    except NNDError:
        raise
    except (Exception, SystemExit) as error:
        path = str(source.folder / "convert.py")
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame.lineno for frame in frames if frame.filename == path]
        line = f":{own[-1]}" if own else ""
        raise SourceError(
            "source.converter-failed", f"{type(error).__name__}: {error}", f"{path}{line}"
        ) from error
