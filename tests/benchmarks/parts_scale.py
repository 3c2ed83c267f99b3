"""Two workers against one, a thread each: `python tests/benchmarks/parts_scale.py MODEL`.

Scores 2,000 invented contexts with ten candidates each, three times with one and three times with
two, in turn: as processes of torchrun and as workers of Ray. Start-up and loading are left out: the
clock runs from the first part that each worker has finished to the last part of all. Beside them,
how much two processes do that only multiply matrices: no worker can do better on this machine.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from cluster_scale import write_pairs

PAIRS = 2_000 * 45
ROUNDS = 3

PRODUCTS = """
import time, torch
torch.set_num_threads(1)
rows, weights = torch.randn(512, 64), torch.randn(64, 256)
done, end = 0, time.monotonic() + 8
while time.monotonic() < end:
    for _ in range(100):
        torch.nn.functional.gelu(rows @ weights) @ weights.T
    done += 1
print(done)
"""


def products(model: Path, data: Path, run: Path, workers: int) -> float:  # noqa: ARG001 - as all
    """Return how many products all workers make in a time."""
    command = [sys.executable, "-c", PRODUCTS]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(workers)]
    return sum(int(each.communicate()[0]) for each in started)


def torchrun(model: Path, data: Path, run: Path, workers: int) -> float:
    """Return how many parts a second processes of torchrun score."""
    launcher = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={workers}"]
    command = [*launcher, "--no-python", *evaluate(model, data, run), "--worker", "auto"]
    return parts_per_second(command, run, workers)


def ray(model: Path, data: Path, run: Path, workers: int) -> float:
    """Return how many parts a second workers of Ray score."""
    command = [*evaluate(model, data, run), "--ray", "--num-workers", str(workers)]
    return parts_per_second(command, run, workers)


def evaluate(model: Path, data: Path, run: Path) -> list[str]:
    """Return the command that scores pairs with a model."""
    nnd = Path(sys.executable).with_name("nnd")
    options = {"--model": model, "--data": data, "--out": run}
    named = [str(word) for option in options.items() for word in option]
    return [str(nnd), "evaluate", *named, "--no-unconditional"]


def parts_per_second(command: list[str], run: Path, workers: int) -> float:
    """Run a command; return how fast parts followed each other, after the first of each worker."""
    written: dict[Path, float] = {}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while process.poll() is None:
        for path in run.glob("parts/*/*.parquet"):  # `--ray` removes them when all are there
            written.setdefault(path, path.stat().st_mtime)
        time.sleep(0.2)
    if process.returncode:
        sys.exit(process.communicate()[0].decode())
    times = sorted(written.values())
    return (len(times) - workers) / (times[-1] - times[workers - 1])


def ratio(
    work: Callable[[Path, Path, Path, int], float], model: Path, data: Path, place: Path
) -> float:
    """Print how fast one and two are; return the ratio."""
    with tempfile.TemporaryDirectory(dir=place) as runs:
        one, two = (work(model, data, Path(runs) / str(count), count) for count in (1, 2))
    print(f"{work.__name__}: {one:.2f} and {two:.2f} a second, {two / one:.2f} times as fast")
    return two / one


def main() -> None:
    """Print the ratios of each round, and the best."""
    os.environ |= {"OMP_NUM_THREADS": "1"}
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        place, model = Path(name), Path(sys.argv[1])
        data = place / "pairs.parquet"
        write_pairs(data, place, PAIRS, 1)
        for _ in range(ROUNDS):
            for work in (products, torchrun, ray):
                found.setdefault(work.__name__, []).append(ratio(work, model, data, place))
                sys.stdout.flush()
    print(", ".join(f"{name}: best {max(ratios):.2f}" for name, ratios in found.items()))


if __name__ == "__main__":
    main()
