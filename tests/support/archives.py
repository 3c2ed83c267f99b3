"""How archives that must not be read are refused."""

from collections.abc import Callable
from pathlib import Path

from support.refusals import refusal


def refused_archive(read: Callable[[Path], object], path: Path, code: str) -> str:
    """What is wrong, after checking that nothing was written beside the archive or above it."""
    before = sorted(path.parent.parent.rglob("*"))
    with refusal(code, path.name) as caught:
        read(path)
    assert sorted(path.parent.parent.rglob("*")) == before
    assert str(caught.value).isprintable()
    return caught.value.what
