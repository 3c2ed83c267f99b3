"""Example pairs of a card, one for each error category."""

from typing import Any

from nnd.cards.content import CardContent
from nnd.cards.markdown import Table, code, escape, shorten
from nnd.schemas import choose_examples, first_difference

MOST_EXAMPLES = 6
_LONGEST_PART = 400
_LONGEST_CANDIDATE = 600
_BEFORE_DIFFERENCE = 100


def example_tables(content: CardContent) -> list[Table]:
    """Return a table for a pair of each error category, or of the most frequent ones if many."""
    most = min(MOST_EXAMPLES, content.pairs["error_category"].n_unique())
    return [_example(pair) for pair in choose_examples(content.pairs, most).iter_rows(named=True)]


def _example(pair: dict[str, Any]) -> Table:
    high, low = pair["candidate_high"], pair["candidate_low"]
    folded = [" ".join(text.split()) for text in (high, low)]
    start = max(0, first_difference(*folded) - _BEFORE_DIFFERENCE)
    if max(len(high), len(low)) <= _LONGEST_CANDIDATE:
        start = 0
    rows = [(code(part["key"]), _shown(part["value"], _LONGEST_PART)) for part in pair["inputs"]]
    for title, side, text in (("**better**", "high", high), ("**worse**", "low", low)):
        system = pair[f"system_{side}"]
        by = "" if system is None else f", by {code(system)}"
        rows.append((title + by, _shown(text, _LONGEST_CANDIDATE, start)))
    return Table((code(pair["error_category"]), f"pair {code(pair['pair_id'])}"), "ll", rows)


def _shown(text: str, longest: int, start: int = 0) -> str:
    return escape(shorten(text, longest, start)) if text.strip() else "(empty)"
