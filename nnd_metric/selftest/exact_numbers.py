"""The log-likelihoods of single requests in float64: no batch, no padding, no mask, no cache."""

import math
from typing import Any

import torch

from nnd.metric.likelihood import LoadedModel
from nnd.metric.selftest.plain_reading import PlainRow


class ExactNumbers:
    """The numbers of a model that computes in float64 now (`in_float64`).

    Each row is computed once, whatever the protocols that ask for it.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded = loaded
        self._known: dict[PlainRow, list[float]] = {}

    def log_likelihood(self, row: PlainRow, protocol: str, candidate: str) -> float:
        """Return the log-likelihood that a protocol gives a request (without `pmi`'s difference).

        It is NaN if there is nothing to score.
        """
        terms = zip(self._terms(row), row.scored, strict=True)
        counted = [term for term, is_scored in terms if is_scored]
        divisor = divisor_of(row, protocol, candidate)
        return math.fsum(counted) / divisor if counted and divisor else math.nan

    def _terms(self, row: PlainRow) -> list[float]:
        key = row._replace(scored=(), as_one=True)
        if key not in self._known:
            self._known[key] = self._compute(row) if row.targets else []
        return self._known[key]

    def _compute(self, row: PlainRow) -> list[float]:
        model: Any = self._loaded.model
        if not self._loaded.is_encoder_decoder:
            read = self._tensor(row.context + row.targets[:-1])
            logits = model(input_ids=read, use_cache=False).logits
        elif row.start is None:
            decoded = {"labels": self._tensor(row.targets)}  # which the model shifts itself
            logits = model(input_ids=self._tensor(row.context), use_cache=False, **decoded).logits
        else:
            decoded = {"decoder_input_ids": self._tensor((row.start, *row.targets[:-1]))}
            logits = model(input_ids=self._tensor(row.context), use_cache=False, **decoded).logits
        rows = logits[0, -len(row.targets) :].double().log_softmax(-1)
        return [float(each[target]) for each, target in zip(rows, row.targets, strict=True)]

    def _tensor(self, ids: tuple[int, ...]) -> torch.Tensor:
        return torch.tensor([ids], device=self._loaded.device)


def divisor_of(row: PlainRow, protocol: str, candidate: str) -> int:
    """Return what a protocol divides the sum of log-probabilities by."""
    return {"sum": 1, "bytes": len(candidate.encode())}.get(protocol, row.scored.count(True))
