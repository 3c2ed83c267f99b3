"""Pairs with changed texts: the children of human pairs."""

from collections import Counter
from collections.abc import Iterable, Sequence

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
    refusals = Counter[str]()
    for variant in range(1, made + 1):
        changed = _change(texts, operation, seed, variant)
        children, outcomes = _children(pairs, texts, changed, operation, f"~{name}.{variant}")
        frames.append(children)
        for outcome, n in outcomes["outcome"].value_counts().iter_rows():
            counts[outcome] += n
        refusals.update(outcomes["refusal"].drop_nulls())
    return make_set(
        name,
        "perturbation",
        operation.name,
        pl.concat(frames),
        parameters={**operation.parameters, "on": operation.on},
        seed=seed if operation.is_random else None,
        variants=made,
        counts=counts,
        refusals=dict(refusals.most_common()) or None,
        note=note,
    )


def _change(
    texts: Texts, operation: Operation, seed: int, variant: int
) -> list[str | RefusalError]:
    """Return each text after an operation, or why it was rejected."""
    new: list[str | RefusalError] = [*texts.texts]
    for statement, positions in texts.calls(operation):
        changed: Sequence[str | RefusalError]
        try:
            changed = operation.apply(statement, seed=seed, variant=variant)
        except RefusalError as refusal:
            changed = [refusal] * len(positions)
        for position, text in zip(positions, changed, strict=True):
            new[position] = text
    return new


def _children(
    pairs: pl.DataFrame,
    texts: Texts,
    changed: Sequence[str | RefusalError],
    operation: Operation,
    suffix: str,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the children; and for each parent its outcome, and why it was rejected."""
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
        outcome=pl.when(n_changed.is_null())
        .then(pl.lit("rejected"))
        .when(n_changed == 0)
        .then(pl.lit("unchanged"))
        .when(became_equal)
        .then(pl.lit("dropped"))
        .otherwise(pl.lit("changed")),
        refusal=pl.coalesce(*(part["refusal"] for part in (context, high, low))),
    )
    children = children.filter(outcomes["outcome"] == "changed")
    return children.with_columns(pair_id=pair_ids(children)).select(_PAIR.names()), outcomes


def _rendered(
    units: Iterable[TextUnit], old: Sequence[str], new: Sequence[str | RefusalError]
) -> pl.DataFrame:
    """Return text, inputs, whether any text changed, and why one was rejected, else null.

    Where one was rejected, only that is not null.
    """
    rows: list[tuple[object, ...]] = []
    for unit in units:
        refusals = (str(new[at]) for at in unit.positions if isinstance(new[at], RefusalError))
        if (refusal := next(refusals, None)) is not None:
            rows.append((None, None, None, refusal))
            continue
        text = "".join(str(new[at]) if isinstance(at, int) else at for at in unit.pieces)
        inputs = [{"key": key, "value": new[at]} for key, at in unit.parts.items()]
        rows.append((text, inputs, any(old[at] != new[at] for at in unit.positions), None))
    schema = {
        "text": pl.String(),
        "inputs": _PAIR["inputs"],
        "changed": pl.Boolean(),
        "refusal": pl.String(),
    }
    return pl.DataFrame(rows, schema, orient="row")
