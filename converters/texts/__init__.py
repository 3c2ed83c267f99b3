"""Odd or private parts of texts: reports, normalisation and redaction."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .contacts import (
        Contact as Contact,
        find_contacts as find_contacts,
        find_in_manifest as find_in_manifest,
        redact_contacts as redact_contacts,
        redact_manifest as redact_manifest,
    )
    from .hygiene import (
        check_steps as check_steps,
        normalise_texts as normalise_texts,
        report_hygiene as report_hygiene,
        report_lengths as report_lengths,
        report_references as report_references,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
