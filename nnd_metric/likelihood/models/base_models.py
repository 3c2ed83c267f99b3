"""Models whose name or card says that they were not trained on chats."""

import re

from nnd.metric.likelihood.models.checkpoint_files import find_file
from nnd.metric.likelihood.models.loaded_model import LoadedModel

_BASE_NAME = re.compile(r"(^|[-_.])base([-_.]|$)|^gemma.*-pt$", re.IGNORECASE)
_TUNED_NAME = re.compile(r"instruct|chat|(^|[-_.])it([-_.]|$)", re.IGNORECASE)
_BASE_CARD = re.compile(
    r"(is|are|contains) (a|the)( [^\s.]+){0,3} base( language)? models?\b"
    r"|contains the base \S+( \S+)? model\b"
    r"|not recommend using base (language )?models"
    r"|not (been )?instruction[- ]tuned",
    re.IGNORECASE,
)


def says_base(loaded: LoadedModel) -> str | None:
    """Return what says that a model is a base model: its "name", its "card", or None.

    A card that cannot be read counts as empty.
    """
    name = loaded.name.rstrip("/").rpartition("/")[2]
    if _BASE_NAME.search(name) and not _TUNED_NAME.search(name):
        return "name"
    return "card" if _BASE_CARD.search(_read_card(loaded)) else None


def _read_card(loaded: LoadedModel) -> str:
    path = find_file(loaded.model.name_or_path or loaded.name, "README.md", loaded.commit)
    return "" if path is None else path.read_text(encoding="utf-8", errors="replace")
