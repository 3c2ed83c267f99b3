"""The contract between converters and the metric: JSON Schemas, checks, errors, files."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .contract.category_keys import (
        OVERALL as OVERALL,
        category_key as category_key,
        category_of as category_of,
    )
    from .contract.checks import (
        Problem as Problem,
        check_document as check_document,
        check_frame as check_frame,
        check_rows as check_rows,
    )
    from .contract.cutting import (
        context_keys as context_keys,
        cut_by_context as cut_by_context,
        cut_together as cut_together,
    )
    from .contract.instructions import (
        NO_INSTRUCTION as NO_INSTRUCTION,
        Instruction as Instruction,
        StoredContext as StoredContext,
        Wording as Wording,
        digest_wording as digest_wording,
        fill_placeholders as fill_placeholders,
        fill_wording as fill_wording,
        placeholders_in as placeholders_in,
        read_instruction as read_instruction,
    )
    from .contract.judged_systems import (
        JudgedSystem as JudgedSystem,
        read_systems as read_systems,
    )
    from .contract.keys import (
        CONTEXT as CONTEXT,
        DISTINCT as DISTINCT,
        SLICE_TITLES as SLICE_TITLES,
        choose_examples as choose_examples,
        cluster_keys as cluster_keys,
        distinct_in_order as distinct_in_order,
        fold as fold,
        fold_texts as fold_texts,
        have_equal_texts as have_equal_texts,
        pairs_digest as pairs_digest,
    )
    from .contract.quality.human_score_rules import (
        judged_numbers as judged_numbers,
        make_human_scores as make_human_scores,
    )
    from .contract.quality.quality_rules import (
        Credit as Credit,
        Gap as Gap,
        Majority as Majority,
        NoError as NoError,
        Order as Order,
        Rule as Rule,
        Rules as Rules,
        close_order as close_order,
        labels_of as labels_of,
        listed_numbers as listed_numbers,
        needs_annotators as needs_annotators,
        read_ratings as read_ratings,
        read_rules as read_rules,
        readable as readable,
        rule_of as rule_of,
        used_column as used_column,
    )
    from .contract.schemas import (
        SCHEMA_NAMES as SCHEMA_NAMES,
        URL as URL,
        SchemaName as SchemaName,
        load_schema as load_schema,
        optional_columns as optional_columns,
        polars_schema as polars_schema,
        rows_of as rows_of,
    )
    from .contract.sql import (
        MOST_MADE as MOST_MADE,
        SqlExpression as SqlExpression,
        first_line as first_line,
        parse_sql as parse_sql,
    )
    from .files.atomic import (
        put_in_place as put_in_place,
        replace_file as replace_file,
        write_whole as write_whole,
    )
    from .files.cache_facts import (
        add_fact as add_fact,
        cache_folder as cache_folder,
        forget_oldest as forget_oldest,
        read_facts as read_facts,
    )
    from .files.digests import (
        digest_once as digest_once,
        file_digest as file_digest,
        fingerprint as fingerprint,
        git_blob as git_blob,
        has_mark as has_mark,
        with_mark as with_mark,
    )
    from .files.disk_errors import (
        is_of_disk as is_of_disk,
        remedy_for as remedy_for,
    )
    from .files.documents import (
        MANIFEST as MANIFEST,
        NEGATIVES_FACTS as NEGATIVES_FACTS,
        REFERENCE_ROWS as REFERENCE_ROWS,
        SELFTEST as SELFTEST,
        VALIDITY as VALIDITY,
        Document as Document,
        SealedRecord as SealedRecord,
        find_change as find_change,
        list_files as list_files,
        own_files as own_files,
        read_document as read_document,
        read_with as read_with,
        seal as seal,
        write_document as write_document,
    )
    from .files.folder import (
        FrameName as FrameName,
        find_frame as find_frame,
        find_manifest as find_manifest,
        frame_files as frame_files,
        is_published_path as is_published_path,
        missing_frame as missing_frame,
        published_path as published_path,
        read_file as read_file,
        read_frame as read_frame,
        read_manifest as read_manifest,
        read_validity as read_validity,
    )
    from .files.inside import (
        is_inside as is_inside,
        leads_out as leads_out,
        outside as outside,
        path_inside as path_inside,
    )
    from .files.places import (
        check_own as check_own,
        check_replaceable as check_replaceable,
        exclusive as exclusive,
        make_new as make_new,
        replace_folder as replace_folder,
        replace_own as replace_own,
        write_folder as write_folder,
    )
    from .files.workplaces import (
        has_locks as has_locks,
        temporary_folder as temporary_folder,
        workplace as workplace,
    )
    from .reading.archives import (
        ARCHIVES as ARCHIVES,
        find_member as find_member,
        read_archive as read_archive,
        read_members as read_members,
    )
    from .reading.front_matter import (
        read_metadata as read_metadata,
        split_head as split_head,
    )
    from .reading.limits import (
        ARCHIVE as ARCHIVE,
        COLUMNS as COLUMNS,
        METRICS as METRICS,
        TEXT as TEXT,
        UNPACKED as UNPACKED,
        SizeLimit as SizeLimit,
    )
    from .reading.parquet import (
        parquet_bytes as parquet_bytes,
        read_parquet as read_parquet,
        read_parquet_rows as read_parquet_rows,
        read_row_group as read_row_group,
        row_group_sizes as row_group_sizes,
        stored_columns as stored_columns,
    )
    from .reading.process import (
        check_not_forked as check_not_forked,
        collector_paused as collector_paused,
    )
    from .reading.records import (
        Cells as Cells,
        FileRecord as FileRecord,
        as_records as as_records,
        load_json as load_json,
        parse_number as parse_number,
        quoted as quoted,
        read_cells as read_cells,
        read_json as read_json,
        read_jsonl as read_jsonl,
        read_number as read_number,
        shown as shown,
        spells_number as spells_number,
        split_cells as split_cells,
    )
    from .reading.table_rows import (
        CELL_SUFFIXES as CELL_SUFFIXES,
        TABLE_SUFFIXES as TABLE_SUFFIXES,
        by_header as by_header,
        find_options as find_options,
        guess_cells as guess_cells,
        is_lines as is_lines,
        kind_of as kind_of,
        read_by_header as read_by_header,
        read_rows as read_rows,
    )
    from .reading.text_files import (
        decode as decode,
        read_lines as read_lines,
        read_text as read_text,
    )
    from .reading.workbook import (
        read_workbook as read_workbook,
        sheet_names as sheet_names,
    )
    from .reading.yaml import (
        line_finder as line_finder,
        load_yaml as load_yaml,
        read_yaml as read_yaml,
    )
    from .records.display import (
        Printable as Printable,
        text_table as text_table,
    )
    from .records.frames import (
        cells_of as cells_of,
        frame_schema as frame_schema,
        record_frame as record_frame,
    )
    from .records.json_schemas import (
        describe_fields as describe_fields,
    )
    from .records.marks import (
        ALWAYS as ALWAYS,
        SPARSE as SPARSE,
        UNSTORED as UNSTORED,
        Amount as Amount,
        Correlation as Correlation,
        Count as Count,
        FlatKeys as FlatKeys,
        Keys as Keys,
        Lead as Lead,
        Limit as Limit,
        Name as Name,
        Natural as Natural,
        Positive as Positive,
        PValue as PValue,
        Share as Share,
        StoredAs as StoredAs,
    )
    from .records.record import (
        Record as Record,
        plain as plain,
        stored_fields as stored_fields,
    )
    from .words.docstrings import (
        sentences_in as sentences_in,
    )
    from .words.errors import (
        CandidateError as CandidateError,
        LicenceError as LicenceError,
        MissingExtraError as MissingExtraError,
        NNDError as NNDError,
        PublishError as PublishError,
        SchemaError as SchemaError,
        ScoringError as ScoringError,
        ScoringWarning as ScoringWarning,
        SourceError as SourceError,
        check_known as check_known,
        one_line as one_line,
        visible as visible,
    )
    from .words.extras import (
        check_extra as check_extra,
    )
    from .words.few_clusters import (
        FEW_CLUSTERS as FEW_CLUSTERS,
        few_clusters_in_words as few_clusters_in_words,
    )
    from .words.identity import (
        DISTRIBUTION as DISTRIBUTION,
        __version__ as __version__,
        nnd_version as nnd_version,
    )
    from .words.layout import (
        fit as fit,
        table_text as table_text,
        width_here as width_here,
    )
    from .words.normal_forms import (
        NORMAL_FORMS as NORMAL_FORMS,
    )
    from .words.scripts import (
        CUT as CUT,
        find_words as find_words,
        is_mostly_ascii as is_mostly_ascii,
        script_without_spaces as script_without_spaces,
        space_characters as space_characters,
    )
    from .words.texts import (
        counted as counted,
        counts_in_words as counts_in_words,
        did_you_mean as did_you_mean,
        excerpt as excerpt,
        first_difference as first_difference,
        has_surrogate as has_surrogate,
        listed as listed,
    )
    from .words.word_differences import (
        NO_SPACES as NO_SPACES,
        count_words as count_words,
        word_differences as word_differences,
        word_steps as word_steps,
        words_opposite as words_opposite,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
