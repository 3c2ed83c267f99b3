"""The protocols, which fix by name what the formula of the log-likelihood leaves open.

The formula (Laban et al. 2022, eq. 1) is LL = (1/N) * sum_i log P(w_i | context, w_<i). It does not
say which tokens w are scored, what the decoder starts with, or what N counts; tools differ in all
three, and the choice flips more verdicts than the precision does. A protocol is that choice.

A masked language model has no P(w_i | context, w_<i). Its pseudo-log-likelihood takes P(w_i | all
other tokens) instead, where w_i is hidden (Salazar et al. 2020, https://arxiv.org/abs/1910.14659),
and with it the later tokens of its word (Kauf & Ivanova 2023, https://arxiv.org/abs/2305.10588):
otherwise the pieces of a rare word give each other away.
"""

from dataclasses import dataclass
from typing import Literal

from nnd.metric.text.encoding.requests import TextModel
from nnd.schemas import ScoringError, check_known


@dataclass(frozen=True, slots=True)
class Protocol:
    """One reading of the formula.

    Attributes:
        tokens: The conventions that decide which ids are fed and scored (see `encoding`): the
            model's own conventions ("native"), the paper's released code ("laban2022"),
            BARTScore's ("bartscore"), or those of masked models ("masked").
        normaliser: What N counts: the scored tokens, nothing (N = 1), or the UTF-8 bytes of the
            candidate.
        minus_alone: Whether the log-likelihood of the candidate without its context is subtracted.
        hides: What a masked model does not see while it predicts a token: the token, or the rest of
            its word. None for protocols of other models.
    """

    name: str
    tokens: Literal["native", "laban2022", "bartscore", "masked"]
    normaliser: Literal["tokens", "one", "bytes"]
    summary: str
    minus_alone: bool = False
    hides: Literal["token", "rest of the word"] | None = None


PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "native",
            "native",
            "tokens",
            "mean over the candidate's tokens, plus the first end token for encoder-decoders; the "
            "decoder starts as in the model's training",
        ),
        Protocol(
            "laban2022",
            "laban2022",
            "tokens",
            "same as the paper's released code: start id from bos/eos, end token always scored",
        ),
        Protocol(
            "bartscore",
            "bartscore",
            "tokens",
            "mean over every label token, <s> and </s> included (encoder-decoders only)",
        ),
        Protocol("sum", "native", "one", "as native, summed instead of averaged"),
        Protocol("bytes", "native", "bytes", "as native, divided by the candidate's UTF-8 bytes"),
        Protocol(
            "pmi",
            "native",
            "tokens",
            "as native, minus the same without the context: how much the context helps",
            minus_alone=True,
        ),
        Protocol(
            "pll",
            "masked",
            "tokens",
            "pseudo-log-likelihood of masked models: mean over the candidate's tokens, each hidden "
            "with the rest of its word",
            hides="rest of the word",
        ),
        Protocol(
            "pll-original",
            "masked",
            "tokens",
            "as pll, with only the predicted token hidden",
            hides="token",
        ),
    )
}


def find_protocol(name: str) -> Protocol:
    """Return the protocol called `name`."""
    check_known("protocol", [name], PROTOCOLS, code="option.unknown-value", family=ScoringError)
    return PROTOCOLS[name]


def check_kind(loaded: TextModel, protocol: Protocol) -> None:
    """Check that a protocol is one for masked models if the model is one, and only then."""
    if loaded.is_masked == (protocol.hides is not None):
        return
    takes = [each.name for each in PROTOCOLS.values() if each.hides is not None]
    if loaded.is_masked:
        raise ScoringError(
            "protocol.another-model",
            f"this is a masked language model ({type(loaded.model).__name__}), which "
            f'predicts hidden tokens, not the next one as protocol "{protocol.name}" needs',
            loaded.name,
            f"use nnd evaluate --protocol {' or '.join(takes)}",
        )
    kind = "an encoder-decoder" if loaded.is_encoder_decoder else "a decoder-only model"
    raise ScoringError(
        "protocol.another-model",
        f'protocol "{protocol.name}" is for masked language models, but this is {kind}',
        loaded.name,
    )
