"""Definitions of suites: YAML files, built in or written by users (`suite.schema.json`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nnd.converters.make.shifts import SHIFTS
from nnd.schemas import SchemaError, check_document, did_you_mean, read_yaml

_BUILT_IN = Path(__file__).parent / "definitions"

KINDS: Mapping[str, Sequence[str]] = {
    "op": ("on", "variants", "seed", "negatives", "aspect"),
    "by": ("value",),
    "where": (),
    **SHIFTS,
    "file": (),
}
"""Key that states the kind of a set → further keys that it allows, beside name and note."""

_NEEDS = {"aspect": "negatives", "by": "value", "where": "name"}
"""Key → the key that must stand beside it."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition of a suite, the file that it is in, and the name of the source that it is for.

    The seed is that of sets that state none. Each set has its kind, a key of KINDS, and its entry.
    """

    path: Path
    source: str
    seed: int
    sets: tuple[tuple[str, Mapping[str, Any]], ...]


def built_in_definitions() -> list[str]:
    """Return the names of the built-in definitions."""
    return sorted(path.stem for path in _BUILT_IN.glob("*.yaml"))


def read_definition(definition: str | Path) -> Definition:
    """Read a definition from a file, or a built-in one by name."""
    path = _find(definition)
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise SchemaError(
            "suite.definition", "is not a mapping", path, "write `source:` and `sets:`"
        )
    for problem in check_document("suite", content):
        raise problem.error(SchemaError, "suite.definition", path)
    sets = [
        (_kind(entry, f"{path}: set {number}"), entry)
        for number, entry in enumerate(content["sets"], start=1)
    ]
    return Definition(path, content["source"], content.get("seed", 0), tuple(sets))


def _find(definition: str | Path) -> Path:
    path = Path(definition)
    if path.is_file():
        return path
    built_in = built_in_definitions()
    if str(definition) in built_in:
        return _BUILT_IN / f"{definition}.yaml"
    raise SchemaError(
        "name.unknown",
        f"neither a file nor a built-in definition{did_you_mean(str(definition), built_in)}",
        definition,
        f"built in: {', '.join(built_in)}",
    )


def _kind(entry: Mapping[str, Any], where: str) -> str:
    """Return the kind of an entry with keys that fit together."""
    kinds = [kind for kind in KINDS if kind in entry]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none of them"
        raise SchemaError(
            "suite.definition", f"has {found}", where, f"write exactly one of {', '.join(KINDS)}"
        )
    (kind,) = kinds
    known = ("name", "note", kind, *KINDS[kind])
    strange = [key for key in entry if key not in known]
    if strange:
        raise SchemaError(
            "key.unknown",
            f"{strange[0]} cannot be combined with {kind}",
            where,
            f"known: {', '.join(known)}",
        )
    if "negatives" in entry and "on" in entry:
        raise SchemaError("option.conflict", "`on` cannot be combined with `negatives`", where)
    for key, needed in _NEEDS.items():
        if key in entry and needed not in entry:
            raise SchemaError("option.needs-another", f"`{key}` needs `{needed}`", where)
    return kind
