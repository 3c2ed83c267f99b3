"""Running the converter of a source."""

import traceback
from collections.abc import Callable, Iterator
from typing import TypeVar

from nnd.converters import Annotation, Reference
from nnd.converters.source.files import Files
from nnd.converters.source.source import Source, load_converter, load_references
from nnd.converters.source.table import has_table, table_annotations, table_references
from nnd.schemas import NNDError, SourceError

Row = TypeVar("Row", Annotation, Reference)


def choose_converter(source: Source) -> Callable[[Files], Iterator[Annotation]]:
    """Return a source's own converter, or the one for tables if it has only `table` sections.

    Raises:
        SourceError: If it has neither, or its convert.py cannot be run.
    """
    return table_annotations if _is_table(source) else load_converter(source)


def _is_table(source: Source) -> bool:
    return has_table(source) and not (source.folder / "convert.py").exists()


def run_converter(source: Source, files: Files) -> Iterator[Annotation]:
    """Run a convert.py; what it does not catch becomes an error that names its line."""
    yield from _explaining(source, choose_converter(source), files)


def run_references(source: Source, files: Files) -> Iterator[Reference]:
    """Yield the references of a source, in the same way; nothing where it has none."""
    generator = table_references if _is_table(source) else load_references(source)
    if generator is not None:
        yield from _explaining(source, generator, files)


def _explaining(
    source: Source, generator: Callable[[Files], Iterator[Row]], files: Files
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
            f"{path}{line}: {type(error).__name__}: {error}; the converter did not expect this "
            "input: check that it is the right file, else mend the converter"
        ) from error
