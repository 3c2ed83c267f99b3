"""A block of the benchmark, what it has shown, and what must be reached."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from peers import NND
from runs import Run

MOST_TOKENS_READ = 1.05  # of the unique tokens
MOST_MEMORY = 1.2 * 2**30  # bytes beside the weights
MOST_PLANNING = 0.02  # of the run
MOST_GAP = 1e-5  # nats per token
LEAST_OF_OWN = 0.8  # of the rate of the model's own matrix products
MOST_BASELINE = 1.1  # share of the time / share of the FLOPs


@dataclass(frozen=True, slots=True)
class Block:
    """A workload for a model, and how many times as fast as each peer we must be there.

    Attributes:
        workload: Its name.
        model: Name of the model.
        targets: Peer → how many times as fast our second run must be.
        first: Peer → how many times as fast our first run must be, with its proof.
    """

    workload: str
    model: str
    targets: Mapping[str, float]
    first: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the user types."""
        return f"{self.workload}-{self.model}"


BLOCKS = (
    Block("quiz200", "gpt2", {"lm-eval": 6.5, "minicons": 15.0}, {"lm-eval": 5.2}),
    Block("quiz200", "bart", {"lm-eval": 9.0, "minicons": 6.5}, {"lm-eval": 7.2}),
    Block("summeval1", "gpt2", {"lm-eval": 40.0, "minicons": 40.0}),
    Block("summeval1", "bart", {"lm-eval": 40.0, "minicons": 40.0}),
)


class Work(NamedTuple):
    """What a workload asks of a model, whoever does it: pairs, unique tokens, needed FLOPs.

    `head_flops` are those of `flops` that make logits; `baseline_flops` are needed beside `flops`
    to score each candidate without its context.
    """

    pairs: int
    unique: int
    flops: int
    head_flops: int = 0
    baseline_flops: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a block has shown.

    Attributes:
        block: Which one.
        work: What it asks of the model.
        runs: The runs of each tool.
        peak: FLOP/s of a matrix product meanwhile, the best seen.
        own: FLOP/s of the model's own matrix products meanwhile, the best seen.
        gap: Largest difference of our mean log-likelihoods from those in float64.
        sample: How many of them were compared, in every run.
    """

    block: Block
    work: Work
    runs: dict[str, list[Run]]
    peak: float
    own: float
    gap: float
    sample: int

    @property
    def ours(self) -> list[Run]:
        """Our runs."""
        return self.runs[NND]

    def seconds(self, tool: str) -> float:
        """Return the median over the runs of a tool."""
        return median(run.seconds for run in self.runs[tool])

    def first(self) -> float:
        """Return the median of our first runs, with their proofs."""
        return median(run.first_seconds or math.nan for run in self.ours)

    def whole(self) -> float:
        """Return the median of our first runs with their proofs and the baseline."""
        return median(run.whole_seconds or math.nan for run in self.ours)

    def faster(self, tool: str) -> float:
        """Return how many times as fast as `tool` our second run is: the ratio of medians."""
        return self.seconds(tool) / self.seconds(NND)

    def of_own(self) -> float:
        """Return the share of the rate of the model's own products that our second run reaches."""
        return self.work.flops / self.seconds(NND) / self.own

    def baseline(self) -> float:
        """Return the baseline's share of the time over its share of the FLOPs.

        Its time is what it adds to a first run: each run's own, for the two follow each other.
        """
        flops = self.work.baseline_flops / (self.work.flops + self.work.baseline_flops)
        shares = [
            1 - (run.first_seconds or math.nan) / (run.whole_seconds or math.nan)
            for run in self.ours
        ]
        return median(shares) / flops

    def bound(self, tool: str) -> float:
        """Return what `faster` would be if we did the needed FLOPs at the peak."""
        return self.seconds(tool) * self.peak / self.work.flops

    def memory(self, tool: str) -> int:
        """Return the most bytes resident in a process of a tool, its weights left out."""
        return max(run.peak_bytes - run.weight_bytes for run in self.runs[tool])

    def planning(self) -> float:
        """Return the share of our run before its first token enters the model."""
        return median(run.planning_seconds / run.seconds for run in self.ours)


class Verdict(NamedTuple):
    """A figure held against what must be reached."""

    what: str
    reached: bool
    figures: str


def judge(found: Comparison) -> list[Verdict]:
    """Hold what a block has shown against what must be reached."""
    name = found.block.name
    verdicts = [
        Verdict(
            f"{name}: {found.faster(peer):.1f}x as fast as {peer}",
            found.faster(peer) >= target,
            f"must be {target:g}x; at the matmul peak it would be {found.bound(peer):.1f}x",
        )
        for peer, target in found.block.targets.items()
    ]
    verdicts += [
        Verdict(
            f"{name}: first run, with its proof, {found.seconds(peer) / found.first():.1f}x as "
            f"fast as {peer}",
            found.seconds(peer) / found.first() >= target,
            f"must be {target:g}x",
        )
        for peer, target in found.block.first.items()
    ]
    verdicts.append(
        Verdict(
            f"{name}: {found.of_own():.0%} of the rate of the model's own products",
            found.of_own() >= LEAST_OF_OWN,
            f"must be {LEAST_OF_OWN:.0%}",
        )
    )
    read = max(run.tokens for run in found.ours) / found.work.unique
    limits = (
        ("tokens read / unique tokens", read, MOST_TOKENS_READ),
        ("GiB beside the weights", found.memory(NND) / 2**30, MOST_MEMORY / 2**30),
        ("tokenising and planning / run", found.planning(), MOST_PLANNING),
        ("gap to float64", found.gap, MOST_GAP),
        ("baseline's share of time / of FLOPs", found.baseline(), MOST_BASELINE),
    )
    return verdicts + [
        Verdict(f"{name}: {what} {figure:.3g}", figure <= most, f"may be {most:g}")
        for what, figure, most in limits
    ]
