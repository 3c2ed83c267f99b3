"""What models did: on one set of pairs, and on several."""

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.agreement import Agreement
from nnd.metric.data import PairSet
from nnd.metric.results import LIKELIHOODS, RESULT, ModelResult
from nnd.schemas import write_whole


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What several models did on the same pairs.

    Attributes:
        data: Name of the pairs.
        results: One per model, in the order asked for.
        scored: Per-pair log-likelihoods of all models: `model` and the columns of
            `results.SCORED_SCHEMA`.
        agreement: Between pass rates and human scores, or None.
        agreement_reason: Why there is no agreement, or None.
    """

    data: str
    results: tuple[ModelResult, ...]
    scored: pl.DataFrame
    agreement: Agreement | None
    agreement_reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values (`result.schema.json`)."""
        return {
            "results": [result.to_dict() for result in self.results],
            "agreement": None if self.agreement is None else self.agreement.to_dict(),
            "agreement_reason": self.agreement_reason,
        }

    def write(self, folder: str | Path) -> None:
        """Write result.json and log_likelihoods.parquet into a folder, each whole or not at all."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        buffer = io.BytesIO()  # a full disk is then a plain OSError with the file's name
        self.scored.write_parquet(buffer)
        write_whole(Path(folder) / LIKELIHOODS, buffer.getvalue())
        write_whole(Path(folder) / RESULT, f"{text}\n")


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that a sweep had to do without.

    Attributes:
        model: The model, or None where a dataset cannot be read.
        dataset: The dataset, or None where a model cannot be loaded.
        reason: Why.
    """

    model: str | None
    dataset: str | None
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {"model": self.model, "dataset": self.dataset, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Sweep:
    """What several models did on several datasets.

    Attributes:
        evaluations: Dataset → what the models did on it that could be scored.
        pairs: Dataset → its pairs.
        failures: What could not be done.
        folders: Dataset → the folder its results were written to, if they were.
    """

    evaluations: dict[str, Evaluation]
    pairs: dict[str, PairSet]
    failures: tuple[Failure, ...]
    folders: dict[str, Path] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: an `Evaluation` for each dataset, and the failures."""
        return {
            "datasets": {name: found.to_dict() for name, found in self.evaluations.items()},
            "failures": [failure.to_dict() for failure in self.failures],
        }
