"""Short texts: what a message can show of a long one."""

_LONGEST_EXCERPT = 60


def excerpt(text: str) -> str:
    """Return as much of a text as a message can show."""
    return text if len(text) <= _LONGEST_EXCERPT else f"{text[:_LONGEST_EXCERPT]}…"
