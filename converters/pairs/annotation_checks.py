"""Checks of annotations beyond the schema: unknown names, clashing ids, invalid texts."""

from collections.abc import Iterable, Iterator

import polars as pl

from nnd.converters.source import Source
from nnd.schemas import (
    CONTEXT,
    Problem,
    Rule,
    ScoringError,
    StoredContext,
    cluster_keys,
    fill_wording,
    labels_of,
    needs_annotators,
    read_instruction,
    shown,
    used_column,
)

ANY_SYSTEM = "*"
"""This name under `systems` means that unlisted systems are accepted too."""

_SPREADSHEET_ERROR = (
    r"^\s*(#(NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A|SPILL!|CALC!|FIELD!|ERROR!)|Err:5\d\d)\s*$"
)
_TEXTS = ("candidate", "context", "system", "label", "category")


def check_annotations(source: Source, frame: pl.DataFrame) -> Iterator[Problem]:
    """Yield problems that a schema cannot find: unknown names, clashing ids, invalid texts."""
    numbered = frame.with_row_index("row")
    for column in _TEXTS:
        yield from spreadsheet_errors(numbered, column)
    parts = numbered.select("row", "inputs").explode("inputs")
    yield from spreadsheet_errors(
        parts.with_columns(pl.col("inputs").struct.field("value").alias("inputs")), "inputs"
    )
    yield from _check_known(numbered, "aspect", source.facts["aspects"], "aspects")
    divided = list(source.rules.divide(numbered))
    for rule, rows in divided:
        names = labels_of(rule)
        known = None if names is None else {*names, *source.taxonomy}
        yield from _check_known(rows, "label", known, "taxonomy")
    systems = numbered.select("row", pl.col("system").str.split("|")).explode("system")
    known_systems = None if ANY_SYSTEM in source.systems else source.systems
    yield from _check_known(systems, "system", known_systems, "systems")
    yield from _check_same(
        numbered, "context_id", ("context", "inputs", "category", "language", "metadata")
    )
    yield from _check_same(numbered, "candidate_id", ("context_id", "candidate", "system"))
    for rule, rows in divided:
        yield from _check_duplicates(rows, rule)
        yield from _check_annotators(rows, rule)
    yield from _check_texts(numbered, keep_empty=source.keeps_empty_candidates)
    yield from _check_spans(numbered)
    yield from _check_cluster(numbered, source.cluster)
    yield from _check_instruction(numbered, source)


def _check_cluster(numbered: pl.DataFrame, name: str | None) -> Iterator[Problem]:
    """Check that some context has what contexts are declared to share."""
    contexts = numbered.unique(CONTEXT, keep="first", maintain_order=True)
    if name is None or contexts.is_empty():
        return
    if cluster_keys(contexts, name).null_count() == contexts.height:
        keys = contexts.select(pl.concat_list("inputs", "metadata").alias("entry")).explode("entry")
        known = keys.drop_nulls().select(pl.col("entry").struct.field("key")).to_series()
        names = ", ".join(sorted(known.unique()))
        message = f"no context has an input part or a fact of the metadata called {shown(name)}"
        yield Problem(None, "cluster", message, f"name one of {names} in source.yaml")


def _check_spans(numbered: pl.DataFrame) -> Iterator[Problem]:
    """Check that marked spans are within their candidates."""
    if "spans" not in numbered.columns:
        return
    start, end = (pl.col("spans").struct.field(name) for name in ("start", "end"))
    length = pl.col("candidate").str.len_chars()
    outside = (start >= end) | (end > length) | (start.is_null() != end.is_null())
    marked = numbered.select("row", "candidate", "spans").explode("spans").drop_nulls("spans")
    message = "a span is not within the candidate"
    remedy = "leave out spans that do not fit (`Span.fits`), and report how many there are"
    for row in marked.filter(outside)["row"]:
        yield Problem(row, "spans", message, remedy)


def _check_instruction(numbered: pl.DataFrame, source: Source) -> Iterator[Problem]:
    """Check that instruction and templates can be filled in for every kind of context."""
    instruction = read_instruction(source.facts)
    texts = [("instruction", wording) for wording in (instruction.wordings if instruction else ())]
    templates = {each.template for each in source.systems.values() if each.template is not None}
    texts += [("systems", {"": template}) for template in sorted(templates)]
    if not texts:
        return
    parts = pl.col("inputs").list.eval(pl.element().struct.field("key"))
    kinds = numbered.with_columns(parts=parts.list.join("\0")).unique(
        ["parts", "category", "language"], keep="first", maintain_order=True
    )
    columns = ("row", "context_id", "parts", "category", "language")
    for row, name, keys, *marks in kinds.select(columns).iter_rows():
        values = dict.fromkeys(filter(None, keys.split("\0")), "")
        context = StoredContext.of("", values, *marks)
        for section, wording in texts:
            try:
                fill_wording(wording, context)
            except ScoringError as error:
                message = f"cannot be filled in for the context {shown(name)}: {error}"
                yield Problem(row, section, message, "correct it in source.yaml")


