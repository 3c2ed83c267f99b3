"""Which worker a process is."""

import pytest
from support.refusals import refusal

from nnd.metric.run import ignored_workers, read_worker
from nnd.metric.run.launchers.worker_share import Share, Worker, find_share

TORCHRUN = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}
ARRAY = {
    "SLURM_ARRAY_TASK_ID": "12",
    "SLURM_ARRAY_TASK_COUNT": "4",
    "SLURM_ARRAY_TASK_MIN": "10",
    "SLURM_ARRAY_TASK_STEP": "1",
}


@pytest.mark.parametrize(
    ("worker", "environment", "share"),
    [
        ((1, 8), TORCHRUN, Share(1, 8)),
        ((8, 8), {}, Share(8, 8)),
        ("auto", TORCHRUN, Share(4, 8, 1)),
        ("auto", ARRAY, Share(3, 4)),
        ("auto", ARRAY | TORCHRUN, Share(4, 8, 1)),  # torchrun in a task of an array
    ],
)
def test_a_worker_is_what_it_was_started_as(
    worker: Worker, environment: dict[str, str], share: Share
) -> None:
    assert find_share(worker, environment) == share


@pytest.mark.parametrize(
    ("worker", "environment", "where"),
    [
        ((0, 8), {}, "worker 0/8"),
        ((9, 8), {}, "worker 9/8"),
        ("auto", {}, "worker auto"),
        ("auto", ARRAY | {"SLURM_ARRAY_TASK_STEP": "2"}, "worker auto"),
        ("auto", ARRAY | {"SLURM_ARRAY_TASK_ID": "14"}, "worker auto"),
        ("auto", {"RANK": "x", "WORLD_SIZE": "2"}, "worker auto"),
    ],
)
def test_a_number_that_cannot_be_is_an_error(
    worker: Worker, environment: dict[str, str], where: str
) -> None:
    with refusal("worker.share", where):
        find_share(worker, environment)


def test_shares_are_all_parts_once() -> None:
    found = [part for number in (1, 2, 3) for part in range(10) if Share(number, 3).has(part)]
    assert sorted(found) == list(range(10))


def test_a_worker_as_typed() -> None:
    assert [read_worker(text) for text in ("1/8", "auto")] == [(1, 8), "auto"]
    with refusal("worker.share", '--worker "1of8"'):
        read_worker("1of8")


@pytest.mark.parametrize(
    ("environment", "begins"),
    [
        (TORCHRUN, "RANK and WORLD_SIZE are ignored"),
        (ARRAY, "SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT are ignored"),
        ({}, None),
        ({"RANK": "0", "WORLD_SIZE": "1"}, None),
    ],
)
def test_variables_of_a_scheduler_are_ignored_aloud(
    environment: dict[str, str], begins: str | None
) -> None:
    line = ignored_workers(environment)
    assert line is None if begins is None else str(line).startswith(begins)
