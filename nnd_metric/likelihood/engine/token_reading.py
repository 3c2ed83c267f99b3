"""What a tokenizer leaves of requests: which of them become the same tokens, and what it lacks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nnd.metric.text import (
    ChatContext,
    Context,
    Encoded,
    Request,
    Tokenizer,
    ToldContext,
    count_unknown,
    knows_all,
    unknown_token,
)

Integers = npt.NDArray[np.int64]


class TokenReading(NamedTuple):
    """How a tokenizer reads n requests, as int64 [n] each.

    Attributes:
        tokens: A number that two requests share if, and only if, they are the same tokens.
        unknown: Characters of the candidate that the tokenizer does not know.
        unknown_context: Those of the context, the words of a template aside.
        context: Characters of the context, the words of a template aside.
    """

    tokens: Integers
    unknown: Integers
    unknown_context: Integers
    context: Integers

    def head(self, n: int) -> "TokenReading":
        """Return the reading of the first n requests."""
        return TokenReading(*(column[:n] for column in self))


def read_tokens(
    tokenizer: Tokenizer,
    requests: Sequence[Request],
    encoded: Sequence[tuple[Encoded, ...]],
    rows: Integers,
    order: Integers,
) -> TokenReading:
    """Return how a tokenizer reads requests, most of which need not be tokenised again.

    Args:
        tokenizer: The tokenizer.
        requests: All requests.
        encoded: The rows of each distinct one.
        rows: The number of each of these rows; equal rows have the same.
        order: The place of each request among the distinct ones.
    """
    starts = np.cumsum([len(own) for own in encoded])[:-1]
    numbers: dict[bytes, int] = {}
    same = [numbers.setdefault(own.tobytes(), len(numbers)) for own in np.split(rows, starts)]
    lacks = _lacking(tokenizer, encoded)
    looked_at = [requests[number] for number in np.flatnonzero(lacks[order]).tolist()]
    texts = dict.fromkeys(candidate for _, candidate in looked_at)
    texts |= dict.fromkeys(text for context, _ in looked_at for text in _texts(context))
    unknown = dict(zip(texts, count_unknown(tokenizer, list(texts)), strict=True))
    contexts = dict.fromkeys(context for context, _ in requests)
    of_contexts = {
        context: (sum(unknown.get(text, 0) for text in texts), sum(map(len, texts)))
        for context in contexts
        for texts in [_texts(context)]
    }
    missing = [(unknown.get(text, 0), *of_contexts[context]) for context, text in requests]
    columns = np.array(missing, dtype=np.int64).reshape(len(requests), 3).T
    return TokenReading(np.array(same, dtype=np.int64)[order], *columns)


def _lacking(tokenizer: Tokenizer, encoded: Sequence[tuple[Encoded, ...]]) -> npt.NDArray[np.bool_]:
    """Return whether each request may have unknown characters."""
    if knows_all(tokenizer):
        return np.zeros(len(encoded), dtype=np.bool_)
    unknown = unknown_token(tokenizer)
    if unknown is None:  # what it does not know, it drops
        return np.ones(len(encoded), dtype=np.bool_)
    found = (
        any(unknown in ids for ids in (row.context, row.inputs, row.targets)) for row, *_ in encoded
    )
    return np.fromiter(found, np.bool_, len(encoded))


def _texts(context: Context | None) -> tuple[str, ...]:
    """Return the texts of a context that come from the data."""
    context = context.text if isinstance(context, ToldContext) else context
    if context is None or isinstance(context, str):
        return () if context is None else (context,)
    return (context.pieces if isinstance(context, ChatContext) else tuple(context))[1::2]
