"""The benchmarks are scripts that import each other by name; so do their tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
