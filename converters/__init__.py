"""Annotation files in, NND pairs and human scores out."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    # A convert.py imports Annotation, Files, Record, Reference and SourceError from here: these
    # names stay.
    from nnd.schemas import SourceError as SourceError

    from .annotation import Annotation as Annotation
    from .quality import (
        Credit as Credit,
        Dropped as Dropped,
        Gap as Gap,
        Majority as Majority,
        NoError as NoError,
        Order as Order,
        Rule as Rule,
        Rules as Rules,
        annotator_agreement as annotator_agreement,
        close_order as close_order,
        compare as compare,
        labels_of as labels_of,
        needs_annotators as needs_annotators,
        read_rules as read_rules,
        readable as readable,
        used_column as used_column,
    )
    from .reading import Record as Record
    from .reference import Reference as Reference
    from .source import Files as Files
else:
    __getattr__, __dir__ = lazy_exports(__name__)
