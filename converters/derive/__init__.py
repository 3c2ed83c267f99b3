"""Suites: a converted folder with sets of pairs that are derived from its pairs."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .deriving import derive as derive
    from .negating import make_negatives as make_negatives
    from .operations import (
        find_falsification as find_falsification,
        find_operation as find_operation,
    )
    from .originals import GoodTexts as GoodTexts, good_texts as good_texts
    from .parents import Parents as Parents, read_parents as read_parents
    from .perturbing import perturb as perturb
    from .report import SuiteReport as SuiteReport
    from .shifted import SHIFTS as SHIFTS, shift_set as shift_set
    from .suite_folder import (
        SuiteSet as SuiteSet,
        check_place as check_place,
        set_facts as set_facts,
        write_suite as write_suite,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
