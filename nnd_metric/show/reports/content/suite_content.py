"""The effects of the sets of a suite, from stored runs."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from nnd.metric.data import RESULT, SuiteSet, read_sets
from nnd.metric.numbers import Effects, all_effects, name_readings
from nnd.metric.show.reports.content.report_models import ReportModel
from nnd.schemas import ScoringError


def read_effects(folders: Sequence[Path], models: Sequence[ReportModel]) -> Effects | None:
    """Return the effects of sets on the models that were evaluated on a suite; None without any.

    Args:
        folders: The runs.
        models: Their models.

    Raises:
        ScoringError: If sets cannot be read, or two models were evaluated on different sets.
    """
    readings = name_readings(folders)
    frames = {folder: read_sets(folder) for folder in folders}
    children = pl.concat(
        rows.with_columns(model=pl.lit(readings[folder])) if folder in readings else rows
        for folder, rows in frames.items()
    )
    chosen = [each for each in models if each.facts.get("suite")]
    if not chosen:
        return None
    sets = [_sets_of(each, folders) for each in chosen]
    own = [children.filter(model=each.model).select("set", "pair_id") for each in chosen]
    pairs = [{*rows.iter_rows()} for rows in own]
    for each, own_sets, own_pairs in zip(chosen, sets, pairs, strict=True):
        if own_sets != sets[0] or own_pairs != pairs[0]:
            raise ScoringError(
                f'models "{chosen[0].model}" and "{each.model}" were not evaluated on the same '
                "sets; evaluate both on the same suite"
            )
    named = [SuiteSet(*of, pl.DataFrame()) for of in sets[0]]  # type: ignore[arg-type] # one run's
    return all_effects(named, ((each.model, each.rows) for each in chosen), children)


def _sets_of(model: ReportModel, folders: Sequence[Path]) -> list[tuple[str, str, str]]:
    """Return name, kind and operation of each set."""
    try:
        return [(each["set"], each["kind"], each["op"]) for each in model.facts["suite"]]
    except (KeyError, TypeError) as error:
        raise ScoringError(
            f"{folders[0] / RESULT}: the suite of {model.model} cannot be read; evaluate again"
        ) from error
