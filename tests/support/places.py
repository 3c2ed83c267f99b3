"""Where things are in the checkout that the tests run in."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SUPPORT = ROOT / "tests" / "support"
SOURCES = ROOT / "converters" / "sources"
