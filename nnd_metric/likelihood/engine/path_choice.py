"""The choice of a path: the fastest that gives the same numbers as requests scored alone.

If a path fails a check or raises an error, the next one scores all requests again: the numbers of a
run come from one path. The last path is `alone`: a model that scores the same request differently
each time is refused.
"""

from collections.abc import Sequence
from dataclasses import replace

from nnd.metric.likelihood.engine.execution import Done, Ran, run
from nnd.metric.likelihood.engine.paths import ALONE, paths_of
from nnd.metric.likelihood.engine.proof import Alone, Checks, Evidence, PathOffError, Proof
from nnd.metric.likelihood.engine.refused_models import (
    check_causal,
    check_unshared,
    check_window,
    fails,
)
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded
from nnd.schemas import ScoringError, excerpt


def score_rows(
    loaded: LoadedModel,
    rows: Sequence[Encoded],
    done: Done,
    evidence: Evidence,
    *,
    missing: frozenset[int] | None = None,
    only: str | None = None,
    budget: int | None = None,
) -> Ran:
    """Score requests through the first path of a model that gives the right numbers.

    Args:
        loaded: The model, in evaluation mode.
        rows: Requests, each with a scored token; at least one.
        done: Called with the sums as they arrive. When the path changes, the sums of earlier paths
            are void.
        evidence: What was learnt about the model; paths that its proof switched off stay off.
        missing: Numbers of the requests to score, if the others were scored through the path of
            that proof; None means all. All are planned, so that batches do not depend on what
            was scored before. If another path is used, all are scored.
        only: Name of the only path to try; None means all, fastest first.
        budget: Positions held at once; None means what memory allows.

    Raises:
        ScoringError: If the model fails, looks ahead, returns NaN, or scores the same request
            differently each time, if a request is longer than a window that no setting states, if
            memory does not suffice for a single request, or if `only` is not a path of the model's
            kind, or fails.
    """
    paths = paths_of(loaded)
    names, known = [path.name for path in paths], evidence.proof
    if only is not None and only not in names:
        raise ScoringError(
            "option.unknown-value",
            f'unknown path "{only}"',
            loaded.name,
            f"choose one of {', '.join(names)}",
        )
    first = names.index(known.path) if known else 0
    tried = [path for path in paths[first:] if only in {None, path.name}]
    known = known or Proof(tried[0].name, 0.0, 0)
    alone = Alone(loaded, rows)
    covered = known.covers(alone)
    if not (covered or loaded.is_encoder_decoder or loaded.is_masked):
        with alone.timed():
            check_causal(loaded)
    for path in tried:
        if known.path != path.name:
            known, covered = Proof(path.name, 0.0, 0, switched_off=known.switched_off), False
            missing = None
            done(known, {})
        try:
            if not (covered or path.shares):
                with alone.timed():
                    check_unshared(loaded, rows)
            checks = Checks(alone, known, evidence, covered=covered)
            return run(path, checks, done, missing=missing, budget=budget)
        except ScoringError:
            raise
        except PathOffError as off:
            reason = str(off)
        except Exception as error:  # models may raise anything on input they were not written for
            if path is ALONE:
                check_window(loaded, rows, error)
                raise fails(loaded, error) from error
            reason = excerpt(str(error) or type(error).__name__)
        known = replace(known, switched_off=(*known.switched_off, f"{path.name}: {reason}"))
    raise ScoringError(
        "model.damaged",
        f"the model cannot be scored through any path: {'; '.join(known.switched_off)}",
        loaded.name,
        "check its weights, or load it in another dtype (nnd evaluate --dtype float32)",
    )
