"""The share of a worker: I of N, given by the user or by a scheduler."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from nnd.schemas import ScoringError

Worker: TypeAlias = tuple[int, int] | Literal["auto"]
"""The number of a worker, from 1, and the number of workers; "auto" asks the scheduler."""

_TORCHRUN = ("RANK", "WORLD_SIZE")
_ARRAY = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN")


@dataclass(frozen=True, slots=True)
class Share:
    """The share of a worker, numbered from 1.

    `local` is the number of the process on its machine, from 0, under torchrun; else None.
    """

    number: int
    of: int
    local: int | None = None

    def has(self, part: int) -> bool:
        """Whether a part belongs to this worker."""
        return part % self.of == self.number - 1


def check_shared(worker: object, ray: object, out: object) -> None:
    """Check that workers are given one by one or started by Ray, and have a folder."""
    if worker is not None and ray is not None:
        raise ScoringError(
            "option.conflict",
            "--ray shares the pairs among workers of its own",
            remedy="leave out --worker",
        )
    if out is None and (worker is not None or ray is not None):
        raise ScoringError(
            "option.needs-another",
            "--worker and --ray need --out",
            remedy="name a folder that all workers share",
        )


def find_share(worker: Worker, environment: Mapping[str, str] = os.environ) -> Share:
    """Return the share of a worker."""
    if worker == "auto":
        return _from_scheduler(environment)
    number, of = worker
    if not 1 <= number <= of:
        raise ScoringError(
            "worker.share",
            where=f"worker {number}/{of}",
            remedy="give I/N with I from 1 to N, such as 1/8",
        )
    return Share(number, of)


def read_worker(text: str) -> Worker:
    """Parse a worker: I/N, or auto."""
    if text == "auto":
        return "auto"
    numbers = re.fullmatch(r"(\d+)/(\d+)", text)
    if numbers is None:
        raise ScoringError(
            "worker.share", where=f'--worker "{text}"', remedy="write I/N, such as 1/8, or auto"
        )
    return int(numbers[1]), int(numbers[2])


def ignored_workers(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return a warning that this process is one of several but scores everything, or None.

    Most arrays run one model per task, so pairs are not shared unless requested.
    """
    for name, count in (("RANK", "WORLD_SIZE"), _ARRAY[:2]):
        if environment.get(name) and environment.get(count, "1") != "1":
            return (
                f"{name} and {count} are ignored: this process scores everything; --worker auto "
                "shares the pairs among the workers"
            )
    return None


def _from_scheduler(environment: Mapping[str, str]) -> Share:
    if all(name in environment for name in _TORCHRUN):
        rank, of = (_number(environment, name) for name in _TORCHRUN)
        local = _number(environment, "LOCAL_RANK") if "LOCAL_RANK" in environment else None
        return Share(rank + 1, of, local)
    if not all(name in environment for name in _ARRAY):
        raise ScoringError(
            "worker.share",
            "neither torchrun (RANK, WORLD_SIZE) nor a Slurm array (SLURM_ARRAY_TASK_ID) "
            "started this process",
            "worker auto",
        )
    if environment.get("SLURM_ARRAY_TASK_STEP", "1") != "1":
        raise ScoringError(
            "worker.share",
            f"the array has a step of {environment['SLURM_ARRAY_TASK_STEP']}, so its "
            "numbers have gaps",
            "worker auto",
            "use an array without a step, such as --array=1-8",
        )
    task, of, first = (_number(environment, name) for name in _ARRAY)
    if not 0 <= task - first < of:
        raise ScoringError(
            "worker.share",
            f"task {task} is not one of {of} in a row from {first}",
            "worker auto",
            "use an array without gaps, such as --array=1-8",
        )
    return Share(task - first + 1, of)


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment[name]
    if not text.isdecimal():
        raise ScoringError("worker.share", f'{name} is "{text}", not a number', "worker auto")
    return int(text)
