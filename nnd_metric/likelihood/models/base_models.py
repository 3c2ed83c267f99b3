"""Models whose name or card says that they were not trained on chats."""

import re

from nnd.metric.likelihood.models.checkpoint_files import find_file

_BASE_NAME = re.compile(r"(^|[-_.])base([-_.]|$)|^gemma.*-pt$", re.IGNORECASE)
_TUNED_NAME = re.compile(r"instruct|chat|(^|[-_.])it([-_.]|$)", re.IGNORECASE)
_BASE_CARD = re.compile(
    r"(is|are|contains) (a|the)( [^\s.]+){0,3} base( language)? models?\b"
    r"|contains the base \S+( \S+)? model\b"
    r"|not recommend using base (language )?models"
    r"|not (been )?instruction[- ]tuned",
    re.IGNORECASE,
)


def says_base(name: str, place: str, commit: str | None) -> str | None:
    """Return what says that a model is a base model: its "name", its "card", or None.

    A card that cannot be read counts as empty.

    Args:
        name: The model's name in the results.
        place: Its folder, or its id on the Hub.
        commit: Its commit on the Hub, or None.
    """
    last = name.rstrip("/").rpartition("/")[2]
    if _BASE_NAME.search(last) and not _TUNED_NAME.search(last):
        return "name"
    path = find_file(place, "README.md", commit)
    card = "" if path is None else path.read_text(encoding="utf-8", errors="replace")
    return "card" if _BASE_CARD.search(card) else None
