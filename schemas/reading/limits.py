"""How much of a file is read: a limit for each thing that a stranger's file can make large.

Each limit can be set by an environment variable of its name, so that a large file that is trusted
is read: `NND_MAX_TEXT=100M nnd evaluate …`. A refusal names both.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from nnd.schemas.words.errors import NNDError, SourceError

_SIZE = re.compile(r"([0-9]{1,15})([KMGT]?)")
_POWERS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}

_MEMORY_SHARE = 4
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class SizeLimit(NamedTuple):
    """A limit: what it counts, the environment variable that sets it, and its usual value.

    A value of 0 means a quarter of the memory that this process may take.
    """

    counted: str
    variable: str
    usual: int

    @property
    def most(self) -> int:
        """The value that is in force; an NNDError if the variable does not hold a size."""
        text = os.environ.get(self.variable, "").strip()
        found = _SIZE.fullmatch(text.upper())
        if found:
            return int(found[1]) << _POWERS[found[2]]
        if text:
            raise NNDError(
                "option.bad-value", f'"{text}" is not a size', self.variable, "write e.g. 500M"
            )
        return self.usual or _memory() // _MEMORY_SHARE

    def __str__(self) -> str:
        return f"{self.most:,} {self.counted} ({self.variable})"

    def error(self, where: object, what: str = "") -> SourceError:
        """Return the error for a file that is beyond the limit; `what` is beyond it."""
        return SourceError(
            "file.too-large",
            f"{what or 'it has'} more than {self.most:,} {self.counted}",
            where,
            f"check that this is the right file; if it is, set {self.variable} to more",
        )


UNPACKED = SizeLimit("bytes", "NND_MAX_UNPACKED", 0)
"""Of one file of rows, unpacked: of the cells of Parquet, where a million rows may refer to a text
that the file holds once, and of what gzip holds."""

ARCHIVE = SizeLimit("bytes", "NND_MAX_ARCHIVE", 256 * 2**20)
"""Of all members of a zip, .tar.gz or .xlsx together, unpacked."""

LINE = SizeLimit("bytes", "NND_MAX_LINE", 64 * 2**20)
"""Of one line; a book has one or two million."""

TEXT = SizeLimit("characters", "NND_MAX_TEXT", 16 * 2**20)
"""Of one text or cell."""

COLUMNS = SizeLimit("columns", "NND_MAX_COLUMNS", 16_384)
"""Of a table, or keys of an object in JSON Lines; a sheet has no more."""

YAML_VALUES = SizeLimit("values", "NND_MAX_YAML", 100_000)
"""Of a YAML file, where an alias counts as all its values."""

METRICS = SizeLimit("metrics", "NND_MAX_METRICS", 100)
"""Of a table of scores, where every metric is compared with every other."""

LIMITS = (UNPACKED, ARCHIVE, LINE, TEXT, COLUMNS, YAML_VALUES, METRICS)


def _memory() -> int:
    """Return the bytes of memory that this process may take, as far as the system says."""
    found = [2**34]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in map(Path, _CGROUPS):
        try:
            found += [int(path.read_text())] if path.is_file() else []
        except (OSError, ValueError):  # "max"
            continue
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return min(found)
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return min([*found, soft] if soft != resource.RLIM_INFINITY else found)
