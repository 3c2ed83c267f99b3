"""A block of the benchmark, what it has shown, and what must be reached."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from peers import NND
from runs import Run

MOST_TOKENS_READ = 1.05  # of the unique tokens
MOST_MEMORY = 1.2 * 2**30  # bytes beside the weights
MOST_PLANNING = 0.02  # of the run
MOST_GAP = 1e-5  # nats per token


@dataclass(frozen=True, slots=True)
class Block:
    """A workload for a model, and how many times as fast as each peer we must be there."""

    workload: str
    model: str
    targets: Mapping[str, float]

    @property
    def name(self) -> str:
        """What the user types."""
        return f"{self.workload}-{self.model}"


BLOCKS = (
    Block("quiz200", "gpt2", {"lm-eval": 7.0, "minicons": 15.0}),
    Block("quiz200", "bart", {"lm-eval": 6.0, "minicons": 6.5}),
    Block("summeval1", "gpt2", {"lm-eval": 40.0, "minicons": 40.0}),
    Block("summeval1", "bart", {"lm-eval": 40.0, "minicons": 40.0}),
)


class Work(NamedTuple):
    """What a workload asks of a model, whoever does it: pairs, unique tokens, needed FLOPs."""

    pairs: int
    unique: int
    flops: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a block has shown.

    Attributes:
        block: Which one.
        work: What it asks of the model.
        runs: The runs of each tool.
        peak: FLOP/s of a matrix product meanwhile, the best seen.
        gap: Largest difference of our mean log-likelihoods from those in float64.
        sample: How many of them were compared, in every run.
    """

    block: Block
    work: Work
    runs: dict[str, list[Run]]
    peak: float
    gap: float
    sample: int

    @property
    def ours(self) -> list[Run]:
        """Our runs."""
        return self.runs[NND]

    def seconds(self, tool: str) -> float:
        """Return the median over the runs of a tool."""
        return median(run.seconds for run in self.runs[tool])

    def faster(self, tool: str) -> float:
        """Return how many times as fast as `tool` we are: the ratio of medians."""
        return self.seconds(tool) / self.seconds(NND)

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
    read = max(run.tokens for run in found.ours) / found.work.unique
    limits = (
        ("tokens read / unique tokens", read, MOST_TOKENS_READ),
        ("GiB beside the weights", found.memory(NND) / 2**30, MOST_MEMORY / 2**30),
        ("tokenising and planning / run", found.planning(), MOST_PLANNING),
        ("gap to float64", found.gap, MOST_GAP),
    )
    return verdicts + [
        Verdict(f"{name}: {what} {figure:.3g}", figure <= most, f"may be {most:g}")
        for what, figure, most in limits
    ]
