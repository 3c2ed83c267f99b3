"""Tables that need no Python: the `table` section of a source.yaml maps their columns."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .numbering import Named as Named, number_texts as number_texts
    from .reading import (
        has_table as has_table,
        table_annotations as table_annotations,
        table_references as table_references,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
