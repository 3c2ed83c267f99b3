"""Commands that look at stored runs; `cli` registers them. Imports stand inside, as there."""

from pathlib import Path
from typing import Annotated

import typer

from nnd.metric.cli.options import MixedRules, Systems, read_systems, read_template
from nnd.metric.cli.printing import AsJson, Details, quiet_loading, show_result


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
    mixed_rules: MixedRules = False,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Correlate stored pass rates of several models with human scores; nothing is scored again.

    Prints permutation p-values, intervals over contexts and over systems, and, for models that
    nobody judged, the human score their pass rate suggests.
    Example: nnd agree run-a run-b --human-scores quiz_design-nnd --system gpt2=gpt2b_sup
    """
    from nnd.metric.agreement import agree as agree_

    found = agree_(
        results,
        human_scores,
        systems=read_systems(system),
        aspect=aspect,
        order=order,
        mixed_rules=mixed_rules,
    )
    show_result(found, as_json, details=details)


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders that `nnd evaluate` wrote.")],
    *,
    model: Annotated[
        list[str],
        typer.Option(
            help="Model to compare, by name; repeat it. FOLDER:NAME where several runs have it.",
            show_default="all models of all runs, each with each",
        ),
    ] = [],  # noqa: B006 - typer copies it
    mixed_rules: MixedRules = False,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Compare models on the pairs that all of them were scored on; nothing is scored again.

    Example: nnd compare run --model gpt2 --model gpt2-large
    """
    from nnd.metric.comparison import compare as compare_

    found = compare_(runs, models=model or None, mixed_rules=mixed_rules)
    show_result(found, as_json, value=found.to_dict()["comparisons"], details=details)


def metrics(
    data: Annotated[Path, typer.Argument(help="Converted folder.")],
    *,
    scorer: Annotated[
        list[str],
        typer.Option(
            help="rouge1, rouge2, rouge3, rougeL, bleu, chrf, length, overlap, bertscore[=MODEL], "
            "bartscore_faithfulness=MODEL (or _precision, _recall, _f), prompted=MODEL; repeat it.",
            show_default="all that need no model",
        ),
    ] = [],  # noqa: B006 - typer copies it
    run: Annotated[
        list[Path],
        typer.Option(help="Folder of `nnd evaluate`, for NND itself; repeat it for several."),
    ] = [],  # noqa: B006
    system: Systems = [],  # noqa: B006
    references: Annotated[
        Path | None,
        typer.Option(
            help="Table with the columns context_id (or context) and reference.",
            show_default="parts of the inputs called reference, reference_1, …",
        ),
    ] = None,
    several: Annotated[
        str, typer.Option(help="Which of several references counts: max or mean.")
    ] = "max",
    template: Annotated[
        str, typer.Option(help='Of prompted: a template, e.g. "Summarise: {context}".')
    ] = "default",
    aspect: Annotated[str | None, typer.Option(help="Judgements of this aspect only.")] = None,
    over: Annotated[
        str,
        typer.Option(
            "--systems",
            help="shared: correlate over the systems and candidates that all rows have; all: each "
            "row over its own.",
        ),
    ] = "shared",
    out: Annotated[
        Path | None, typer.Option(help="Folder for metrics.json and scores.parquet.")
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Set NND beside other metrics: which of them agrees with people, on systems and candidates?

    Example: nnd metrics summeval-nnd --references references.jsonl --run run --aspect coherence
    """
    from nnd.metric.meta import metrics as metrics_

    if any("=" in name for name in scorer):
        quiet_loading()
    found = metrics_(
        data,
        scorer or None,
        runs=run,
        systems=read_systems(system),
        references=references,
        several=several,  # type: ignore[arg-type] # checked by the callee, which lists the choices
        template=read_template(template),
        aspect=aspect,
        over=over,  # type: ignore[arg-type] # likewise
        out=out,
    )
    written = [f"written to {out}"] if out else []
    show_result(found, as_json, details=details, after=written)
