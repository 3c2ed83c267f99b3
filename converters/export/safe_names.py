"""Names for files, splits and tasks, made from arbitrary texts."""

import re
from collections.abc import Iterable

_LONGEST = 200  # bytes: file systems allow 255, and suffixes are added


def distinct_names(texts: Iterable[str]) -> list[str]:
    """Return a distinct name of letters, digits and underscores for each text.

    A text that is such a name is kept, unless an earlier text has it: `a/b` becomes `a_b`, and a
    second `a_b` becomes `a_b_2`. Names that differ by letter case only count as the same, since
    some file systems cannot distinguish them.
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
