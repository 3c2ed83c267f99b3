"""Annotations to NND pairs and human scores."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .checks import ANY_SYSTEM as ANY_SYSTEM, check_annotations as check_annotations
    from .contradictions import find_contradictions as find_contradictions
    from .gather import annotation_frame as annotation_frame
    from .pairing import (
        Pairs as Pairs,
        make_pairs as make_pairs,
        pair_ids as pair_ids,
        same_text as same_text,
    )
    from .references import (
        check_numbers as check_numbers,
        check_references as check_references,
        reference_frame as reference_frame,
        reference_id as reference_id,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
