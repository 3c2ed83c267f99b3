"""Export of stored results, with the texts of their pairs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nnd.converters.export import Export, StoredRun, write_every_eval_ever
from nnd.metric.data import (
    RESULT,
    PairData,
    is_several,
    load_pairs,
    open_result,
    read_run,
    read_sets,
)
from nnd.schemas import NNDError, make_new

_TEXTS = ("pair_id", "context", "candidate_high", "candidate_low")


def export_results(folder: Path, out: Path, data: PairData | Sequence[PairData]) -> Export:
    """Write the results of a run, or of the runs in a folder, with the texts of their pairs."""
    found = [folder / RESULT] if (folder / RESULT).is_file() else sorted(folder.rglob(RESULT))
    if not found:
        raise NNDError("run.not-a-run", "no run of `nnd evaluate` found", folder, "name one")
    several: list[Any] = list(data) if is_several(data) else [data]
    texts = [load_pairs(each).pairs for each in several]
    runs = []
    for place in (path.parent for path in found):
        scored = read_run(place)
        fitting = [each for each in texts if {*scored["pair_id"]} <= {*each["pair_id"]}]
        if texts and not fitting:
            raise NNDError(
                "run.another-data",
                "its pairs are not in --data",
                place,
                "name those that were scored",
            )
        with open_result(place) as result:
            results = result["results"]
        own = fitting[0].select(_TEXTS) if fitting else None
        seconds = int((place / RESULT).stat().st_mtime)
        runs.append(StoredRun(results, scored, read_sets(place), own, seconds))
    with make_new(out) as fresh:
        n, notes = write_every_eval_ever(runs, fresh)
    return Export(out, n, "evaluation", tuple(notes))
