"""Annotations to NND pairs and human scores."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .annotation_checks import (
        check_annotations as check_annotations,
        row_problems as row_problems,
    )
    from .annotation_rows import (
        annotation_frame as annotation_frame,
    )
    from .contradictions import (
        find_contradictions as find_contradictions,
    )
    from .hygiene.contacts import (
        find_contacts as find_contacts,
        find_in_manifest as find_in_manifest,
        redact_contacts as redact_contacts,
        redact_manifest as redact_manifest,
    )
    from .hygiene.hygiene import (
        check_steps as check_steps,
        normalise_texts as normalise_texts,
        report_form as report_form,
        report_hygiene as report_hygiene,
        report_lengths as report_lengths,
    )
    from .pairing import (
        make_pairs as make_pairs,
        pair_ids as pair_ids,
        same_text as same_text,
    )
    from .quality.alpha import (
        annotator_agreement as annotator_agreement,
    )
    from .quality.quality_order import (
        DropReason as DropReason,
        compare as compare,
        unread_values as unread_values,
    )
    from .reference_rows import (
        check_numbers as check_numbers,
        check_references as check_references,
        reference_frame as reference_frame,
        reference_id as reference_id,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
