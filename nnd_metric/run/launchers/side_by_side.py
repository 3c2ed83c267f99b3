"""Score models side by side, each in a child process on a device with room for it.

Threads of one process are not enough: loading a model sets torch's default dtype for all threads.
"""

import warnings
from collections.abc import Generator, Sequence
from dataclasses import replace
from queue import Queue
from typing import NamedTuple

from tqdm import tqdm

from nnd.metric.likelihood import LoadedModel
from nnd.metric.run.launchers.child_process import Answers, Process
from nnd.metric.run.launchers.here import score_here
from nnd.metric.run.launchers.schedule import Device, Size, find_devices, measure, place
from nnd.metric.run.scoring_task import ScoredShard, ScoringTask
from nnd.metric.run.survival import Failure, Trouble
from nnd.schemas import NNDError, ScoringError, ScoringWarning


class _Running(NamedTuple):
    process: Process
    device: Device
    taken: int  # bytes, as returned by `Device.take`

    def end(self) -> None:
        """End the process, and release its memory."""
        self.process.end()
        self.device.give_back(self.taken)


def score_models(task: ScoringTask) -> Generator[ScoredShard]:
    """Score the shards of every model: on several GPUs side by side, else one after the other.

    Models are scored side by side if there are several, all given by name, and several GPUs, and if
    the user does not choose a device.
    """
    models = task.models.values()
    are_named = not any(isinstance(model, LoadedModel) for model in models)
    has_device = task.loading.device is not None or task.loading.device_map is not None
    if are_named and not has_device and len(models) > 1 and len(devices := find_devices()) > 1:
        return score_side_by_side(task, devices)
    return score_here(task)


def score_side_by_side(task: ScoringTask, devices: Sequence[Device]) -> Generator[ScoredShard]:
    """Score the shards of every model; yield them, as in `score_here`, when they arrive.

    Failures include models that fit on no device and processes that end early.
    """
    waiting, trouble = _measure(task, devices), task.trouble
    answers: Answers = Queue()
    running: dict[str, _Running] = {}
    bar = tqdm(total=task.total, unit="part", disable=None, leave=False)
    try:
        while waiting or running:
            while (next_one := place(waiting, devices)) is not None:
                name, device = next_one
                taken = device.take(waiting.pop(name))
                alone = task._replace(
                    models={name: task.models[name]},
                    loading=replace(task.loading, device=device.name),
                    trouble=Trouble(trouble.fatal),
                )
                running[name] = _Running(Process(alone, answers), device, taken)
            bar.set_description(f"{len(running)} of {len(task.models)} models side by side")
            name, answer = answers.get()
            if isinstance(answer, str):
                warnings.warn(answer, ScoringWarning, stacklevel=2)
            elif isinstance(answer, ScoredShard):
                yield answer
                bar.update()
            elif name in running:  # the last answer, or an early end; the end after it is ignored
                with trouble.survived(name, None):
                    _record_failures(answer, running[name].process, trouble)
                running.pop(name).end()
    finally:
        bar.close()
        for unfinished in running.values():
            unfinished.end()


def _measure(task: ScoringTask, devices: Sequence[Device]) -> dict[str, Size]:
    """Return the size of each model that fits on some device."""
    largest = max(devices, key=lambda device: device.free)
    placed = replace(task.loading, device=largest.name)
    sizes: dict[str, Size] = {}
    for name, model in task.models.items():
        with task.trouble.survived(name, None):
            sizes[name] = measure(name, str(model), task.scorings[name], placed, largest)
    return sizes


def _record_failures(
    last: list[Failure] | NNDError | None, process: Process, trouble: Trouble
) -> None:
    """Record the failures of a process, which has already warned of them, or raise its error.

    None: it ended early.
    """
    if last is None:
        raise ScoringError("worker.failed", process.death())
    if isinstance(last, NNDError):
        raise last
    trouble.failures.extend(last)
