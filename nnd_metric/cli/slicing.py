"""Slicing stored runs, with a slice written as a dataset, which is the converters' work."""

from collections.abc import Sequence
from pathlib import Path

from nnd.metric.data import PairData
from nnd.metric.slices import Slices, slice_runs
from nnd.schemas import ScoringError


def slice(  # noqa: A001 - the function of a command has its name
    runs: str | Path | Sequence[str | Path],
    data: PairData | None = None,
    *,
    by: str | Sequence[str] = (),
    where: str | Sequence[str] = (),
    names: str | Sequence[str] = (),
    find: bool = False,
    contexts: int = 10,
    out: str | Path | None = None,
    mixed_rules: bool = False,
) -> Slices:
    """Show where models fail: the pass rates of slices of stored runs; nothing is scored again.

    Args:
        runs: Folders that `nnd evaluate` wrote, all on the same pairs.
        data: The pairs that were scored (see `load_pairs`): a run keeps no texts. Without them
            there are slices by error_category, error_group, aspect, category and split.
        by: Axes with commas between them: `length`, `length:words=0,10,20`,
            `novelty:quantiles=4`, `shape`, `error_category`, or a part of inputs or metadata.
        where: Conditions in the SQL of polars, each of which makes a slice.
        names: Which of these slices to show, by name, or several joined by `&`, `|` or `-`.
        find: Show only slices significantly below the rest: of `by`, or of all axes there are.
        contexts: With `find`, how many contexts a slice needs.
        out: Folder to write the one slice to, as a dataset that can be evaluated; `data` is then a
            converted folder.
        mixed_rules: Whether to take models together that versions of nnd scored by different rules.

    Raises:
        ScoringError: If a run or the data cannot be read or do not fit, an argument names what is
            not there, or `out` is given and there is not exactly one slice.
        NNDError: If `out` holds anything that nnd did not write, or cannot be written.
    """
    found = slice_runs(
        runs,
        data,
        by=by,
        where=where,
        names=names,
        find=find,
        contexts=contexts,
        mixed_rules=mixed_rules,
    )
    if out is not None:
        _write(found, data, Path(out))
    return found


def _write(found: Slices, data: PairData | None, out: Path) -> None:
    from nnd.converters.folder import write_slice

    if not isinstance(data, str | Path) or not Path(data).is_dir():
        raise ScoringError(
            f"{out}: a slice is written from a folder of `nnd convert`; name it with --data"
        )
    if len(found.slices) != 1:
        told = ", ".join(each.name for each in found.slices) or "none"
        raise ScoringError(f"{out}: a folder holds one slice; name it with --slice (here: {told})")
    (each,) = found.slices
    write_slice(data, out, name=each.name, pair_ids=each.pair_ids.to_list())
