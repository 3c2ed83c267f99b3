"""Tokenising: texts, the special tokens around them, contexts from templates.

Special-token strings in data stay text; only those in a template become special tokens.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from nnd.metric.text.encoding.requests import ChatContext, Context, Ids, PlainContext, Tokenizer
from nnd.metric.text.encoding.tokenizer_panics import panics_refused
from nnd.schemas import ScoringError, excerpt

TEXTS_AT_ONCE = 1_000
"""Texts tokenised at once: until all are done, a token takes hundreds of bytes besides its id."""


class Frame(NamedTuple):
    """The special tokens that a tokenizer puts before and after a text."""

    lead: Ids
    trail: Ids


def special_frame(tokenizer: Tokenizer, *, target: bool = False) -> Frame:
    """Return the special tokens `tokenizer` puts around a text.

    Some tokenizers put others around text to generate (`target`). Raises ScoringError if special
    tokens change the tokens of the text itself.
    """
    probe = "a"
    bare = text_ids(tokenizer, [probe], target=target)[0]
    whole = text_ids(tokenizer, [probe], target=target, special=True)[0]
    for start in range(len(whole) - len(bare) + 1):
        if whole[start : start + len(bare)] == bare:
            return Frame(whole[:start], whole[start + len(bare) :])
    raise ScoringError(
        "model.tokenizer",
        "the tokenizer encodes a text differently when it adds special tokens, so they "
        "cannot be separated from the text",
        tokenizer.name_or_path,
        "use another tokenizer",
    )


@panics_refused()
def text_ids(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    *,
    target: bool = False,
    special: bool = False,
) -> list[Ids]:
    """Return the tokens of each text, without special tokens unless `special` adds them around it.

    `target` says that they are texts to generate (`text_target`).
    """
    rows: list[Ids] = []
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        encoded = tokenizer(
            **{"text_target" if target else "text": list(texts[start : start + TEXTS_AT_ONCE])},
            add_special_tokens=special,
            split_special_tokens=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        rows += map(tuple, encoded["input_ids"])
    reserved = set() if special else {*_special(tokenizer).values()} - {tokenizer.unk_token_id}
    return [
        row if reserved.isdisjoint(row) else _mend(tokenizer, text, reserved)
        for text, row in zip(texts, rows, strict=True)
    ]


def context_ids(tokenizer: Tokenizer, contexts: Sequence[PlainContext]) -> list[Ids]:
    """Return the tokens of each context; only literals of templates may be special tokens."""
    special = _special(tokenizer)
    split = [_split(context, special) for context in contexts]
    texts = list(dict.fromkeys(part for parts in split for part in parts if isinstance(part, str)))
    ids = dict(zip(texts, text_ids(tokenizer, texts), strict=True))
    return [
        tuple(
            token for part in parts for token in (ids[part] if isinstance(part, str) else (part,))
        )
        for parts in split
    ]


def source_ids(
    tokenizer: Tokenizer, contexts: Sequence[PlainContext], token: str
) -> tuple[Ids, list[Ids]]:
    """Return the ids of the token that tells a language, and those of each context after it.

    Without such a token (""), contexts are read as by `context_ids`. Raises ScoringError if the
    tokenizer does not read it as one token at the beginning of a text.
    """
    if not token:
        return (), context_ids(tokenizer, contexts)
    (alone,) = context_ids(tokenizer, [(token,)])
    whole = context_ids(tokenizer, [_after(token, context) for context in contexts])
    number = tokenizer.convert_tokens_to_ids(token)
    if alone[-1:] != (number,) or any(ids[: len(alone)] != alone for ids in whole):
        raise ScoringError(
            "model.tokenizer",
            f"the tokenizer does not keep {token}, the token of a language, before a text",
            tokenizer.name_or_path,
        )
    return alone, [ids[len(alone) :] for ids in whole]


def _after(token: str, context: PlainContext) -> PlainContext:
    """Return a context after a token and, unless it is empty, a space."""
    if isinstance(context, str):
        return (f"{token} ", context) if context else (token,)
    first, *others = context
    return (f"{token} {first}", *others)


def last_texts(tokenizer: Tokenizer, contexts: Sequence[Context]) -> list[str]:
    """Return the text after the last special token of each context; "" if it ends in one."""
    special = _special(tokenizer)
    texts = (each.pieces if isinstance(each, ChatContext) else each for each in contexts)
    ends = ((_split(cast("PlainContext", text), special) or [""])[-1] for text in texts)
    return [end if isinstance(end, str) else "" for end in ends]


def _special(tokenizer: Tokenizer) -> dict[str, int]:
    """Return spelling → id of every special token, the longest first, so that it matches first."""
    ids = {
        str(tok): number for number, tok in tokenizer.added_tokens_decoder.items() if tok.special
    }
    return {token: ids[token] for token in sorted(ids, key=len, reverse=True)}


def _split(context: PlainContext, special: dict[str, int]) -> list[str | int]:
    """Return the texts of a context and, between them, the ids of its template's special tokens."""
    if isinstance(context, str):
        return [context] if context else []
    pattern = f"({'|'.join(map(re.escape, special))})"
    parts: list[str | int] = [""]
    for number, piece in enumerate(context):
        is_literal = number % 2 == 0
        chunks = re.split(pattern, piece) if is_literal and special else [piece]
        for place, chunk in enumerate(chunks):
            if place % 2:
                parts += [special[chunk], ""]
            else:
                parts[-1] = f"{parts[-1]}{chunk}"
    return [part for part in parts if part != ""]


def _mend(tokenizer: Tokenizer, text: str, reserved: set[int]) -> Ids:
    """Tokenise texts in which `split_special_tokens` does not split a special token."""
    if tokenizer.is_fast:
        ids = _without_special_pieces(tokenizer).encode(text, add_special_tokens=False).ids
        if reserved.isdisjoint(ids):
            return tuple(ids)
    raise ScoringError(
        "model.tokenizer",
        f'the tokenizer reads a part of "{excerpt(text)}" as a special token',
        tokenizer.name_or_path,
        "leave that text out",
    )


def _without_special_pieces(tokenizer: Tokenizer) -> Any:  # noqa: ANN401 - of tokenizers
    """Return a Unigram tokenizer whose special pieces have names that do not occur in texts."""
    backend = tokenizer.backend_tokenizer
    state = json.loads(backend.to_str())
    special = {token["content"] for token in state["added_tokens"] if token["special"]}
    state["added_tokens"] = [token for token in state["added_tokens"] if not token["special"]]
    if state["model"]["type"] == "Unigram":
        state["model"]["vocab"] = [
            (f"\ue000{number}\ue000" if piece in special else piece, score)
            for number, (piece, score) in enumerate(state["model"]["vocab"])
        ]
    return type(backend).from_str(json.dumps(state))
