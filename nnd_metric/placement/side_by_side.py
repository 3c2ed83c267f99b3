"""Models scored side by side, each in a process of its own on a device with room for it.

Threads of one process would not do: loading a model sets torch's default dtype for all of them.
"""

import warnings
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from queue import Queue
from typing import NamedTuple

from tqdm import tqdm

from nnd.metric.data import PairSet
from nnd.metric.engine import Scoring
from nnd.metric.models import Loading
from nnd.metric.placement.child import Job
from nnd.metric.placement.process import Answers, Process
from nnd.metric.placement.schedule import Device, Size, measure, place
from nnd.metric.results import Scored
from nnd.metric.trouble import Failure, Trouble
from nnd.schemas import ScoringError, ScoringWarning


class _Running(NamedTuple):
    process: Process
    device: Device
    taken: int

    def end(self) -> None:
        """End the process, and give its room back."""
        self.process.end()
        self.device.give_back(self.taken)


def score_side_by_side(
    models: Mapping[str, str],
    pairs: Mapping[str, PairSet],
    scorings: Mapping[str, Scoring],
    loading: Loading,
    trouble: Trouble,
    *,
    devices: Sequence[Device],
) -> Generator[tuple[str, Scored]]:
    """Yield what models do on datasets, after the name of the dataset, as soon as it is known.

    Args:
        models: Name → Hub id or folder.
        pairs: Dataset → its pairs.
        scorings: Name of a model → how it scores.
        loading: How models are loaded; it names no device.
        trouble: Takes what fails: a model that fits no device, or whose process ends early, too.
        devices: Where there is room, and how much.
    """
    waiting = _measure(models, scorings, loading, trouble, devices)
    answers: Answers = Queue()
    running: dict[str, _Running] = {}
    bar = tqdm(total=len(waiting) * len(pairs), unit="run", disable=None, leave=False)
    try:
        while waiting or running:
            while (next_one := place(waiting, devices)) is not None:
                name, device = next_one
                taken = device.take(waiting.pop(name))
                placed = replace(loading, device=device.name)
                job = Job(name, models[name], pairs, scorings[name], placed, trouble.fatal)
                running[name] = _Running(Process(job, answers), device, taken)
            bar.set_description(f"{len(running)} of {len(models)} models side by side")
            name, answer = answers.get()
            if isinstance(answer, str):
                warnings.warn(answer, ScoringWarning, stacklevel=2)
            elif isinstance(answer, tuple):
                yield answer
                bar.update()
            elif name in running:  # else this is the end of a process that gave its last answer
                with trouble.survived(name, None):
                    _note(answer, running[name].process, trouble)
                running.pop(name).end()
    finally:
        bar.close()
        for each in running.values():
            each.end()


def _measure(
    models: Mapping[str, str],
    scorings: Mapping[str, Scoring],
    loading: Loading,
    trouble: Trouble,
    devices: Sequence[Device],
) -> dict[str, Size]:
    """Return what each model takes, without those that fit no device."""
    largest = max(devices, key=lambda device: device.free)
    there = replace(loading, device=largest.name)
    found: dict[str, Size] = {}
    for name, model in models.items():
        with trouble.survived(name, None):
            found[name] = measure(name, model, scorings[name], there, largest)
    return found


def _note(failures: list[Failure] | None, process: Process, trouble: Trouble) -> None:
    """Note what failed in a process, which has warned of it.

    Raises:
        ScoringError: If the process ended early, or no failure is survived.
    """
    if failures is None:
        raise ScoringError(process.death())
    if trouble.fatal and failures:
        raise ScoringError(failures[0].reason)
    trouble.failures.extend(failures)
