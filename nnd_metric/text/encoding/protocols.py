"""The six protocols, which fix by name what the formula of the log-likelihood leaves open.

The formula (Laban et al. 2022, eq. 1) is LL = (1/N) * sum_i log P(w_i | context, w_<i). It does not
say which tokens w are scored, what the decoder starts with, or what N counts; tools differ in all
three, and the choice flips more verdicts than the precision does. A protocol is that choice.
"""

from dataclasses import dataclass
from typing import Literal

from nnd.schemas import ScoringError, did_you_mean


@dataclass(frozen=True, slots=True)
class Protocol:
    """One reading of the formula.

    Attributes:
        tokens: The conventions that decide which ids are fed and scored (see `encoding`): the
            model's own conventions ("native"), the paper's released code ("laban2022"), or
            BARTScore's ("bartscore").
        normaliser: What N counts: the scored tokens, nothing (N = 1), or the UTF-8 bytes of the
            candidate.
        minus_alone: Whether the log-likelihood of the candidate without its context is subtracted.
    """

    name: str
    tokens: Literal["native", "laban2022", "bartscore"]
    normaliser: Literal["tokens", "one", "bytes"]
    summary: str
    minus_alone: bool = False


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
    )
}


def find_protocol(name: str) -> Protocol:
    """Return the protocol called `name`."""
    if name not in PROTOCOLS:
        raise ScoringError(
            "option.unknown-value",
            f'unknown protocol "{name}"{did_you_mean(name, PROTOCOLS)}',
            remedy=f"choose one of {', '.join(PROTOCOLS)}",
        )
    return PROTOCOLS[name]
