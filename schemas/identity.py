"""What pip calls this project: not nnd, which is another project's package."""

from importlib.metadata import version

DISTRIBUTION = "near-negative"
"""The distribution; what is imported, the command and the metric are called `nnd`."""


def nnd_version() -> str:
    """Return the installed version of nnd."""
    return version(DISTRIBUTION)
