"""Sources that are nothing but tables."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

TABLE: dict[str, Any] = {
    "columns": {"context_id": "key", "candidate": "answer", "system": "by"},
    "inputs": {"question": "question"},
    "labels": {"answer": "verdict"},
}


@pytest.fixture
def table_source(make_source: Callable[..., Path]) -> Callable[..., Path]:
    """`table_source(raw, name="toy.csv", quality=…, **table)`: a source with no convert.py."""

    def make(
        raw: bytes,
        name: str = "toy.csv",
        quality: Mapping[str, Any] | None = None,
        aspects: Mapping[str, str] | None = None,
        **table: Any,
    ) -> Path:
        section = {key: value for key, value in (TABLE | table).items() if value is not None}
        facts: dict[str, Any] = {"table": section}
        facts |= {"quality": quality} if quality else {}
        facts |= {"aspects": aspects} if aspects else {}
        file = {"name": name, "url": None, "sha256": None, "bytes": None}
        folder = make_source(files=[file], **facts)
        (folder / "convert.py").unlink()
        (folder / name).write_bytes(raw)
        return folder

    return make


@pytest.fixture
def shaped_source(make_source: Callable[..., Path]) -> Callable[..., Path]:
    """`shaped_source({"a.csv": raw}, table, **facts)`: a source with that section, or sections."""

    def make(
        files: Mapping[str, bytes], table: Mapping[str, Any] | list[Any], **facts: Any
    ) -> Path:
        declared = [{"name": name, "url": None, "sha256": None, "bytes": None} for name in files]
        section = {"tables": table} if isinstance(table, list) else {"table": table}
        known = {"files": declared, "expected": None, "systems": {"*": None}}
        folder = make_source(**known, **section, **facts)
        (folder / "convert.py").unlink()
        for name, raw in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(raw)
        return folder

    return make
