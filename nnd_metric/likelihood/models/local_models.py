"""Models in local folders, checked without importing torch."""

import os
import re
from pathlib import Path

from nnd.schemas import ScoringError

CONFIG = "config.json"
ADAPTER_CONFIG = "adapter_config.json"
_HUB_ID = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


def place_of(model: str) -> str:
    """Return one path for all spellings of a local path, and any other name unchanged.

    Links are not followed: they may be names that somebody gave to models.
    """
    return os.path.abspath(model) if Path(model).exists() else model  # noqa: PTH100 - without `..`


def check_local(model_id: str) -> None:
    """Check that a folder holds a model or an adapter; ids of the Hub are not looked up.

    Args:
        model_id: Hub id or folder, without a revision.

    Raises:
        ScoringError: If it is neither such a folder nor the form of a Hub id.
    """
    path = Path(model_id)
    if path.is_dir():
        if any((path / name).is_file() for name in (CONFIG, ADAPTER_CONFIG)):
            return
        problem = f"the folder has no {CONFIG}" if any(path.iterdir()) else "the folder is empty"
    elif path.exists():
        problem = "it is a file, and not a GGUF file"
    elif _HUB_ID.fullmatch(model_id):
        return
    else:
        problem = "folder not found"
    raise ScoringError(
        f"{model_id}: no such model: {problem}; name a Hub id, a folder written by "
        "save_pretrained, or a GGUF file"
    )
