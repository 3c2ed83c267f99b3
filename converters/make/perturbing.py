"""Pairs with changed texts: the children of human pairs."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

import polars as pl

from nnd.converters.make.distinct_texts import Texts, TextUnit, texts_of
from nnd.converters.make.suite_folder import OUTCOMES, DerivedSet, make_set
from nnd.converters.make.text_operations.operation import Operation, RefusalError
from nnd.converters.pairs import pair_ids
from nnd.schemas import have_equal_texts, polars_schema

_PAIR = polars_schema("pair")


def perturb(
    pairs: pl.DataFrame,
    operation: Operation,
    *,
    seed: int,
    variants: int = 1,
    name: str | None = None,
    note: str | None = None,
) -> DerivedSet:
    """Return the children of pairs under an operation."""
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
    return make_set(
        name,
        "perturbation",
        operation.name,
        pl.concat(frames),
        parameters={**operation.parameters, "on": operation.on},
        seed=seed if operation.is_random else None,
        variants=made,
        counts=counts,
        note=note,
    )


def _change(texts: Texts, operation: Operation, seed: int, variant: int) -> list[str | None]:
    """Return each text after an operation; None if it was rejected."""
    new: list[str | None] = [*texts.texts]
    for statement, positions in texts.calls(operation):
        changed: Sequence[str | None] = [None] * len(positions)
        with suppress(RefusalError):
            changed = operation.apply(statement, seed=seed, variant=variant)
        for position, text in zip(positions, changed, strict=True):
            new[position] = text
    return new


def _children(
    pairs: pl.DataFrame,
    texts: Texts,
    changed: Sequence[str | None],
    operation: Operation,
    suffix: str,
) -> tuple[pl.DataFrame, pl.Series]:
    """Return the children, and the outcome for each parent."""
    context = _rendered(texts.contexts, texts.texts, changed)[texts.rows["context"]]
    candidates = _rendered(texts.candidates, texts.texts, changed)
    high, low = (candidates[texts.rows[side]] for side in ("high", "low"))
    children = pairs.with_columns(
        context["inputs"],
        context=context["text"],
        candidate_high=high["text"],
        candidate_low=low["text"],
        origin=pl.lit(f"synthetic:{operation.name}"),
        parent_id=pl.col("pair_id"),
        cluster=pl.coalesce("cluster", "context_id"),
        **{
            name: pl.col(name) + pl.when(part["changed"]).then(pl.lit(suffix)).otherwise(pl.lit(""))
            for name, part in (("context_id", context), ("high_id", high), ("low_id", low))
        },
    )
    states = [part["changed"].cast(pl.Int8) for part in (context, high, low)]
    n_changed = states[0] + states[1] + states[2]
    became_equal = have_equal_texts(children) & ~have_equal_texts(pairs)
    outcomes = pl.select(
        pl.when(n_changed.is_null())
        .then(pl.lit("rejected"))
        .when(n_changed == 0)
        .then(pl.lit("unchanged"))
        .when(became_equal)
        .then(pl.lit("dropped"))
        .otherwise(pl.lit("changed"))
    ).to_series()
    children = children.filter(outcomes == "changed")
    return children.with_columns(pair_id=pair_ids(children)).select(_PAIR.names()), outcomes


def _rendered(
    units: Iterable[TextUnit], old: Sequence[str], new: Sequence[str | None]
) -> pl.DataFrame:
    """Return text, inputs, and whether any text changed; null if one was rejected."""
    rows = [
        (
            "".join((new[at] or "") if isinstance(at, int) else at for at in unit.pieces),
            [{"key": key, "value": new[at]} for key, at in unit.parts.items()],
            None
            if any(new[at] is None for at in unit.positions)
            else any(old[at] != new[at] for at in unit.positions),
        )
        for unit in units
    ]
    schema = {"text": pl.String(), "inputs": _PAIR["inputs"], "changed": pl.Boolean()}
    return pl.DataFrame(rows, schema, orient="row")
