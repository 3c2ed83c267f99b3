"""Short texts: what a message can show of a long one, and counts in words."""

_LONGEST_EXCERPT = 60


def excerpt(text: str) -> str:
    """Return as much of a text as a message can show."""
    return text if len(text) <= _LONGEST_EXCERPT else f"{text[:_LONGEST_EXCERPT]}…"


def counted(n: int, noun: str) -> str:
    """Return how many there are: `counted(3, "pair")` is "3 pairs", of none "no pairs"."""
    return f"{f'{n:,}' if n else 'no'} {noun}s" if n != 1 else f"1 {noun}"
