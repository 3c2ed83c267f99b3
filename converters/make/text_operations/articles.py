"""Choosing the English article for a word: "a boat", "an hour"."""

import re

_ARTICLE = re.compile(r"\b(?P<article>a|an)(?P<blank>\s+)$", re.IGNORECASE)

_AN = re.compile(
    r"8|1[18](?![0-9])|1[18],[0-9]{3}"
    r"|(?!(?:uni(?!n)|us[eu]|euro|one|once)\w*)[aeiou]|(?:hour|honest|hono[u]?r|heir)",
    re.IGNORECASE,
)
"""Matches the beginning of words that take "an": eleven, hour, umbrella, but not union."""


def with_article(before: str, new: str) -> str:
    """Return a text whose last word, if it is an article, has the form for the following word."""
    article = _ARTICLE.search(before)
    if article is None:
        return before
    form = "an" if _AN.match(new) else "a"
    first = article["article"][0]
    return f"{before[: article.start()]}{first}{form[1:]}{article['blank']}"
