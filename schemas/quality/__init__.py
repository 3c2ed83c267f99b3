"""Quality rules of sources, and the human scores that follow from them."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .human_scores import make_human_scores as make_human_scores
    from .ratings import read_ratings as read_ratings, rule_of as rule_of
    from .rules import (
        Credit as Credit,
        Gap as Gap,
        Majority as Majority,
        NoError as NoError,
        Order as Order,
        Rule as Rule,
        Rules as Rules,
        close_order as close_order,
        labels_of as labels_of,
        listed_numbers as listed_numbers,
        needs_annotators as needs_annotators,
        read_rules as read_rules,
        readable as readable,
        used_column as used_column,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
