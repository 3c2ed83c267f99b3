"""Annotation files in, NND pairs and human scores out."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    # What a convert.py imports: these names stay.
    from nnd.converters.annotation import (
        Annotation as Annotation,
        Span as Span,
        read_mark as read_mark,
    )
    from nnd.converters.reference import Reference as Reference
    from nnd.converters.source import Files as Files
    from nnd.schemas import SourceError as SourceError
    from nnd.schemas.reading.records import Record as Record
else:
    __getattr__, __dir__ = lazy_exports(__name__)
