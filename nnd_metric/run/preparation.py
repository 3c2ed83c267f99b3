"""Preparation of a model and a set of pairs for scoring."""

from typing import NamedTuple

from nnd.metric.data import PairSet
from nnd.metric.likelihood import Engine, LoadedModel, Scoring
from nnd.metric.run.wording import choose_wording
from nnd.metric.text import ChatChoice, Template


class Preparation(NamedTuple):
    """An engine without a store, its template, and the choice of chats."""

    engine: Engine
    template: Template
    chat: ChatChoice


def prepare(loaded: LoadedModel, pairs: PairSet, scoring: Scoring) -> Preparation:
    """Return the engine and the template that a model scores pairs with."""
    template, chat = choose_wording(loaded, pairs, scoring)
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
