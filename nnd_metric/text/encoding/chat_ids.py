"""Chats in token ids: only the template writes control tokens; contents are text.

A chat is encoded as one text, so that its tokens are those of transformers' `apply_chat_template`.
Two kinds are encoded in pieces instead: chats whose contents spell a control token, such as the end
of a turn, and chats that have to be cut, because only contents may lose tokens.
"""

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from nnd.metric.text.encoding.boundary import continue_with
from nnd.metric.text.encoding.requests import ChatContext, Ids, Keep, Prefix, Tokenizer
from nnd.metric.text.encoding.tokenizer_panics import panics_refused

_PROBE = ":"


class _Control(NamedTuple):
    """Tokens that only templates may write: special ones, and others that templates of chats write.

    `not_special` finds the others, which `split_special_tokens` does not split.
    """

    ids: frozenset[int]
    not_special: re.Pattern[str]

    def count(self, ids: Ids) -> int:
        return sum(token in self.ids for token in ids)


def chat_ids(tokenizer: Tokenizer, chats: Sequence[ChatContext]) -> list[Ids]:
    """Return the tokens of each chat; contents cannot become control tokens."""
    control = _control(tokenizer, chats)
    return [
        _joined(_piece_ids(tokenizer, chat, control)) if spells_control else ids
        for chat, (ids, spells_control) in zip(chats, _whole(tokenizer, chats), strict=True)
    ]


def cut_chat(tokenizer: Tokenizer, chat: ChatContext, room: int, keep: Keep) -> Prefix | None:
    """Return a chat in at most `room` tokens, or None if nothing of its contents would remain.

    The template's own tokens are kept; the contents lose tokens at the side opposite to `keep`.
    """
    pieces = _piece_ids(tokenizer, chat, _control(tokenizer, [chat]))
    over = max(sum(map(len, pieces)) - room, 0)
    if over and over >= sum(map(len, pieces[1::2])):
        return None
    truncated = over > 0
    places = [*range(1, len(pieces), 2)]
    if keep == "beginning":
        places.reverse()
    if chat.longest_first:
        places.sort(key=lambda place: -len(pieces[place]))
    for place in places:
        ids = pieces[place]
        lost = min(over, len(ids))
        pieces[place] = ids[lost:] if keep == "end" else ids[: len(ids) - lost]
        over -= lost
    return Prefix(_joined(pieces), truncated)


def count_neutralised(tokenizer: Tokenizer, chats: Sequence[ChatContext]) -> int:
    """Count the chats whose contents spell a control token."""
    return sum(spells_control for _, spells_control in _whole(tokenizer, chats))


def _whole(tokenizer: Tokenizer, chats: Sequence[ChatContext]) -> list[tuple[Ids, bool]]:
    """Return the tokens of each chat as one text, and whether its contents make control tokens."""
    control = _control(tokenizer, chats)
    rows = _written(tokenizer, ["".join(chat.pieces) for chat in chats])
    templates = list(dict.fromkeys(piece for chat in chats for piece in chat.pieces[::2]))
    made = map(control.count, _written(tokenizer, templates))
    own = dict(zip(templates, made, strict=True))
    return [
        (ids, control.count(ids) != sum(own[piece] for piece in chat.pieces[::2]))
        for chat, ids in zip(chats, rows, strict=True)
    ]


def _control(tokenizer: Tokenizer, chats: Sequence[ChatContext]) -> _Control:
    written = {piece for chat in chats for piece in chat.pieces[::2]}
    added = tokenizer.added_tokens_decoder
    special = {number for number, token in added.items() if token.special}
    others = {
        number: text
        for number, token in added.items()
        if not token.special
        and (text := str(token)).strip()
        and any(text in piece for piece in written)
    }
    longest_first = sorted(others.values(), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")  # (?!) never matches
    # An unknown character is not control, although its token is special (in GPT-2, the end token).
    unknown = {tokenizer.unk_token_id} - {tokenizer.bos_token_id, tokenizer.eos_token_id}
    return _Control(frozenset(special | others.keys()) - unknown, pattern)


def _piece_ids(tokenizer: Tokenizer, chat: ChatContext, control: _Control) -> list[Ids]:
    """Return the tokens of each piece."""
    first, *rest = _written(tokenizer, chat.pieces[:1] + chat.pieces[2::2])
    before, *behind = _written(tokenizer, [_PROBE, *(_PROBE + text for text in chat.pieces[2::2])])
    pieces = [first]
    for content, alone, whole in zip(chat.pieces[1::2], rest, behind, strict=True):
        kept = whole[: len(before)] == before
        pieces += [
            _content_ids(tokenizer, content, control),
            whole[len(before) :] if kept else alone,
        ]
    return pieces


def _content_ids(tokenizer: Tokenizer, text: str, control: _Control) -> Ids:
    """Return the tokens of a text that follows another, without control tokens."""
    inside = [match.start() + 1 for match in control.not_special.finditer(text)]
    parts = [text[start:end] for start, end in pairwise([0, *inside, len(text)])]
    return _joined([ids for ids, _ in continue_with(tokenizer, parts, "")])


def _joined(pieces: Sequence[Ids]) -> Ids:
    return tuple(chain.from_iterable(pieces))


@panics_refused()
def _written(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Ids]:
    """Return the tokens of each text, control tokens included."""
    if not texts:
        return []
    encoded = tokenizer(
        list(texts), add_special_tokens=False, split_special_tokens=False, verbose=False
    )
    return [tuple(row) for row in encoded["input_ids"]]
