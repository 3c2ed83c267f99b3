"""The key of all tests beside those of categories, which no name of a category can take.

Numbers by category stand under the name of the category, and those of all tests under `overall`. A
category of that name, which people often give to an aspect, has its name in quotes as its key; so
does a name that is `overall` within quotes already, so that no two categories share a key.
"""

from collections.abc import Collection
from typing import Final

OVERALL: Final = "overall"


def category_key(name: str, taken: Collection[str] = (OVERALL,)) -> str:
    """Return the key of a category, which is none of those that are taken."""
    return f'"{name}"' if name.strip('"') in taken else name


def category_of(key: str) -> str | None:
    """Return the category with a key, or None for OVERALL."""
    if key == OVERALL:
        return None
    return key[1:-1] if key.strip('"') == OVERALL else key
