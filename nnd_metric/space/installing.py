"""Install the metric so that `evaluate.load("nnd")` works: as a script in the cache of `evaluate`.

`evaluate` has no plug-ins. A metric that is neither a local folder nor on the Hub is loaded from
`$HF_MODULES_CACHE/evaluate_modules/metrics/evaluate-metric--nnd/<64 hex>/nnd.py`, the newest of
several, so the script is written there.

The script is `nnd_metric.py`, which imports the installed package.
"""

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import evaluate

from nnd.schemas import Printable, ScoringError, file_digest, workplace

SCRIPT = Path(__file__).parents[1] / "nnd_metric.py"

NAME = "nnd.py"


@dataclass(frozen=True, slots=True, repr=False)
class Installation(Printable):
    """The metric in a cache of `evaluate`.

    Attributes:
        script: The script that `evaluate.load("nnd")` runs.
    """

    script: Path

    def headline(self) -> str:
        """Return the call that now works, and the path of the script."""
        return f'evaluate.load("nnd") now finds {self.script}'

    def table(self) -> None:
        """Return None: an installation has no numbers."""


def install_metric(modules_cache: str | Path | None = None) -> Installation:
    """Make evaluate.load("nnd") work in any folder, offline.

    It can be repeated, and then replaces a damaged script.

    Args:
        modules_cache: The cache of modules. None means that of `evaluate`, which depends on
            HF_MODULES_CACHE and HF_HOME.

    Returns:
        The path of the script.

    Raises:
        ScoringError: If the cache cannot be written.

    Examples:
        nnd install-metric
    """
    cache = Path(modules_cache or evaluate.config.HF_MODULES_CACHE)
    metrics = cache / str(evaluate.config.MODULE_NAME_FOR_DYNAMIC_MODULES) / "metrics"
    versions = metrics / "evaluate-metric--nnd"
    target = versions / file_digest(SCRIPT)
    try:
        versions.mkdir(parents=True, exist_ok=True)
        for folder in (cache, metrics.parent, metrics, versions):
            (folder / "__init__.py").touch()
        _write(target)
        # `evaluate` loads the newest script.
        others = [path for path in versions.glob(f"*/{NAME}") if path.parent != target]
        when = max([time.time(), *(path.stat().st_mtime + 1 for path in others)])
        os.utime(target / NAME, (when, when))
    except OSError as error:
        raise ScoringError(
            "place.cannot-write",
            f"cannot be written: {error.strerror or error}",
            target,
            "set HF_MODULES_CACHE to a folder of yours, for this command and for the "
            "programs that call evaluate.load",
        ) from error
    return Installation(target / NAME)


def _write(target: Path) -> None:
    """Write the folder in one step: `evaluate` fails if such a folder has no script."""
    with workplace(target) as place:
        folder = place / "new"
        folder.mkdir()
        (folder / "__init__.py").touch()
        shutil.copyfile(SCRIPT, folder / NAME)
        try:
            folder.rename(target)
        except OSError:  # the folder exists already: of an earlier or a simultaneous installation
            (folder / NAME).replace(target / NAME)
