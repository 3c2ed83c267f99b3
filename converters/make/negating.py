"""Pairs of a right text and the same text made wrong: negatives."""

from collections import Counter
from itertools import product
from typing import Any

import polars as pl

from nnd.converters.make.originals import GoodTexts
from nnd.converters.make.suite_folder import OUTCOMES, DerivedSet, make_set
from nnd.converters.make.text_operations.operation import Operation, RefusalError, Statement
from nnd.converters.pairs import pair_ids
from nnd.schemas import fold, polars_schema

_PAIR = polars_schema("pair")


def make_negatives(
    texts: pl.DataFrame,
    operation: Operation,
    *,
    which: GoodTexts,
    seed: int,
    variants: int = 1,
    name: str | None = None,
    note: str | None = None,
) -> DerivedSet:
    """Return pairs of each right text (`good_texts`) and the same text made wrong.

    Repeated texts are dropped; further arguments and errors are those of `perturb`.
    """
    name = name or operation.set_name
    made = variants if operation.is_random else 1
    counts, refusals = dict.fromkeys(OUTCOMES, 0), Counter[str]()
    rows: list[dict[str, Any]] = []
    for row, variant in product(texts.iter_rows(named=True), range(1, made + 1)):
        right = row["candidate_high"]
        key = (row["split"], row["high_id"], [right], row["context_id"], row["context"])
        try:
            (wrong,) = operation.apply(Statement(*key), seed=seed, variant=variant)
        except RefusalError as refusal:
            refusals[str(refusal)] += 1
            continue
        if wrong == right:
            counts["unchanged"] += 1
        else:
            low_id = f"{row['high_id']}~{name}.{variant}"
            rows.append({**row, "candidate_low": wrong, "low_id": low_id})
    high, low = (fold(pl.col(f"candidate_{side}")) for side in ("high", "low"))
    pairs = (
        pl.DataFrame(rows, _PAIR, orient="row")
        .filter(high != low)
        .unique(["split", "high_id", "candidate_low"], keep="first", maintain_order=True)
        .with_columns(
            error_category=pl.lit(operation.name), origin=pl.lit(f"synthetic:{operation.name}")
        )
    )
    pairs = pairs.with_columns(pair_id=pair_ids(pairs)).select(_PAIR.names())
    counts["changed"] = pairs.height
    counts["dropped"] = len(rows) - pairs.height
    counts["rejected"] = refusals.total()
    return make_set(
        name,
        "negatives",
        operation.name,
        pairs,
        parameters={**operation.parameters, "of": which, "aspect": texts["aspect"][0]},
        seed=seed if operation.is_random else None,
        variants=made,
        counts=counts,
        refusals=dict(refusals.most_common()),
        note=note,
    )
