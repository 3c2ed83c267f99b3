"""The choice of a template and of a chat for a model and a set of pairs."""

from nnd.metric.data import PairSet, contexts_of
from nnd.metric.likelihood import Scoring
from nnd.metric.text import AUTO, ChatChoice, Template, TextModel, choose_rendering, find_protocol
from nnd.schemas import ScoringError


def choose_wording(
    model: TextModel, pairs: PairSet, scoring: Scoring
) -> tuple[Template, ChatChoice]:
    """Return the template that a model scores pairs with, and whether contexts become chats."""
    protocol = find_protocol(scoring.protocol)
    if protocol.minus_alone and not pairs.has_contexts:
        raise ScoringError(
            "protocol.another-model",
            f"protocol {protocol.name} measures what contexts add, and the data has none",
            pairs.name,
            "use native or sum",
        )
    return choose_rendering(
        model,
        protocol,
        scoring.chat,
        scoring.template,
        contexts=contexts_of(pairs.pairs if scoring.template == AUTO else pairs.pairs.head(1)),
        instruction=pairs.instruction,
        separator=scoring.separator,
        has_contexts=pairs.has_contexts,
        languages=scoring.languages,
    )
