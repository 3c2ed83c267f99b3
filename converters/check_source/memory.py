"""How much memory this process has held at its most."""

import re
import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Return the most memory that this process has held so far, in bytes.

    Linux states it in `/proc`: there, getrusage would count what the process that started this
    one held before it did (`exec` keeps the parent's mark). macOS counts in bytes, others in KiB.
    """
    status = Path("/proc/self/status")
    if status.is_file() and (mark := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(mark[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
