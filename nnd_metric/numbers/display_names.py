"""Readable names: short, and without invisible characters."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from nnd.schemas import excerpt

_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)

LONGEST = 100
"""Characters; columns do not hold more, and measuring takes time."""


def visible(text: str) -> str:
    """Return a text with a dot for each control character, break or change of direction."""
    return _CONTROLS.sub("·", text)


def spoken(value: str) -> str:
    """Return a category in plain words: wrong_fact becomes wrong fact."""
    return brief(visible(value.replace("_", " ")))


def brief(text: str) -> str:
    """Return a text, shortened to its beginning and end if it is very long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 21]}…{text[-20:]}"


def whole_name(model: str) -> str:
    """Return the full name, which is shown when the pointer is on a short one."""
    return visible(excerpt(model, 500))


def short_names(models: Sequence[str]) -> list[str]:
    """Return names of models without organisation or folder, if they remain distinct."""
    whole = [brief(visible(model)) for model in models]
    last = [PurePosixPath(name).name or name for name in whole]
    return [
        short if last.count(short) == 1 else name for short, name in zip(last, whole, strict=True)
    ]
