"""Exporting pairs with the templates of the metric, which the converters know nothing of."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nnd.converters.export import STORED, Exported, Rendering, Target, export as export_rendered
from nnd.metric.chat import Chat
from nnd.schemas import NNDError


def export(
    folder: str | Path,
    out: str | Path,
    *,
    to: Target,
    template: str = "default",
    model: str | Path | None = None,
    chat: Chat = Chat(),
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
        model: For lm-eval: Hub id or folder of a decoder-only model, whose chat template renders
            contexts; None leaves them plain.
        chat: How contexts become chats of that model.
        for_excel: For csv: put `'` before texts that a spreadsheet would compute as formulas.
        split: Cut by context: the pairs of about this share of the contexts get the split `train`,
            the others `test`, as `train` cuts them. None leaves the splits of the source.
        split_seed: Another seed makes another cut.

    Raises:
        NNDError: If the target or the template is unknown, the target takes no template or no
            model, the model has no chat template, the split leaves a side empty, or `out` is there
            already or cannot be written.
        SchemaError: If `folder` holds no pairs, or not as the contract has them.
    """
    if model is None and chat.is_explicit:
        raise NNDError(
            "a chat template is rendered with a tokenizer, and no model is named; name it with "
            "--model"
        )
    if model is not None and to != "lm-eval":
        raise NNDError(f'"{to}" is not for one model; leave out --model, or use --to lm-eval')
    return export_rendered(
        folder,
        out,
        to=to,
        rendering=_rendering(template) if model is None else _chats(template, model, chat),
        for_excel=for_excel,
        split=split,
        split_seed=split_seed,
    )


def _rendering(template: str) -> Rendering:
    """Return one of the metric's templates as the converters take it."""
    if template == STORED.name:
        return STORED  # templates load tokenizers, which this one does not need

    from nnd.metric.encoding import find_plain_template, render

    chosen = find_plain_template(template)

    def texts(
        contexts: Sequence[str], inputs: Sequence[Mapping[str, str]]
    ) -> list[tuple[str, str]]:
        prompts = render(chosen, contexts, inputs)
        return [("".join(prompt.context), prompt.candidate_prefix) for prompt in prompts]

    return Rendering(chosen.name, chosen.separator, texts)


def _chats(template: str, model: str | Path, asked: Chat) -> Rendering:
    """Return the chats of a model as the converters take them."""
    from nnd.metric.chat import find_chat
    from nnd.metric.encoding import find_template, render
    from nnd.metric.models import load_config, load_tokenizer

    if asked.template == "none":
        raise NNDError("--chat-template none needs no model; leave out --model")
    if load_config(model).is_encoder_decoder:
        raise NNDError(f"{model}: an encoder-decoder reads plain text; leave out --model")
    chosen = find_template(template)
    chat = find_chat(load_tokenizer(model), asked, name=str(model), as_turns=chosen.as_turns)

    def texts(
        contexts: Sequence[str], inputs: Sequence[Mapping[str, str]]
    ) -> list[tuple[str, str]]:
        prompts = render(chosen, contexts, inputs)
        chats = chat.render([prompt.context for prompt in prompts])
        return [
            ("".join(rendered.pieces), prompt.candidate_prefix)
            for rendered, prompt in zip(chats, prompts, strict=True)
        ]

    how = (
        f"contexts are rendered by the chat template of {model} (chat:{chat.digest}): run the "
        "harness with this model, without `--apply_chat_template`"
    )
    name = f"{chosen.name}, chat:{chat.digest}"
    return Rendering(name, chat.separator, texts, notes=(how, *chat.caveats))
