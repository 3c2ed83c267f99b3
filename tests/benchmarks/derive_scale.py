"""How deriving scales: `python tests/benchmarks/derive_scale.py [contexts [tokens]]`.

Perturbs invented contexts with 10 pairs each by four operations; prints children, CPU seconds of
the whole command (reading, changing, writing), and its peak memory in GiB. By default there are
10,000 contexts of 500 tokens.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from peak_memory import peak_memory

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.writing import write_manifest, write_rows
from nnd.converters.make.deriving import derive
from nnd.schemas import polars_schema

OPERATIONS = ("typos=0.05", "punctuation", "numbers", "order")
PAIRS = 10


def rows(contexts: int, tokens: int) -> Iterator[dict[str, Any]]:
    """Yield invented pairs, of contexts in sentences of 15 tokens with some numbers."""
    drawn = random.Random(0)
    lengths = [drawn.randint(2, 8) for _ in range(3000)]
    words = ["".join(drawn.choices("etaoinshrdlu", k=length)) for length in lengths]
    words += [str(number) for number in range(11, 61)]
    for number in range(contexts):
        chosen = drawn.choices(words, k=tokens)
        sentences = (" ".join(chosen[at : at + 15]) for at in range(0, tokens, 15))
        context = ". ".join(sentences) + "."
        for other in range(PAIRS):
            yield {
                "pair_id": f"{number * PAIRS + other:016x}",
                "source": "sample",
                "split": "test",
                "language": "en",
                "context_id": f"c{number}",
                "context": context,
                "inputs": [{"key": "text", "value": context}],
                "aspect": "answer",
                "candidate_high": f"The answer to {number} is 7.",
                "candidate_low": f"The answer to {number} is not {other + 20}.",
                "high_id": f"c{number}/high",
                "low_id": f"c{number}/low{other}",
                "error_category": "wrong",
                "origin": "human",
                "metadata": [],
            }


def write_parents(folder: Path, contexts: int, tokens: int) -> None:
    """Write pairs with the manifest of the embedded sample."""
    convert("sample", out=folder / "sample")
    manifest = json.loads((folder / "sample/manifest.json").read_text(encoding="utf-8"))
    pairs = pl.DataFrame(rows(contexts, tokens), polars_schema("pair"), orient="row")
    (folder / "parents").mkdir()
    manifest["outputs"] = {"pairs.parquet": write_rows(pairs, folder / "parents/pairs.parquet")}
    write_manifest(manifest, folder / "parents")


def measure(folder: Path) -> None:
    """Derive, and print what it took."""
    started = time.process_time()
    report = derive(folder / "parents", OPERATIONS, out=folder / "suite", seed=1)
    seconds = time.process_time() - started
    children = sum(facts["pairs"] for facts in report.sets)
    print(children, f"{seconds:.1f}", f"{peak_memory() / 2**30:.2f}")


def main() -> None:
    """Write in this process and measure in a fresh one, whose peak is its own."""
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]))
        return
    given = [int(each) for each in sys.argv[1:]]
    contexts, tokens = given + [10_000, 500][len(given) :]
    with tempfile.TemporaryDirectory() as folder:
        write_parents(Path(folder), contexts, tokens)
        subprocess.run([sys.executable, __file__, "--measure", folder], check=True)


if __name__ == "__main__":
    main()
