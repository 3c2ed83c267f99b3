"""Export of pairs with the templates of the metric, which the converters cannot import."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

from nnd.converters.export import STORED, Export, PromptRendering, export as export_rendered
from nnd.metric.data import PairData
from nnd.metric.text import Chat
from nnd.schemas import Instruction, NNDError, StoredContext

AnyTarget = Literal["trl", "lm-eval", "jsonl", "csv", "every-eval-ever"]
"""Formats of pairs, and one of results."""


def export(
    folder: str | Path,
    out: str | Path,
    *,
    to: AnyTarget,
    template: str | None = None,
    model: str | Path | None = None,
    chat: Chat = Chat(),
    for_excel: bool = False,
    split: float | None = None,
    split_seed: int = 0,
    data: PairData | Sequence[PairData] = (),
) -> Export:
    """Write pairs or results for other tools.

    Args:
        folder: A folder that `nnd convert` wrote, or its published form; for every-eval-ever, a run
            of `nnd evaluate`, or a folder with the runs of several datasets.
        out: File (jsonl, csv) or folder (others) to write.
        to: Format of a preference dataset (trl), of tasks (lm-eval), of the pairs unchanged, or of
            a shared store of results (every-eval-ever).
        template: For trl and lm-eval: name of a template, or your own: "Q: {question}". None means
            instruction for chats, default for plain text.
        model: For lm-eval: decoder-only model whose chat template renders contexts. None means
            plain text.
        chat: How contexts become chats for that model.
        for_excel: Whether to put a quote before texts that a spreadsheet would evaluate as
            formulas, for csv.
        split: Split by context: about this share of the contexts is `train`, the rest `test`. None
            means the splits of the source.
        split_seed: Seed of the split by context.
        data: For every-eval-ever: the pairs of the runs. Empty means that only rates are written,
            without the samples.

    Raises:
        NNDError: If the target or the template is unknown, the target does not support a template
            or a model, the model has no chat template, one side of the split is empty, or `out`
            exists already or cannot be written.
        SchemaError: If `folder` holds no pairs, or pairs that do not follow the schema.

    Examples:
        nnd export quiz_design-nnd --to lm-eval --out quiz_design-tasks
        nnd export quiz_design-nnd --to trl --split 0.8 --out preferences
        nnd export quiz_design-nnd --to lm-eval --model Qwen/Qwen3-8B --out qwen-tasks
        nnd export run --to every-eval-ever --data quiz_design-nnd --out results
    """
    if to == "every-eval-ever":
        from nnd.metric.app.exporting_results import export_results

        return export_results(Path(folder), Path(out), data)
    if model is None and chat.is_explicit:
        raise NNDError(
            "option.needs-another",
            "a chat template needs the tokenizer of a model",
            remedy="name the model with --model",
        )
    if model is not None and to != "lm-eval":
        raise NNDError(
            "option.conflict",
            f'"{to}" does not support --model',
            remedy="leave it out, or use --to lm-eval",
        )
    return export_rendered(
        folder,
        out,
        to=to,
        rendering=_rendering(template, Path(folder))
        if model is None
        else _chats(template, Path(folder), model, chat),
        for_excel=for_excel,
        split=split,
        split_seed=split_seed,
    )


def _rendering(template: str | None, folder: Path) -> PromptRendering:
    """Return a template of the metric in the form that the converters need."""
    if template in (None, STORED.name):
        return STORED  # the module of templates loads tokenizers, which are not needed here

    from nnd.metric.text import find_plain_template, render

    chosen = find_plain_template(template, _instruction(folder))

    def texts(contexts: Sequence[StoredContext]) -> list[tuple[str, str]]:
        prompts = render(chosen, contexts)
        pieces = (
            cast("Sequence[str]", prompt.context) for prompt in prompts
        )  # no model is given a language
        return [
            ("".join(context), prompt.candidate_prefix)
            for context, prompt in zip(pieces, prompts, strict=True)
        ]

    return PromptRendering(chosen.name, chosen.separator, texts)


def _instruction(folder: Path) -> Instruction | None:
    from nnd.metric.data import instruction_in

    return instruction_in(folder)


def _chats(template: str | None, folder: Path, model: str | Path, asked: Chat) -> PromptRendering:
    """Return the chats of a model in the form that the converters need."""
    from nnd.metric.likelihood import load_config, load_tokenizer
    from nnd.metric.text import choose_template, find_chat, find_template, render

    if asked.template == "none":
        raise NNDError(
            "option.conflict", "--chat-template none needs no model", remedy="leave out --model"
        )
    if load_config(model).is_encoder_decoder:
        raise NNDError(
            "option.conflict",
            "this is an encoder-decoder, which reads plain text",
            model,
            "leave out --model",
        )
    words = _instruction(folder)
    chosen = (
        choose_template(None, str(model), (), words, as_chat=True)
        if template is None
        else find_template(template, words)
    )
    chat = find_chat(load_tokenizer(model), asked, name=str(model), template=chosen)

    def texts(contexts: Sequence[StoredContext]) -> list[tuple[str, str]]:
        prompts = render(chosen, contexts)
        chats = chat.render([prompt.context for prompt in prompts])
        return [
            ("".join(rendered.pieces), prompt.candidate_prefix)
            for rendered, prompt in zip(chats, prompts, strict=True)
        ]

    how = (
        f"contexts are rendered with the chat template of {model} (chat:{chat.digest}); run the "
        "harness with this model, without `--apply_chat_template`"
    )
    name = f"{chosen.name}, chat:{chat.digest}"
    return PromptRendering(name, chat.separator, texts, notes=(how, *chat.caveats))
