"""How many characters of a text a tokenizer does not know: its tokens say nothing about them.

A character is unknown if it is in an unknown token, which may stand for a whole word. Fast
tokenizers tell which characters a token stands for, those that a normaliser changes included. For
others each character is read alone, and is unknown if it gets an unknown token, or, white space
aside, none: a tokenizer without such a token drops what it does not know, and then cannot tell
where its tokens are. Tokenizers with a token for every byte know every text.
"""

import json
from collections.abc import Sequence

from nnd.metric.text.encoding.requests import Tokenizer
from nnd.metric.text.encoding.tokens import TEXTS_AT_ONCE, text_ids
from nnd.schemas import collector_paused

_SPANS = ((0x21, 0x7F, 1), (0xA1, 0x800, 31), (0x800, 0xD7FF, 997), (0x10000, 0x10FFFF, 65_003))
_EVERY_BYTE = "".join(chr(point) for span in _SPANS for point in range(*span))
"""Characters of all scripts, with nearly all bytes of UTF-8."""


def knows_all(tokenizer: Tokenizer) -> bool:
    """Return whether a tokenizer reads characters of all scripts, as one that knows bytes does."""
    try:
        return count_unknown(tokenizer, [_EVERY_BYTE]) == [0]
    except Exception:  # noqa: BLE001 - some raise an error of any kind at what they do not know
        return False


def unknown_token(tokenizer: Tokenizer) -> int | None:
    """Return the id of the token for what a tokenizer does not know, or None if it drops that.

    It may be known only to the `tokenizers` model inside.
    """
    if tokenizer.unk_token_id is not None or not tokenizer.is_fast:
        own: int | None = tokenizer.unk_token_id
        return own
    inside = tokenizer.backend_tokenizer
    if hasattr(inside.model, "unk_token"):
        token = inside.model.unk_token
        return None if token is None else inside.token_to_id(token)
    number: int | None = json.loads(inside.to_str())["model"].get("unk_id")  # of Unigram
    return number


@collector_paused()
def count_unknown(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """Return how many characters (code points) of each text a tokenizer does not know."""
    unknown, counts = unknown_token(tokenizer), []
    if unknown is None or not tokenizer.is_fast:
        return _count_alone(tokenizer, texts)
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        encoded = tokenizer(
            list(texts[start : start + TEXTS_AT_ONCE]),
            add_special_tokens=False,
            split_special_tokens=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            return_offsets_mapping=True,
            verbose=False,
        )
        for ids, places in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True):
            inside = (place for token, place in zip(ids, places, strict=True) if token == unknown)
            counts.append(len({at for place in inside for at in range(*place)}))
    return counts


def _count_alone(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """Count the characters that have an unknown token, or none, when they are read alone."""
    characters = sorted({char for text in texts for char in text})
    unknown = {
        char
        for char, ids in zip(characters, text_ids(tokenizer, characters), strict=True)
        if tokenizer.unk_token_id in ids or not (ids or char.isspace())
    }
    return [sum(char in unknown for char in text) for text in texts]
