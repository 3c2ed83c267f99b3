"""The `nnd` command; each subcommand calls one public function.

Imports of other rooms are inside the commands, so that `nnd --help` is quick and converting never
loads torch.
"""

import io
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.cli.behaviour import Group
from nnd.schemas import NNDError, ScoringWarning, is_of_disk, remedy_for

app = typer.Typer(
    name="nnd",
    cls=Group,
    help=(
        "Turn human evaluations of generated text into tests for language models.\n\n"
        "Start here: nnd evaluate --model gpt2 --data quiz_design --limit 200"
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:  # noqa: FBT001 - typer passes it so
    if asked:
        from nnd.schemas import nnd_version

        print(f"nnd {nnd_version()}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command; print an error that the user can fix as one line, and exit with code 2.

    With --json, standard output holds its code, place, fault and remedy.
    """
    if sys.stdout is None:
        print("nnd: standard output is closed; send it to a file", file=sys.stderr)
        raise SystemExit(2)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for names in other scripts
    warnings.showwarning = partial(_show_warning, warnings.showwarning)
    _quiet_libraries()
    try:
        app()
    except SystemExit:
        _flush()
        raise
    except Exception as error:
        _flush(_of_output(error))
        fault = _fault_of(error)
        if fault is None:
            raise
        from nnd.schemas import one_line  # messages quote texts of any kind

        if "--json" in sys.argv:
            print(json.dumps({"error": fault.to_dict()}, indent=2))
        print(f"nnd: {one_line(' '.join(str(fault).split()))}", file=sys.stderr)
        raise SystemExit(2) from fault


def _quiet_libraries() -> None:
    """Show messages of transformers and the Hub's client, which are not loaded yet, at terminals.

    Those of bitsandbytes, which repeats one at every multiplication, are hidden.
    """
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    if not sys.stderr.isatty():
        for library in ("TRANSFORMERS", "HF_HUB"):
            os.environ.setdefault(f"{library}_VERBOSITY", "error")


def _show_warning(
    otherwise: Callable[..., None], message: Warning | str, category: type[Warning], *rest: object
) -> None:
    """Show our warnings as one line, and others unchanged."""
    if issubclass(category, ScoringWarning):
        from nnd.schemas import visible

        print(f"nnd: {visible(str(message))}", file=sys.stderr)
    else:
        otherwise(message, category, *rest)


def _fault_of(error: Exception) -> NNDError | None:
    """Return what the user can mend, or None if the error is ours and needs a traceback."""
    if isinstance(error, NNDError):
        return error
    if isinstance(error, OSError) and error.filename is not None:
        remedy = f"{remedy_for(error)} with --out"
        return NNDError("place.cannot-write", str(error.strerror), error.filename, remedy)
    if isinstance(error, OSError) and is_of_disk(error):  # from a file that is open
        what = f"a file cannot be written or read: {error.strerror}"
        return NNDError("place.cannot-write", what, remedy=remedy_for(error))
    if isinstance(error, FileNotFoundError) and not _has_working_folder():
        return NNDError(
            "place.cannot-write", "the working folder was removed", remedy="change to another one"
        )
    return None


def _has_working_folder() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def _of_output(error: Exception) -> OSError | None:
    """Return an error if it is of standard output: it names no file, as that of any open file."""
    if not isinstance(error, OSError) or error.filename is not None:
        return None
    if isinstance(error, BrokenPipeError):
        return error
    try:
        sys.stdout.write("\n" if is_of_disk(error) else "")
    except OSError as again:
        return again
    return None


def _flush(failed: OSError | None = None) -> None:
    """Write what is left to standard output; if that fails, say why and exit with 2.

    A reader that has seen enough, as `head`, closes it: then nothing is said, and the code is 1.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        failed = error
    if failed is None:
        return
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - Python flushes again
    if isinstance(failed, BrokenPipeError):
        raise SystemExit(1) from failed
    print(f"nnd: standard output: {failed.strerror}; {remedy_for(failed)}", file=sys.stderr)
    raise SystemExit(2) from failed
