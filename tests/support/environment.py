"""The environment of all tests. Imported first: libraries read it when they are imported."""

import os
import sys

# No test asks the Hub, and none waits for its retries. Those that want a Hub start a client of
# their own against the loopback server.
os.environ["HF_HUB_OFFLINE"] = "1"

# Compiled once and not by every worker and child process, as PYTHONDONTWRITEBYTECODE would have it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests run side by side, and matrices are tiny: threads would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
