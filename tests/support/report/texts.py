"""Runs whose texts try a report: hostile ones in every field, and very many."""

import hashlib
import itertools
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from support.report.runs import Pretended, write_run

HOSTILE = (
    "<script>alert(1)</script></style></script></title></textarea><!--",
    "\u202eright to left\u2066 \u200f שלום",
    "x" * 100_000,
    "👩‍👧 🏳️‍🌈 e\u0301",
    "nul \x00 bell \x07 escape \x1b[31m line\nbreak\ttab \u2028",
    "'\" onload='alert(1)' {{ 7 * 7 }} {% raw %} $x_{1}$ \\frac ]]> &lt;b&gt; &#60;",
    '<img src="https://example.invalid/seen.png" onerror="fetch(`//example.invalid`)">',
)


def hostile_pairs() -> pl.DataFrame:
    """Every hostile text in every field that a report shows."""
    n = 4 * len(HOSTILE)
    # NUL is refused in texts of pairs.
    hostile = [text.replace("\0", "") for text in HOSTILE]
    texts = list(itertools.islice(itertools.cycle(hostile), n))
    unlike = ("pair_id", "context", "candidate_high", "candidate_low", "context_id")
    alike = ("error_category", "error_group", "aspect", "category", "split", "system_low")
    return pl.DataFrame(
        {name: [f"{text}{i}" for i, text in enumerate(texts)] for name in unlike}
        | {"candidate_low": [f"{text}{i} low" for i, text in enumerate(texts)]}
        | dict.fromkeys(alike, texts)
    )


def hostile_scores() -> pl.DataFrame:
    """Human scores of systems that are called so."""
    return pl.DataFrame(
        [(f"{text}!", None, text, "overall", 0.2 * at) for at, text in enumerate(HOSTILE)],
        ["system", "model_id", "aspect", "category", "score"],
        orient="row",
        schema_overrides={"model_id": pl.String},
    )


def hostile_run(folder: Path, names: Sequence[str] = HOSTILE) -> Path:
    """Models that are called so, on those pairs."""
    models = [Pretended(text, {"": 0.7}, 10 ** (7 + at)) for at, text in enumerate(names)]
    return write_run(folder, hostile_pairs(), models)


def many_pairs(n: int) -> pl.DataFrame:
    """Pairs of random words, which hardly compress: nine a context, in twelve categories."""
    words = [hashlib.sha256(str(i).encode()).hexdigest()[: 3 + i % 7] for i in range(20_000)]

    def text(seed: int, length: int) -> str:
        return " ".join(words[(seed * 7919 + place * 104_729) % 20_000] for place in range(length))

    return pl.DataFrame(
        {
            "pair_id": [f"{i:016x}" for i in range(n)],
            "context": [text(i // 9, 120) for i in range(n)],
            "candidate_high": [text(2 * i + 1, 25) for i in range(n)],
            "candidate_low": [text(2 * i + 2, 25) for i in range(n)],
            "error_category": [f"category {i % 12}" for i in range(n)],
        }
    )
