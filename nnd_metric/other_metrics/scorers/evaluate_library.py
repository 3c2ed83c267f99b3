"""Metrics of the library `evaluate` as scorers: `evaluate=NAME|PATH[:key]`, such as METEOR.

A module of `evaluate` gets all texts at once. If it returns a list of numbers, one for every text,
these are the scores. Many modules return one number for the corpus. For some (METEOR) it is the
mean over single texts: the module then gets every text alone, and the mean of its results must be
that number. Others (corpus BLEU, a correlation) have no numbers for single texts, which is an
error.
"""

import contextlib
import math
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from nnd.metric.other_metrics.scorers.reference_scorers import Several, reference_scorer
from nnd.metric.other_metrics.scorers.scorer import TextScorer
from nnd.schemas import ScoringError, listed

if TYPE_CHECKING:
    from evaluate import EvaluationModule

_SAME = 1e-6
"""Largest relative difference between the mean over texts and the corpus number (float32)."""


def evaluated(entry: str, several: Several = "max") -> TextScorer:
    """Return a module of `evaluate` as a scorer.

    Args:
        entry: Name of a module, or path of its script or folder; after a colon, the key of the
            result to use, if there are several.
        several: How several references count.

    Raises:
        ScoringError: If the module cannot be loaded or does not read predictions and references;
            when used, if it fails, lacks the key, or has no number for a single text.
    """
    name = f"evaluate={entry}"
    where, colon, key = entry.rpartition(":")
    if not colon or "/" in key or "\\" in key:  # the colon of C:\\metric.py
        where, key = entry, ""
    module = _load(name, where)
    inputs = [*_formats(module)[0]]
    if {*inputs} != {"predictions", "references"}:
        raise ScoringError(
            "scorer.references",
            f"{name} reads {', '.join(inputs)}",
            remedy="choose a module that reads predictions and references",
        )

    def compare(pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        return list(_scores(name, module, key, pairs)) if pairs else []

    definition = f"{module.name} of evaluate {version('evaluate')}"
    return reference_scorer(name, compare, definition, several)


def _load(name: str, where: str) -> "EvaluationModule":
    from evaluate import load  # noqa: PLC0415 - it loads datasets, and may load torch

    try:
        with contextlib.redirect_stdout(sys.stderr):  # the output of a module must not spoil --json
            return load(where, keep_in_memory=True)
    except Exception as error:  # a module is anyone's code
        raise ScoringError(
            "scorer.cannot-load", f"cannot be loaded: {_reason(error)}", name
        ) from error


def _formats(module: "EvaluationModule") -> list[Mapping[str, Any]]:
    return module.features if isinstance(module.features, list) else [module.features]


def _scores(
    name: str, module: "EvaluationModule", key: str, pairs: Sequence[tuple[str, str]]
) -> list[float]:
    found = _compute(name, module, pairs)
    chosen = key or _only_key(name, found, len(pairs))
    if chosen not in found:
        raise ScoringError(
            "scorer.values", f'the result has no "{chosen}"', name, f"it has {listed([*found])}"
        )
    try:
        numbers = np.asarray(found[chosen], dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full((0, 0), np.nan)
    if numbers.shape == (len(pairs),):
        return [float(number) for number in numbers]
    if numbers.shape:
        raise ScoringError(
            "scorer.values",
            f'"{chosen}" is neither a number nor a list with a number for every text',
            name,
            f"the result has {listed([*found])}",
        )
    whole = float(numbers)
    alone = tqdm(pairs, desc=name, disable=None, leave=False)
    single = [float(_compute(name, module, [pair])[chosen]) for pair in alone]
    mean = math.fsum(single) / len(single)
    if not math.isclose(mean, whole, rel_tol=_SAME, abs_tol=_SAME):
        raise ScoringError(
            "scorer.values",
            f"{chosen} is one number for the whole corpus ({whole:.6g}; the mean over "
            f"single texts is {mean:.6g})",
            name,
        )
    return single


def _only_key(name: str, found: Mapping[str, Any], texts: int) -> str:
    """Return the key of the only number, or else of the only list with a number per text."""
    lists = [each for each, value in found.items() if np.shape(value) == (texts,)]
    chosen = [*found] if len(found) == 1 else lists
    if len(chosen) != 1:
        raise ScoringError(
            "scorer.values",
            f"the result has {listed([*found])}",
            name,
            f"choose one: {name}:{next(iter(found), 'key')}",
        )
    return chosen[0]


def _compute(
    name: str, module: "EvaluationModule", pairs: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    from datasets import Value  # noqa: PLC0415 - slow to load, and evaluate has it by now

    takes_one = any(isinstance(each["references"], Value) for each in _formats(module))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found = module.compute(
                predictions=[candidate for _, candidate in pairs],
                references=[reference if takes_one else [reference] for reference, _ in pairs],
            )
        return dict(found)
    except Exception as error:  # a module is anyone's code
        raise ScoringError(
            "scorer.cannot-load", f"the module fails: {_reason(error)}", name
        ) from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".strip().partition("\n")[0]
