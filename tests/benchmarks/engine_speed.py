"""The engine against the peers: `python tests/benchmarks/engine_speed.py`.

Blocks of one workload (`workloads`) and one model (`bench_models`): our engine, lm-evaluation-
harness, minicons and a one-at-a-time loop (`peers`) take turns, `--repeats` times, each run in a
fresh process (`runs`), one thread, float32. Outside the clock: imports, building, and a first call,
of the peers on two pairs. Our engine runs three times: as a second run, after one on other pairs in
which it has proved its fast path; as a first run, with the proof; and as a first run with the
baseline of candidates without contexts, which is what `nnd evaluate` does, and the headline.

Then our engine alone on an eighth, a quarter, half and all of Quiz Design; with `--full` also on
all of SummEval, and lm-evaluation-harness without its grouping of identical requests.

The last lines hold the figures against what must be reached; the exit code is 1 if one is missed,
also one that no machine could reach. The annotation files are looked for in $NND_DATA, else
../shared/data.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import bench_models
import numpy as np
import torch
import workloads
from comparison import BLOCKS, Block, Comparison, Verdict, Work, judge
from peers import EXACT, NND
from rich.console import Console
from rich.table import Table
from runs import Run, matmul_peak, own_rate, read_requests, run_alone, without_contexts

TOOLS = (NND, "lm-eval", "minicons", "one at a time")
UNGROUPED = "lm-eval ungrouped"
GROWTH = "growth"
SAMPLE = 40  # requests held against float64

CONSOLE = Console(width=132)


def main() -> int:
    """Run what was asked for; return the exit code."""
    asked = _arguments()
    torch.set_num_threads(1)
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workloads.prepare(workloads.data_folder(), folder, quick=asked.quick)
        for block in BLOCKS:
            if asked.only in (None, block.name):
                tools = _tools(block, full=asked.full)
                found = compare(block, folder, tools, 1 if asked.quick else asked.repeats)
                _print_comparison(found)
                verdicts += judge(found)
        if asked.only in (None, GROWTH):
            for model in bench_models.MODELS:
                grow(folder, model, full=asked.full)
    return _conclude(verdicts, quick=asked.quick)


def _arguments() -> argparse.Namespace:
    names = [*(block.name for block in BLOCKS), GROWTH]
    parser = argparse.ArgumentParser(description="The engine against the peers.")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each tool (3)")
    parser.add_argument("--only", choices=names, help="a part, not all")
    parser.add_argument("--quick", action="store_true", help="one run of a few pairs, not judged")
    parser.add_argument("--full", action="store_true", help="also what takes long")
    return parser.parse_args()


def _tools(block: Block, *, full: bool) -> tuple[str, ...]:
    # lm-eval groups the requests of decoder-only models only.
    return (*TOOLS, UNGROUPED) if full and block.model == "gpt2" else TOOLS


# --- measuring -------------------------------------------------------------------------------


def compare(block: Block, folder: Path, tools: Sequence[str], repeats: int) -> Comparison:
    """Let the tools take turns on a block."""
    runs: dict[str, list[Run]] = {tool: [] for tool in tools}
    work = work_of(block.workload, block.model, folder)
    with torch.device("meta"):  # shapes are enough
        shapes = bench_models.build_model(block.model)
    peak = own = 0.0
    for _ in range(repeats):
        for tool in tools:
            peak = max(peak, matmul_peak())
            own = max(own, own_rate(shapes, work.flops, work.head_flops))
            runs[tool].append(run_alone(tool, block.model, folder, block.workload))
    if len({run.checksum for several in runs.values() for run in several}) > 1:
        sys.exit(f"{block.name}: the tools did not run on the same weights")
    gap, sample = _gap_to_float64(block, folder, runs[NND])
    return Comparison(block, work, runs, peak, own, gap, sample)


def work_of(workload: str, model: str, folder: Path) -> Work:
    """Say what a workload asks of a model."""
    requests = read_requests(folder, workload)
    tokenizer = bench_models.load_tokenizer(model, folder)
    lengths = bench_models.lengths(tokenizer, model, requests)
    alone = bench_models.lengths(tokenizer, model, without_contexts(requests))
    with torch.device("meta"):  # shapes are enough
        shapes = bench_models.build_model(model)
    return Work(
        len(requests) // 2,
        bench_models.unique_tokens(lengths),
        bench_models.needed_flops(shapes, lengths),
        bench_models.head_flops(shapes, lengths),
        bench_models.needed_flops(shapes, alone),
    )


def _gap_to_float64(block: Block, folder: Path, ours: Sequence[Run]) -> tuple[float, int]:
    """Hold a sample of the requests, in every run of ours, against the loop in float64."""
    requests = read_requests(folder, block.workload)
    distinct = sorted(set(requests))
    sample = random.Random(0).sample(distinct, min(SAMPLE, len(distinct)))
    (folder / "sample.json").write_text(json.dumps(sample), encoding="utf-8")
    exact = run_alone(EXACT, block.model, folder, "sample").values
    found = [dict(zip(requests, run.values, strict=True)) for run in ours]
    gaps = [[values[request] for request in sample] for values in found] - np.array(exact)
    return float(np.abs(gaps).max()), len(sample)


def grow(folder: Path, model: str, *, full: bool) -> None:
    """Run ours on four sizes of Quiz Design; print them and the exponent of growth."""
    names = [*workloads.STRIDES, *(["summeval"] if full else [])]
    works, runs, peak = [], [], 0.0
    for workload in names:
        peak = max(peak, matmul_peak())
        works.append(work_of(workload, model, folder))
        runs.append(run_alone(NND, model, folder, workload))
    _print_growth(model, names, works, runs, peak)


# --- printing --------------------------------------------------------------------------------


def _print_comparison(found: Comparison) -> None:
    work = found.work
    headline = (
        f"{found.block.name}: {work.pairs} pairs in {found.whole():.2f} s, with proof and baseline"
    )
    needed = (
        f"{work.unique:,} unique tokens, {work.flops / 1e12:.2f} TFLOP needed, for the baseline "
        f"{work.baseline_flops / 1e12:.2f} more"
    )
    rates = (
        f"GFLOP/s: matmul peak {found.peak / 1e9:.0f}, the model's own products "
        f"{found.own / 1e9:.0f}"
    )
    table = Table(
        title=f"{headline}\n{needed}\n{rates}",
        caption="GiB: peak RSS of the process less the weights. of peak: needed FLOPs per second. "
        "bound: the ratio with nnd at 100 % of the peak. gap: largest difference of a mean "
        "log-likelihood from nnd's (conventions of lm-eval and minicons differ, see peers.py)",
    )
    table.add_column("tool")
    heads = "pairs/s (min … max)", "seconds", "tokens read", "read / unique", "GiB", "of peak"
    for head in (*heads, "nnd is faster", "bound", "gap"):
        table.add_column(head, justify="right")
    for tool in found.runs:
        table.add_row(*_row(found, tool))
    CONSOLE.print(table)
    CONSOLE.print(
        f"nnd, first run: {found.first():.2f} s with its proof, {found.whole():.2f} s with the "
        f"baseline too: {_ratios(found, found.first())}; {_ratios(found, found.whole())}\n"
        f"nnd, second run: {found.of_own():.0%} of the rate of the model's own products\n"
        f"nnd, the baseline's share of time / of FLOPs: {found.baseline():.2f}\n"
        f"nnd tokenising and planning: {found.planning():.2%} of the run\n"
        f"nnd and float64: largest gap {found.gap:.1e} (n = {found.sample} in each run)\n"
    )


def _ratios(found: Comparison, seconds: float) -> str:
    """Return how many times as fast as each peer a run of so many seconds is."""
    peers = [tool for tool in found.runs if tool != NND]
    return ", ".join(f"{found.seconds(peer) / seconds:.1f}x {peer}" for peer in peers)


def _print_growth(
    model: str, names: Sequence[str], works: Sequence[Work], runs: Sequence[Run], peak: float
) -> None:
    table = Table(title=f"nnd alone, {model}, matmul peak {peak / 1e9:.0f} GFLOP/s")
    table.add_column("workload")
    heads = "pairs", "unique tokens", "seconds", "pairs/s", "read / unique", "GiB", "of peak"
    for head in heads:
        table.add_column(head, justify="right")
    for name, work, run in zip(names, works, runs, strict=True):
        table.add_row(
            name,
            f"{work.pairs:,}",
            f"{work.unique:,}",
            f"{run.seconds:.2f}",
            f"{work.pairs / run.seconds:.2f}",
            f"{run.tokens / work.unique:.3f}",
            f"{(run.peak_bytes - run.weight_bytes) / 2**30:.2f}",
            f"{work.flops / run.seconds / peak:.0%}",
        )
    CONSOLE.print(table)
    sizes = len(workloads.STRIDES)
    unique = [work.unique for work in works[:sizes]]
    exponent, _ = np.polyfit(np.log(unique), np.log([run.seconds for run in runs[:sizes]]), 1)
    CONSOLE.print(f"seconds grow as unique tokens to the power of {exponent:.3f}\n")


def _row(found: Comparison, tool: str) -> list[str]:
    work, runs, seconds = found.work, found.runs[tool], found.seconds(tool)
    slowest, fastest = (work.pairs / end([r.seconds for r in runs]) for end in (max, min))
    cells = [
        tool,
        f"{work.pairs / seconds:.2f} ({slowest:.2f} … {fastest:.2f})",
        f"{seconds:.2f}",
        f"{runs[0].tokens:,}",
        f"{runs[0].tokens / work.unique:.3f}",
        f"{found.memory(tool) / 2**30:.2f}",
        f"{work.flops / seconds / found.peak:.0%}",
    ]
    if tool == NND:
        return cells
    gap = np.abs(np.subtract(runs[0].values, found.ours[0].values)).max()
    return [*cells, f"{found.faster(tool):.1f}x", f"{found.bound(tool):.1f}x", f"{gap:.0e}"]


def _conclude(verdicts: Sequence[Verdict], *, quick: bool) -> int:
    for verdict in verdicts:
        print(f"{'ok  ' if verdict.reached else 'MISS'} {verdict.what} ({verdict.figures})")
    missed = sum(not verdict.reached for verdict in verdicts)
    if quick:
        print("a quick run is too small to be judged")
        return 0
    if missed:
        print(f"{missed} of {len(verdicts)} figures miss what must be reached")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
