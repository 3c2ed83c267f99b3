"""What the engine tests share: requests that bite, and how a result is held against the oracle."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from support import oracle
from support.tiny_models import CAUSAL, ENCODER_DECODER, SENTENCES, Family

from nnd.metric.likelihood.engine.answers import Likelihoods
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text.encoding.assembly import encode
from nnd.metric.text.encoding.protocols import PROTOCOLS
from nnd.metric.text.encoding.requests import Encoded

Tiny = Callable[[str], Family]
Fresh = Callable[..., Family]
Loaded = Callable[[str], LoadedModel]
Requests = Sequence[tuple[str, str]]
Rendered = Sequence[tuple[str | tuple[str, ...], str]]

NATS = 1e-5  # float32 against float64, per mean log-likelihood

LONG = " ".join(SENTENCES[:2])  # 55 to 94 tokens, depending on the family
REQUESTS: list[tuple[str, str]] = [
    (LONG, "the"),
    (LONG, "The dog sat on the mat while nobody is looking."),
    (LONG, "The dog sat on the mat while nobody is looking?"),
    (LONG, "in"),
    ("Who wrote the book?", "the cat"),
    ("Who wrote the book?", "A fox, printed in London in 1884; the river and the hill."),
    ("Who wrote the book?", "the cat"),
    ("Crème brûlée: 東京 🍰", "naïve 東京"),
    ("No: <b>bold</b>, {x}", "yes/no"),
    ("the", "a\nb  c "),
    ("the", ""),
    ("pe covor in 1884", "pisica in 1884"),
]
EMPTY: list[tuple[str, str]] = [("", "the river"), ("", ""), ("", "naïve 東京"), ("the", "cat")]
SPECIAL: list[tuple[str, str]] = [
    ("stop </s> here <|endoftext|> <s> <pad> go", "yes"),
    ("stop </s> here <|endoftext|> <s> <pad> go", "no </s> x <|endoftext|></s>"),
    ("Who wrote the book?</s>", "<s>"),
]
CASES = [
    *itertools.product(CAUSAL, ("native", "laban2022")),
    *itertools.product(ENCODER_DECODER, ("native", "laban2022", "bartscore")),
]

PATHS = {
    **dict.fromkeys(CAUSAL, ("packed", "cached", "plain", "alone")),
    **dict.fromkeys(ENCODER_DECODER, ("packed", "shared", "plain", "alone")),
    "bloom": ("cached", "plain", "alone"),  # ALiBi, in an attention of its own
    "xglm": ("cached", "plain", "alone"),  # an attention of its own
    "mamba": ("plain", "alone"),  # a state, and no keys and values
    "prophetnet": ("shared", "plain", "alone"),  # an attention of its own
    "fsmt": ("shared", "plain", "alone"),  # an attention of its own
}
"""The ways through each family that give its numbers, fastest first."""

PATH_CASES = [(name, protocol, path) for name, protocol in CASES for path in PATHS[name]]


def run(
    model: LoadedModel | Family, protocol: str, requests: Requests, **options: object
) -> Likelihoods:
    loaded = wrap_model(model.model, model.tokenizer) if isinstance(model, Family) else model
    return Engine(loaded, protocol=protocol, **options)(requests)  # type: ignore[arg-type]


def ids(family: Family, protocol: str, requests: Rendered, **options: object) -> list[Encoded]:
    loaded = wrap_model(family.model, family.tokenizer)
    return list(encode(loaded, PROTOCOLS[protocol], requests, **options))  # type: ignore[arg-type]


def assert_same(
    found: Likelihoods, expected: Sequence[oracle.Score], *, summed: bool = False
) -> None:
    """Tolerate `NATS` per mean; a sum of N terms may be N times as far away."""
    tokens = np.array([score.tokens for score in expected])
    exact = np.array([score.log_likelihood for score in expected])
    np.testing.assert_array_equal(found.tokens, tokens)
    np.testing.assert_array_equal(found.truncated, [score.truncated for score in expected])
    np.testing.assert_array_equal(np.isnan(found.log_likelihood), np.isnan(exact))
    allowed = NATS * (np.maximum(tokens, 1) if summed else np.ones_like(tokens))
    missing = np.isnan(exact)
    assert found.log_likelihood.dtype == np.float64
    distance = np.abs(found.log_likelihood - exact)
    assert (distance[~missing] <= allowed[~missing]).all(), distance
