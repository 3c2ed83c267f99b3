"""From requests to the rows that a masked model reads: one for each hidden token.

A masked model reads context and candidate as one text, or as the two texts of its pair
(`PairContext`), once for each token of the candidate. Only tokens of the candidate are hidden and
scored; without a context, the candidate is read as a text of its own, without the separator.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

from nnd.metric.text.encoding.assembly import fit_context, longest_candidates, too_long
from nnd.metric.text.encoding.boundary import continue_with
from nnd.metric.text.encoding.protocols import Protocol, check_kind
from nnd.metric.text.encoding.requests import (
    Context,
    Encoded,
    Ids,
    Keep,
    PairContext,
    PlainContext,
    Prefix,
    Reading,
    TextModel,
    Tokenizer,
)
from nnd.metric.text.encoding.targets import Target
from nnd.metric.text.encoding.tokens import Frame, context_ids, special_frame, text_ids
from nnd.schemas import ScoringError, collector_paused, excerpt


class _Form(NamedTuple):
    """How a model reads: the special tokens before, between and after its texts."""

    lead: Ids
    between: Ids
    trail: Ids
    second: int  # the segment of the candidate
    separator: str


class _Copy(NamedTuple):
    """A candidate with one token to predict."""

    fed: Ids
    targets: Ids
    scored: tuple[bool, ...]


@collector_paused()
def encode_masked(
    loaded: TextModel,
    protocol: Protocol,
    requests: Sequence[Reading],
    separator: str = " ",
    keep: Keep | None = None,
) -> list[tuple[Encoded, ...]]:
    """Return the rows of each request, whose scored targets together are its candidate's tokens.

    The arguments and errors are those of `encode`.
    """
    check_kind(loaded, protocol)
    rows: dict[Reading, tuple[Encoded, ...]] = {}
    forms = _forms(loaded.tokenizer, separator)
    for kind, form in forms.items():
        some = list(dict.fromkeys(request for request in requests if _kind(request[0]) is kind))
        rows |= zip(some, _masked_rows(loaded, protocol, some, form, keep or "end"), strict=True)
    return [rows[request] for request in requests]


def _kind(context: Context) -> type:
    """Return which form a context is read in: `PairContext`, `str` for text, None without one."""
    if isinstance(context, PairContext):
        return PairContext
    return str if context else type(None)


def _forms(tokenizer: Tokenizer, separator: str) -> dict[type, _Form]:
    lead, trail = special_frame(tokenizer)
    one = _Form(lead, (), trail, 0, "")
    return {type(None): one, str: one._replace(separator=separator), PairContext: _pair(tokenizer)}


def _pair(tokenizer: Tokenizer) -> _Form:
    """Return how a tokenizer joins two texts, and the segment of the second."""
    bare = text_ids(tokenizer, ["a"])[0]
    encoded = tokenizer("a", "a", return_token_type_ids=True)
    ids, segments = tuple(encoded["input_ids"]), encoded["token_type_ids"]
    at = [n for n in range(len(ids)) if ids[n : n + len(bare)] == bare]
    first, last = at[0], at[-1]
    lead, trail = ids[:first], ids[last + len(bare) :]
    return _Form(lead, ids[first + len(bare) : last], trail, segments[last], "")


def _masked_rows(
    loaded: TextModel, protocol: Protocol, requests: Sequence[Reading], form: _Form, keep: Keep
) -> list[tuple[Encoded, ...]]:
    candidates = list(dict.fromkeys(candidate for _, candidate in requests))
    tokens = _tokens(loaded.tokenizer, candidates, form.separator)
    target_of = {
        text: Target(ids + form.trail, ids + form.trail, (True,) * len(ids))
        for text, ids in zip(candidates, tokens, strict=True)
    }
    copies = _copies(loaded, protocol, target_of, form.separator)
    prefix_of: dict[Context, Prefix] = {}
    window = loaded.decoder_window
    for context, longest in longest_candidates(requests, target_of).items():
        room = window and window - len(target_of[longest].targets)
        (ids,) = context_ids(loaded.tokenizer, [cast("PlainContext", context)])  # never a chat
        prefix = fit_context(Frame(form.lead, form.between), ids, room, keep)
        if prefix is None:
            raise too_long(loaded, longest, target_of[longest], context)
        prefix_of[context] = prefix
    rows = []
    for context, candidate in requests:
        prefix = prefix_of[context]
        whole = len(target_of[candidate].targets)
        segments = (0,) * len(prefix.ids) + (form.second,) * whole if form.second else ()
        rows.append(
            tuple(
                Encoded(prefix.ids, *copy, prefix.truncated, segments) for copy in copies[candidate]
            )
        )
    return rows


def _tokens(tokenizer: Tokenizer, candidates: Sequence[str], separator: str) -> list[Ids]:
    if not separator:
        return text_ids(tokenizer, candidates)
    return [ids for ids, _ in continue_with(tokenizer, candidates, separator)]


def _copies(
    loaded: TextModel, protocol: Protocol, target_of: dict[str, Target], separator: str
) -> dict[str, tuple[_Copy, ...]]:
    """Return candidate → its copies, each with a hidden token; one without, if it has no token."""
    mask = loaded.tokenizer.mask_token_id
    if mask is None:
        raise ScoringError(
            "model.tokenizer",
            f'the tokenizer has no mask token, which protocol "{protocol.name}" puts in the '
            "place of hidden ones",
            loaded.name,
            "set mask_token",
        )
    copies: dict[str, tuple[_Copy, ...]] = {}
    for candidate, target in target_of.items():
        n, ids = len(target.scored), target.targets
        words: Sequence[int | None] = range(n)
        if protocol.hides == "rest of the word":
            words = _words(loaded, candidate, ids[:n], separator)
        own = []
        for at in range(n):
            hidden = {at, *(later for later in range(at, n) if words[later] == words[at])}
            fed = tuple(mask if place in hidden else token for place, token in enumerate(ids))
            own.append(_Copy(fed, ids, tuple(place == at for place in range(len(ids)))))
        copies[candidate] = tuple(own) or (_Copy(ids, ids, (False,) * len(ids)),)
    return copies


def _words(loaded: TextModel, candidate: str, ids: Ids, separator: str) -> list[int | None]:
    """Return the number of the word that each token of a candidate belongs to."""
    before = f"a{separator}" if separator else ""  # what `continue_with` reads before it
    if loaded.tokenizer.is_fast:
        encoded = loaded.tokenizer(
            before + candidate, add_special_tokens=False, split_special_tokens=True, verbose=False
        )
        words: list[int | None] = encoded.word_ids()
        read = tuple(encoded["input_ids"])
        if not ids or read[-len(ids) :] == ids:
            return words[len(words) - len(ids) :]
    raise ScoringError(
        "model.tokenizer",
        f'the tokenizer does not say which tokens of "{excerpt(candidate)}" are one word',
        loaded.name,
        "use nnd evaluate --protocol pll-original, which hides one token at a time",
    )
