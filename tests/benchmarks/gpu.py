"""The engine on a GPU: `python tests/benchmarks/gpu.py [--small] [--json FILE]`.

First the numbers: each attention kernel, and the families of the test suite, against float64 loops
on the CPU (`gpu_equality`). Then the speed, on SummEval and Quiz Design, of Llamas with random
weights in bfloat16: 0.1, 1 and 7 billion parameters, each with as many key heads as query heads and
with fewer. They are held against the rate of large matrix products on the same device, against a
loop over padded batches, and, where it is installed, against lm-evaluation-harness. Last, the
smallest model through every path, in float32, and in parts.

A workload loses contexts until the device could compute it in 8 seconds, so that all of it takes
less than ten minutes on any GPU; the peers get a sample. Without a GPU, or with `--small`, models
and texts are tiny: that shows that the script works, and nothing about speed. The exit code is 1 if
a number is wrong.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import bench_models
import polars as pl
import torch
import transformers as hf
import workloads
from gpu_equality import Equality, compare_families, compare_kernels, compare_spread
from gpu_paths import PathSpeed, measure_paths
from gpu_speed import DTYPE, Speed, build_model, lacking_memory, matmul_rate, measure
from rich.console import Console
from rich.table import Table
from support.tiny_models import BUILDERS, SENTENCES

WORKLOADS = ("summeval", "quiz")
SIZES = {
    "0.1B": {"hidden_size": 768, "intermediate_size": 2_048, "num_hidden_layers": 12},
    "1B": {"hidden_size": 2_048, "intermediate_size": 8_192, "num_hidden_layers": 16},
    "7B": {"hidden_size": 4_096, "intermediate_size": 11_008, "num_hidden_layers": 32},
}
HEADS = {"0.1B": (12, 4), "1B": (32, 8), "7B": (32, 8)}
SMALL = {
    "vocab_size": 1_000,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
}
SMALL_HEADS = (4, 2)
SMALL_FAMILIES = ("gpt2", "mistral", "t5")

CONSOLE = Console(width=132, stderr=True)


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="The engine on a GPU.")
    parser.add_argument("--small", action="store_true", help="tiny models and texts")
    parser.add_argument("--json", type=Path, help="also write the figures into this file")
    asked = parser.parse_args()
    found = bench(small=asked.small or not torch.cuda.is_available())
    _print(found)
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps(asdict(found), indent=1), encoding="utf-8")
    return int(not all(each.holds for each in found.equality))


@dataclass(frozen=True, slots=True)
class Bench:
    """All figures of a run; `skipped` says which models the device has no room for."""

    device: str
    torch: str
    matmul_flops: float
    equality: list[Equality]
    speed: list[Speed]
    paths: list[PathSpeed]
    skipped: list[str]


def bench(*, small: bool) -> Bench:
    """Measure everything on the GPU, or on the CPU where there is none."""
    torch.manual_seed(bench_models.SEED)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    rate = matmul_rate(device, 256 if small else 8_192)
    speed, paths, skipped = list[Speed](), list[PathSpeed](), list[str]()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        families = SMALL_FAMILIES if small else BUILDERS
        equality = [
            *compare_kernels(device, 30 if small else 300),
            *compare_families([*families, "gpt_oss"], device, folder),
            *compare_spread(folder),
        ]
        prepare_small(folder) if small else workloads.prepare(workloads.data_folder(), folder)
        for label, config in _configs(small=small):
            if lacking := lacking_memory(config, device):
                skipped.append(f"{label}: {lacking}")
                continue
            model = build_model(config, device)
            for workload in WORKLOADS:
                speed.append(measure(label, workload, model, folder, rate))
            if not paths:
                paths = [*measure_paths(model, folder, "quiz")]
            del model
    return Bench(name, torch.__version__, rate, equality, speed, paths, skipped)


def _configs(*, small: bool) -> Iterator[tuple[str, hf.LlamaConfig]]:
    sizes, heads = ({"small": SMALL}, {"small": SMALL_HEADS}) if small else (SIZES, HEADS)
    for size, its_shape in sizes.items():
        shape = {"vocab_size": workloads.VOCABULARY, **its_shape}
        for key_heads in heads[size]:
            label = f"{size}, {heads[size][0]}/{key_heads} heads"
            both = {"num_attention_heads": heads[size][0], "num_key_value_heads": key_heads}
            yield label, hf.LlamaConfig(**shape, **both)


def prepare_small(folder: Path) -> None:
    """Write workloads of two contexts, and their tokenizer, as `workloads.prepare` does."""
    high, low = SENTENCES[2:4], SENTENCES[3:5]
    rows = [(text, *pair) for text in SENTENCES[:2] for pair in zip(high, low, strict=True)]
    pairs = pl.DataFrame(rows, ["context", "candidate_high", "candidate_low"], orient="row")
    workloads.train_tokenizer(pairs).save(str(folder / "tokenizer.json"))
    for name in WORKLOADS:
        text = json.dumps(workloads.requests(pairs))
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def _print(found: Bench) -> None:
    worst = max(found.equality, key=lambda each: each.gap / each.bound)
    wrong = [each for each in found.equality if not each.holds]
    table = Table(
        title=f"{found.device}, torch {found.torch}: {found.matmul_flops / 1e12:.1f} TFLOP/s of "
        f"{str(DTYPE).removeprefix('torch.')} matrices",
        caption="of matmul: needed FLOPs per second of the second call. host: share of time in "
        "which the device waits. padded, lm-eval: how many times as long they take",
    )
    for head in ("model", "workload"):
        table.add_column(head)
    heads = "requests", "tokens", "first s", "s", "tokens/s", "of matmul", "host", "GiB", "padded"
    for head in (*heads, "lm-eval"):
        table.add_column(head, justify="right")
    for each in found.speed:
        table.add_row(
            each.model,
            each.workload,
            f"{each.requests:,}",
            f"{each.tokens:,}",
            f"{each.first_seconds:.2f}",
            f"{each.seconds:.2f}",
            f"{each.tokens / each.seconds:,.0f}",
            f"{each.of_matmul:.0%}",
            "-" if each.host is None else f"{each.host:.0%}",
            "-" if each.peak_bytes is None else f"{each.peak_bytes / 2**30:.1f}",
            f"{each.padded:.1f}x",
            "-" if each.lm_eval is None else f"{each.lm_eval:.1f}x",
        )
    CONSOLE.print(table)
    _print_paths(found.paths)
    for line in found.skipped:
        CONSOLE.print(f"skipped: {line}")
    for each in found.equality:
        if each.path not in {"", "packed"}:
            CONSOLE.print(f"{each.what} in {each.dtype} takes {each.path}")
    CONSOLE.print(
        f"{len(found.equality) - len(wrong)} of {len(found.equality)} comparisons with float64 "
        f"hold; the nearest to its bound is {worst.what} in {worst.dtype} ({worst.gap:.1e}, "
        f"allowed {worst.bound:.0e})"
    )
    for each in wrong:
        CONSOLE.print(f"WRONG {each.what} in {each.dtype}: {each.gap:.1e} > {each.bound:.0e}")


def _print_paths(paths: Sequence[PathSpeed]) -> None:
    table = Table(
        title="the smallest of them, in every way",
        caption="proof: share of the first call in which requests are read alone",
    )
    table.add_column("way")
    for head in ("s", "of the first", "proof"):
        table.add_column(head, justify="right")
    for each in paths:
        table.add_row(
            each.what,
            f"{each.seconds:.2f}",
            f"{each.seconds / paths[0].seconds:.1f}x",
            "-" if each.proof is None else f"{each.proof:.0%}",
        )
    CONSOLE.print(table)


if __name__ == "__main__":
    sys.exit(main())