def _check_texts(numbered: pl.DataFrame, *, keep_empty: bool) -> Iterator[Problem]:
    """Check that texts are not blank or broken; contexts, and some candidates, may be empty."""
    contexts = numbered.unique(CONTEXT, keep="first", maintain_order=True)
    part = pl.col("inputs").list.eval(pl.element().struct.field("value"))
    parts = contexts.select("row", part).explode("inputs")
    for rows, column in ((numbered, "candidate"), (contexts, "context"), (parts, "inputs")):
        text = pl.col(column)
        blank = rows.filter((text != "") & ~text.str.contains(r"\S"))
        remedy = "leave it out, or make it an empty text"
        yield from row_problems(blank, column, "consists of white space only", remedy)
        yield from nul_characters(rows, column)
    empty = numbered.filter((pl.col("candidate") == "") & (not keep_empty))
    remedy = "leave it out, or set `empty_candidates: keep` in source.yaml"
    yield from row_problems(empty, "candidate", "is empty", remedy)


def row_problems(
    rows: pl.DataFrame, column: str, message: str, remedy: str, *, quoted: bool = False
) -> Iterator[Problem]:
    """Yield a problem for each row of a table, whose value in the column may be quoted first."""
    for row, value in rows.select("row", column).iter_rows():
        yield Problem(row, column, f"{shown(value)} {message}" if quoted else message, remedy)


def nul_characters(rows: pl.DataFrame, column: str) -> Iterator[Problem]:
    """Yield a problem for each row with the character NUL in a column."""
    broken = rows.filter(pl.col(column).str.contains("\0", literal=True))
    message = "contains the character NUL, which texts do not have"
    return row_problems(broken, column, message, "the file may be damaged; fetch it again")


def spreadsheet_errors(rows: pl.DataFrame, column: str) -> Iterator[Problem]:
    """Yield a problem for each row with an error value of a spreadsheet in a column."""
    errors = rows.filter(pl.col(column).str.contains(_SPREADSHEET_ERROR))
    message = "is an error of a spreadsheet program, not a text"
    remedy = "correct the cell there, or leave the row out"
    return row_problems(errors, column, message, remedy, quoted=True)


def _check_known(
    numbered: pl.DataFrame, column: str, known: Iterable[str] | None, section: str
) -> Iterator[Problem]:
    if known is None:
        return
    names = sorted(known)
    unknown = numbered.filter(pl.col(column).is_not_null() & ~pl.col(column).is_in(names))
    remedy = f"known: {', '.join(names)}; add it under `{section}` in source.yaml if it is new"
    yield from row_problems(unknown, column, "is not in source.yaml", remedy, quoted=True)


def _check_same(numbered: pl.DataFrame, key: str, columns: Iterable[str]) -> Iterator[Problem]:
    """Check that the rows of one id agree in what the id names."""
    rows = numbered.select(pl.col("row").first().over("split", key)).to_series()
    n = numbered.select(pl.struct("split", key).n_unique()).item()
    for column in columns:
        is_nested = numbered[column].dtype.is_nested()  # and slow to compare
        if is_nested and n == numbered.select(pl.struct("split", key, column).n_unique()).item():
            continue
        value = pl.col(column)
        first = value.first().over("split", key) if is_nested else value.gather(rows)
        differs = numbered.select(value.ne_missing(first)).to_series()
        remedy = f"its {column} differs from that of an earlier row; give each its own id"
        message = "names two different things"
        yield from row_problems(numbered.filter(differs), key, message, remedy, quoted=True)


def _check_duplicates(numbered: pl.DataFrame, rule: Rule) -> Iterator[Problem]:
    by_label = used_column(rule) == "label"
    key = ["split", "candidate_id", "group", "aspect", *(["label"] if by_label else [])]
    repeated = numbered.filter(~pl.struct(key).is_first_distinct())
    for row, name, aspect in repeated.select("row", "candidate_id", "aspect").iter_rows():
        message = f'{shown(name)} is annotated twice under "{aspect}"'
        message += " with the same label" if by_label else ""
        yield Problem(row, "candidate_id", message, "keep one of the rows, or give each its own id")


def _check_annotators(numbered: pl.DataFrame, rule: Rule) -> Iterator[Problem]:
    """Check that each rating has an annotator, if annotators are named or the rule needs them."""
    given, named = pl.col("ratings").list.len(), pl.col("annotators").list.len()
    differing = numbered.filter(given != named)
    for row, n_given, n_named in differing.select("row", given, named).iter_rows():
        message = f"{n_named} names for {n_given} ratings"
        yield Problem(row, "annotators", message, "name one annotator for each rating, or none")
    missing = numbered.filter((given > 0) & named.is_null() & needs_annotators(rule))
    message = "is missing, but the rule needs to know who rated"
    remedy = "fill in `annotators`, or remove `standardise` and `within` from `quality`"
    yield from row_problems(missing, "annotators", message, remedy)
