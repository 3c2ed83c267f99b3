"""Reward models as scorers: a classifier with one label reads a chat and gives it a number.

The context, in the words of the data's instruction, is the user's turn, and the candidate is the
answer, written by the model's chat template to the end of its turn. The number is the raw logit.
A chat is encoded once, as the template writes it, so that it does not begin with a second bos token
(RewardBench masks that one). Only chats of one length share a batch: nothing is padded, so a number
does not depend on what else is scored.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

import torch

from nnd.metric.likelihood import LoadedModel, choose_budget, evaluation_mode
from nnd.metric.other_metrics.scorers.scorer import Text
from nnd.metric.text import (
    Chat,
    ChatContext,
    ChatTemplate,
    Ids,
    chat_ids,
    choose_template,
    cut_chat,
    find_chat,
    render,
)
from nnd.schemas import Instruction, ScoringError, StoredContext, excerpt


def find_label(loaded: LoadedModel, label: str) -> int:
    """Return the number of a label, which may be "" for a model that has only one.

    Raises:
        ScoringError: If the model has no such label, or several and none is named.
    """
    labels = {str(name): int(at) for at, name in (loaded.model.config.id2label or {}).items()}
    if label in labels:
        return labels[label]
    if not label and len(labels) == 1:
        return 0
    problem = f'no label "{label}"' if label else f"{len(labels)} labels and a reward is one number"
    raise ScoringError(
        "option.needs-another",
        f"reward={loaded.name}: the model has {problem}",
        remedy=f"name one of its labels, as in reward={loaded.name}:{next(iter(labels))} (known: "
        f"{', '.join(labels)})",
    )


def rewards(
    loaded: LoadedModel, texts: Sequence[Text], instruction: Instruction | None, label: str = ""
) -> tuple[list[float | None], int]:
    """Return the reward of each text, and how many contexts were cut to the window.

    Raises:
        ScoringError: If the model has several labels and none is named, its tokenizer has no chat
            template, or a candidate does not fit the window.
    """
    number = find_label(loaded, label)
    contexts = [StoredContext(text.context, text.parts, text.kinds) for text in texts]
    template = choose_template(None, loaded.name, contexts[:1], instruction, as_chat=True)
    chat = find_chat(loaded.tokenizer, Chat(), name=loaded.name, template=template)
    chats = chat.render([prompt.context for prompt in render(template, contexts)])
    read = [
        _ids(loaded, chat, context, text.candidate)
        for context, text in zip(chats, texts, strict=True)
    ]
    rows = sorted({ids for ids, _ in read}, key=lambda ids: (-len(ids), ids))
    found: dict[Ids, float] = {}
    with evaluation_mode(loaded.model):
        for some in _batches(loaded, rows):
            ids = torch.tensor(some, device=loaded.device)
            logits = loaded.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
            found |= zip(some, logits[:, number].float().tolist(), strict=True)
    values = [None if math.isnan(found[ids]) else found[ids] for ids, _ in read]
    return values, sum(is_cut for _, is_cut in read)


def _batches(loaded: LoadedModel, rows: Sequence[Ids]) -> Iterator[Sequence[Ids]]:
    """Yield rows of one length, as many as may be held at once; they are sorted by length."""
    # Without a padding token, classifiers of transformers take one row at a time.
    takes_several = loaded.model.config.get_text_config().pad_token_id is not None
    budget = choose_budget(loaded) if takes_several else 1
    for length, group in groupby(rows, key=len):
        same, most = list(group), max(1, budget // length)
        yield from (same[start : start + most] for start in range(0, len(same), most))


def _ids(
    loaded: LoadedModel, chat: ChatTemplate, context: ChatContext, candidate: str
) -> tuple[Ids, bool]:
    """Return the tokens of a chat with its answer, and whether the context was cut."""
    answer = (context.pieces[-1] + chat.separator, candidate, chat.end)
    (whole,) = chat_ids(loaded.tokenizer, [ChatContext((*context.pieces[:-1], *answer))])
    window = loaded.decoder_window
    if window is None or len(whole) <= window:
        return whole, False
    (tail,) = chat_ids(loaded.tokenizer, [ChatContext(("", *answer[1:]))])
    prefix = cut_chat(loaded.tokenizer, context, window - len(tail), "end")
    if prefix is None:
        raise ScoringError(
            "candidate.too-long",
            f'the candidate "{excerpt(candidate)}" does not fit the {window} tokens that '
            "the model reads",
            loaded.name,
        )
    return (*prefix.ids, *tail), True
