"""The store of finished likelihoods, which a later run does not compute again.

It is one SQLite file (`database`) that several processes may share. A likelihood is found by its
`row_key`. A damaged store is not used at all: it is moved aside, and a new one is made. A problem
with the store never ends a run: at worst there is a warning and nothing is stored.

SQLite guarantees that stored values survive the end of the process, and that processes can read and
write at the same time. Opening and moving aside happen under a lock of our own, because SQLite
would combine the new file with the old one's log.
"""

import contextlib
import hashlib
import math
import os
import sqlite3
import struct
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

from nnd.metric.likelihood.engine.database import (
    DamagedError,
    ForeignError,
    connect,
    identity,
    locked,
    rows,
    seal,
    set_aside,
    transact,
)
from nnd.schemas import cache_folder

if TYPE_CHECKING:  # encoding needs torch, but the store does not
    from nnd.metric.text import Encoded

_KEY_BYTES: Final = 16
_NUMBER: Final = struct.Struct("<d")
_ROUNDING: Final = 1e-3
"""How far above 0 rounding can push a sum of log-probabilities: about 1e-7 per token."""

_Found = TypeVar("_Found")

_UNUSABLE: Final = (
    *(OSError, sqlite3.DatabaseError, DamagedError, ForeignError),
    NotImplementedError,  # raised by older filelock if the file system has no locks
)


def default_store() -> Path:
    """Return the path of the store: in `$NND_CACHE`, else in `~/.cache/nnd`.

    Raises:
        RuntimeError: If `NND_CACHE` is not set, and the user has no home folder.
    """
    return cache_folder() / "likelihoods.sqlite"


def row_key(fingerprint: str, row: "Encoded") -> bytes:
    """Return the key of a row's number: the first 16 bytes of a SHA-256.

    It covers the model and the row's ids. Tokenizer, protocol, template, separator, cut and texts
    affect the numbers only through these ids.

    Args:
        fingerprint: Identifies the model, and all settings that change its numbers.
        row: The row to score.
    """
    model = fingerprint.encode()
    lengths = map(len, (model, row.context, row.inputs, row.targets, row.scored))
    parts = (
        struct.pack("<5Q", *lengths),  # otherwise [1, 2], [3] would equal [1], [2, 3]
        model,
        *(array("I", ids).tobytes() for ids in (row.context, row.inputs, row.targets)),
        bytes(row.scored),
    )
    return hashlib.sha256(b"".join(parts)).digest()[:_KEY_BYTES]


def can_be_stored(value: float) -> bool:
    """Whether a number can be the log of a probability: finite, and not above 0."""
    return math.isfinite(value) and value <= _ROUNDING


