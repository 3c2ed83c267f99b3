"""Commands that look at stored runs; `cli` registers them. Imports are inside, as there."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nnd.metric.cli.datasets import find_data, one_or_several
from nnd.metric.cli.options import (
    DATA,
    HumanScores,
    MixedRules,
    Runs,
    Systems,
    read_matches,
    read_systems,
    read_template,
)
from nnd.metric.cli.printing import AsJson, Details, quiet_loading, show_result


def agree(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="Folders that `nnd evaluate` wrote, or one table of pass rates: model, category, "
            "pass_rate.",
        ),
    ],
    *,
    data: Annotated[
        list[str],
        typer.Option(
            metavar="DATA",
            help=f"Data that comes with human scores: {DATA}; repeat it for several.",
        ),
    ] = [],  # noqa: B006 - typer copies it
    human_scores: HumanScores = None,
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
    mixed_rules: MixedRules = False,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Correlate stored pass rates of models with human scores.

    Nothing is scored again. There are permutation p-values, intervals over contexts and over
    systems, and, for models that were not judged, the human score their pass rate suggests.

    Example: nnd agree run --data quiz_design-nnd
    Example: nnd agree run --data quiz_design-nnd --system my-org/quiz-gpt2=gpt2b_sup
    Example: nnd agree runs/frank runs/summeval --data frank --data summeval
    """
    from nnd.metric.agreement import agree as agree_

    found = agree_(
        results,
        one_or_several(data),
        human_scores=None if human_scores is None else find_data(human_scores),
        systems=read_systems(system),
        aspect=aspect,
        order=order,
        mixed_rules=mixed_rules,
    )
    show_result(found, as_json, details=details)


def compare(
    runs: Runs,
    *,
    model: Annotated[
        list[str],
        typer.Option(
            metavar="MODEL",
            help="Model to compare, by name; repeat it. FOLDER:NAME where several runs have it.",
            show_default="every pair of models of all runs",
        ),
    ] = [],  # noqa: B006 - typer copies it
    by: Annotated[
        Literal["origin"] | None,
        typer.Option(
            help="origin: compare each model on made pairs (negatives) with itself on those of "
            "people.",
            show_default="model with model",
        ),
    ] = None,
    match: Annotated[
        list[str],
        typer.Option(
            metavar="OP=CATEGORY",
            help="With --by origin: an error category that an operation imitates; repeat it.",
            show_default="all pairs of people",
        ),
    ] = [],  # noqa: B006
    mixed_rules: MixedRules = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="With --by origin: folder for validity.json; in that of the suite, its card shows "
            "it."
        ),
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Compare models on the pairs that all of them were scored on.

    Nothing is scored again.

    Runs of several datasets are compared within each; in the mean each dataset counts once.
    Example: nnd compare run --model gpt2 --model gpt2-large
    Example: nnd compare run bump-run --by origin --match "swap_speakers=Wrong Reference"
    Example: nnd compare run --by origin --out suite
    """
    from nnd.metric.comparison import compare as compare_

    found = compare_(
        runs,
        models=model or None,
        by=by,
        match=read_matches(match),
        mixed_rules=mixed_rules,
        out=out,
    )
    value = found.to_dict()
    written = [f"written to {out}"] if out else []
    show_result(
        found, as_json, value=value.get("comparisons", value), details=details, after=written
    )


def metrics(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="Folders that `nnd evaluate` wrote, for NND itself."),
    ] = [],  # noqa: B006 - typer copies it
    *,
    data: Annotated[
        list[str],
        typer.Option(
            metavar="DATA", help="Converted folder or built-in source; repeat it for several."
        ),
    ],
    scorer: Annotated[
        list[str],
        typer.Option(
            metavar="SCORER",
            help="rouge1, rouge2, rouge3, rougeL, bleu, chrf, length, overlap, bertscore[=MODEL], "
            "prompted=MODEL, bartscore_DIRECTION=MODEL or prompted_DIRECTION=MODEL (faithfulness, "
            "precision, recall, f, f_harmonic), evaluate=NAME|PATH[:key]; repeat it.",
            show_default="all that need no model",
        ),
    ] = [],  # noqa: B006
    system: Systems = [],  # noqa: B006
    references: Annotated[
        Path | None,
        typer.Option(
            help="Table with the columns context_id (or context) and reference.",
            show_default="those of the data",
        ),
    ] = None,
    several: Annotated[
        str, typer.Option(help="Which of several references counts: max, mean or first.")
    ] = "max",
    template: Annotated[
        str,
        typer.Option(
            help="Of bartscore and prompted: a template for the text that is read, e.g. "
            '"Summarise: {context}".'
        ),
    ] = "default",
    prefix: Annotated[
        str,
        typer.Option(
            help='Of bartscore and prompted: what goes before the text that is predicted, e.g. "In '
            'short, ", and is scored with it.',
            show_default=False,
        ),
    ] = "",
    aspect: Annotated[str | None, typer.Option(help="Judgements of this aspect only.")] = None,
    over: Annotated[
        str,
        typer.Option(
            metavar="SYSTEMS",
            help="shared: correlate over the systems and candidates that all rows have; all: each "
            "row over its own; or names with commas between them: these systems alone.",
        ),
    ] = "shared",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for metrics.json and scores.parquet; with several datasets, for a folder "
            "of each."
        ),
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Compare NND with other metrics: which agree with humans?

    Example: nnd metrics --data quiz_design
    Example: nnd metrics run --data summeval-nnd --references references.jsonl
    Example: nnd metrics runs/frank runs/summeval --data frank --data summeval
    Example: nnd metrics --data summeval --several first --over M9,M17,M20,M22,M23
    """
    from nnd.metric.meta import metrics as metrics_

    if any("=" in name for name in scorer):
        quiet_loading()
    choices: dict[str, Any] = {
        "several": several,
        "over": over if over in ("shared", "all") else over.split(","),
    }
    found = metrics_(
        runs,
        data=one_or_several(data),
        scorers=scorer or None,
        systems=read_systems(system),
        references=references,
        template=read_template(template),
        prefix=read_template(prefix),
        aspect=aspect,
        out=out,
        **choices,
    )
    written = [f"written to {out}"] if out else []
    show_result(found, as_json, details=details, after=written)
