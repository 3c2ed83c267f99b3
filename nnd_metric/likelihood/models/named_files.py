"""What the files of a model's folder name: other files of it, and the base of an adapter.

Loading opens what they name, so everything is looked at before. In a Hub repository the client
itself refuses names that lead out of it.
"""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from nnd.schemas import ScoringError, is_inside, leads_out, outside

_CONFIG, _TOKENIZER = "config.json", "tokenizer_config.json"


def check_named_files(folder: Path) -> None:
    """Check that indexes of weights and tokenizers in a folder name only files inside of it.

    Raises:
        ScoringError: If one names another file, or is a link out of its Hub repository.
    """
    for path in sorted(folder.glob("*.json")):
        if leads_out(folder, path):
            raise outside(path.name, folder, ScoringError)
        for name in _names_in(path):
            if not is_inside(name) or leads_out(folder, folder / name):
                raise outside(name, path, ScoringError)


def _names_in(path: Path) -> list[str]:
    """Return the names of files in a JSON file that loading would open."""
    named: Any = []
    if path.name.endswith(".index.json"):
        named = _read(path).get("weight_map")
    elif path.name == _TOKENIZER:
        named = _read(path).get("fast_tokenizer_files")
    elif path.name == _CONFIG:
        named = [_read(path).get("transformers_weights")]
    names = named.values() if isinstance(named, dict) else named if isinstance(named, list) else ()
    return sorted({str(name) for name in names if name is not None})


def _read(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; of one that is damaged, which loading says, none."""
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(path.read_bytes())
        return found if isinstance(found, dict) else {}
    return {}
