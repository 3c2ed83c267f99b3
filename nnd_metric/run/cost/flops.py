"""The floating-point operations that scoring needs, without repeated reading and padding.

A multiplication and an addition count two, as in Kaplan et al. 2020, § 2.1 (arXiv:2001.08361), and
Hoffmann et al. 2022, appendix F (arXiv:2203.15556). With W the weights of a stack's matrices, d the
width of all its attention heads together, L its layers, and H the weights of the language model's
head:

- decoder-only: 2 W for each token; 4 d L for each key that a query sees (scores and weighted
  values): 1 … C for the tokens of a context of C, C+1 … C+N for those of a candidate of N.
- encoder-decoder: 2 W of the encoder, and of the decoder's keys and values of the context, for each
  context token; 2 W of the rest of the decoder for each candidate token; keys seen are C by each of
  C in the encoder, 1 … N in the decoder, C by each of N across.
- masked: 2 W for each token of each row; keys seen are L by each of L, for a row of L. A candidate
  takes a row for each of its tokens.
- 2 H for each scored token.

A mixture of experts counts the experts that a token goes through. Embeddings, normalisation,
activations, softmax, biases and adapters are not counted; keys that a window hides are counted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from nnd.metric.text import Encoded, Ids
from nnd.schemas import Count, Record

Kind: TypeAlias = Literal["decoder-only", "encoder-decoder", "masked"]


@dataclass(frozen=True, slots=True)
class FlopShape(Record):
    """The sizes of a model on which the operations of its work depend.

    Attributes:
        kind: How it reads a request.
        context_weights: Weights of the matrices that a token of a context goes through.
        candidate_weights: Those that a token of a candidate goes through; if the model is masked,
            every token of a row.
        context_key: Operations for each key that a token of a context sees.
        candidate_key: Operations for each key that a token of a candidate sees.
        head_weights: Weights that a scored token goes through besides.
    """

    kind: Kind
    context_weights: Count
    candidate_weights: Count
    context_key: Count
    candidate_key: Count
    head_weights: Count


def needed_flops(shape: FlopShape, rows: Sequence[Encoded]) -> int:
    """Return the floating-point operations that distinct requests need (formula above)."""
    read, fed, context_keys, candidate_keys = map(sum, zip(*_WORKS[shape.kind](rows), strict=True))
    scored = sum(row.scored.count(True) for row in rows)
    matrices = shape.context_weights * read + shape.candidate_weights * fed
    keys = shape.context_key * context_keys + shape.candidate_key * candidate_keys
    return 2 * matrices + keys + 2 * shape.head_weights * scored


_Work: TypeAlias = tuple[int, int, int, int]
"""Tokens of contexts and of candidates, and the keys that each of both sees, in all."""

_NO_WORK: Final[_Work] = (0, 0, 0, 0)


def _masked(rows: Sequence[Encoded]) -> Iterator[_Work]:
    yield _NO_WORK
    for row in rows:
        yield 0, row.length, 0, row.length**2


def _decoder_only(rows: Sequence[Encoded]) -> Iterator[_Work]:
    yield _NO_WORK
    for context, candidates in _by_context(rows).items():
        before = _sum_to(len(context))
        yield len(context), 0, before, 0
        for n in candidates:
            yield 0, n, 0, _sum_to(len(context) + n) - before


def _encoder_decoder(rows: Sequence[Encoded]) -> Iterator[_Work]:
    yield _NO_WORK
    for context, candidates in _by_context(rows).items():
        yield len(context), 0, len(context) ** 2, 0
        for n in candidates:
            yield 0, n, 0, _sum_to(n) + len(context) * n


_WORKS: Final[dict[Kind, Callable[[Sequence[Encoded]], Iterator[_Work]]]] = {
    "decoder-only": _decoder_only,
    "encoder-decoder": _encoder_decoder,
    "masked": _masked,
}


def _by_context(rows: Sequence[Encoded]) -> dict[Ids, list[int]]:
    """Return the lengths of the candidates of each context."""
    lengths: dict[Ids, list[int]] = {}
    for row in rows:
        lengths.setdefault(row.context, []).append(len(row.inputs))
    return lengths


def _sum_to(last: int) -> int:
    return last * (last + 1) // 2
