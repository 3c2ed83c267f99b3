"""The peak memory of a process."""

import re
import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Return the peak memory of this process so far, in bytes.

    On Linux it is read from `/proc`, because getrusage would include the peak of the parent process
    (`exec` keeps it). macOS counts in bytes, others in KiB.
    """
    status = Path("/proc/self/status")
    if status.is_file() and (mark := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(mark[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