class Store:
    """An open store, for one thread of one process.

    A store that cannot be used warns once and then behaves as if it were empty: `get` finds nothing
    and `put` does nothing. This happens if the folder cannot be written, the disk is full, other
    processes lock the file for half a minute, or the file belongs to another program or to a newer
    nnd.

    Args:
        path: The file; it and its folder are made if they are missing.
        warn: Called with a sentence when the store is moved aside or cannot be used.
    """

    def __init__(self, path: Path, *, warn: Callable[[str], None]) -> None:
        # SQLite follows links and writes its log next to the real file.
        self._path = Path(os.path.realpath(path))
        self._warn = warn
        self._database: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        with self._at_worst_without():
            self._open()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """Return the summed log-probabilities, in nats, of the keys that are in the store."""

        def read(database: sqlite3.Connection) -> dict[bytes, float]:
            entries = rows(database, "SELECT entry FROM likelihoods WHERE key = ?", keys)
            return {key: _log_probability(value) for key, value in entries}

        return self._do("DEFERRED", read) or {}

    def put(self, found: Mapping[bytes, float]) -> None:
        """Store the summed log-probability, in nats, of each key: either all or none.

        When this returns, they survive the end of the process, but not a power cut. A key that has
        a value keeps it, so that all readers get the same.

        Raises:
            ValueError: If a value cannot be stored (see `can_be_stored`).
        """
        if wrong := [value for value in found.values() if not can_be_stored(value)]:
            raise ValueError(
                f"{wrong[0]} is not a log-likelihood; check values with can_be_stored first"
            )
        entries = [(key, seal(key, _NUMBER.pack(value))) for key, value in found.items()]

        def write(database: sqlite3.Connection) -> None:
            database.executemany("INSERT OR IGNORE INTO likelihoods VALUES (?, ?)", entries)

        self._do("IMMEDIATE", write)

    def get_proof(self, fingerprint: str, parse: Callable[[str], _Found]) -> _Found | None:
        """Return what `put_proof` stored for this model, if anything.

        Args:
            fingerprint: Identifies the model.
            parse: Reads the text; if it raises ValueError, the store is damaged.
        """
        key = fingerprint.encode()

        def read(database: sqlite3.Connection) -> _Found | None:
            for _, proof in rows(database, "SELECT entry FROM proofs WHERE key = ?", [key]):
                try:
                    return parse(proof.decode())
                except ValueError as error:
                    raise DamagedError("a stored proof cannot be read") from error
            return None

        return self._do("DEFERRED", read)

    def put_proof(self, fingerprint: str, proof: str) -> None:
        """Store a proof for this model, and replace an earlier one."""
        key = fingerprint.encode()
        entry = seal(key, proof.encode())

        def write(database: sqlite3.Connection) -> None:
            database.execute("INSERT OR REPLACE INTO proofs VALUES (?, ?)", (key, entry))

        self._do("IMMEDIATE", write)

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        if self._database is not None:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _do(self, kind: str, work: Callable[[sqlite3.Connection], _Found]) -> _Found | None:
        """Return what `work` returns in a transaction, or None if there is no store."""
        if self._database is None:
            return None
        with self._at_worst_without():
            if not self._is_in_place():
                self._open()
            try:
                return transact(self._database, kind, work)
            except DamagedError as damage:
                self._open(damage)
                return transact(self._database, kind, work)
        return None

    @contextlib.contextmanager
    def _at_worst_without(self) -> Iterator[None]:
        """Warn, and continue without the store, if it cannot be used."""
        try:
            yield
        except sqlite3.ProgrammingError:  # a mistake of ours, such as using a closed store
            raise
        except _UNUSABLE as error:
            self.close()
            self._database = None
            reason = getattr(error, "strerror", None) or error
            self._warn(
                f"{self._path}: the store of likelihoods cannot be used: {reason}; likelihoods "
                "are computed again and not stored; move the file away, or set NND_CACHE to a "
                "writable folder with free space"
            )

    def _open(self, damage: DamagedError | None = None) -> None:
        """Open the file; before that, move it aside if it is the one with `damage`."""
        self.close()
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self._path):
            # Two processes may find the damage at once: the second then finds a new file.
            if damage is not None and self._is_in_place():
                self._start_over(damage)
            try:
                self._database = connect(self._path)
            except DamagedError as found:
                self._start_over(found)
                self._database = connect(self._path)
            self._file = identity(self._path)

    def _is_in_place(self) -> bool:
        """Whether the open file still has its name: another process may have moved it aside."""
        return self._file is not None and identity(self._path) == self._file

    def _start_over(self, damage: DamagedError) -> None:
        aside = set_aside(self._path)
        self._warn(
            f"{self._path}: the store of likelihoods is damaged ({damage}); it was moved to "
            f"{aside} (inspect or delete it), and everything is computed again"
        )


def _log_probability(value: bytes) -> float:
    """Return a stored number; `put` would have refused one that is not a log-likelihood."""
    if len(value) == _NUMBER.size and can_be_stored(number := _NUMBER.unpack(value)[0]):
        return float(number)
    raise DamagedError("a stored number is not a log-likelihood")
