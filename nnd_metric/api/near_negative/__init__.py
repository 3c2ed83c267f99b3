"""Check that `nnd` is this project's package, and not its namesake, before it is used."""

import sys
from importlib.util import find_spec


def check_nnd() -> None:
    """Check that `import nnd` gives the package that the distribution near-negative installs.

    Another project has a package called `nnd`, too. It may come first on the path, or may have
    overwritten our files. Only this project has a module called `near_negative`.
    """
    try:
        from nnd import DISTRIBUTION as found  # noqa: N811, PLC0415 - this import is the question
    except Exception:  # noqa: BLE001 - another project's package may raise anything
        found = ""
    if found != "near-negative":
        raise ImportError(
            f"Python imports nnd from {_place()}, which is not the package of near-negative; "
            "remove that one (if pip installed it: pip uninstall nnd) and reinstall near-negative, "
            "or use a virtual environment of its own"
        )


def _place() -> str:
    spec = find_spec("nnd")
    if spec is None:
        return "nowhere"
    return spec.origin or ", ".join(spec.submodule_search_locations or ())


def main() -> None:
    """Run the `nnd` command."""
    try:
        check_nnd()
        from nnd.metric.cli import main as run  # noqa: PLC0415 - not before the check

        run()
    except ImportError as error:
        print(f"nnd: {error}", file=sys.stderr)  # noqa: T201 - a command prints
        raise SystemExit(2) from error
    except KeyboardInterrupt:  # also in the first seconds, during imports
        print("nnd: interrupted", file=sys.stderr)  # noqa: T201
        raise SystemExit(130) from None
