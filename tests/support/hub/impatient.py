"""Runs a script or a module (`-m NAME`) in which no wait between retries takes long."""

import runpy
import sys
import time

LONGEST = 0.01
_sleep = time.sleep


time.sleep = lambda seconds: _sleep(min(float(seconds), LONGEST))
del sys.argv[0]
if sys.argv[0] == "-m":
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
