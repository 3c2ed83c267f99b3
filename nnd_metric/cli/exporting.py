"""Exporting pairs with the templates of the metric, which the converters know nothing of."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nnd.converters.export import STORED, Exported, Rendering, Target, export as export_rendered


def export(
    folder: str | Path,
    out: str | Path,
    *,
    to: Target,
    template: str = "default",
    for_excel: bool = False,
    split: float | None = None,
    split_seed: int = 0,
) -> Exported:
    """Write the pairs of a converted folder in the form that another tool takes.

    Args:
        folder: What `convert` wrote, or the same as it lies on the Hub (pairs/*.parquet).
        out: File (jsonl, csv) or folder (trl, lm-eval) to make; nothing may be there yet.
        to: `trl`: a preference dataset; `lm-eval`: tasks for lm-evaluation-harness; `jsonl`,
            `csv`: the pairs as they are.
        template: For trl and lm-eval: how contexts become prompts, as of `evaluate`.
        for_excel: For csv: put `'` before texts that a spreadsheet would compute as formulas.
        split: Cut by context: the pairs of about this share of the contexts get the split `train`,
            the others `test`, as `train` cuts them. None leaves the splits of the source.
        split_seed: Another seed makes another cut.

    Raises:
        NNDError: If there is no such target or template, the target takes no template, the split
            leaves a side empty, or `out` is there already or cannot be written.
        SchemaError: If `folder` holds no pairs, or not as the contract has them.
    """
    return export_rendered(
        folder,
        out,
        to=to,
        rendering=_rendering(template),
        for_excel=for_excel,
        split=split,
        split_seed=split_seed,
    )


def _rendering(template: str) -> Rendering:
    """Return one of the metric's templates as the converters take it."""
    if template == STORED.name:
        return STORED  # templates load tokenizers, which this one does not need

    from nnd.metric.encoding import find_template, render

    chosen = find_template(template)

    def texts(
        contexts: Sequence[str], inputs: Sequence[Mapping[str, str]]
    ) -> list[tuple[str, str]]:
        prompts = render(chosen, contexts, inputs)
        return [("".join(prompt.context), prompt.candidate_prefix) for prompt in prompts]

    return Rendering(chosen.name, chosen.separator, texts)
