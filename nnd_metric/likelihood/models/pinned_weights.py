"""The digest of weights that do not change: computed once, and remembered for their files."""

import hashlib
import json
from dataclasses import replace
from typing import Final

import transformers

from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.likelihood.models.model_digests import config_digest
from nnd.schemas import add_fact, read_facts

_FILE: Final = "digests.json"
_SCHEME: Final = 2  # raised when digests of the same weights change


def pin_version(loaded: LoadedModel, *, remember: bool) -> LoadedModel:
    """Return a model whose weights are hashed now, and not at every call of `version`.

    The weights must not change afterwards. `remember` says that they are still those of the files
    that `load_model` read: their digest is then read from the cache folder, or stored there.
    """
    if loaded.commit or loaded.digest:
        return loaded
    if not remember or loaded.files is None:
        return replace(loaded, digest=loaded.base_digest())
    # What decides the tensors that are made from the files.
    facts = {
        "scheme": _SCHEME,
        "files": loaded.files,
        "config": config_digest(loaded.model.config),
        "class": f"{type(loaded.model).__module__}.{type(loaded.model).__name__}",
        "dtype": loaded.dtype,
        "adapted": loaded.adapted is not None,
        "transformers": transformers.__version__,
    }
    key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    digest = read_facts(_FILE).get(key)
    if digest is None:
        digest = loaded.base_digest()
        add_fact(_FILE, key, digest)
    return replace(loaded, digest=digest)
