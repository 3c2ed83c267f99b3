"""Options of a run one by one, as `compute` takes them, made into those of `evaluate`."""

from dataclasses import fields
from typing import Any

from nnd.metric.likelihood import Loading, Scoring


def gathered(**options: Any) -> dict[str, Any]:
    """Return the arguments of `evaluate` that say the same; others stay as they are."""
    kinds = {"scoring": Scoring, "loading": Loading}
    found: dict[str, Any] = {}
    for argument, kind in kinds.items():
        names = {field.name for field in fields(kind)} & options.keys()
        found[argument] = kind(**{name: options.pop(name) for name in names})
    return {**found, **options}
