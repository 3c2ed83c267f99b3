"""Runs: models and pairs in, scored pairs and results out, here, on workers or on a cluster."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .cost.estimation import (
        estimate as estimate,
    )
    from .cost.fitting import (
        check_scorable as check_scorable,
    )
    from .evaluation import (
        Evaluation as Evaluation,
        Sweep as Sweep,
    )
    from .imported_samples import (
        import_samples as import_samples,
    )
    from .launchers.ray_cluster import (
        Ray as Ray,
    )
    from .launchers.worker_share import (
        check_shared as check_shared,
        ignored_workers as ignored_workers,
        read_worker as read_worker,
    )
    from .lists.built_in_lists import (
        find_built_in as find_built_in,
    )
    from .lists.estimating_lists import (
        ListEstimate as ListEstimate,
        estimate_entries as estimate_entries,
    )
    from .lists.list_entries import (
        RunEntry as RunEntry,
        read_entries as read_entries,
    )
    from .lists.scorer_entries import (
        ScorerEntry as ScorerEntry,
        split_scorers as split_scorers,
    )
    from .lists.scoring_lists import (
        check_entries as check_entries,
        loadable_entries as loadable_entries,
        score_entries as score_entries,
    )
    from .model_result import (
        ModelResult as ModelResult,
    )
    from .pair_scoring import (
        SuiteScores as SuiteScores,
        requests_of as requests_of,
        score_pairs as score_pairs,
        score_suite as score_suite,
    )
    from .parts.merging import (
        merge as merge,
    )
    from .preparation import (
        Preparation as Preparation,
        prepare as prepare,
    )
    from .signature import (
        make_signature as make_signature,
    )
    from .survival import (
        Failure as Failure,
        Trouble as Trouble,
    )
    from .sweep import (
        evaluate as evaluate,
    )
    from .variation.over_choices import (
        vary as vary,
    )
    from .variation.variation import (
        Variant as Variant,
        Variation as Variation,
    )
    from .version import (
        VERSION as VERSION,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
