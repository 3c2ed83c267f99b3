"""Table 2 of the paper, and how to write it as a file for `nnd agree`."""

from pathlib import Path

import polars as pl

# Laban, Wu, Liu, Xiong, "Near-Negative Distinction", EMNLP 2022 (arXiv 2205.06871), Table 2:
# pass rates on Quiz Design in per cent: overall, disfluent, off target, wrong context. In the
# order of the models in the authors' notebook, on which the gap correlation of Table 1 depends.
TABLE_2 = {
    "Distil-GPT2": ("dgpt2_sup", 44.9, 52.7, 37.0, 46.0),
    "GPT2-base": ("gpt2b_sup", 52.3, 60.3, 49.7, 49.3),
    "GPT2-med": ("gpt2m_sup", 60.8, 63.3, 64.5, 56.1),
    "BART-Base": ("bartb_sup", 59.6, 60.5, 64.5, 55.0),
    "BART-Large": ("bartl_sup", 64.2, 63.3, 70.8, 59.4),
    "ProphetNet": ("prophetnet", 67.7, 58.1, 79.8, 64.1),
    "MixQG-L": ("mixqg", 70.9, 66.9, 80.9, 65.3),
}
CATEGORIES = ("overall", "disfluent", "off_target", "wrong_context")
SYSTEMS = {model: row[0] for model, row in TABLE_2.items()}


def write_table(path: Path, models: list[str]) -> Path:
    """Write the rates of some models, in their order, as fractions of 1."""
    rows = [
        (model, category, percent / 100)
        for model in models
        for category, percent in zip(CATEGORIES, TABLE_2[model][1:], strict=True)
    ]
    pl.DataFrame(rows, ["model", "category", "pass_rate"], orient="row").write_csv(path)
    return path
