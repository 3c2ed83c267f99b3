"""Preparation of a model and a set of pairs for scoring."""

from typing import NamedTuple

from nnd.metric.data import PairSet, contexts_of
from nnd.metric.likelihood import Engine, LoadedModel, Scoring
from nnd.metric.text import AUTO, ChatChoice, Template, choose_rendering, find_protocol
from nnd.schemas import ScoringError


class Preparation(NamedTuple):
    """An engine without a store, its template, and the choice of chats."""

    engine: Engine
    template: Template
    chat: ChatChoice


def prepare(loaded: LoadedModel, pairs: PairSet, scoring: Scoring) -> Preparation:
    """Return the engine and the template that a model scores pairs with."""
    protocol = find_protocol(scoring.protocol)
    if protocol.minus_alone and not pairs.has_contexts:
        raise ScoringError(
            "protocol.another-model",
            f"protocol {protocol.name} measures what contexts add, and the data has none",
            pairs.name,
            "use native or sum",
        )
    template, chat = choose_rendering(
        loaded,
        protocol,
        scoring.chat,
        scoring.template,
        contexts=contexts_of(pairs.pairs if scoring.template == AUTO else pairs.pairs.head(1)),
        instruction=pairs.instruction,
        separator=scoring.separator,
        has_contexts=pairs.has_contexts,
    )
    engine = Engine(
        loaded,
        protocol=scoring.protocol,
        separator=chat.separator,
        chat=chat.template,
        keep=scoring.keep,
        token_budget=scoring.token_budget,
        matmul=scoring.matmul,
    )
    return Preparation(engine, template, chat)
