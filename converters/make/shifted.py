"""Sets of a suite that are chosen by sample, keyword or metadata."""

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from nnd.converters.make.shifts import sample, stratified, with_keywords, with_metadata
from nnd.converters.make.suite_folder import SuiteSet, set_facts
from nnd.schemas import NNDError

SHIFTS: Mapping[str, tuple[str, ...]] = {
    "sample": ("mix", "seed"),
    "keywords": (),
    "metadata": ("values", "from", "before"),
}
"""Key that chooses pairs → further keys that it allows."""


def shift_set(pairs: pl.DataFrame, entry: Mapping[str, Any], *, seed: int = 0) -> SuiteSet:
    """Return the set that an entry of a definition describes.

    Args:
        pairs: The human pairs, rows of the pair schema.
        entry: With `sample`, the number of contexts, perhaps in a `mix` ({topic: {sport: 0.5,
            politics: 0.5}}); with `keywords`, a list of words; or with `metadata`, the name of a
            fact, and `values`, `from` or `before` (the last two a span of dates or numbers). It may
            have a `name` and a `note`.
        seed: Seed of the draw, where the entry has none.

    Raises:
        NNDError: If the set has no pairs, or the entry has no key that chooses pairs.
    """
    kind = next((kind for kind in SHIFTS if kind in entry), None)
    if kind is None:
        raise NNDError(f"{dict(entry)} chooses no pairs; write {', '.join(SHIFTS)}")
    parameters = {key: entry[key] for key in (kind, *SHIFTS[kind]) if key in entry}
    drawn_with = parameters.pop("seed", seed) if kind == "sample" else None
    chosen = _chosen(pairs, kind, parameters, drawn_with or 0)
    if chosen.is_empty():
        stated = ", ".join(f"{key}: {value}" for key, value in parameters.items())
        raise NNDError(f"the set has no pairs ({stated})")
    facts = set_facts(
        entry.get("name") or _name(kind, parameters),
        "shift",
        kind,
        chosen,
        parameters=_json_values(parameters),
        seed=drawn_with,
        note=entry.get("note"),
    )
    return SuiteSet(facts, chosen)


def _chosen(
    pairs: pl.DataFrame, kind: str, parameters: Mapping[str, Any], seed: int
) -> pl.DataFrame:
    if kind == "keywords":
        return with_keywords(pairs, parameters["keywords"])
    if kind == "metadata":
        return with_metadata(
            pairs,
            parameters["metadata"],
            values=[str(value) for value in parameters.get("values", ())],
            since=_text(parameters.get("from")),
            before=_text(parameters.get("before")),
        )
    mix: Mapping[str, Mapping[str, float]] = parameters.get("mix", {})
    if not mix:
        return sample(pairs, parameters["sample"], seed=seed)
    if len(mix) > 1:
        raise NNDError(f"the mix is of {' and '.join(mix)}; mix one fact")
    ((by, shares),) = mix.items()
    return stratified(pairs, parameters["sample"], by, shares, seed=seed)


def _text(value: object) -> str | None:
    """Return a bound as text: YAML reads 2020-03-01 as a date."""
    return None if value is None else str(value)


def _json_values(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as values of JSON."""
    bounds = {key: str(parameters[key]) for key in ("from", "before") if key in parameters}
    return {**parameters, **bounds}


def _name(kind: str, parameters: Mapping[str, Any]) -> str:
    """Return the default name of a set: its kind and first parameters."""
    if kind == "sample":
        words = [parameters["sample"], *parameters.get("mix", ())]
    elif kind == "keywords":
        words = parameters["keywords"]
    else:
        words = [parameters["metadata"], *parameters.get("values", ())]
        words += [value for key, value in parameters.items() if key in ("from", "before")]
    return re.sub("[^a-z0-9._]+", "-", f"{kind}-{'-'.join(map(str, words))}".lower()).strip("-")
