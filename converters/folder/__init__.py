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
    from .conversion_tables import (
        pairs_of_contexts as pairs_of_contexts,
    )
    from .description.candidate_sides import (
        describe_pairs as describe_pairs,
    )
    from .description.description import (
        Description as Description,
        Descriptions as Descriptions,
    )
    from .description.rouge import (
        best_rouge as best_rouge,
    )
    from .examples.shown import (
        Examples as Examples,
        annotation_examples as annotation_examples,
        pair_examples as pair_examples,
    )
    from .slice_writing import (
        write_slice as write_slice,
    )
    from .validation import (
        validate as validate,
    )
    from .writing import (
        card_in as card_in,
        write_manifest as write_manifest,
        write_parquet as write_parquet,
        write_rows as write_rows,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
