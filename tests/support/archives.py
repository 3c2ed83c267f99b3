"""How archives that must not be read are refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nnd.schemas import SourceError


def refused_archive(read: Callable[[Path], object], path: Path) -> str:
    """The message, after checking that nothing was written beside the archive or above it."""
    before = sorted(path.parent.parent.rglob("*"))
    with pytest.raises(SourceError) as caught:
        read(path)
    assert sorted(path.parent.parent.rglob("*")) == before
    message = str(caught.value)
    assert message.isprintable()
    assert path.name in message
    return message
