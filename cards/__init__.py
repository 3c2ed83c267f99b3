"""Data, metric and model cards: written from what was computed."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .bibtex import (
        faults_of as faults_of,
    )
    from .card_file import (
        card as card,
    )
    from .dataset import (
        REDISTRIBUTION as REDISTRIBUTION,
        check_repo_id as check_repo_id,
        data_card as data_card,
        renew_card as renew_card,
    )
    from .lint.card_linter import (
        check_card as check_card,
    )
    from .markdown import (
        escape as escape,
        fence as fence,
    )
    from .marks import (
        is_marked as is_marked,
        merge_card as merge_card,
    )
    from .metric import (
        metric_card as metric_card,
        metric_page as metric_page,
    )
    from .model import (
        ScoredOn as ScoredOn,
        add_results as add_results,
        results_file as results_file,
    )
    from .sentences import (
        contradiction_warning as contradiction_warning,
        count_differences as count_differences,
        length_rates as length_rates,
        length_warning as length_warning,
    )
    from .validity import (
        check_validity as check_validity,
    )
    from .vocabulary import (
        hub_licence as hub_licence,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
