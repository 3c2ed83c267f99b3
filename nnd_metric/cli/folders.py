"""Where `nnd evaluate` writes, and what it says when not everything could be done."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from nnd.metric import Evaluation, Failure


def find_folders(out: Path | None, datasets: Sequence[str]) -> dict[str, Path]:
    """Return the folder for each dataset's results, none where nothing is to be written.

    One dataset has `out` itself, several a folder below it each.

    Raises:
        NNDError: If one is a file, or holds something else than results.
        ScoringError: If two datasets have one name.
    """
    from nnd.metric import name_datasets
    from nnd.metric.results import RESULT
    from nnd.schemas import NNDError, check_replaceable

    if out is None:
        return {}
    names = name_datasets(datasets)
    if len(names) > 1 and out.exists() and not out.is_dir():
        raise NNDError(f"{out}: is a file; name a folder with --out")
    folders = {name: out if len(names) == 1 else out / name for name in names}
    for folder in folders.values():
        check_replaceable(folder, marker=RESULT)
    return folders


def write_results(folders: Mapping[str, Path], dataset: str, evaluation: "Evaluation") -> None:
    """Write what was found on a dataset into its folder, if it has one."""
    from nnd.metric.results import RESULT
    from nnd.schemas import replace_folder

    if dataset in folders:
        with replace_folder(folders[dataset], marker=RESULT) as folder:
            evaluation.write(folder)


def failure_table(failures: Sequence["Failure"]) -> "Table":
    """Return a table of what could not be done, and why."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("failed: model", "dataset", "reason"):
        table.add_column(column, overflow="fold")
    for failure in failures:
        table.add_row(failure.model or "all", failure.dataset or "all", failure.reason)
    return table
