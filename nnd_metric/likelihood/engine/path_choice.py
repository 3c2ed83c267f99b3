"""The choice of a path: the fastest that gives the same numbers as requests scored alone.

If a path fails a check or raises an error, the next one scores all requests again: the numbers of a
run come from one path. The last path is `alone`: a model that scores the same request differently
each time is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from nnd.metric.likelihood.engine.execution import Ran, run
from nnd.metric.likelihood.engine.paths import ALONE, Path, paths_of
from nnd.metric.likelihood.engine.proof import Alone, Checks, PathOffError, Proof
from nnd.metric.likelihood.engine.refused_models import check_causal, check_unshared
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded
from nnd.schemas import ScoringError, excerpt

Done: TypeAlias = Callable[[Proof, Mapping[int, float]], None]
"""Called after every batch with the proof so far and the sums by number of request."""


def score_rows(
    loaded: LoadedModel,
    rows: Sequence[Encoded],
    done: Done,
    *,
    missing: frozenset[int] | None = None,
    known: Proof | None = None,
    only: str | None = None,
    budget: int | None = None,
) -> tuple[Proof, Ran]:
    """Score requests through the first path of a model that gives the right numbers.

    Args:
        loaded: The model, in evaluation mode.
        rows: Requests, each with a scored token; at least one.
        done: Called with the sums as they arrive. When the path changes, the sums of earlier paths
            are void.
        missing: Numbers of the requests to score, if the others were scored through the path that
            `known` names; None means all. All are planned, so that batches do not depend on what
            was scored before. If another path is used, all are scored.
        known: An earlier proof for the model; paths that it switched off stay off.
        only: Name of the only path to try; None means all, fastest first.
        budget: Positions held at once; None means what memory allows.

    Raises:
        ScoringError: If the model looks ahead, returns NaN, or scores the same request differently
            each time, if memory does not suffice for a single request, or if `only` is not a path
            of the model's kind, or fails.
    """
    tried = _tried(loaded, only, known)
    known = known or Proof(tried[0].name, 0.0, 0)
    alone, covered = Alone(loaded, rows), known.covers(loaded, rows)
    if not (covered or loaded.is_encoder_decoder):
        check_causal(loaded)
    for path in tried:
        if known.path != path.name:
            known, covered = Proof(path.name, 0.0, 0, switched_off=known.switched_off), False
            missing = None
            done(known, {})
        try:
            return _attempt(
                path, alone, known, done, missing=missing, covered=covered, budget=budget
            )
        except ScoringError:
            raise
        except PathOffError as off:
            reason = str(off)
        except Exception as error:  # models may raise anything on input they were not written for
            if path is ALONE:
                raise
            reason = excerpt(str(error) or type(error).__name__)
        known = replace(known, switched_off=(*known.switched_off, f"{path.name}: {reason}"))
    raise ScoringError(
        f"{loaded.name}: the model cannot be scored through any path: "
        f"{'; '.join(known.switched_off)}"
    )


def _attempt(
    path: Path,
    alone: Alone,
    known: Proof,
    done: Done,
    *,
    missing: frozenset[int] | None,
    covered: bool,
    budget: int | None,
) -> tuple[Proof, Ran]:
    """Send the missing requests through one path."""
    if not (covered or path.shares):
        check_unshared(alone.loaded, alone.rows)
    checks = Checks(alone, known if covered else None)

    def proof() -> Proof:
        return known.joined(
            Proof(path.name, checks.deviation, alone.reach, checks.padded, alone.crossed)
        )

    def store(sums: Mapping[int, float]) -> None:
        done(proof(), sums)

    ran = run(alone.loaded, path, alone.rows, store, missing=missing, checks=checks, budget=budget)
    return proof(), ran


def _tried(loaded: LoadedModel, only: str | None, known: Proof | None) -> list[Path]:
    """Return the paths to try, in order."""
    paths = paths_of(loaded)
    names = [path.name for path in paths]
    if only is not None and only not in names:
        raise ScoringError(
            f'{loaded.name}: unknown path "{only}"; choose one of {", ".join(names)}'
        )
    first = names.index(known.path) if known else 0
    return [path for path in paths[first:] if only in {None, path.name}]
