"""What earlier runs of the same model left in a store, and what this run adds to it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import numpy.typing as npt
import torch
import transformers

from nnd.metric.encoding import Encoded
from nnd.metric.engine.proof import Proof
from nnd.metric.engine.store import Store, row_key
from nnd.metric.models import LoadedModel

_ENGINE = 1  # counted up when the engine's numbers change, so that older ones are not taken


class Kept:
    """One model's shelf in a store; without a store it is empty and stays so."""

    def __init__(self, store: Store | None, fingerprint: str) -> None:
        self._store = store
        self._fingerprint = fingerprint

    def find(self, rows: Sequence[Encoded]) -> npt.NDArray[np.float64]:
        """Return the sum of log P kept for each request; NaN where there is none."""
        if self._store is None:
            return np.full(len(rows), np.nan)
        keys = [row_key(self._fingerprint, row) for row in rows]
        found = self._store.get(keys)
        return np.array([found.get(key, np.nan) for key in keys], dtype=np.float64)

    def add(self, sums: Mapping[Encoded, float]) -> None:
        """Keep sums of log P; those that are infinite are worth computing again."""
        if self._store is not None:
            finite = {row: value for row, value in sums.items() if np.isfinite(value)}
            self._store.put({row_key(self._fingerprint, row): v for row, v in finite.items()})

    def find_proof(self) -> Proof | None:
        """Return the proof of the run that kept the most doubtful numbers, or None."""
        text = None if self._store is None else self._store.get_proof(self._fingerprint)
        if text is None:
            return None
        told = json.loads(text)
        return Proof(**{**told, "switched_off": tuple(told["switched_off"])})

    def add_proof(self, proof: Proof) -> None:
        """Keep a proof, unless one with a larger deviation is kept."""
        earlier = self.find_proof()
        if self._store is not None and (earlier is None or earlier.deviation < proof.deviation):
            self._store.put_proof(self._fingerprint, json.dumps(asdict(proof)))


def fingerprint(loaded: LoadedModel, version: str) -> str:
    """Return what names the numbers of a model: all that decides them beside the token ids.

    Tokenizer, protocol, template, separator and cut reach the model through its token ids only.

    Args:
        loaded: The model.
        version: Hub commit or digest of its weights (`LoadedModel.version`).
    """
    config = loaded.model.config.to_dict()
    for name in ("_name_or_path", "dtype", "transformers_version"):
        config.pop(name, None)
    facts = {
        "engine": _ENGINE,
        "weights": version,
        "class": type(loaded.model).__name__,
        "config": config,
        "dtype": loaded.dtype,
        "device": loaded.model.device.type,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    text = json.dumps(facts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
