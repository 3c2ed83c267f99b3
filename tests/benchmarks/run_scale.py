"""How the statistics of stored runs scale: `python tests/benchmarks/run_scale.py [rows [step …]]`.

Writes two invented runs of `nnd evaluate` over the same pairs, ten of each context, and works out
what commands say of them, every step in a fresh process; prints CPU seconds and peak memory.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from peak_memory import peak_memory

from nnd.metric.data import LIKELIHOODS, READING_SCHEMA, RESULT, read_pieces
from nnd.metric.data.run_folder import STORED
from nnd.metric.numbers import SLICE_NUMBERS, all_rates, compare, slice_runs, to_rate
from nnd.metric.show import report
from nnd.schemas import write_document

ROWS = 1_000_000
PAIRS_PER_CONTEXT = 10
RUNS = ("plover", "heron")

_CATEGORIES = ("Circumstance", "Missing Information", "Wrong Reference", "Negation")
_UNKNOWN = ("divisor_high", "divisor_low", "distinct", *READING_SCHEMA)
"""Columns without values: nothing here reads them."""
_ASPECTS = ("faithfulness", "fluency")
_ROWS_AT_ONCE = 1_000_000
_SIGNATURE = "nnd|v:0.2.0|model:{model}@0|data:made@0|protocol:native|ties:fail|n:{rows}"


def make_run(folder: Path, model: str, rows: int) -> None:
    """Write a run of one model; that of every model is over the same pairs."""
    folder.mkdir()
    schema = pl.DataFrame(schema=STORED).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    with pq.ParquetWriter(folder / LIKELIHOODS, schema, compression="zstd") as file:
        for start in range(0, rows, _ROWS_AT_ONCE):
            numbers = np.arange(start, min(start + _ROWS_AT_ONCE, rows))
            table = _scored(model, numbers).to_arrow(compat_level=pl.CompatLevel.oldest())
            file.write_table(table.cast(schema))
    signature = _SIGNATURE.format(model=model, rows=rows)
    result = {"results": [{"model": model, "signature": signature}]}
    write_document(folder, result, document=RESULT)


def _scored(model: str, numbers: npt.NDArray[np.int64]) -> pl.DataFrame:
    """Return some rows of a run; two rows in a row are one test under two categories."""
    n, contexts = len(numbers), numbers // PAIRS_PER_CONTEXT
    of_pairs = np.random.default_rng(int(numbers[0]))
    characters = of_pairs.integers(20, 200, (2, n))
    category, aspect = of_pairs.integers(4, size=n), of_pairs.integers(2, size=n)
    copied = of_pairs.random((2, n)).round(2)
    of_model = np.random.default_rng([int(numbers[0]), *model.encode()])
    likelihoods = of_model.normal(-3, 1, (4, n)).round(2)  # some of them tie
    pairs, ids = pl.Series(numbers), pl.Series(contexts)
    rows = pl.DataFrame(
        {
            "model": pl.repeat(model, n, eager=True),
            "pair_id": _hexadecimal(pairs.hash(seed=0)),
            "split": pl.repeat("test", n, eager=True),
            "context_id": _hexadecimal(ids.hash(seed=1)),
            "cluster": pl.repeat(None, n, dtype=pl.String, eager=True),
            "high_id": (pairs // 2 * 2).cast(pl.String),
            "low_id": (pairs // 2 * 2 + 1).cast(pl.String),
            "aspect": np.array(_ASPECTS)[aspect],
            "category": pl.repeat(None, n, dtype=pl.String, eager=True),
            "error_category": np.array(_CATEGORIES)[category],
            "error_group": np.array(["Content", "Discourse"])[category // 2],
            "origin": pl.repeat("human", n, eager=True),
            "ll_high": likelihoods[0] + 0.3,
            "ll_low": likelihoods[1],
            "tokens_high": characters[0] // 4,
            "tokens_low": characters[1] // 4,
            "end_tokens": pl.repeat(0, n, dtype=pl.Int64, eager=True),
            "truncated": pl.repeat(value=False, n=n, eager=True),
            "passed": likelihoods[0] + 0.3 > likelihoods[1],
            "tie": likelihoods[0] + 0.3 == likelihoods[1],
            "characters_high": characters[0],
            "characters_low": characters[1],
            "copied_high": copied[0],
            "copied_low": copied[1],
            "ll_alone_high": likelihoods[2],
            "ll_alone_low": likelihoods[3],
        },
        schema_overrides={name: dtype for name, dtype in STORED.items() if name not in _UNKNOWN},
    )
    unknown = {name: pl.lit(None, STORED[name]) for name in _UNKNOWN}
    return rows.with_columns(**unknown).select(STORED.names())


def _hexadecimal(numbers: pl.Series) -> pl.Series:
    """Return 64-bit numbers as sixteen digits each, the form of the ids that are digests."""
    octets = pa.py_buffer(numbers.to_numpy().tobytes())
    whole = pa.Array.from_buffers(pa.binary(8), len(numbers), [None, octets])
    return cast("pl.Series", pl.from_arrow(whole.cast(pa.binary()))).bin.encode("hex")


def _rate(runs: Path) -> str:
    found = all_rates(to_rate(read_pieces(runs / RUNS[0]), *SLICE_NUMBERS)).overall
    return f"{found.passes:,} of {found.n:,} tests passed"


def _slice(runs: Path) -> str:
    found = slice_runs(runs / RUNS[0], by="error_category,aspect")
    return found.headline()


def _compare(runs: Path) -> str:
    return compare([runs / name for name in RUNS]).headline()


def _report(runs: Path) -> str:
    return report(runs / RUNS[0], runs / "report.html").headline()


STEPS: Mapping[str, Callable[[Path], str]] = {
    "rates": _rate,
    "slice": _slice,
    "compare": _compare,
    "report": _report,
}


def measure(runs: Path, step: str) -> None:
    """Take a step in this process; print CPU seconds, peak GiB and what was found."""
    start = time.process_time()
    found = STEPS[step](runs)
    seconds, gib = time.process_time() - start, peak_memory() / 2**30
    print(f"{step:>8} {seconds:>8.1f} {gib:>9.2f}  {found}")


def main(rows: int, steps: list[str]) -> None:
    """Make the runs and take every step in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        for model in RUNS:
            make_run(Path(name, model), model, rows)
        print(f"{'step':>8} {'seconds':>8} {'GiB peak':>9}  {rows:,} pairs", flush=True)
        for step in steps:
            subprocess.run([sys.executable, __file__, "--here", name, step], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        measure(Path(sys.argv[2]), sys.argv[3])
    else:
        main(int((sys.argv[1:] or [str(ROWS)])[0]), sys.argv[2:] or list(STEPS))
