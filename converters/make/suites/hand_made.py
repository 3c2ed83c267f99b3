"""Sets whose pairs were changed by hand, from JSONL with one object per changed pair."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from nnd.converters.make.suite_folder import DerivedSet, make_set
from nnd.converters.pairs import pair_ids
from nnd.schemas import FileRecord, SchemaError, check_known, polars_schema, read_jsonl

_OPERATION = "by_hand"
_SIDES = ("high", "low")
_Text: TypeAlias = tuple[str, str]
"""Split and id."""
_NewId: TypeAlias = Callable[[str, str, object], str]
"""(split, id, text) → id of this new version of the text."""
_FIELDS = ("parent_id", "context", "inputs", "candidate_high", "candidate_low")


def hand_made_set(pairs: pl.DataFrame, path: Path, entry: Mapping[str, Any]) -> DerivedSet:
    """Return the children that a file describes.

    Each line is an object with `parent_id`, the pair_id of a human pair, and the changed texts
    (`context` with its `inputs`, `candidate_high`, `candidate_low`). The id of the k-th new version
    of a context or candidate is the old id with `~NAME.k`.
    """
    name = entry.get("name") or path.stem.lower()
    parents = {row["pair_id"]: row for row in pairs.iter_rows(named=True)}
    numbers = defaultdict[_Text, dict[object, int]](dict)

    def new_id(split: str, old: str, text: object) -> str:
        of_text = numbers[split, old]
        return f"{old}~{name}.{of_text.setdefault(text, len(of_text) + 1)}"

    rows = [_child(record, parents, new_id) for record in read_jsonl(path)]
    if not rows:
        raise SchemaError("file.empty", "the file holds no pairs", path)
    frame = pl.DataFrame(rows, polars_schema("pair"), orient="row")
    children = frame.with_columns(pair_id=pair_ids(frame))
    if children["pair_id"].is_duplicated().any():
        row = int(children["pair_id"].is_duplicated().arg_max() or 0)
        raise SchemaError("row.twice", "the same pair occurs twice", f"{path}:{row + 1}")
    return make_set(
        name,
        "perturbation",
        _OPERATION,
        children,
        parameters={"file": path.name},
        note=entry.get("note"),
    )


def _child(record: FileRecord, parents: Mapping[str, Any], new_id: _NewId) -> dict[str, Any]:
    check_known("key", record.fields, _FIELDS, record.where, code="key.unknown", family=SchemaError)
    parent = parents.get(record.text("parent_id"))
    if parent is None:
        raise SchemaError(
            "suite.hand-made",
            f"parent_id {record.text('parent_id')} is not a pair of the data",
            record.where,
        )
    changes = dict(_changes(record, parent, new_id))
    if not changes:
        raise SchemaError(
            "suite.hand-made", f"changes no text of {parent['pair_id']}", record.where
        )
    return {
        **parent,
        **changes,
        "origin": f"synthetic:{_OPERATION}",
        "parent_id": parent["pair_id"],
        "cluster": parent["cluster"] or parent["context_id"],
    }


def _changes(
    record: FileRecord, parent: Mapping[str, Any], new_id: _NewId
) -> Iterator[tuple[str, object]]:
    """Yield the columns that differ from the parent's."""
    split = parent["split"]
    context = record.optional_text("context")
    if context is not None and context != parent["context"]:
        if parent["inputs"] and "inputs" not in record.fields:
            parts = ", ".join(part["key"] for part in parent["inputs"])
            raise SchemaError(
                "suite.hand-made",
                "changes the context",
                record.where,
                f"give its inputs too ({parts})",
            )
        inputs = record.fields.get("inputs", {})
        entries = [(key, record.record("inputs").text(key)) for key in inputs]
        yield "context", context
        yield "inputs", [{"key": key, "value": text} for key, text in entries]
        yield "context_id", new_id(split, parent["context_id"], (context, *entries))
    for side in _SIDES:
        text = record.optional_text(f"candidate_{side}")
        if text is not None and text != parent[f"candidate_{side}"]:
            yield f"candidate_{side}", text
            yield f"{side}_id", new_id(split, parent[f"{side}_id"], text)
