"""Other metrics as scorers of texts: overlap, references, likelihoods."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .base import Text as Text, TextScorer as TextScorer, score_texts as score_texts
    from .letter_case import (
        Normalise as Normalise,
        case_differs as case_differs,
        check_normalise as check_normalise,
        in_lower_case as in_lower_case,
    )
    from .names import find_scorers as find_scorers, plain_names as plain_names
    from .reference import Several as Several
    from .references import (
        match_references as match_references,
        read_references as read_references,
        references_in as references_in,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
