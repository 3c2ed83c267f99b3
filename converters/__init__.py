"""Annotation files in, NND pairs and human scores out."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    # A convert.py imports Annotation, Files, Record, Reference and SourceError from here: these
    # names stay.
    from nnd.converters.annotation import Annotation as Annotation
    from nnd.converters.pairs import (
        Dropped as Dropped,
        annotator_agreement as annotator_agreement,
        compare as compare,
    )
    from nnd.converters.reading import Record as Record
    from nnd.converters.reference import Reference as Reference
    from nnd.converters.source import Files as Files
    from nnd.schemas import (
        Credit as Credit,
        Gap as Gap,
        Majority as Majority,
        NoError as NoError,
        Order as Order,
        Rule as Rule,
        Rules as Rules,
        SourceError as SourceError,
        close_order as close_order,
        labels_of as labels_of,
        needs_annotators as needs_annotators,
        read_rules as read_rules,
        readable as readable,
        used_column as used_column,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
