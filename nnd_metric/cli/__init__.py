"""The `nnd` command; each subcommand calls one public function."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .alternatives import evaluate_runs as evaluate_runs
    from .command import main as main
    from .describing import describe as describe
    from .exporting import export as export
    from .showing import show as show
    from .slicing import slice as slice  # noqa: A004 - as the command is called
    from .suites import suite as suite
else:
    __getattr__, __dir__ = lazy_exports(__name__)
