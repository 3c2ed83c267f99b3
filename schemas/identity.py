"""What pip calls this project: not nnd, which is another project's package."""

from importlib.metadata import version

DISTRIBUTION = "near-negative"
"""The distribution; what is imported, the command and the metric are called `nnd`."""


__version__: str


def nnd_version() -> str:
    """Return the installed version of nnd."""
    return version(DISTRIBUTION)


def __getattr__(name: str) -> str:
    """`__version__`, looked up when it is asked for: where the metric runs as a Space is none."""
    if name == "__version__":
        return nnd_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
