"""The `nnd` command: each subcommand is a thin shell over one public function.

Only the modules `cli*.py` of this room import the others. Imports stand inside the commands, so
that `nnd --help` is quick and converting never loads torch.
"""

import errno
import io
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_converters import convert, sources, validate
from .cli_options import Systems, read_systems
from .cli_statistics import compare, metrics
from .errors import ScoringError, ScoringWarning
from .printing import AsJson, quiet_loading, show

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(
    name="nnd",
    help="Near-Negative Distinction: give human evaluations of generated text a second life.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command; a problem the user can mend is one line on stderr and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name in another script is no crash
    warnings.showwarning = partial(_show_warning, warnings.showwarning)
    try:
        app()
    except Exception as error:
        message = _explain(error)
        if message is None:
            raise
        from nnd.schemas.errors import one_line  # messages quote texts of any kind

        print(f"nnd: {one_line(' '.join(message.split()))}", file=sys.stderr)
        raise SystemExit(2) from error


def _show_warning(
    otherwise: Callable[..., None], message: Warning | str, category: type[Warning], *rest: object
) -> None:
    """Show a warning of ours as one line, and others as they are."""
    if issubclass(category, ScoringWarning):
        print(f"nnd: {message}", file=sys.stderr)
    else:
        otherwise(message, category, *rest)


def _explain(error: Exception) -> str | None:
    """Return what to tell the user, or None where it is our mistake and wants a traceback."""
    if isinstance(error, ScoringError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
        remedy = "; make room, or name another place with --out" if full else ""
        return f"{error.filename}: {error.strerror}{remedy}"
    from nnd.schemas import NNDError

    return str(error) if isinstance(error, NNDError) else None


for command in (sources, convert, validate):
    app.command()(command)


@app.command()
def evaluate(
    model: Annotated[
        list[str], typer.Option(help="Hub id or folder of a model; repeat it for several.")
    ],
    data: Annotated[
        str, typer.Option(help="Converted folder, Parquet file, or ORG/name[@revision] on the Hub.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for result.json and log_likelihoods.parquet.")
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="native, laban2022, bartscore, sum or bytes.")
    ] = "native",
    template: Annotated[
        str,
        typer.Option(help='default, mixqg, prophetnet, macaw, or your own: "Q: {question}".'),
    ] = "default",
    keep: Annotated[
        str | None,
        typer.Option(
            help="Part of a context that survives a cut to the model's window: beginning or end.",
            show_default="beginning for encoder-decoders, end for decoder-only models",
        ),
    ] = None,
    human_scores: Annotated[
        str | None,
        typer.Option(help="Human scores.", show_default="those that come with the data"),
    ] = None,
    system: Systems = [],  # noqa: B006 - typer copies it
    unconditional: Annotated[
        bool,
        typer.Option(
            "--unconditional/--no-unconditional",
            help="Score candidates without their contexts too, as a baseline.",
        ),
    ] = True,
    token_budget: Annotated[
        int | None,
        typer.Option(
            min=1, help="Tokens held in memory at once.", show_default="what memory allows"
        ),
    ] = None,
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache", help="Neither keep likelihoods nor take those of an earlier run."
        ),
    ] = False,
    revision: Annotated[
        str | None, typer.Option(help="Branch, tag or commit of the models on the Hub.")
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            help="float32, bfloat16 or float16.",
            show_default="float32 on CPU, the checkpoint's elsewhere",
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1, mps.", show_default="the best there is")
    ] = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that lies beside the weights.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Score pairs with models: pass rates with intervals, and agreement with human scores.

    Example: nnd evaluate --model gpt2 --model facebook/bart-base --data quiz_design-nnd --out run
    """
    from nnd.converters.output import check_replaceable, replace_folder

    from .evaluation import evaluate_models
    from .run_folder import RESULT

    if out is not None:
        check_replaceable(out, marker=RESULT)
    quiet_loading()
    evaluation = evaluate_models(
        model,
        data,
        protocol=protocol,
        template=template,
        keep=keep,  # type: ignore[arg-type] # checked by the callee, which lists the choices
        human_scores=human_scores,
        systems=read_systems(system),
        unconditional=unconditional,
        token_budget=token_budget,
        cache=not no_cache,
        revision=revision,
        dtype=dtype,
        device=device,
        trust_remote_code=trust_remote_code,
    )
    if out is not None:
        with replace_folder(out, marker=RESULT) as folder:
            evaluation.write(folder)
    result = evaluation.to_dict()
    show(result, as_json, *_describe(result), *([f"written to {out}"] if out else []))


@app.command()
def agree(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of `nnd evaluate`, or a table of pass rates: model, category, pass_rate."
        ),
    ],
    human_scores: Annotated[
        str, typer.Option(help="Converted folder or Parquet file with the human scores.")
    ],
    *,
    system: Systems = [],  # noqa: B006 - typer copies it
    aspect: Annotated[
        str | None,
        typer.Option(help="Pairs and human scores of this aspect only; a table must be of it."),
    ] = None,
    order: Annotated[
        list[str],
        typer.Option(
            metavar="SYSTEM",
            help="Next system in the order of the gap correlation of Laban et al. (2022), which "
            "depends on it; repeat it.",
            show_default="the order of the models",
        ),
    ] = [],  # noqa: B006 - typer copies it
    as_json: AsJson = False,
) -> None:
    """Correlate stored pass rates of several models with human scores; nothing is scored again.

    Prints permutation p-values, intervals over contexts and over systems, and, for models that
    nobody judged, the human score their pass rate suggests.
    Example: nnd agree run-a run-b --human-scores quiz_design-nnd --system gpt2=gpt2b_sup
    """
    from .agree import agree as agree_

    found = agree_(
        results, human_scores, systems=read_systems(system), aspect=aspect, order=order
    ).to_dict()
    show(found, as_json, *_agreement(found))


app.command()(compare)
app.command()(metrics)


@app.command("install-metric")
def install_metric() -> None:
    """Make `evaluate.load("nnd")` work in any folder, offline."""
    from .install import install_metric as install_

    print(install_())
    print('evaluate.load("nnd") now finds it')


def _describe(result: dict[str, Any]) -> list["Table | str"]:
    """Return what a person wants to see of an evaluation."""
    from .tables import pass_rate_table

    shown: list[Table | str] = [pass_rate_table(result["results"])]
    shown += [f"{each['model']}: {note}" for each in result["results"] for note in each["notes"]]
    if result["agreement"] is None:
        shown.append(f"no agreement: {result['agreement_reason']}")
    else:
        shown += _agreement(result["agreement"])
    for entry in result["results"]:
        shown += [
            f"{entry['model']} took the {entry['engine']['path']} path: not {reason}"
            for reason in entry["engine"]["switched_off"]
        ]
        if entry["n_close"]:
            shown.append(
                f"{entry['model']}: {entry['n_close']} tests are closer than rounding "
                f"({entry['engine']['deviation']:.0e} nats) could turn"
            )
    return shown + [entry["signature"] for entry in result["results"]]


def _agreement(agreement: dict[str, Any]) -> list["Table | str"]:
    from .tables import agreement_notes, agreement_table, extrapolation_tables

    tables = [agreement_table(agreement), *extrapolation_tables(agreement)]
    return [*tables, *agreement_notes(agreement)]
