"""Pairs as batches: encoded as for scoring, padded on the right, and masked."""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

import torch

from nnd.metric.data import PairSet, contexts_of
from nnd.metric.likelihood import LoadedModel
from nnd.metric.text import ChatChoice, Encoded, Ids, RequestEncoder, Template, render
from nnd.metric.train.losses import Targets
from nnd.metric.train.objective import NegativeTokens, Objective


class Example(NamedTuple):
    """A pair in token ids, each candidate after its context; the worse is None if not needed.

    `negative` says which targets of the worse candidate should become less likely.
    """

    high: Encoded
    low: Encoded | None = None
    negative: tuple[bool, ...] = ()


def make_examples(
    loaded: LoadedModel,
    pairs: PairSet,
    template: Template,
    chat: ChatChoice,
    objective: Objective,
) -> list[Example]:
    """Return the distinct (context, better, worse) of some pairs, sorted by their texts.

    Pairs with a candidate without a token to score are omitted. A worse candidate may be null.
    Raises ScoringError if a candidate does not fit the model's window, or if a context lacks a part
    that the template names.
    """
    rows = pairs.pairs
    prompts = render(template, contexts_of(rows))
    candidates = rows.select("candidate_high", "candidate_low").iter_rows()
    texts = sorted(
        {
            (prompt.context, *(prompt.candidate_prefix + text for text in both if text is not None))
            for prompt, both in zip(prompts, candidates, strict=True)
        }
    )
    requests = [(context, text) for context, *both in texts for text in both]
    encoder = RequestEncoder(loaded, "native", chat.separator, chat.template)
    encoded = iter([row for (row,) in encoder.encode(encoder.as_read(requests))])
    examples = [tuple(islice(encoded, len(both))) for _, *both in texts]
    return [
        _example(objective, *both)
        for both in examples
        if all(any(candidate.scored) for candidate in both)
    ]


def _example(objective: Objective, high: Encoded, low: Encoded | None = None) -> Example:
    if low is None or not objective.weight:
        return Example(high)
    return Example(high, low, _negative(high, low, objective.negative_tokens))


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
    """Makes batches of examples for the model that is trained."""

    loaded: LoadedModel

    def __call__(self, examples: Sequence[Example]) -> dict[str, torch.Tensor | int]:
        """Return the inputs of the model, and the fields of `losses.Targets`.

        The ids of padded positions are irrelevant: they are masked, and never targets.
        """
        in_order = sorted(examples, key=lambda each: each.low is None)
        rows = [(each.high, (False,) * len(each.high.targets)) for each in in_order]
        worse = [(each.low, each.negative) for each in in_order if each.low is not None]
        rows += worse
        encoded = [row for row, _ in rows]
        read, skipped = self._read(encoded)

        def padded(values: Iterable[Ids | tuple[bool, ...]]) -> torch.Tensor:
            return _pad((0,) * before + row for before, row in zip(skipped, values, strict=True))

        targets = Targets(
            ids=padded(row.targets for row in encoded),
            scored=padded(row.scored for row in encoded).bool(),
            negative=padded(negative for _, negative in rows).bool(),
            worse=len(worse),
        )
        return read | targets._asdict()

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
