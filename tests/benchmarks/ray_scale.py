"""Two actors of Ray against one, a thread each: `python tests/benchmarks/ray_scale.py MODEL`.

Scores 2,000 invented contexts with ten candidates each, three times with one actor and three times
with two, in turn. Start-up and loading are left out: the clock runs from the first part that each
actor has finished to the last part of all.
"""

import logging
import os
import sys
import tempfile
from pathlib import Path

import ray
from cluster_scale import write_pairs

from nnd.metric import Evaluation
from nnd.metric.engine import Scoring
from nnd.metric.parts import Ray, evaluate_on_ray, merge, on_ray

PAIRS = 2_000 * 45
ROUNDS = 3


def parts_per_second(model: Path, data: Path, actors: int) -> float:
    """Score everything with some actors; return their speed."""
    times: list[float] = []

    def merge_seen(run: Path) -> Evaluation:
        times.extend(sorted(path.stat().st_mtime for path in run.glob("parts/*/*.parquet")))
        return merge(run)

    on_ray.merge = merge_seen
    ray.init("local", num_cpus=actors, include_dashboard=False, logging_level=logging.ERROR)
    with tempfile.TemporaryDirectory() as place:
        out, scoring = Path(place) / "run", Scoring(unconditional=False)
        evaluate_on_ray(model, data, out=out, ray=Ray(num_actors=actors), scoring=scoring)
    ray.shutdown()
    return (len(times) - actors) / (times[-1] - times[actors - 1])


def main() -> None:
    """Print both speeds of each round, and the best ratio."""
    model, ratios = Path(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "pairs.parquet"
        write_pairs(data, Path(place), PAIRS, 1)
        for number in range(1, ROUNDS + 1):
            one, two = (parts_per_second(model, data, actors) for actors in (1, 2))
            ratios.append(two / one)
            load = os.getloadavg()[0]
            print(
                f"{number}: {one:.2f} and {two:.2f} parts/s, {two / one:.2f} times as fast, load "
                f"{load:.1f}",
                flush=True,
            )
    print(f"best of {ROUNDS}: {max(ratios):.2f} times as fast")


if __name__ == "__main__":
    main()
