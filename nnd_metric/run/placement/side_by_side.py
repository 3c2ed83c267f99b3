"""Score models side by side, each in a child process on a device with room for it.

Threads of one process are not enough: loading a model sets torch's default dtype for all threads.
"""

import warnings
from collections.abc import Generator, Sequence
from dataclasses import replace
from queue import Queue
from typing import NamedTuple

from tqdm import tqdm

from nnd.metric.run.model_result import ScoredModel
from nnd.metric.run.placement.child_process import Answers, Process
from nnd.metric.run.placement.in_turn import ScoringTask
from nnd.metric.run.placement.schedule import Device, Size, measure, place
from nnd.metric.run.survival import Failure, Trouble
from nnd.schemas import ScoringError, ScoringWarning


class _Running(NamedTuple):
    process: Process
    device: Device
    taken: int  # bytes, as returned by `Device.take`

    def end(self) -> None:
        """End the process, and release its memory."""
        self.process.end()
        self.device.give_back(self.taken)


def score_side_by_side(
    task: ScoringTask, devices: Sequence[Device]
) -> Generator[tuple[str, ScoredModel]]:
    """Score every model on every dataset; yield results, as in `score_models`, when they arrive.

    Failures include models that fit on no device and processes that end early.
    """
    waiting, trouble = _measure(task, devices), task.trouble
    answers: Answers = Queue()
    running: dict[str, _Running] = {}
    bar = tqdm(total=len(waiting) * len(task.pairs), unit="run", disable=None, leave=False)
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
            elif isinstance(answer, tuple):
                yield answer
                bar.update()
            elif name in running:  # the failures, or an early end; the end after them is ignored
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


def _record_failures(failures: list[Failure] | None, process: Process, trouble: Trouble) -> None:
    """Record the failures of a process, which has already warned of them; None: it ended early."""
    if failures is None:
        raise ScoringError(process.death())
    if trouble.fatal and failures:
        raise ScoringError(failures[0].reason)
    trouble.failures.extend(failures)
