"""Preparation of a model and a set of pairs for scoring."""

from dataclasses import replace
from typing import NamedTuple

from nnd.metric.chat import ChatChoice, choose_chat
from nnd.metric.data import PairSet, parts_of
from nnd.metric.encoding import Template, choose_template, find_protocol
from nnd.metric.engine import Engine, Scoring
from nnd.metric.models import LoadedModel


class Prepared(NamedTuple):
    """An engine without a store, its template, and the choice of chats."""

    engine: Engine
    template: Template
    chat: ChatChoice


def prepare(loaded: LoadedModel, pairs: PairSet, scoring: Scoring) -> Prepared:
    """Return the engine and the template that a model scores pairs with.

    Raises:
        ScoringError: If the template or the chat template cannot be used.
    """
    template = choose_template(scoring.template, loaded.name, parts_of(pairs.pairs))
    if scoring.separator is not None:
        template = replace(template, separator=scoring.separator)
    chat = choose_chat(loaded, find_protocol(scoring.protocol), template, scoring.chat)
    engine = Engine(
        loaded,
        protocol=scoring.protocol,
        separator=chat.separator,
        chat=chat.template,
        keep=scoring.keep,
        token_budget=scoring.token_budget,
        matmul=scoring.matmul,
    )
    return Prepared(engine, template, chat)
