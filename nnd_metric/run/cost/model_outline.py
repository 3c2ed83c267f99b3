"""The outline of a model: what the cost of its work depends on, besides the texts."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from nnd.metric.likelihood import Planner
from nnd.metric.run.cost.flops import FlopShape
from nnd.metric.text import TextModel
from nnd.schemas import Count, Record


@dataclass(frozen=True, slots=True)
class ModelOutline(Record):
    """What the cost of a model's work depends on, besides the texts.

    Attributes:
        device: Where it runs.
        dtype: Precision of its weights.
        parameters: Number of its weights.
        weight_bytes: Memory that they take, unquantised.
        position_bytes: Memory of a token that is held with others.
        budget: Tokens held at once.
        logit_rows: Rows of logits held at once.
        speed_key: The name of its speed among those that were measured.
        flops: The sizes that its operations depend on.
    """

    device: str
    dtype: str
    parameters: Count
    weight_bytes: Count
    position_bytes: Count
    budget: Count
    logit_rows: Count
    speed_key: str
    flops: FlopShape


class OutlinedModel(NamedTuple):
    """What an estimate needs of a model: how it reads texts, its outline, and its fastest plan."""

    text: TextModel
    outline: ModelOutline
    plan: Planner

    def with_budget(self, asked: int | None) -> "OutlinedModel":
        """Return the model with as many tokens held at once as the user asks for, if at all."""
        return self._replace(outline=replace(self.outline, budget=asked or self.outline.budget))
