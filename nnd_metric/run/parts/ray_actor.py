"""The Ray actor, which holds one model and scores parts on a machine of a cluster."""

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import torch

from nnd.metric.likelihood import Scoring, load_model
from nnd.metric.run.parts.job import open_part
from nnd.metric.run.parts.part_scorer import PartScorer
from nnd.metric.run.parts.run_plan import read_plan
from nnd.metric.run.run_request import RunRequest
from nnd.schemas import NNDError, ScoringError

Batch: TypeAlias = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Setup:
    """The setup of an actor: names and options, never a model or texts.

    Attributes:
        folder: Working folder of the command, to which relative paths refer on every machine.
        model: Hub id or folder.
        name: Name of the model in the results.
        scoring: Scoring options.
        runs: The folder of each run, and its data.
        request: Further options, without models and data.
    """

    folder: Path
    model: str | Path
    name: str
    scoring: Scoring
    runs: Sequence[tuple[Path, str | Path]]
    request: RunRequest


class PartActor:
    """Scores parts of a model's runs, one for each call.

    The model is loaded by the first call and not by the constructor: if a model is too large and
    the process dies, Ray would restart the actor endlessly, but it limits the retries of a call.
    """

    def __init__(self, setup: Setup, threads: int) -> None:
        torch.set_num_threads(threads)
        self._setup = setup
        self._scorers: list[PartScorer] = []

    def __call__(self, batch: Batch) -> dict[str, list[str]]:
        """Score a part and write it.

        Args:
            batch: The number of a run and that of one of its parts, in lists of one.

        Returns:
            The error message, or "", in a list of one. It is returned because Ray would wrap a
            raised error in a traceback of its own.
        """
        (run,), (part,) = batch["run"], batch["part"]
        try:
            if not self._scorers:
                self._scorers = _make_scorers(self._setup)
            self._scorers[run](int(part))
        except (NNDError, OSError, MemoryError, torch.OutOfMemoryError) as error:
            return {"error": [f"{error} (on {socket.gethostname()})"]}
        return {"error": [""]}


def _make_scorers(setup: Setup) -> list[PartScorer]:
    if not all((setup.folder / run).is_dir() for run, _ in setup.runs):
        raise ScoringError(
            f"{setup.folder}: this machine cannot read the folder of the run; start the command "
            "in a folder that all machines share, and name one with --out"
        )
    os.chdir(setup.folder)
    planned = [(read_plan(run), open_part(data, setup.request)) for run, data in setup.runs]
    loaded = replace(load_model(setup.model, setup.request.loading), name=setup.name)
    version = loaded.version()
    return [PartScorer(plan, stream, loaded, setup.scoring, version) for plan, stream in planned]
