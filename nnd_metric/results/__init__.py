"""Pass rates of one model: from log-likelihoods to rates, baselines, caveats and a signature."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .aligned import (
        by_model as by_model,
        join_texts as join_texts,
        shared_split as shared_split,
    )
    from .baselines import (
        BASELINES as BASELINES,
        MATCHED_WITHIN as MATCHED_WITHIN,
        Baseline as Baseline,
        Matched as Matched,
    )
    from .caveat_sentences import brief_caveat as brief_caveat, caveats as caveats
    from .contexts import (
        CLUSTER as CLUSTER,
        CLUSTER_NUMBER as CLUSTER_NUMBER,
        NUMBERED as NUMBERED,
        TEST_NUMBER as TEST_NUMBER,
        Slice as Slice,
        count_by_context as count_by_context,
        distinct_tests as distinct_tests,
        each_once as each_once,
        number_tests as number_tests,
        slices_by as slices_by,
        sum_by_context as sum_by_context,
    )
    from .datasets import (
        OnDataset as OnDataset,
        OverDatasets as OverDatasets,
        split_by_dataset as split_by_dataset,
    )
    from .flips import Flips as Flips, find_flips as find_flips
    from .frames import rate_frame as rate_frame
    from .joined import (
        has_baseline as has_baseline,
        join_parts as join_parts,
        rate_parts as rate_parts,
        without_rates as without_rates,
    )
    from .kept_run import KeptRun as KeptRun, read_kept as read_kept
    from .manner import (
        Manner as Manner,
        check_manners as check_manners,
        check_runs as check_runs,
        data_in as data_in,
        describe_manners as describe_manners,
        describe_mixture as describe_mixture,
        describe_others as describe_others,
        find_protocols as find_protocols,
        is_tested as is_tested,
        manner_of as manner_of,
        name_protocol as name_protocol,
        name_protocols as name_protocols,
        name_readings as name_readings,
        read_manners as read_manners,
        read_manners_of as read_manners_of,
        tell_readings as tell_readings,
        version_rules as version_rules,
    )
    from .numbering import number_occurrences as number_occurrences
    from .one_model import (
        ModelResult as ModelResult,
        Scored as Scored,
        evaluate_model as evaluate_model,
    )
    from .preparation import Prepared as Prepared, prepare as prepare
    from .rates import (
        ALONE_SCHEMA as ALONE_SCHEMA,
        SCORED_SCHEMA as SCORED_SCHEMA,
        SLICE_NUMBERS as SLICE_NUMBERS,
        SLICES as SLICES,
        PassRates as PassRates,
        Rate as Rate,
        all_rates as all_rates,
        count_close as count_close,
        is_close as is_close,
        pass_rates as pass_rates,
        rate_of as rate_of,
        to_rate as to_rate,
    )
    from .readings import (
        describe_reading as describe_reading,
        describe_readings as describe_readings,
    )
    from .run_folder import (
        LIKELIHOODS as LIKELIHOODS,
        PARTS as PARTS,
        RESULT as RESULT,
        SAME as SAME,
        SETS as SETS,
        STORED as STORED,
        STORED_SETS as STORED_SETS,
        check_same as check_same,
        locked_run as locked_run,
        open_result as open_result,
        read_pieces as read_pieces,
        read_run as read_run,
        read_sets as read_sets,
        read_signatures as read_signatures,
        read_splits as read_splits,
        read_systems as read_systems,
        run_folders as run_folders,
        scored_splits as scored_splits,
    )
    from .scoring import (
        CHILD_SCHEMA as CHILD_SCHEMA,
        score_pairs as score_pairs,
        score_suite as score_suite,
    )
    from .signature import make_signature as make_signature
    from .surface import measure as measure
    from .version import VERSION as VERSION
else:
    __getattr__, __dir__ = lazy_exports(__name__)
