"""Short texts: what a message can show of a long one, and counts in words."""

_LONGEST_EXCERPT = 60


def excerpt(text: str, longest: int = _LONGEST_EXCERPT) -> str:
    """Return a text, or its first characters and dots for the rest."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def counted(n: int, noun: str) -> str:
    """Return how many there are: `counted(3, "pair")` is "3 pairs", of none "no pairs"."""
    return f"{f'{n:,}' if n else 'no'} {noun}s" if n != 1 else f"1 {noun}"
