"""The models of a report, from stored runs on the same pairs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.agreement import read_scored
from nnd.metric.drawing import short_names
from nnd.metric.encoding import PROTOCOLS
from nnd.metric.results import RESULT, PassRates, by_model, is_close, pass_rates
from nnd.schemas import ScoringError


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One model.

    Attributes:
        model: Its name.
        name: Its short name, for figures.
        rows: Its scored pairs (`run_folder.STORED`), `occurrence` and `close` (whether rounding
            could turn the verdict; null where unknown), in the same order for all models.
        rates: Its pass rates.
        facts: Its entry in result.json; empty if there is none.
    """

    model: str
    name: str
    rows: pl.DataFrame
    rates: PassRates
    facts: Mapping[str, Any]

    @property
    def signature(self) -> str | None:
        """Its signature, or None if unknown."""
        signature = self.facts.get("signature")
        return None if signature is None else str(signature)

    @property
    def parameters(self) -> int | None:
        """Number of its weights, or None in older runs."""
        return _whole(self.facts.get("parameters"))


def read_models(folders: Sequence[Path], among: Sequence[str] = ()) -> list[Evaluated]:
    """Read every model of some folders that `nnd evaluate` wrote, in their order.

    Args:
        folders: The folders.
        among: All models of the page, if it has more, so that short names differ.

    Raises:
        ScoringError: If a folder cannot be read, a model is in two, or the models were scored
            on different pairs.
    """
    frames = by_model(read_scored(folders))
    facts: dict[str, Mapping[str, Any]] = {}
    for folder in folders:
        facts |= _facts(folder)
    models = [*frames]
    if not models:
        raise ScoringError(f"{folders[0]}: the run has no pairs; name a run with scored pairs")
    found = []
    names = dict(zip(among or models, short_names(among or models), strict=True))
    for model, rows in frames.items():
        known = facts.get(model, {})
        protocol = PROTOCOLS.get(str(known.get("protocol")))
        summed = protocol is not None and protocol.normaliser == "one"
        close = is_close(_deviation(known), summed=summed)
        known_close = close if _deviation(known) else pl.lit(None, pl.Boolean)
        rates = pass_rates(rows.drop("model", "occurrence"))
        evaluated = rows.with_columns(close=known_close)
        found.append(Evaluated(model, names[model], evaluated, rates, known))
    return found


def stored_agreement(folders: Sequence[Path]) -> tuple[Mapping[str, Any] | None, str]:
    """Return the stored agreement of a single run, or None and the reason."""
    if len(folders) > 1:
        return None, "several runs have no common stored agreement; pass --data or --human-scores"
    path = folders[0] / RESULT
    whole = _read(path)
    if not isinstance(whole.get("agreement"), Mapping | None):
        raise _no_result(path)
    reason = whole.get("agreement_reason") or (
        "the run has no stored agreement; pass --data or --human-scores"
    )
    return whole.get("agreement"), str(reason)


def _facts(folder: Path) -> dict[str, Mapping[str, Any]]:
    path = folder / RESULT
    try:
        return {str(result["model"]): result for result in _read(path).get("results", ())}
    except (KeyError, TypeError) as error:
        raise _no_result(path) from error


def _read(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _no_result(path) from error
    if not isinstance(whole, Mapping):
        raise _no_result(path)
    return whole


def _no_result(path: Path) -> ScoringError:
    return ScoringError(f"{path}: not a result of `nnd evaluate`; evaluate again")


def _deviation(facts: Mapping[str, Any]) -> float:
    engine = facts.get("engine")
    deviation = engine.get("deviation") if isinstance(engine, Mapping) else None
    return float(deviation) if isinstance(deviation, int | float) else 0.0


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
