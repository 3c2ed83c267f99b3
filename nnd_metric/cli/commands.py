"""The commands: which function each calls, and what it adds for people at a terminal."""

import shlex
import sys
from datetime import UTC, datetime

import typer

from nnd.metric.cli.evaluating import evaluate, find_all
from nnd.metric.cli.printing import quiet_loading, show
from nnd.metric.cli.verbs import Typed, Verb, function_of
from nnd.schemas import NNDError


def sources(typed: Typed) -> None:
    """List the sources."""
    found = typed.call("sources")
    typed.show(found, found.entries())


def show_pairs(typed: Typed, *, data: str) -> None:
    """Show a few pairs; a folder with annotations to convert is not searched for as data.

    Args:
        typed: What was typed.
        data: What to show, DATA or a folder with a source.yaml.
    """
    is_source = "origin" in typed.values
    typed.show(typed.call("show", data=data) if is_source else typed.call("show"))


def validate(typed: Typed) -> None:
    """Check a converted folder."""
    validation = typed.call("validate")
    typed.show(validation, [str(finding) for finding in validation])
    raise typer.Exit(0 if validation.ok else 1)


def derive(typed: Typed, *, list: bool = False) -> None:  # noqa: A002 - the option's name
    """Derive a suite, or list the operations.

    Args:
        typed: What was typed.
        list: List the operations, each with an example.
    """
    if list:
        typed.show(typed.call("operations"))
        return
    if "data" not in typed.values:
        raise NNDError(
            "DATA is missing; name a converted folder, or list the operations with --list"
        )
    operations = typed.values.get("operations", ())
    typed.show(typed.call("derive", operations=operations))


def suite(typed: Typed, *, action: str) -> None:
    """Build a suite.

    Args:
        typed: What was typed.
        action: Action; the only one is build.
    """
    if action != "build":
        raise NNDError(f'unknown action "{action}"; write nnd suite build DEFINITION')
    typed.show(typed.call("suite"))


def train(typed: Typed) -> None:
    """Train a model; mistakes are found before torch is loaded."""
    from nnd.metric.text import check_template

    template, out = typed.arguments("train", "data", "tests").get("template"), typed.values["out"]
    if template is not None:
        check_template(template)
    (data,) = find_all([typed.values["model"]], [typed.values["data"]])
    quiet_loading()  # Trainer imports bitsandbytes if it is installed, which logs on import
    try:
        training = typed.call("train", data=data)
    except KeyboardInterrupt:
        if not out.is_dir():
            raise
        raise KeyboardInterrupt("run the same command with --resume to continue") from None
    typed.show(training, written=out)


def merge(typed: Typed) -> None:
    """Merge the parts of a run, in its folder."""
    typed.show(typed.call("merge"), written=typed.values["run"])


def compare(typed: Typed) -> None:
    """Compare models; as JSON, those of one dataset stand alone."""
    found = typed.call("compare")
    value = found.to_dict()
    typed.show(found, value.get("comparisons", value), written=typed.values.get("out"))


def metrics(typed: Typed) -> None:
    """Compare NND with other metrics."""
    if any("=" in name for name in typed.values.get("scorers", ())):
        quiet_loading()
    typed.show(typed.call("metrics"), written=typed.values.get("out"))


def report(typed: Typed) -> None:
    """Write a page, whose footer says when and how it was made."""
    command, day = shlex.join(["nnd", *sys.argv[1:]]), datetime.now(tz=UTC).date()
    typed.show(typed.call("report", day=day, command=command))


def card(typed: Typed) -> None:
    """Write or check a card."""
    made = typed.call("card")
    if made.problems is not None:
        typed.show(made, [str(problem) for problem in made])
        raise typer.Exit(0 if made.ok else 1)
    if made.file is not None:
        typed.show(made, str(made.file))
    elif typed.as_json:
        show(made.text, typed.as_json)
    else:
        print(made.text, end="")  # not by rich, which turns :names: into emoji


def install_metric(typed: Typed) -> None:
    """Install the metric, and say where."""
    place = str(typed.call("install_metric"))
    show(place, typed.as_json, place)


def check_source(typed: Typed) -> None:
    """Check a source as a reviewer would."""
    taken = typed.arguments("check_source")
    report = function_of("check_source")(taken.pop("source"), *taken.pop("origins", ()), **taken)
    typed.show(report, report.to_dict()["checks"])
    raise typer.Exit(0 if report.ok else 1)


GROUPS: dict[str, tuple[Verb, ...]] = {
    "Data": (
        Verb("sources", run=sources),
        Verb("convert", ("source",), out="SOURCE-nnd", writes=True),
        Verb("show", ("data",), run=show_pairs, has_details=False),
        Verb("describe", ("data",), has_details=False),
        Verb("check", ("data",)),
        Verb("validate", ("folder",), run=validate, has_details=False),
        Verb(
            "derive",
            ("data",),
            optional=("data", "operations"),
            out="DATA-suite",
            run=derive,
            also=("operations",),
            has_details=False,
        ),
        Verb(
            "suite",
            ("action", "definition"),
            out="DEFINITION-suite",
            run=suite,
            has_details=False,
        ),
        Verb("export", ("folder",), has_details=False),
    ),
    "Score": (
        Verb(
            "evaluate",
            without=("scoring.template", "model"),
            optional=("models", "data"),
            run=evaluate,
            also=("evaluate_runs", "vary", "evaluate_parts", "evaluate_on_ray", "estimate"),
        ),
        Verb("import_samples", ("samples",), writes=True),
        Verb("merge", ("run",), run=merge),
        Verb(
            "train",
            without=("tokenizer", "loading.adapter", "loading.quantise", "loading.device_map"),
            run=train,
        ),
    ),
    "Read": (
        Verb("slice", ("runs",), writes=True),
        Verb("agree", ("results",)),
        Verb("compare", ("runs",), run=compare),
        Verb("metrics", ("runs",), run=metrics),
        Verb("report", ("results",), ("day", "command"), run=report, has_details=False),
        Verb("curve", ("histories",), out="curve.svg", writes=True),
    ),
    "Hub": (
        Verb("card", ("folder", "existing"), run=card, has_details=False),
        Verb("publish", ("folder", "repo_id"), has_details=False),
        Verb("publish_metric", ("repo_id",), has_details=False),
        Verb("install_metric", without=("modules_cache",), run=install_metric, has_details=False),
    ),
    "Contribute": (
        Verb("new_source", ("name",)),
        Verb("check_source", ("source",), run=check_source),
    ),
}
"""Commands by task, in the order of the help."""
