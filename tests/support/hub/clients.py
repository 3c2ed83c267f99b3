"""Processes in which the real clients meet the loopback Hub.

A client of the Hub fixes its endpoint, its caches and whether it is offline when it is imported, so
each gets a process of its own, with `environment(…)`. Two things keep such a process from waiting:

- Calls of the API have no time limit at all, downloads have the two that are set here. So the Hub
  never leaves a connection open: whatever goes wrong, it closes it.
- Between retries a client sleeps, up to 23 s for one request, or as long as a 429 says.
  `impatient.py`, put before what is to be run, makes every sleep of the process short:

    subprocess.run([sys.executable, IMPATIENT, "…/bin/nnd", "publish", …], env=…)
"""

import os
from pathlib import Path

IMPATIENT = str(Path(__file__).with_name("impatient.py"))


def environment(endpoint: str, home: Path, *, token: str | None = None) -> dict[str, str]:
    """Return the environment of a client.

    Args:
        endpoint: Of the Hub.
        home: Folder of its caches; an empty one for a client that has seen nothing yet.
        token: By which it says who it is; None for one that does not.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    ours |= {
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(home),
        # Uploads by the newer protocol need a storage server that there is none of here.
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_HUB_ETAG_TIMEOUT": "5",
        "HF_HUB_DOWNLOAD_TIMEOUT": "5",
        # Each load tells S3 of itself, which nobody answers here.
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    }
    return ours if token is None else {**ours, "HF_TOKEN": token}
