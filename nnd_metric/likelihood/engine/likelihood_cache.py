"""The likelihoods of one model in a store: those of earlier runs, and those of this one."""

import hashlib
import json
import struct
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
import transformers

from nnd.metric.likelihood.engine.proof import Proof
from nnd.metric.likelihood.engine.scoring import Matmul
from nnd.metric.likelihood.engine.store import Store, can_be_stored
from nnd.metric.likelihood.models.library_code import remote_code
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.likelihood.models.model_digests import config_facts
from nnd.metric.text import Encoded

_ENGINE = 3  # raised when the engine's numbers or proofs change, so that older ones are not used
_KEY_BYTES: Final = 16


class LikelihoodCache:
    """The part of a store for some requests of one model; always empty without a store.

    The model is named by its `fingerprint`.
    """

    def __init__(self, store: Store | None, fingerprint: str, rows: Sequence[Encoded]) -> None:
        self._store, self.fingerprint, self._rows = store, fingerprint, rows
        self._proof: Proof | None = None
        self._keys: dict[str, list[bytes]] = {}

    def find(self) -> npt.NDArray[np.float64]:
        """Return the stored sum of log P of each request; NaN if there is none.

        Only numbers of the path that was last proved right are used.
        """
        proof = self.find_proof()
        if self._store is None or proof is None:
            return np.full(len(self._rows), np.nan)
        keys = self._keys_of(proof.path)
        stored = self._store.get(keys)
        return np.array([stored.get(key, np.nan) for key in keys], dtype=np.float64)

    def add(self, sums: Mapping[int, float], proof: Proof) -> None:
        """Store sums of log P by number of request, and their proof.

        Sums that cannot be stored are omitted, and computed again next time.
        """
        if self._store is None:
            return
        if proof != self._proof:
            self._proof = proof
            self._store.put_proof(self.fingerprint, json.dumps(asdict(proof)))
        keys = self._keys_of(proof.path)
        self._store.put({keys[at]: value for at, value in sums.items() if can_be_stored(value)})

    def find_proof(self) -> Proof | None:
        """Return the proof that earlier runs stored for the model's paths, or None."""
        return None if self._store is None else self._store.get_proof(self.fingerprint, _proof)

    def _keys_of(self, path: str) -> list[bytes]:
        """Return the keys of a path's numbers; they are made once, because hashing is slow."""
        if path not in self._keys:
            name = f"{self.fingerprint}:{path}"
            self._keys[path] = [row_key(name, row) for row in self._rows]
        return self._keys[path]


def _proof(text: str) -> Proof:
    proof = Proof.from_dict(json.loads(text))
    if json.dumps(asdict(proof)) != text:
        raise ValueError("it is not what was stored")
    return proof


def row_key(fingerprint: str, row: Encoded) -> bytes:
    """Return the key of a row's number: the first 16 bytes of a SHA-256.

    It covers the model and the row's ids. Tokenizer, protocol, template, separator, cut and texts
    affect the numbers only through these ids.
    """
    model = fingerprint.encode()
    lengths = map(len, (model, row.context, row.inputs, row.targets, row.scored))
    parts = (
        struct.pack("<5Q", *lengths),  # otherwise [1, 2], [3] would equal [1], [2, 3]
        model,
        *(array("I", ids).tobytes() for ids in (row.context, row.inputs, row.targets)),
        bytes(row.scored),
        bytes(row.segments),
    )
    return hashlib.sha256(b"".join(parts)).digest()[:_KEY_BYTES]


def fingerprint(loaded: LoadedModel, version: str, matmul: Matmul = "highest") -> str:
    """Return what the numbers of a model depend on, apart from the token ids.

    Tokenizer, protocol, template, separator and cut reach the model through its token ids only.
    """
    config = config_facts(loaded.model.config)
    code = remote_code(loaded.model)
    facts = {
        "engine": _ENGINE,
        "weights": version,
        "class": type(loaded.model).__name__,
        "config": config,
        "dtype": loaded.dtype,
        "device": loaded.device.type,
        **({} if matmul == "highest" else {"matmul": matmul}),
        **({} if code is None else {"code": code}),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    text = json.dumps(facts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
