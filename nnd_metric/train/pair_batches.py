"""Pairs as batches: encoded as for scoring, padded on the right, and masked."""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

import torch

from nnd.metric.data import PairSet, contexts_of
from nnd.metric.likelihood import Engine, LoadedModel
from nnd.metric.text import ChatChoice, Encoded, Ids, Template, encode, find_protocol, render
from nnd.metric.train.losses import Targets
from nnd.metric.train.objective import NegativeTokens


class Example(NamedTuple):
    """A pair in token ids.

    Attributes:
        high: The better candidate after its context.
        low: The worse candidate after its context.
        negative: Which targets of the worse candidate should become less likely.
    """

    high: Encoded
    low: Encoded
    negative: tuple[bool, ...]


def make_examples(
    loaded: LoadedModel,
    pairs: PairSet,
    template: Template,
    chat: ChatChoice,
    negative_tokens: NegativeTokens,
) -> list[Example]:
    """Return the distinct (context, better, worse) of some pairs, in an order of their own.

    Pairs with a candidate without a token to score are left out.

    Args:
        loaded: The model that is trained.
        pairs: The pairs.
        template: How contexts are rendered.
        chat: How they become chats.
        negative_tokens: Same as in `Objective`.

    Raises:
        ScoringError: If a candidate does not fit the model's window, or a context lacks a part that
            the template names.
    """
    rows = pairs.pairs
    prompts = render(template, contexts_of(rows))
    texts = {
        (prompt.context, prompt.candidate_prefix + high, prompt.candidate_prefix + low)
        for prompt, high, low in zip(
            prompts, rows["candidate_high"], rows["candidate_low"], strict=True
        )
    }
    ordered = sorted(texts)
    requests = [(context, text) for context, high, low in ordered for text in (high, low)]
    engine = Engine(loaded, separator=chat.separator, chat=chat.template)
    encoded = encode(
        loaded, find_protocol(engine.protocol), engine.as_read(requests), separator=chat.separator
    )
    return [
        Example(high, low, _negative(high, low, negative_tokens))
        for high, low in zip(encoded[::2], encoded[1::2], strict=True)
        if any(high.scored) and any(low.scored)
    ]


def _negative(high: Encoded, low: Encoded, which: NegativeTokens) -> tuple[bool, ...]:
    if which == "all":
        return low.scored
    changed = [False] * len(low.targets)
    matcher = SequenceMatcher(None, high.targets, low.targets, autojunk=False)
    for operation, _, _, start, end in matcher.get_opcodes():
        if operation in ("replace", "insert"):
            changed[start:end] = [True] * (end - start)
    return tuple(new and counts for new, counts in zip(changed, low.scored, strict=True))


@dataclass(frozen=True, slots=True)
class Collator:
    """Makes batches of examples.

    Attributes:
        loaded: The model that is trained.
        with_low: Whether the loss needs the worse candidates.
    """

    loaded: LoadedModel
    with_low: bool

    def __call__(self, examples: Sequence[Example]) -> dict[str, torch.Tensor | int]:
        """Return the inputs of the model, and the fields of `losses.Targets`.

        The ids of padded positions are irrelevant: they are masked, and never targets.
        """
        rows = [each.high for each in examples]
        negative = [(False,) * len(row.targets) for row in rows]
        if self.with_low:
            rows += [each.low for each in examples]
            negative += [each.negative for each in examples]
        read, skipped = self._read(rows)
        ids, scored, unlikely = (
            _pad((0,) * before + values for before, values in zip(skipped, of_rows, strict=True))
            for of_rows in ([row.targets for row in rows], [row.scored for row in rows], negative)
        )
        return read | Targets(ids, scored.bool(), unlikely.bool())._asdict()

    def _read(self, rows: Sequence[Encoded]) -> tuple[dict[str, torch.Tensor | int], list[int]]:
        """Return the inputs of the model, and the number of logits before each row's first."""
        filler = self.loaded.tokenizer.pad_token_id or 0
        if self.loaded.is_encoder_decoder:
            contexts, inputs = [row.context for row in rows], [row.inputs for row in rows]
            return {
                "input_ids": _pad(contexts, filler),
                "attention_mask": _pad((1,) * len(ids) for ids in contexts),
                "decoder_input_ids": _pad(inputs, filler),
            }, [0] * len(rows)
        wholes = [row.context + row.inputs for row in rows]
        first = min(len(row.context) for row in rows)
        read: dict[str, torch.Tensor | int] = {
            "input_ids": _pad(wholes, filler),
            "attention_mask": _pad((1,) * len(ids) for ids in wholes),
        }
        if "logits_to_keep" in inspect.signature(self.loaded.model.forward).parameters:
            read["logits_to_keep"] = max(map(len, wholes)) - first
        return read, [len(row.context) - first for row in rows]


def _pad(rows: Iterable[Ids | tuple[bool, ...]], filler: int = 0) -> torch.Tensor:
    """Return int64 [rows, longest], padded on the right."""
    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=filler)
