"""The commands: which function each calls, and what it adds for people at a terminal."""

import shlex
import sys
from datetime import UTC, datetime

from nnd.metric.cli.evaluating import evaluate, find_all
from nnd.metric.cli.verbs import Typed, Verb, function_of
from nnd.schemas import NNDError


def show_pairs(typed: Typed, *, data: str | None = None) -> None:
    """Show a few pairs; a folder with annotations to convert is not searched for as data.

    Args:
        typed: What was typed.
        data: What to show, DATA or a folder with a source.yaml.
    """
    is_source = "origin" in typed.values
    typed.show(typed.call("show", data=data) if is_source else typed.call("show"))


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
            "input.missing",
            "DATA is missing",
            remedy="name a converted folder, or list the operations with --list",
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
        raise NNDError(
            "option.unknown-value",
            f'unknown action "{action}"',
            remedy="write nnd suite build DEFINITION",
        )
    typed.show(typed.call("suite"))


def train(typed: Typed) -> None:
    """Train a model; mistakes are found before torch is loaded."""
    from nnd.metric.text import check_template

    template, out = typed.arguments("train", "data", "tests").get("template"), typed.values["out"]
    if template is not None:
        check_template(template)
    (data,) = find_all([typed.values["model"]], [typed.values["data"]])
    try:
        training = typed.call("train", data=data)
    except KeyboardInterrupt:
        if not out.is_dir():
            raise
        raise KeyboardInterrupt("run the same command with --resume to continue") from None
    typed.show(training, [out])


def report(typed: Typed) -> None:
    """Write a page, whose footer says when and how it was made."""
    command, day = shlex.join(["nnd", *sys.argv[1:]]), datetime.now(tz=UTC).date()
    typed.show(typed.call("report", day=day, command=command))


def card(typed: Typed) -> None:
    """Write or check a card, or print one as it is."""
    made = typed.call("card")
    if made.file is None and "json" not in typed.values:
        print(made.text, end="")  # not by rich, which turns :names: into emoji
    else:
        typed.show(made)


def check_source(typed: Typed) -> None:
    """Check a source with the files that were typed, of which there may be several."""
    taken = typed.arguments("check_source")
    typed.show(function_of("check_source")(taken.pop("source"), *taken.pop("origins", ()), **taken))


GROUPS: dict[str, tuple[Verb, ...]] = {
    "Data": (
        Verb("sources"),
        Verb("convert", ("source",), out="SOURCE-nnd", written="out"),
        Verb("show", ("data",), optional=("data",), run=show_pairs, has_details=False),
        Verb("describe", ("data",), has_details=False),
        Verb("check", ("data",)),
        Verb("validate", ("folder",), has_details=False),
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
            also=("judged_models", "evaluate_runs", "estimate_runs", "vary", "estimate"),
        ),
        Verb("import_samples", ("samples",), written="out"),
        Verb("merge", ("run",), written="run"),
        Verb("selftest", written="out"),
        Verb(
            "train",
            without=("tokenizer", "loading.adapter", "loading.quantise", "loading.device_map"),
            run=train,
        ),
    ),
    "Read": (
        Verb("slice", ("runs",), written="out"),
        Verb("agree", ("results",)),
        Verb("compare", ("runs",), written="out"),
        Verb("metrics", ("runs",), written="out"),
        Verb("report", ("results",), ("day", "command"), run=report, has_details=False),
        Verb("curve", ("histories",), out="curve.svg", written="out"),
    ),
    "Hub": (
        Verb("card", ("folder", "existing"), run=card, has_details=False),
        Verb("publish", ("folder", "repo_id"), has_details=False),
        Verb("publish_metric", ("repo_id",), has_details=False),
        Verb("install_metric", without=("modules_cache",), has_details=False),
    ),
    "Contribute": (
        Verb("new_source", ("name",)),
        Verb("check_source", ("source",), run=check_source),
    ),
}
"""Commands by task, in the order of the help."""
