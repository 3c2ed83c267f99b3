"""`evaluate.load("nnd")` by bare name: a script in the cache where `evaluate` looks last.

`evaluate` has no plug-ins. What it cannot find as a folder here or on the Hub it takes from
`$HF_MODULES_CACHE/evaluate_modules/metrics/evaluate-metric--nnd/<64 hex>/nnd.py`, the newest of
them if there are several; so that is where the script goes.

The script is that of a clone, `nnd_metric.py`: it imports the installed package.
"""

import hashlib
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import evaluate

from nnd.schemas import ScoringError, Shown, workplace

SCRIPT = Path(__file__).parents[1] / "nnd_metric.py"

NAME = "nnd.py"


@dataclass(frozen=True, slots=True, repr=False)
class Installed(Shown):
    """The metric in a cache of `evaluate`.

    Attributes:
        script: What `evaluate.load("nnd")` runs.
    """

    script: Path

    def headline(self) -> str:
        """Return what now works."""
        return f'evaluate.load("nnd") now finds {self.script}'

    def table(self) -> None:
        """There is nothing to count."""

    def to_dict(self) -> dict[str, str]:
        """Return plain Python values."""
        return {"script": str(self.script)}


def install_metric(modules_cache: str | Path | None = None) -> Installed:
    """Make `evaluate.load("nnd")` work in any folder, offline too.

    Doing it again is harmless, and mends a damaged script. An interruption leaves no half of one.

    Args:
        modules_cache: The cache of modules; None means where `evaluate` looks, which
            HF_MODULES_CACHE and HF_HOME decide.

    Returns:
        Where the script is.

    Raises:
        ScoringError: If the cache cannot be written.
    """
    cache = Path(modules_cache or evaluate.config.HF_MODULES_CACHE)
    metrics = cache / str(evaluate.config.MODULE_NAME_FOR_DYNAMIC_MODULES) / "metrics"
    versions = metrics / "evaluate-metric--nnd"
    target = versions / hashlib.sha256(SCRIPT.read_bytes()).hexdigest()
    try:
        versions.mkdir(parents=True, exist_ok=True)
        for folder in (cache, metrics.parent, metrics, versions):
            (folder / "__init__.py").touch()
        _write(target)
        _make_newest(target / NAME)
    except OSError as error:
        raise ScoringError(
            f"{target}: cannot be written: {error.strerror or error}; set HF_MODULES_CACHE to a "
            "folder of yours, for this command and for what calls evaluate.load"
        ) from error
    return Installed(target / NAME)


def _write(target: Path) -> None:
    """Put the script there whole: `evaluate` trips over a folder of 64 characters without one."""
    with workplace(target) as place:
        folder = place / "new"
        folder.mkdir()
        (folder / "__init__.py").touch()
        shutil.copyfile(SCRIPT, folder / NAME)
        try:
            folder.rename(target)
        except OSError:  # it is there, from before or from an install beside this one
            (folder / NAME).replace(target / NAME)


def _make_newest(script: Path) -> None:
    """Make the script later than any other: `evaluate` goes by time of modification."""
    others = [path for path in script.parent.parent.glob(f"*/{NAME}") if path != script]
    when = max([time.time(), *(path.stat().st_mtime + 1 for path in others)])
    os.utime(script, (when, when))
