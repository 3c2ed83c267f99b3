"""Score parts with one model, which is loaded and proven once for all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from typing import Any

import polars as pl

from nnd.metric.data import PairSet, PairStream
from nnd.metric.likelihood import LoadedModel, Proof, Scoring
from nnd.metric.run.model_result import evaluate_model
from nnd.metric.run.parts.cutting import digest_of
from nnd.metric.run.parts.joined_result import without_rates
from nnd.metric.run.parts.part_file import (
    ROWS,
    DamagedPartError,
    Footer,
    check_made_alike,
    planned_rows,
    read_footer,
    write_part,
)
from nnd.metric.run.parts.run_plan import Plan
from nnd.schemas import ScoringError

_LIBRARIES = ("torch", "transformers", "tokenizers")


@dataclass(frozen=True, slots=True)
class PartScorer:
    """Scores parts of a run with a model and writes them.

    The store of likelihoods is not used, because an SQLite file is unsafe on network file systems.
    The finished parts of a killed worker are kept.

    Attributes:
        plan: The parts.
        stream: The data.
        loaded: The model.
        scoring: Scoring options.
        version: `LoadedModel.version`.
        proofs: The engine's proofs, shared by all parts.
    """

    plan: Plan
    stream: PairStream
    loaded: LoadedModel
    scoring: Scoring
    version: str
    proofs: list[Proof] = field(default_factory=list)

    def __call__(self, part: int) -> None:
        """Score a part and write it."""
        name = self.loaded.name
        scoring = replace(self.scoring, template=self.plan.models[name])
        scored = evaluate_model(
            self.loaded,
            self._read(part),
            scoring,
            None,
            version=self.version,
            proofs=self.proofs,
        )
        pairs = scored.pairs.with_columns(table=pl.lit(""), parent_id=pl.lit(None, pl.String))
        rows = pl.concat([pairs, scored.children.rename({"set": "table"})], how="diagonal")
        numbers = planned_rows(self.plan, part)["row"]
        result = without_rates(scored.result)
        footer = Footer(self.plan.digest, part, _made_by(result), result)
        self._check_alike(footer)
        write_part(
            self.plan.path(name, part), rows.with_columns(numbers).select(ROWS.names()), footer
        )

    def _read(self, part: int) -> PairSet:
        """Return the pairs of a part."""
        frames = {}
        spans = self.plan.spans_of(part)
        for table in self.stream.tables:
            pairs, digests = self.stream.rows(table, spans.get(table, []))
            if digest_of(digests) != self.plan.digest_of(part, table):
                raise ScoringError(
                    f"{self.stream.about.name}: the texts were changed after {self.plan.run} was "
                    "planned; name another folder with --out"
                )
            frames[table] = pairs
        about = self.plan.pair_set()
        sets = tuple(replace(each, pairs=frames[each.name]) for each in about.sets)
        asked = self.stream.about.instruction  # the plan has only its digests
        return replace(about, pairs=frames[""], sets=sets, instruction=asked)

    def _check_alike(self, footer: Footer) -> None:
        """Compare with an existing part, and check that the run still exists."""
        if not self.plan.is_there():
            raise ScoringError(
                f"{self.plan.run}: the run was merged in the meantime; nothing is left to do"
            )
        name = self.loaded.name
        own = self.plan.path(name, footer.part)
        for path in sorted(own.parent.glob("*.parquet")):
            if path != own:
                try:
                    other = read_footer(self.plan, name, int(path.stem))
                except DamagedPartError:
                    continue
                check_made_alike(path, other.made_by, footer.made_by)
                return


def _made_by(result: Mapping[str, Any]) -> dict[str, Any]:
    names = ("model", "version", "dtype", "quantised", "parameters", "signature")
    return {name: result[name] for name in names} | _libraries()


@cache
def _libraries() -> dict[str, str]:
    return {name: version(name) for name in _LIBRARIES}
