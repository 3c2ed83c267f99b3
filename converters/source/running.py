"""Running the converter of a source."""

import traceback
from collections.abc import Callable, Iterator

from nnd.converters import Annotation
from nnd.converters.source.files import Files
from nnd.converters.source.source import Source, load_converter
from nnd.converters.source.table import has_table, table_annotations
from nnd.schemas import NNDError, SourceError


def choose_converter(source: Source) -> Callable[[Files], Iterator[Annotation]]:
    """Return a source's own converter, or the one for tables if it has only `table` sections.

    Raises:
        SourceError: If it has neither, or its convert.py cannot be run.
    """
    is_table = has_table(source) and not (source.folder / "convert.py").exists()
    return table_annotations if is_table else load_converter(source)


def run_converter(source: Source, files: Files) -> Iterator[Annotation]:
    """Run a convert.py; what it does not catch becomes an error that names its line."""
    generator = choose_converter(source)
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
