"""Numbers from log-likelihoods: pass rates, differences, agreement, slices."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .about import (
        CITATION as CITATION,
        DESCRIPTION as DESCRIPTION,
        INPUTS as INPUTS,
        PAPER as PAPER,
    )
    from .agreement.agreement import (
        FEWEST_SHOWN as FEWEST_SHOWN,
        Agreement as Agreement,
        too_few_to_believe as too_few_to_believe,
    )
    from .agreement.from_results import (
        agree_rated as agree_rated,
        agree_scored as agree_scored,
        category_column as category_column,
        read_scored as read_scored,
        stored_systems as stored_systems,
    )
    from .agreement.human_noise import (
        HumanNoise as HumanNoise,
        find_noise as find_noise,
    )
    from .agreement.measures import (
        FEWEST_MODELS as FEWEST_MODELS,
        try_agreement as try_agreement,
    )
    from .agreement.over_datasets import (
        Agreements as Agreements,
    )
    from .agreement.over_runs import (
        agree as agree,
    )
    from .comparison.comparing import (
        compare as compare,
        compare_entries as compare_entries,
    )
    from .comparison.comparison import (
        Comparison as Comparison,
        Comparisons as Comparisons,
        mean_ranking as mean_ranking,
    )
    from .comparison.model_differences import (
        ModelDifference as ModelDifference,
    )
    from .comparison.sentences import (
        findings as findings,
        tests_needed as tests_needed,
    )
    from .comparison.stored_models import (
        Entry as Entry,
        group_runs as group_runs,
    )
    from .comparison.validity import (
        HumanPairs as HumanPairs,
        OperationValidity as OperationValidity,
        Validity as Validity,
    )
    from .display_names import (
        LONGEST as LONGEST,
        short_names as short_names,
        spoken as spoken,
        visible as visible,
        whole_name as whole_name,
    )
    from .effects.effects import (
        PARENTS as PARENTS,
        Effect as Effect,
        Effects as Effects,
        SetEffect as SetEffect,
        find_effects as find_effects,
    )
    from .manners.manner import (
        Manner as Manner,
        check_runs as check_runs,
        describe_manners as describe_manners,
        describe_mixture as describe_mixture,
        find_protocols as find_protocols,
        has_present_rule as has_present_rule,
        manner_of as manner_of,
        name_protocol as name_protocol,
        name_protocols as name_protocols,
        name_readings as name_readings,
        read_manners as read_manners,
        read_manners_of as read_manners_of,
        tell_readings as tell_readings,
    )
    from .manners.readings import (
        describe_reading as describe_reading,
        describe_readings as describe_readings,
        is_chat as is_chat,
        labels_by_value as labels_by_value,
        shorten_context as shorten_context,
    )
    from .rates.alignment import (
        by_model as by_model,
        join_texts as join_texts,
    )
    from .rates.baselines import (
        MATCHED_WITHIN as MATCHED_WITHIN,
        TOKEN_BASELINES as TOKEN_BASELINES,
        Baseline as Baseline,
    )
    from .rates.by_dataset import (
        EACH_ONCE as EACH_ONCE,
        OverDatasets as OverDatasets,
        mean_over as mean_over,
        split_by_dataset as split_by_dataset,
    )
    from .rates.caveats import (
        PICKING as PICKING,
        brief_caveat as brief_caveat,
        caveats as caveats,
        few_tokens as few_tokens,
        find_rivals as find_rivals,
    )
    from .rates.cluster_words import (
        few_clusters as few_clusters,
        levels_in as levels_in,
        noun_of as noun_of,
        over_clusters as over_clusters,
    )
    from .rates.context_sums import (
        CLUSTER as CLUSTER,
        TEST_NUMBER as TEST_NUMBER,
        distinct_tests as distinct_tests,
        each_once as each_once,
    )
    from .rates.equal_length import (
        NEAR as NEAR,
        EqualLength as EqualLength,
        EqualLengthDifference as EqualLengthDifference,
    )
    from .rates.pass_rates import (
        SLICE_NUMBERS as SLICE_NUMBERS,
        PassRates as PassRates,
        Rate as Rate,
        all_rates as all_rates,
        count_close as count_close,
        is_close as is_close,
        pass_rates as pass_rates,
        rate_frame as rate_frame,
        to_rate as to_rate,
    )
    from .rates.published_passes import (
        PublishedPasses as PublishedPasses,
        beside_published as beside_published,
    )
    from .rates.rate_differences import (
        Flips as Flips,
        find_flips as find_flips,
    )
    from .rates.surface_features import (
        measure as measure,
    )
    from .shown_result import (
        Result as Result,
    )
    from .slices.conditions import (
        where_true as where_true,
    )
    from .slices.named_slices import (
        slice_names as slice_names,
    )
    from .slices.pair_tokens import (
        PairTokens as PairTokens,
        pair_tokens as pair_tokens,
    )
    from .slices.parts import (
        pairs_by as pairs_by,
        pairs_where as pairs_where,
        with_seen as with_seen,
    )
    from .slices.slices import (
        Slices as Slices,
    )
    from .slices.slicing import (
        slice_runs as slice_runs,
        surprise_of_runs as surprise_of_runs,
    )
    from .slices.span_surprise import (
        SpanSurprise as SpanSurprise,
        find_places as find_places,
    )
    from .statistics.candidate_intervals import (
        TOO_MANY as TOO_MANY,
        mean_intervals as mean_intervals,
        pooled_without as pooled_without,
    )
    from .statistics.chosen_statistics import (
        choose_statistics as choose_statistics,
    )
    from .statistics.context_intervals import (
        cluster_intervals as cluster_intervals,
    )
    from .statistics.correlations import (
        STATISTICS as STATISTICS,
        mean_defined as mean_defined,
    )
    from .statistics.difference import (
        Difference as Difference,
        adjust as adjust,
        in_words as in_words,
    )
    from .statistics.extrapolation import (
        extrapolate as extrapolate,
    )
    from .statistics.interval_text import (
        ALL_AGREE as ALL_AGREE,
        do_all_agree as do_all_agree,
        in_brackets as in_brackets,
        percent as percent,
        rate_and_interval as rate_and_interval,
        tests_of as tests_of,
    )
    from .statistics.intervals import (
        ONE_CONTEXT as ONE_CONTEXT,
        UNDEFINED as UNDEFINED,
        FloatArray as FloatArray,
        Interval as Interval,
        IntervalOrReason as IntervalOrReason,
        bootstrap_ratios as bootstrap_ratios,
        covering_interval as covering_interval,
        draw_contexts as draw_contexts,
        reasons_in as reasons_in,
        stretches as stretches,
        wilson as wilson,
    )
    from .statistics.jackknife import (
        effective_freedom as effective_freedom,
        jackknife_error as jackknife_error,
        jackknife_interval as jackknife_interval,
        leave_out as leave_out,
        sizes_of_groups as sizes_of_groups,
    )
    from .statistics.metric_swaps import (
        swap_p as swap_p,
    )
    from .statistics.order_noise import (
        reason_against_order as reason_against_order,
    )
    from .statistics.over_systems import (
        FEWEST_SYSTEMS as FEWEST_SYSTEMS,
    )
    from .statistics.roc_auc import (
        pooled_auc as pooled_auc,
    )
    from .statistics.sign_flips import (
        sign_flip_p as sign_flip_p,
    )
    from .statistics.significance import (
        holm as holm,
        mcnemar_exact as mcnemar_exact,
        pairs_needed as pairs_needed,
    )
    from .statistics.soft_accuracy import (
        resampled_soft_accuracy as resampled_soft_accuracy,
        soft_accuracy as soft_accuracy,
        system_accuracy as system_accuracy,
    )
    from .statistics.tie_accuracy import (
        CandidatePairs as CandidatePairs,
        pair_candidates as pair_candidates,
        tie_accuracy as tie_accuracy,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
