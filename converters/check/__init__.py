"""Checks of pairs, whatever made them: texts, contexts and judgements must belong together."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .check_report import (
        Check as Check,
        CheckReport as CheckReport,
        Verdict as Verdict,
        judged as judged,
        labelled as labelled,
    )
    from .checked_data import (
        CheckedData as CheckedData,
    )
    from .direction import (
        BAD as BAD,
        PEOPLE as PEOPLE,
        win_shares as win_shares,
        words_of as words_of,
    )
    from .pair_checks import (
        CHECKS as CHECKS,
        PairCheck as PairCheck,
        check_pairs as check_pairs,
    )
    from .shared_texts import (
        contexts_alike as contexts_alike,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
