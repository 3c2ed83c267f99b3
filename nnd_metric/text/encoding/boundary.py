"""The boundary between context and candidate of decoder-only models (`native`, `sum`, `bytes`).

The separator belongs to the candidate: every token after those of the context is scored and
counted. The candidate alone does not determine these tokens, because many tokenizers put a space
before every text. So they are the tokens after a probe, in the encoding of probe, separator and
candidate:

    "a" + " " + "20 minutes"    ▁a ▁ 2 0 ▁minutes    →    ▁ 2 0 ▁minutes

They are the same after every context and without one. In a chat, the probe is the end of the
template's text before the candidate, which all contexts share. A tokenizer that reads the end of a
context and a candidate together may encode them differently, for example with a token across the
boundary; `find_crossings` finds these cases.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from nnd.metric.text.encoding.requests import ChatContext, Context, Ids, Reading, Tokenizer
from nnd.metric.text.encoding.tokens import last_texts, text_ids
from nnd.schemas import collector_paused

_WORDS = ("a", "the", "1")
_ENDINGS = ("\n", ":", ".")
PROBES = (*_WORDS, *_ENDINGS)
"""Probes before a separator, and without one; the first that keeps its own tokens is used."""

_REACH = 64
"""Characters at the end of a context that may affect the tokens after it."""


class Continuation(NamedTuple):
    """A candidate and its separator, as the tokens that they add to a context.

    An empty candidate adds none, whatever the separator is. `probed` says whether the tokens were
    found with a probe: if no probe keeps its own tokens, they are those of separator and candidate
    encoded alone.
    """

    ids: Ids
    probed: bool


Known: TypeAlias = dict[tuple[str, str], Continuation]
"""Continuations by the end of their contexts, and candidate."""


def continue_with(
    tokenizer: Tokenizer,
    candidates: Sequence[str],
    separator: str,
    *,
    end: str = "",
    known: Known | None = None,
) -> list[Continuation]:
    """Return the tokens that each candidate, with the separator before it, adds to a context.

    `end` is the common end of all contexts, from `shared_end`. `known` has the results of earlier
    calls with these arguments; this call adds its own.
    """
    known = {} if known is None else known
    new = [text for text in candidates if (end, text) not in known]
    made = zip(new, _continue_with(tokenizer, new, separator, end), strict=True)
    known.update(((end, text), continuation) for text, continuation in made)
    return [known[end, text] for text in candidates]


def _continue_with(
    tokenizer: Tokenizer, candidates: Sequence[str], separator: str, end: str
) -> list[Continuation]:
    texts = [separator, *(separator + candidate for candidate in candidates)]
    own: dict[str, Continuation] = {}
    for probe in (*filter(None, [end]), *(_WORDS if separator else _ENDINGS)):
        own |= _behind(tokenizer, probe, [text for text in texts if text not in own])
    rest = [text for text in texts if text not in own]
    alone = text_ids(tokenizer, rest)
    own |= {text: Continuation(ids, probed=False) for text, ids in zip(rest, alone, strict=True)}
    # A candidate of which a tokenizer keeps nothing counts as empty: a blank must not represent it.
    # Unknown characters count, although they may merge with an unknown separator.
    empty = own[separator].ids
    return [
        own[text]._replace(ids=())
        if text == separator or (own[text].ids == empty and tokenizer.unk_token_id not in empty)
        else own[text]
        for text in texts[1:]
    ]


def shared_end(tokenizer: Tokenizer, contexts: Sequence[Context]) -> str:
    """Return the last text of the chat template after its special tokens, or ""."""
    chats = (context for context in contexts if isinstance(context, ChatContext))
    return next((_end(*last_texts(tokenizer, [chat.pieces[-1:]])) for chat in chats), "")


@collector_paused()
def find_crossings(
    tokenizer: Tokenizer,
    requests: Sequence[Reading],
    separator: str,
    *,
    known: Known | None = None,
) -> list[bool]:
    """Return for each request whether context and candidate encoded together differ.

    Tokens cannot cross the boundary to an empty candidate, or the special token that ends a chat.
    """
    contexts = list(dict.fromkeys(context for context, _ in requests))
    candidates = list(dict.fromkeys(candidate for _, candidate in requests))
    end_of = dict(zip(contexts, map(_end, last_texts(tokenizer, contexts)), strict=True))
    shared = shared_end(tokenizer, contexts)
    ids = continue_with(tokenizer, candidates, separator, end=shared, known=known)
    made = dict(zip(candidates, ids, strict=True))
    meetings = [(end_of[context], candidate) for context, candidate in requests]
    distinct = list(dict.fromkeys(meetings))
    ends = list(dict.fromkeys(end_of.values()))
    before = dict(zip(ends, text_ids(tokenizer, ends), strict=True))
    whole = text_ids(tokenizer, [f"{end}{separator}{candidate}" for end, candidate in distinct])
    joint = dict(zip(distinct, whole, strict=True))

    def crosses(end: str, candidate: str, *, in_chat: bool) -> bool:
        own = made[candidate]
        same = own.probed and joint[end, candidate] == before[end] + own.ids
        return bool(own.ids) and not same and not (in_chat and not end)

    return [
        crosses(*meeting, in_chat=isinstance(context, ChatContext))
        for meeting, (context, _) in zip(meetings, requests, strict=True)
    ]


def _behind(tokenizer: Tokenizer, probe: str, texts: Sequence[str]) -> dict[str, Continuation]:
    """Return the texts that do not change the probe's tokens, each with the tokens after it.

    A probe with unknown tokens is refused: the following text may merge with it.
    """
    before, *wholes = text_ids(tokenizer, [probe, *(probe + text for text in texts)])
    return {
        text: Continuation(ids[len(before) :], probed=True)
        for text, ids in zip(texts, wholes, strict=True)
        if before and tokenizer.unk_token_id not in before and ids[: len(before)] == before
    }


def _end(text: str) -> str:
    """Return the last words of a text."""
    if len(text) <= _REACH:
        return text
    last = text[-_REACH:]
    words = last.partition(" ")[2]
    return words if words.strip() else last
