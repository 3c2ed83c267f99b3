"""Names for files, splits and tasks, made of texts that may hold anything."""

import re
from collections.abc import Iterable

_LONGEST = 200  # bytes: a file system takes 255, and something will be added


def distinct_names(texts: Iterable[str]) -> list[str]:
    """Return a name per text, of letters, digits and underscores; no two are the same.

    A text that is such a name keeps it, unless an earlier one has it: `a/b` becomes `a_b`, and a
    second `a_b` becomes `a_b_2`. Names that differ by letter case only count as the same, since
    some file systems cannot tell them apart.
    """
    names: list[str] = []
    taken: set[str] = set()
    for text in texts:
        plain = re.sub(r"\W+", "_", text).encode()[:_LONGEST].decode(errors="ignore")
        name, number = plain, 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name.casefold())
        names.append(name)
    return names
