"""NND pairs, human scores and stored runs, as the metric reads them."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .any_frames import (
        Column as Column,
        PairData as PairData,
        Table as Table,
        check_characters as check_characters,
        to_dataset as to_dataset,
        to_frame as to_frame,
    )
    from .completion import (
        REQUIRED as REQUIRED,
        Digests as Digests,
        context_languages as context_languages,
        contexts_of as contexts_of,
        has_contexts as has_contexts,
        parts_of as parts_of,
        sum_digests as sum_digests,
        version_of as version_of,
    )
    from .converted_folder import (
        SetKind as SetKind,
        SuiteSet as SuiteSet,
        instruction_in as instruction_in,
        read_rows as read_rows,
    )
    from .data_places import (
        check_place as check_place,
        find_place as find_place,
    )
    from .dataset_names import (
        is_several as is_several,
        name_datasets as name_datasets,
        no_pairs as no_pairs,
        only_of_one as only_of_one,
    )
    from .human_scores import (
        is_of_all_splits as is_of_all_splits,
        read_human_scores as read_human_scores,
    )
    from .judgements import (
        Judgements as Judgements,
        find_judgements as find_judgements,
        with_clusters as with_clusters,
    )
    from .known_columns import (
        CATEGORY_COLUMNS as CATEGORY_COLUMNS,
        OwnTable as OwnTable,
        columns_read as columns_read,
    )
    from .matched_systems import (
        HumanNumber as HumanNumber,
        are_judged as are_judged,
        check_choices as check_choices,
        check_systems as check_systems,
        choices_for as choices_for,
        human_numbers_for as human_numbers_for,
        human_scores_for as human_scores_for,
        in_order as in_order,
        match_systems as match_systems,
        names_in as names_in,
        of_aspect as of_aspect,
    )
    from .origin import (
        Origin as Origin,
        read_origin as read_origin,
    )
    from .own_tables import (
        TABLES as TABLES,
        read_table as read_table,
    )
    from .pair_columns import (
        COLUMNS as COLUMNS,
        FEATURES as FEATURES,
        check_required as check_required,
        frame_of as frame_of,
    )
    from .pairs import (
        NEEDED as NEEDED,
        WITH_EQUAL_TEXTS as WITH_EQUAL_TEXTS,
        PairSet as PairSet,
        equal_texts as equal_texts,
        load_pairs as load_pairs,
    )
    from .remote import (
        is_url as is_url,
    )
    from .run_folder import (
        LIKELIHOODS as LIKELIHOODS,
        PARTS as PARTS,
        RESULT as RESULT,
        SAME as SAME,
        SETS as SETS,
        TOKENS_FILE as TOKENS_FILE,
        check_same as check_same,
        locked_run as locked_run,
        open_result as open_result,
        read_pieces as read_pieces,
        read_run as read_run,
        read_sets as read_sets,
        read_signatures as read_signatures,
        read_splits as read_splits,
        read_systems as read_systems,
        read_tokens as read_tokens,
        run_folders as run_folders,
        scored_splits as scored_splits,
    )
    from .scored_schema import (
        ALONE_SCHEMA as ALONE_SCHEMA,
        CHILD_SCHEMA as CHILD_SCHEMA,
        READING_SCHEMA as READING_SCHEMA,
        SCORED_SCHEMA as SCORED_SCHEMA,
        SLICES as SLICES,
        STORED as STORED,
        STORED_SETS as STORED_SETS,
        SURFACE_SCHEMA as SURFACE_SCHEMA,
        TOKENS as TOKENS,
        SliceColumn as SliceColumn,
    )
    from .splits import (
        describe_splits as describe_splits,
        splits_in as splits_in,
    )
    from .stored_clusters import (
        cluster_of_runs as cluster_of_runs,
        fill_clusters as fill_clusters,
        missing_clusters as missing_clusters,
    )
    from .streamed_pairs import (
        PairStream as PairStream,
        Span as Span,
        find_judgements_in as find_judgements_in,
        open_pairs as open_pairs,
        read_human_scores_in as read_human_scores_in,
    )
    from .subset import (
        LIMITED as LIMITED,
        choose_categories as choose_categories,
        choose_contexts as choose_contexts,
        choose_part as choose_part,
        choose_sets as choose_sets,
        choose_splits as choose_splits,
        cut_pairs as cut_pairs,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
