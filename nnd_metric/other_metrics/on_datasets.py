"""NND against other metrics, on one dataset or on several."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, overload

from nnd.metric.data import Table, is_several, only_of_one
from nnd.metric.numbers import check_runs, split_by_dataset
from nnd.metric.other_metrics.common_basis import Over
from nnd.metric.other_metrics.measuring_metrics import AnyScorer, metrics_on_one
from nnd.metric.other_metrics.metric_table import METRICS, MetricTable, MetricTables
from nnd.metric.other_metrics.scorers.letter_case import Normalise
from nnd.metric.other_metrics.scorers.reference_scorers import Several
from nnd.schemas import ScoringError, check_replaceable

_Each = TypeVar("_Each", bound=str | Path)


@overload
def metrics(
    runs: str | Path | Sequence[str | Path] = (),
    *,
    data: list[_Each] | tuple[_Each, ...],
    scorers: AnyScorer | Sequence[AnyScorer] | None = None,
    systems: Mapping[str, str] | None = None,
    several: Several = "max",
    normalise: Normalise | None = None,
    template: str = "default",
    prefix: str = "",
    aspect: str | None = None,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    over: Over | Sequence[str] = "shared",
    out: str | Path | None = None,
) -> MetricTables: ...
@overload
def metrics(
    runs: str | Path | Sequence[str | Path] = (),
    *,
    data: str | Path,
    scorers: AnyScorer | Sequence[AnyScorer] | None = None,
    systems: Mapping[str, str] | None = None,
    references: str | Path | Table | None = None,
    several: Several = "max",
    normalise: Normalise | None = None,
    template: str = "default",
    prefix: str = "",
    aspect: str | None = None,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    over: Over | Sequence[str] = "shared",
    out: str | Path | None = None,
) -> MetricTable: ...
def metrics(
    runs: str | Path | Sequence[str | Path] = (),
    *,
    data: Any,
    scorers: AnyScorer | Sequence[AnyScorer] | None = None,
    systems: Mapping[str, str] | None = None,
    references: str | Path | Table | None = None,
    several: Several = "max",
    normalise: Normalise | None = None,
    template: str = "default",
    prefix: str = "",
    aspect: str | None = None,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    over: Over | Sequence[str] = "shared",
    out: str | Path | None = None,
) -> MetricTable | MetricTables:
    """Compare NND with other metrics: how well does each agree with people?

    Args:
        runs: Folders that `nnd evaluate` wrote on this data, for the row of NND itself. If they
            have only some of the pairs (`--limit`), all rows use these.
        data: A converted folder, or a list of several, each of which is matched to the runs that
            share pairs with it.
        scorers: Names (`scorers.find_scorers`), or your own scorers: functions that return a number
            or None for every text (`scorers.TextScorer`). None means all that need no model.
        systems: Model of the runs → system it stands for, if the model's id does not name it.
        references: For one dataset, a table of references or its path (`scorers.read_references`);
            None means those of the data: references.parquet, else those among the parts of the
            contexts.
        several: How several references count: by the highest number ("max"), the mean ("mean"), or
            the first ("first").
        normalise: "lower" makes metrics with references compare candidates and references in lower
            case; likelihoods and your own functions without references read them as they are.
        template: For scorers that are likelihoods (`bartscore_f`, `prompted`, …): template of the
            text that is read; a name, or a text with {placeholders}; `instruction` is that of the
            data.
        prefix: For the same scorers: text before the predicted text, which is scored with it.
        aspect: Only pairs and judgements of this aspect.
        splits: Only pairs and candidates of these splits; by default those that the runs scored,
            and without runs those that `evaluate` scores.
        mixed_rules: Whether to take models that were scored by different protocols, which are not
            correlated and not tested, or by different rules of different versions.
        over: Basis of the correlations: "shared", the systems and candidates that all rows have, so
            that rows can be compared; "all", everything that each row has; or names of systems:
            only these, with their candidates and the tests between them.
        out: Folder for metrics.json and scores.parquet; for several datasets, a folder with a
            subfolder for each. Older results are replaced.

    Returns:
        A row per metric; for a list of datasets, such rows for each, and means over them.

    Raises:
        ScoringError: If the data cannot be read, or a scorer, a run or the references do not fit
            it.
        NNDError: If `out` holds anything that nnd did not write, or cannot be written.
    """
    ask = partial(
        metrics_on_one,
        scorers=scorers,
        several=several,
        normalise=normalise,
        template=template,
        prefix=prefix,
        aspect=aspect,
        splits=splits,
        mixed_rules=mixed_rules,
        over=over,
    )
    if not is_several(data):
        return ask(runs, data=data, systems=systems, references=references, out=out)
    if references is not None:
        raise only_of_one("references")
    folders = [Path(run) for run in ([runs] if isinstance(runs, str | Path) else runs)]
    try:
        check_runs(folders)
    except ScoringError as error:
        if mixed_rules:
            raise ScoringError(
                "there are no means over datasets of models that were scored by different rules; "
                "name one dataset at a time"
            ) from error
        raise
    split = split_by_dataset(folders, data, systems)
    places = {name: None if out is None else Path(out) / name for name in split}
    for place in places.values():
        if place is not None:
            check_replaceable(place, document=METRICS)
    tables = {}
    for (name, each), where in zip(split.items(), data, strict=True):
        try:
            tables[name] = ask(
                each.runs, data=where, systems=each.systems, references=None, out=places[name]
            )
        except ScoringError as error:
            raise ScoringError(f"{name}: {error}") from error
    return MetricTables(tables)
