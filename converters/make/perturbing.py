"""Pairs with changed texts: the children of human pairs."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from nnd.converters.make.distinct_texts import Texts, texts_of
from nnd.converters.make.draws import random_of
from nnd.converters.make.suite_folder import OUTCOMES, SuiteSet, set_facts
from nnd.converters.make.text_operations.operation import FailedChangeError, Operation
from nnd.converters.pairs import pair_ids
from nnd.schemas import NNDError, fold, polars_schema

_PAIR = polars_schema("pair")


class Changed(NamedTuple):
    """Texts after an operation.

    Attributes:
        texts: One for each original text.
        rejected: Positions of the texts that the operation rejected.
    """

    texts: Sequence[str]
    rejected: frozenset[int]


def check_variants(variants: int) -> None:
    """Check a number of variants.

    Raises:
        NNDError: If it is less than 1.
    """
    if variants < 1:
        raise NNDError(f"{variants} variants of each text; make at least 1")


def perturb(
    pairs: pl.DataFrame,
    operation: Operation,
    *,
    seed: int,
    variants: int = 1,
    name: str | None = None,
    note: str | None = None,
) -> SuiteSet:
    """Return the children of pairs under an operation.

    Args:
        pairs: The parents, rows of the pair schema.
        operation: The operation that changes their texts.
        seed: Seed of random draws.
        variants: Number of variants of each text; an operation without randomness makes one.
        name: Name of the set; None: the operation with its parameters.
        note: Remark on the set.

    Raises:
        NNDError: If the operation fails, or changes no pair.
    """
    check_variants(variants)
    name = name or operation.set_name
    made = variants if operation.is_random else 1
    texts = texts_of(pairs)
    frames, counts = list[pl.DataFrame](), dict.fromkeys(OUTCOMES, 0)
    for variant in range(1, made + 1):
        changed = _change(texts, operation, seed, variant)
        children, outcomes = _children(pairs, texts, changed, operation, f"~{name}.{variant}")
        frames.append(children)
        for outcome, n in outcomes.value_counts().iter_rows():
            counts[outcome] += n
    children = pl.concat(frames)
    if children.is_empty():
        summary = ", ".join(f"{n:,} {outcome}" for outcome, n in counts.items() if n)
        raise NNDError(f'"{name}" makes no pair ({summary}); leave the operation out')
    facts = set_facts(
        name,
        "perturbation",
        operation.name,
        children,
        parameters={**operation.parameters, "on": operation.on},
        seed=seed if operation.is_random else None,
        variants=made,
        counts=counts,
        note=note,
    )
    return SuiteSet(facts, children)


def _change(texts: Texts, operation: Operation, seed: int, variant: int) -> Changed:
    new, rejected = list(texts.texts), set[int]()
    for call in texts.calls(operation):
        old = [texts.texts[position] for position in call.positions]
        random = random_of(seed, call.split, call.name, operation.name, variant)
        try:
            found = operation.change(old, random)
        except FailedChangeError as error:
            raise NNDError(
                f'{error}, for "{call.name}" of split {call.split}; correct the function'
            ) from error
        if found is None or any(_is_blank(*both) for both in zip(old, found, strict=True)):
            rejected.update(call.positions)
            continue
        for position, text in zip(call.positions, found, strict=True):
            new[position] = text
    return Changed(new, frozenset(rejected))


def _is_blank(old: str, new: str) -> bool:
    """Say whether a text is blank."""
    return not new.strip() and bool(old.strip())


def _children(
    pairs: pl.DataFrame, texts: Texts, changed: Changed, operation: Operation, suffix: str
) -> tuple[pl.DataFrame, pl.Series]:
    """Return the children, and the outcome for each parent."""
    contexts = pl.DataFrame(_changed_contexts(texts, changed), _CONTEXT_COLUMNS, orient="row")
    candidates = pl.DataFrame(_changed_candidates(texts, changed), _CANDIDATE_COLUMNS, orient="row")
    context = contexts[texts.rows["context"]]
    high, low = (candidates[texts.rows[side]] for side in ("high", "low"))
    became_equal = _are_equal(high["candidate"], low["candidate"]) & ~_are_equal(
        pairs["candidate_high"], pairs["candidate_low"]
    )
    outcomes = pl.select(
        pl.when(context["rejected"] | high["rejected"] | low["rejected"])
        .then(pl.lit("rejected"))
        .when(~(context["changed"] | high["changed"] | low["changed"]))
        .then(pl.lit("unchanged"))
        .when(became_equal)
        .then(pl.lit("dropped"))
        .otherwise(pl.lit("changed"))
    ).to_series()
    children = pairs.with_columns(
        context["context"],
        context["inputs"],
        high["candidate"].alias("candidate_high"),
        low["candidate"].alias("candidate_low"),
        _renamed("context_id", context["changed"], suffix),
        _renamed("high_id", high["changed"], suffix),
        _renamed("low_id", low["changed"], suffix),
        origin=pl.lit(f"synthetic:{operation.name}"),
        parent_id=pl.col("pair_id"),
        cluster=pl.coalesce("cluster", "context_id"),
    ).filter(outcomes == "changed")
    return children.with_columns(pair_id=pair_ids(children)).select(_PAIR.names()), outcomes


def _renamed(column: str, changed: pl.Series, suffix: str) -> pl.Expr:
    name = pl.col(column)
    return pl.when(changed).then(name + suffix).otherwise(name).alias(column)


_STATE: dict[str, pl.DataType] = {"changed": pl.Boolean(), "rejected": pl.Boolean()}

_CONTEXT_COLUMNS = pl.Schema({"context": pl.String(), "inputs": _PAIR["inputs"], **_STATE})

_CANDIDATE_COLUMNS = pl.Schema({"candidate": pl.String(), **_STATE})


def _changed_contexts(texts: Texts, changed: Changed) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for context in texts.contexts:
        pieces = (changed.texts[at] if isinstance(at, int) else at for at in context.pieces)
        inputs = [{"key": key, "value": changed.texts[at]} for key, at in context.parts.items()]
        rows.append(("".join(pieces), inputs, *_state(context.positions, texts, changed)))
    return rows


def _changed_candidates(texts: Texts, changed: Changed) -> Iterator[tuple[object, ...]]:
    for candidate in texts.candidates:
        position = candidate.position
        yield (changed.texts[position], *_state([position], texts, changed))


def _state(positions: Sequence[int], texts: Texts, changed: Changed) -> tuple[bool, bool]:
    """Return whether any of these texts changed, and whether any was rejected."""
    return (
        any(texts.texts[at] != changed.texts[at] for at in positions),
        not changed.rejected.isdisjoint(positions),
    )


def _are_equal(one: pl.Series, other: pl.Series) -> pl.Series:
    """Say whether two candidates are the same text by the rule of `convert`."""
    return pl.select(fold(pl.lit(one)).eq(fold(pl.lit(other)))).to_series()
