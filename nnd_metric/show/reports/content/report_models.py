"""The models of a report, from stored runs on the same pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.data import (
    TOKENS,
    PairSet,
    describe_splits,
    open_result,
    read_splits,
    read_tokens,
)
from nnd.metric.numbers import (
    PassRates,
    by_model,
    is_close,
    manner_of,
    name_protocol,
    name_readings,
    pass_rates,
    read_scored,
    short_names,
)
from nnd.metric.text import PROTOCOLS
from nnd.schemas import ScoringError


@dataclass(frozen=True, slots=True)
class ReportModel:
    """One model of a report, with a short name for figures.

    Attributes:
        tokens: Its stored tokens (`TOKENS`), if the run kept them.
        rows: Its scored pairs (`STORED`), `occurrence` and `close` (whether rounding could turn the
            verdict; null where unknown), in the same order for all models.
        facts: Its entry in result.json; empty if there is none.
    """

    model: str
    name: str
    rows: pl.DataFrame
    rates: PassRates
    facts: Mapping[str, Any]
    tokens: pl.DataFrame

    @property
    def signature(self) -> str | None:
        """Its signature, or None if unknown."""
        signature = self.facts.get("signature")
        return None if signature is None else str(signature)

    @property
    def parameters(self) -> int | None:
        """Number of its weights, or None in older runs."""
        value = self.facts.get("parameters")
        return value if isinstance(value, int) and value > 0 else None


def read_models(
    folders: Sequence[Path],
    among: Sequence[str] = (),
    *,
    splits: Sequence[str] = (),
    mixed_rules: bool = False,
    protocols: bool = False,
    texts: PairSet | None = None,
) -> list[ReportModel]:
    """Read every model of some folders that `nnd evaluate` wrote, in their order.

    The pairs of `texts` say which contexts belong together, where a run does not.
    """
    pairs = None if texts is None else texts.pairs
    rules: dict[str, Any] = {"splits": splits, "mixed_rules": mixed_rules, "data": pairs}
    frames = by_model(read_scored(folders, **rules))
    facts: dict[str, Mapping[str, Any]] = {}
    tokens: dict[str, pl.DataFrame] = {}
    readings = name_readings(folders)
    for folder in folders:
        with open_result(folder) as whole:
            of_run = {str(result["model"]): result for result in whole.get("results", ())}
        facts |= {readings.get(folder, model): of_model for model, of_model in of_run.items()}
        kept = read_tokens(folder)
        tokens |= {readings.get(folder, m): kept.filter(pl.col("model") == m) for m in of_run}
    models = [*frames]
    if not models:
        raise ScoringError(
            "data.no-pairs", "the run has no pairs", folders[0], "name a run with scored pairs"
        )
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
        name = names.get(model, model)  # a reading has no other name
        name = name_protocol(name, manner_of(known)) if protocols else name
        own = tokens.get(model, pl.DataFrame(schema=TOKENS))
        found.append(ReportModel(model, name, evaluated, rates, known, own))
    return found


def stored_agreement(
    folders: Sequence[Path], splits: Sequence[str] = ()
) -> tuple[Mapping[str, Any] | None, str]:
    """Return the stored agreement of a single run on some splits, or None and the reason."""
    remedy = "pass --data or --human-scores"
    if len(folders) > 1:
        return None, f"several runs have no common stored agreement; {remedy}"
    with open_result(folders[0]) as whole:
        agreement = whole.get("agreement")
        if not isinstance(agreement, Mapping | None):
            raise TypeError
        scored = read_splits(folders)
        if agreement is not None and splits and {*splits} != {*(scored or ())}:
            of = describe_splits(scored) if scored else "all splits that were scored"
            return None, f"the stored agreement is of {of}; {remedy}"
        reason = whole.get("agreement_reason") or f"the run has no stored agreement; {remedy}"
        return agreement, str(reason)


def _deviation(facts: Mapping[str, Any]) -> float:
    engine = facts.get("engine")
    deviation = engine.get("deviation") if isinstance(engine, Mapping) else None
    return float(deviation) if isinstance(deviation, int | float) else 0.0
