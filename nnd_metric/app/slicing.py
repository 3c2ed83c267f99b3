"""Slices of stored runs; a slice can be written as a dataset by the converters."""

from collections.abc import Sequence
from pathlib import Path

from nnd.metric.data import PairData
from nnd.metric.numbers import Slices, SpanSurprise, slice_runs, surprise_of_runs
from nnd.schemas import ScoringError


def slice(  # noqa: A001 - the function of a command has its name
    runs: str | Path | Sequence[str | Path],
    data: PairData | None = None,
    *,
    by: str | Sequence[str] = (),
    where: str | Sequence[str] = (),
    names: str | Sequence[str] = (),
    find: bool = False,
    spans: bool = False,
    contexts: int = 10,
    out: str | Path | None = None,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    training_texts: str | Path | None = None,
) -> Slices | SpanSurprise:
    """Show where models fail: the pass rates of slices.

    Or, with --spans, how surprised they are at the words that people marked as errors. No model is
    run.

    Args:
        runs: Folders that `nnd evaluate` wrote, all on the same pairs.
        data: The pairs that were scored, because a run does not store their texts. Without them,
            slices by error_category, error_group, aspect, category and split are possible.
        by: Axes of the slices: category, error_category, error_group, aspect, system, language,
            split, `shape[:high|low]`, `length[:words|tokens][:high|low]`, `sentences[:high|low]`,
            turns, components (of the input of data-to-text), candidates, `novelty[:low]`,
            `nearness[:lengths|bigrams]`, margin, agreement, seen, or a part of inputs or metadata.
            Numbers take edges (length=0,10,20), percentages (length=0%,90%,100%) or quantiles
            (length:quantiles=4).
        where: A condition in SQL that defines a slice, over the columns of a pair, the numeric axes
            and the parts of inputs and metadata.
        names: Show only this slice, by its name in the table, or slices combined by &, | or -, with
            a space on each side. Empty means all.
        find: Show only slices significantly below the rest of the tests. In Python, without axes
            all axes are searched.
        spans: Instead of pass rates, show how surprised the models are at the words that people
            marked as errors: the AUC of surprisal inside against outside the marks, by category
            and severity. The runs need tokens (--keep-tokens), and the data marked errors.
        contexts: Smallest number of contexts of a slice that is found. Those that share what the
            data declares, such as a paragraph, count as one.
        out: Folder to write the only slice to, as a dataset that can be evaluated. The data must be
            a converted folder.
        splits: Only pairs of these splits of the data. Empty means all that were scored.
        mixed_rules: Whether to also take models that were scored by different protocols, or by
            different rules of different nnd versions. Across protocols there are no p-values and no
            agreement, except for one and the same model.
        training_texts: Texts that the models were trained on, for the axis seen, which is seen or
            unseen for each context: a text file with a text on each line, or a table (.csv, .jsonl,
            .parquet) with the column context or text.

    Raises:
        ScoringError: If a run or the data cannot be read, they do not fit together, a name in an
            argument is unknown, or `out` is given and there is not exactly one slice.
        NNDError: If `out` holds anything that nnd did not write, or cannot be written.

    Examples:
        nnd slice run --data quiz_design --by error_category,length,novelty
        nnd slice run --data quiz_design --find
        nnd slice run --by error_category --slice error_category=disfluent
        nnd slice run --data ragtruth-nnd --spans
    """
    if spans:
        if by or where or names or find or out is not None:
            raise ScoringError(
                "option.conflict",
                "--spans shows marked errors",
                remedy="leave out --by, --where, --slice, --find and --out",
            )
        return surprise_of_runs(runs, data, splits=splits, mixed_rules=mixed_rules)
    slices = slice_runs(
        runs,
        data,
        by=by,
        where=where,
        names=names,
        find=find,
        contexts=contexts,
        splits=splits,
        mixed_rules=mixed_rules,
        training_texts=training_texts,
    )
    if out is not None:
        _write(slices, data, Path(out))
    return slices


def _write(found: Slices, data: PairData | None, out: Path) -> None:
    from nnd.converters.folder import write_slice

    if not isinstance(data, str | Path) or not Path(data).is_dir():
        raise ScoringError(
            "option.needs-another",
            "writing a slice needs a folder that `nnd convert` wrote",
            out,
            "name it with --data",
        )
    if len(found.slices) != 1:
        known = ", ".join(each.name for each in found.slices) or "none"
        raise ScoringError(
            "option.needs-another",
            "only one slice can be written to a folder",
            out,
            f"choose it with --slice (known: {known})",
        )
    (each,) = found.slices
    write_slice(data, out, name=each.name, pair_ids=each.pair_ids.to_list())
