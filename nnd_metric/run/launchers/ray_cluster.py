"""Connect to a Ray cluster, and find out how many workers it has room for."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from nnd.schemas import ScoringError, check_extra

_SECONDS = 5
"""How long a cluster may take to answer. Ray itself waits for minutes, or forever."""

_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The first bytes of a gRPC client, in HTTP/2: the preface and empty settings."""

_SETTINGS = 4
"""The type of the frame that a server must answer with (RFC 9113, section 3.4)."""


@dataclass(frozen=True, slots=True)
class Ray:
    """The cluster and resources of Ray.

    Attributes:
        address: HOST:PORT of a cluster that this machine is part of, or auto for the one started
            on it. None means RAY_ADDRESS, as in a job of `ray job submit`, else only this machine.
            In Python, a cluster that is connected already is used.
        num_gpus: GPUs per worker; with 0.5, two workers share a GPU. None means 1 if there are any.
        num_workers: Number of workers; each holds the model. None means as many as the GPUs allow,
            else one on each machine.
    """

    address: str | None = None
    num_gpus: float | None = None
    num_workers: int | None = None


class Pool(NamedTuple):
    """A number of workers, and the GPUs and threads of each."""

    workers: int
    gpus: float
    threads: int


def check_ray(config: Ray) -> None:
    """Check that Ray is installed, and that the options are valid."""
    check_extra("ray", "ray", "scoring by workers of Ray")
    gpus = config.num_gpus
    if gpus is not None and (gpus < 0 or (gpus > 1 and gpus != int(gpus))):
        raise ScoringError(
            "ray.gpus",
            where=f"--num-gpus {gpus:g}",
            remedy="give 0, a share of 1 or a whole number",
        )
    if config.num_workers is not None and config.num_workers < 1:
        raise ScoringError(
            "option.bad-value", where=f"--num-workers {config.num_workers}", remedy="give 1 or more"
        )


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Connect to a cluster, or start Ray on this machine, unless the caller has done so.

    Ray prints only errors; everything else is in its logs.
    """
    import ray  # noqa: PLC0415

    if ray.is_initialized():
        yield
        return
    cluster = address or os.environ.get("RAY_ADDRESS") or "local"
    _check_answers(cluster)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a Ray that nnd starts reports nothing
    try:
        ray.init(
            cluster,
            include_dashboard=False if cluster == "local" else None,
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
    except Exception as error:  # Ray itself raises this on a busy machine
        reason = str(error).partition("\n")[0]
        raise ScoringError(
            "ray.unavailable",
            f"Ray cannot be used: {reason.rstrip('.')}",
            cluster,
            "start the command on a machine of the cluster, such as with `ray job submit`, or, "
            "without a cluster, when this machine is less busy",
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def size_pool(config: Ray, parts: int) -> Pool:
    """Return the size of the pool for some parts.

    Workers share the cores of a machine, unless OMP_NUM_THREADS says how many threads each has.
    """
    import ray  # noqa: PLC0415

    nodes = ray.nodes()  # type: ignore[no-untyped-call]
    machines = [each["Resources"] for each in nodes if each["Alive"]]
    most = max(each.get("GPU", 0.0) for each in machines)
    gpus = min(most, 1.0) if config.num_gpus is None else config.num_gpus
    if gpus > most:
        raise ScoringError(
            "ray.gpus",
            f"no machine of Ray has more than {most:g}",
            f"--num-gpus {gpus:g}",
            "give a smaller --num-gpus, 0 for none, or name another cluster with --ray-address",
        )
    room = sum(int(each.get("GPU", 0.0) / gpus) for each in machines) if gpus else len(machines)
    workers = min(config.num_workers or room, parts)
    cores = sum(each.get("CPU", 1.0) for each in machines)
    asked = os.environ.get("OMP_NUM_THREADS", "")
    threads = int(asked) if asked.isdecimal() else int(cores / workers)
    return Pool(workers, gpus, max(1, threads))


def _check_answers(address: str) -> None:
    """Check that a gRPC server answers at the address of a cluster.

    `ray.init` waits forever if the port is open but nothing answers.
    """
    if "://" in address:
        raise ScoringError(
            "ray.unavailable",
            "Ray Client cannot be used",
            address,
            "give HOST:PORT, such as 10.0.0.1:6379, on a machine of the cluster",
        )
    host, colon, port = address.rpartition(":")
    is_encrypted = os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true")
    if not colon or is_encrypted:  # a keyword of Ray, such as auto, or TLS
        return
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _SECONDS) as connection:
            connection.sendall(_GREETING)
            answer = connection.recv(9)
    except (OSError, ValueError, OverflowError) as error:
        raise _no_cluster(address, f"no Ray cluster answers: {error}") from error
    if answer[3:4] != bytes((_SETTINGS,)):
        raise _no_cluster(address, "the server at this address is not a Ray cluster")


def _no_cluster(address: str, problem: str) -> ScoringError:
    return ScoringError(
        "ray.unavailable",
        str(problem),
        address,
        "start one with `ray start --head`, or name the HOST:PORT that it prints",
    )
