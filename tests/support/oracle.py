"""The log-likelihood from its formula, one candidate at a time, in float64.

LL = (1/N) * sum_i log P(w_i | context, w_<i) (Laban et al. 2022, eq. 1): one plain forward pass
per candidate, no batch, no padding, no mask, no cache, nothing shared. Which ids are fed and
scored is written down here from the description of the protocols and from the literal facts in
`tiny_models.Family`; nothing of the engine is imported.
"""

import copy
import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from support.tiny_models import Family, Ids

Request = tuple[str, str]


@dataclass(frozen=True)
class Fed:
    """The ids of one request.

    A decoder-only model reads `context + inputs`, an encoder-decoder `context` with its encoder
    and `inputs` with its decoder; the outputs at `inputs` predict `targets`, of which those
    marked in `scored` count.
    """

    context: Ids
    inputs: Ids
    targets: Ids
    scored: tuple[bool, ...]
    truncated: bool


@dataclass(frozen=True)
class Score:
    log_likelihood: float
    tokens: int
    truncated: bool


def scores(
    family: Family,
    protocol: str,
    requests: Sequence[Request],
    *,
    separator: str = " ",
    keep: str | None = None,
) -> list[Score]:
    """Score each request by itself; the other requests matter only where a context is cut."""
    model = _exact(family)
    fed = feed(family, protocol, requests, separator=separator, keep=keep)
    return [
        score(model, ids, protocol, candidate)
        for ids, (_, candidate) in zip(fed, requests, strict=True)
    ]


def feed(
    family: Family,
    protocol: str,
    requests: Sequence[Request],
    *,
    separator: str = " ",
    keep: str | None = None,
) -> list[Fed]:
    """Say for each request what is fed and what is scored."""
    if family.encoder_decoder:
        return list(_feed_encoder_decoder(family, protocol, requests, keep or "beginning"))
    if protocol == "laban2022":
        return list(_feed_causal_laban(family, requests, keep or "end"))
    return list(_feed_causal(family, requests, separator, keep or "end"))


def _feed_causal(
    family: Family, requests: Sequence[Request], separator: str, keep: str
) -> Iterator[Fed]:
    for context, candidate in requests:
        longest = max(len(_added(family, separator, c)) for x, c in requests if x == context)
        (bos, _), body = family.source, tuple(family.text_ids(context))
        if not body and not bos:
            start = family.tokenizer.bos_token_id
            bos = (family.tokenizer.eos_token_id if start is None else start,)
        prefix, truncated = _cut(bos, body, (), _room(family, longest), keep)
        ids = _added(family, separator, candidate)
        fed = (prefix[-1], *ids[:-1])[: len(ids)]
        yield Fed(prefix[:-1], fed, ids, (True,) * len(ids), truncated)


def _feed_causal_laban(family: Family, requests: Sequence[Request], keep: str) -> Iterator[Fed]:
    start, end = family.laban
    for context, candidate in requests:
        longest = max(1 + len(family.text_ids(c)) for x, c in requests if x == context)
        (before, after), body = family.source, tuple(family.text_ids(context))
        seen, truncated = _cut(before, body, after, _room(family, longest), keep)
        ids = tuple(family.text_ids(candidate))
        yield Fed(seen, (start, *ids), (*ids, end), (True,) * (len(ids) + 1), truncated)


def _feed_encoder_decoder(
    family: Family, protocol: str, requests: Sequence[Request], keep: str
) -> Iterator[Fed]:
    start, end = family.laban
    for context, candidate in requests:
        before, after = family.source
        body = tuple(family.text_ids(context))
        seen, truncated = _cut(before, body, after, _room(family, 0), keep)
        if protocol == "laban2022":
            # No `text_target` in the paper's code: the candidate is encoded like any text.
            ids = tuple(family.text_ids(candidate))
            yield Fed(seen, (start, *ids), (*ids, end), (True,) * (len(ids) + 1), truncated)
            continue
        before, after = family.target
        ids = tuple(family.target_ids(candidate))
        labels = (*before, *ids, *after)
        first = labels[-1] if family.decoder_start is None else family.decoder_start
        scored = [False] * len(before) + [True] * (len(ids) + 1) + [False] * (len(after) - 1)
        if protocol == "bartscore":
            scored = [True] * len(labels)
        yield Fed(seen, (first, *labels[:-1]), labels, tuple(scored), truncated)


def _room(family: Family, taken: int) -> int | None:
    limits = [family.window, family.tokenizer.model_max_length]
    known = [limit for limit in limits if limit is not None and limit < 1_000_000]
    return min(known) - taken if known else None


def _cut(before: Ids, body: Ids, after: Ids, room: int | None, keep: str) -> tuple[Ids, bool]:
    """Shorten `body` so that all three parts fit into `room` ids."""
    if room is None or len(before) + len(body) + len(after) <= room:
        return (*before, *body, *after), False
    left = room - len(before) - len(after)
    if left < 1:
        message = "the oracle is not asked about candidates that do not fit"
        raise OverflowError(message)
    kept = body[:left] if keep == "beginning" else body[-left:]
    return (*before, *kept, *after), True


def _added(family: Family, separator: str, candidate: str) -> Ids:
    """Return what separator and candidate add to a text that ends in a word, or in a line break."""
    if not candidate:
        return ()
    text = "Who sat" if separator else "Who sat?\n"
    before, whole = family.text_ids(text), family.text_ids(text + separator + candidate)
    if whole[: len(before)] != before:
        message = f"the oracle cannot tell {candidate!r} from what stands before it"
        raise ValueError(message)
    return tuple(whole[len(before) :])


def score(model: Any, fed: Fed, protocol: str, candidate: str) -> Score:
    terms = token_log_probabilities(model, fed)
    counted = [term for term, scored in zip(terms, fed.scored, strict=True) if scored]
    divisor = {"sum": 1, "bytes": len(candidate.encode())}.get(protocol, len(counted))
    missing = not counted or divisor == 0
    mean = math.nan if missing else math.fsum(counted) / divisor
    return Score(mean, len(counted), fed.truncated)


def token_log_probabilities(model: Any, fed: Fed) -> list[float]:
    """Return log P of every target, scored or not, with the softmax in the logits' dtype."""
    if not fed.targets:
        return []
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            context, inputs = torch.tensor([fed.context]), torch.tensor([fed.inputs])
            logits = model(input_ids=context, decoder_input_ids=inputs, use_cache=False).logits[0]
        else:
            read = torch.tensor([[*fed.context, *fed.inputs]])
            logits = model(input_ids=read, use_cache=False).logits[0][len(fed.context) :]
    log_probabilities = logits.log_softmax(-1)
    return [float(row[target]) for row, target in zip(log_probabilities, fed.targets, strict=True)]


@functools.cache
def _exact(family: Family) -> Any:
    return copy.deepcopy(family.model).to(family.exact).eval()
