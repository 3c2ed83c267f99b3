"""Pairs as a preference dataset for TRL: prompt, chosen, rejected.

The format is TRL's standard one with an explicit prompt
(https://huggingface.co/docs/trl/dataset_formats). TRL reads a prompt and its completion separately
or joined without a separator, so the separator is at the start of the completion, where tokenizers
expect it: "The sky is", " blue.". Files are Parquet, because it states that texts are texts (JSON
readers turn some into dates). Their layout lets `datasets.load_dataset(FOLDER)`, and so
`trl dpo --dataset_name FOLDER`, find the splits by name.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from nnd.cards import escape
from nnd.converters.export.notice import source_notice
from nnd.converters.export.prompt_rendering import PromptRendering, render_pairs
from nnd.converters.export.safe_names import distinct_names
from nnd.converters.folder import write_parquet
from nnd.schemas import DISTINCT

_EXAMPLE = ["split", "prompt", "chosen", "rejected"]

_TESTED = (
    "a model that is trained on these examples can no longer be tested on these pairs; hold some "
    "contexts out with --split, and train on `train` alone"
)


def write_trl(
    pairs: pl.DataFrame, folder: Path, *, manifest: Mapping[str, Any], rendering: PromptRendering
) -> tuple[int, list[str]]:
    """Write a preference dataset into a new folder; return its number of examples, and remarks.

    There is a Parquet file per split under data/, and a README.md.
    """
    examples = _examples(render_pairs(pairs, rendering), rendering.separator)
    splits = examples["split"].unique(maintain_order=True).to_list()
    (folder / "data").mkdir(parents=True)
    for split, name in zip(splits, distinct_names(splits), strict=True):
        rows = examples.filter(pl.col("split") == split).drop("split")
        write_parquet(rows, folder / "data" / f"{name}-00000-of-00001.parquet")
    notes = _notes(pairs.height, examples)
    (folder / "README.md").write_text(_readme(manifest, notes), encoding="utf-8")
    return examples.height, notes


def _examples(pairs: pl.DataFrame, separator: str) -> pl.DataFrame:
    """Return distinct preferences: for training, only the texts matter."""
    return (
        pairs.with_columns(
            prompt=pl.col("context"),
            chosen=separator + pl.col("candidate_high"),
            rejected=separator + pl.col("candidate_low"),
        )
        .group_by(_EXAMPLE, maintain_order=True)
        .agg(
            pl.col("pair_id", "source", "language").first(),
            aspects=pl.col("aspect").unique(maintain_order=True),
            error_categories=pl.col("error_category").unique(maintain_order=True),
            tests=pl.struct(DISTINCT).n_unique(),
        )
    )


def _notes(n_pairs: int, examples: pl.DataFrame) -> list[str]:
    turned = examples.rename({"chosen": "rejected", "rejected": "chosen"})
    torn = examples.join(turned, on=_EXAMPLE, how="semi").height
    notes = [_TESTED]
    if n_pairs > examples.height:
        notes.append(
            f"{n_pairs} pairs make {examples.height} examples: pairs of the same texts are merged, "
            "with all their aspects and error_categories, and the pair_id of the first; for a pass "
            "rate, weight them by `tests`"
        )
    if torn:
        notes.append(
            "examples that prefer what another example rejects, under another aspect or by other "
            f"annotators: {torn}; choose some aspects, or leave these examples out"
        )
    return notes


def _readme(manifest: Mapping[str, Any], notes: list[str]) -> str:
    listed = "\n".join(f"- {note[0].upper()}{note[1:]}." for note in notes)
    return f"""\
---
tags:
- trl
- preference
---

# {escape(manifest["source"]["pretty_name"])} as preferences

Near-negative pairs in TRL's preference format, with an explicit prompt. Of two texts for one
`prompt`, people preferred `chosen`; what is wrong with `rejected` is in `error_categories`.

```python
datasets.load_dataset("PATH_OF_THIS_FOLDER")
```

{listed}

{source_notice(manifest)}"""
