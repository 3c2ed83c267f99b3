"""The name of this project for pip: another project is called nnd there."""

from importlib.metadata import version

DISTRIBUTION = "near-negative"
"""The distribution; the import, the command and the metric are called `nnd`."""


__version__: str


def nnd_version() -> str:
    """Return the installed version of nnd."""
    return version(DISTRIBUTION)


def __getattr__(name: str) -> str:
    """Look `__version__` up on first use, because a Space with the metric has no distribution."""
    if name == "__version__":
        return nnd_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
