"""Pairs of a right text and the same text made wrong: negatives."""

from collections import Counter
from collections.abc import Mapping
from itertools import product
from typing import Any

import polars as pl

from nnd.converters.make.draws import random_of
from nnd.converters.make.originals import GoodTexts
from nnd.converters.make.suite_folder import OUTCOMES, SuiteSet, set_facts
from nnd.converters.make.text_operations.falsification import Falsification, Refusal, Statement
from nnd.converters.make.text_operations.operation import FailedChangeError
from nnd.converters.pairs import pair_ids
from nnd.schemas import NNDError, counts_in_words, fold, polars_schema

_PAIR = polars_schema("pair")


def make_negatives(
    texts: pl.DataFrame,
    falsification: Falsification,
    *,
    which: GoodTexts,
    seed: int,
    variants: int = 1,
    name: str | None = None,
    note: str | None = None,
) -> SuiteSet:
    """Return pairs of each right text and the same text falsified.

    Args:
        texts: The right texts (`good_texts`).
        falsification: The change that makes them wrong.
        which: The kind of right texts.
        seed: Seed of random draws.
        variants: Number of variants of each text; repeated texts are dropped.
        name: Name of the set; None: that of the falsification.
        note: Remark on the set.

    Raises:
        NNDError: If the falsification fails or makes no pair.
    """
    name = name or falsification.name
    made = variants if falsification.is_random else 1
    counts, refusals = dict.fromkeys(OUTCOMES, 0), Counter[str]()
    rows: list[dict[str, Any]] = []
    for row, variant in product(texts.iter_rows(named=True), range(1, made + 1)):
        wrong = _falsified(row, falsification, seed, variant)
        if isinstance(wrong, Refusal):
            refusals[wrong.reason] += 1
        elif wrong == row["candidate_high"]:
            counts["unchanged"] += 1
        else:
            low_id = f"{row['high_id']}~{name}.{variant}"
            rows.append({**row, "candidate_low": wrong, "low_id": low_id})
    pairs = _distinct(pl.DataFrame(rows, _PAIR, orient="row"), falsification.name)
    counts["changed"] = pairs.height
    counts["dropped"] = len(rows) - pairs.height
    counts["rejected"] = refusals.total()
    if pairs.is_empty():
        others = {each: counts[each] for each in ("unchanged", "dropped") if counts[each]}
        why = counts_in_words({**dict(refusals.most_common()), **others})
        raise NNDError(f'"{name}" makes no pair: {why}; leave the operation out')
    facts = set_facts(
        name,
        "negatives",
        falsification.name,
        pairs,
        parameters={**falsification.parameters, "of": which, "aspect": pairs["aspect"][0]},
        seed=seed if falsification.is_random else None,
        variants=made,
        counts=counts,
        refusals=dict(refusals.most_common()),
        note=note,
    )
    return SuiteSet(facts, pairs)


def _falsified(
    row: Mapping[str, Any], falsification: Falsification, seed: int, variant: int
) -> str | Refusal:
    split, name, text = row["split"], row["high_id"], row["candidate_high"]
    statement = Statement(split, row["context_id"], row["context"], name, text)
    try:
        wrong = falsification.falsify(
            statement, random_of(seed, split, name, falsification.name, variant)
        )
    except FailedChangeError as error:
        raise NNDError(f'{error}, for "{name}" of split {split}; correct the function') from error
    if isinstance(wrong, str) and not wrong.strip():
        return Refusal("nothing is left of the text")
    return wrong


def _distinct(rows: pl.DataFrame, operation: str) -> pl.DataFrame:
    """Return the pairs whose texts differ visibly, with distinct wrong texts for each right one."""
    high, low = (fold(pl.col(f"candidate_{side}")) for side in ("high", "low"))
    pairs = (
        rows.filter(high != low)
        .unique(["split", "high_id", "candidate_low"], keep="first", maintain_order=True)
        .with_columns(error_category=pl.lit(operation), origin=pl.lit(f"synthetic:{operation}"))
    )
    return pairs.with_columns(pair_id=pair_ids(pairs)).select(_PAIR.names())
