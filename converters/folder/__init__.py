"""A converted folder: written, read and validated."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .conversion import (
        Conversion as Conversion,
        convert as convert,
        convert_again as convert_again,
        convert_source as convert_source,
    )
    from .outcome import Validation as Validation
    from .parquet import write_parquet as write_parquet
    from .slicing import write_slice as write_slice
    from .tables import pairs_of_contexts as pairs_of_contexts
    from .validation import validate as validate
    from .writing import write_manifest as write_manifest, write_rows as write_rows
else:
    __getattr__, __dir__ = lazy_exports(__name__)
