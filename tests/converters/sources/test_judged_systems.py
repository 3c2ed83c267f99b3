"""Sources whose judged systems can be loaded: published counts and rates of their systems."""

from pathlib import Path

import polars as pl

from nnd.converters.folder.conversion import Conversion, convert

FIB = {
    "distil-bart": (90, 500),
    "bart-large": (86, 500),
    "distil-pegasus": (63, 500),
    "pegasus": (62, 500),
    "bart-base": (37, 500),
    "bloom-560m": (21, 498),
    "t5-large": (17, 500),
    "reference": (500, 500),
}
"""Consistent and all summaries of each system (../shared/facts/fresh.md, H2b)."""

FIB_BENCHMARK = {
    "bart-base": 463,
    "bart-large": 414,
    "bloom-560m": 477,
    "distil-bart": 410,
    "distil-pegasus": 437,
    "pegasus": 438,
    "t5-large": 483,
}
"""Pairs of the reference and an inconsistent summary of each system, as they were published."""


def overall(conversion: Conversion) -> dict[str, tuple[float, int]]:
    """System → its score and the number of its candidates."""
    rows = conversion.human_scores.filter(category="overall")
    return {system: (score, n) for system, score, n in rows.select("system", "score", "n").rows()}


def test_fib(nnd_data: Path) -> None:
    conversion = convert("fib", origin=nnd_data / "fib")
    is_reference = pl.col("system_high") == "reference"
    benchmark, others = (conversion.pairs.filter(is_it) for is_it in (is_reference, ~is_reference))

    assert dict(benchmark["system_low"].value_counts().iter_rows()) == FIB_BENCHMARK
    assert (others.height, others["context_id"].n_unique()) == (1_633, 185)
    assert overall(conversion) == {system: (k / n, n) for system, (k, n) in FIB.items()}


def test_no_candidate_of_fib_begins_or_ends_with_a_space(nnd_data: Path) -> None:
    # 1,081 of the 3,498 summaries in the files begin with one, all those of bart-base.
    candidates = convert("fib", origin=nnd_data / "fib").annotations["candidate"]

    assert (candidates == candidates.str.strip_chars()).all()
