"""Commands on stored runs; `cli` registers them. Imports are local."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nnd.metric.app import find_data, one_or_several
from nnd.metric.cli.printing import AsJson, Details, quiet_loading, show_result
from nnd.metric.cli.shared_options import (
    DATA,
    HumanScores,
    MixedRules,
    Runs,
    ScoredSplits,
    Systems,
    read_matches,
    read_of_models,
    read_template,
)


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
        typer.Option(
            help="Only pairs and human scores of this aspect; a table must have rates of "
            "this aspect."
        ),
    ] = None,
    order: Annotated[
        list[str],
        typer.Option(
            metavar="SYSTEM",
            help="Order of the systems, on which the gap correlation of Laban et al. (2022) "
            "depends; repeat it for each system.",
            show_default="the order of the models",
        ),
    ] = [],  # noqa: B006 - typer copies it
    split: ScoredSplits = [],  # noqa: B006
    mixed_rules: MixedRules = False,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Correlate stored pass rates of models with human scores.

    No model is run. The output has permutation p-values, intervals over contexts and over systems,
    and, for models that were not judged, human scores predicted from their pass rates.

    Example: nnd agree run --data quiz_design-nnd
    Example: nnd agree run --data quiz_design-nnd --system my-org/quiz-gpt2=gpt2b_sup
    Example: nnd agree runs/frank runs/summeval --data frank --data summeval
    """
    from nnd.metric.numbers import agree as agree_

    agreement = agree_(
        results,
        one_or_several(data),
        human_scores=None if human_scores is None else find_data(human_scores),
        systems=read_of_models("system", system),
        aspect=aspect,
        order=order,
        splits=split,
        mixed_rules=mixed_rules,
    )
    show_result(agreement, as_json, details=details)


def compare(
    runs: Runs,
    *,
    model: Annotated[
        list[str],
        typer.Option(
            metavar="MODEL",
            help="Model to compare, by name, or FOLDER:NAME if several runs have it; repeat it "
            "for several.",
            show_default="every pair of models of all runs",
        ),
    ] = [],  # noqa: B006 - typer copies it
    by: Annotated[
        Literal["origin"] | None,
        typer.Option(
            help="origin: compare each model's pass rates on made pairs (negatives) and on human "
            "pairs.",
            show_default="compare models with each other",
        ),
    ] = None,
    match: Annotated[
        list[str],
        typer.Option(
            metavar="OP=CATEGORY",
            help="With --by origin: an error category that an operation imitates; repeat it for "
            "several.",
            show_default="all human pairs",
        ),
    ] = [],  # noqa: B006
    split: ScoredSplits = [],  # noqa: B006
    mixed_rules: MixedRules = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="With --by origin: folder for validity.json; in the folder of the suite, its "
            "card shows it."
        ),
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Compare models on the pairs that they share.

    No model is run.

    Runs of several datasets are compared within each; the mean gives datasets equal weight.

    Example: nnd compare run --model gpt2 --model gpt2-large
    Example: nnd compare run bump-run --by origin --match "swap_speakers=Wrong Reference"
    Example: nnd compare run --by origin --out suite
    """
    from nnd.metric.numbers import compare as compare_

    comparison = compare_(
        runs,
        models=model or None,
        by=by,
        match=read_matches(match),
        splits=split,
        mixed_rules=mixed_rules,
        out=out,
    )
    value = comparison.to_dict()
    written = [f"written to {out}"] if out else []
    show_result(
        comparison, as_json, value=value.get("comparisons", value), details=details, after=written
    )


def metrics(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN", help="Folders that `nnd evaluate` wrote, for the row of NND itself."
        ),
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
            show_default="all metrics that need no model",
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
        str, typer.Option(help="How several references count: max, mean or first.")
    ] = "max",
    normalise: Annotated[
        str | None,
        typer.Option(
            help="lower: metrics with references compare in lower case (likelihoods do not)."
        ),
    ] = None,
    template: Annotated[
        str,
        typer.Option(
            help="For bartscore and prompted: template of the text that is read: instruction (that "
            'of the data) or your own, e.g. "Summarise: {context}".'
        ),
    ] = "default",
    prefix: Annotated[
        str,
        typer.Option(
            help='For bartscore and prompted: text before the predicted text, e.g. "In short, ", '
            "which is scored with it.",
            show_default=False,
        ),
    ] = "",
    aspect: Annotated[str | None, typer.Option(help="Only judgements of this aspect.")] = None,
    split: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="Only pairs and candidates of this split of the data (repeatable).",
            show_default="those that the runs scored; without runs, as in `nnd evaluate`",
        ),
    ] = [],  # noqa: B006
    mixed_rules: MixedRules = False,
    over: Annotated[
        str,
        typer.Option(
            metavar="SYSTEMS",
            help="shared: correlate over the systems and candidates that all rows have; all: each "
            "row over its own; or names separated by commas: only these systems.",
        ),
    ] = "shared",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for metrics.json and scores.parquet; with several datasets, it gets a "
            "subfolder for each."
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
    from nnd.metric.other_metrics import metrics as metrics_

    if any("=" in name for name in scorer):
        quiet_loading()
    choices: dict[str, Any] = {
        "several": several,
        "normalise": normalise,
        "over": over if over in ("shared", "all") else over.split(","),
    }
    comparison = metrics_(
        runs,
        data=one_or_several(data),
        scorers=scorer or None,
        systems=read_of_models("system", system),
        references=references,
        template=read_template(template),
        prefix=read_template(prefix),
        aspect=aspect,
        splits=split,
        mixed_rules=mixed_rules,
        out=out,
        **choices,
    )
    written = [f"written to {out}"] if out else []
    show_result(comparison, as_json, details=details, after=written)
