"""The store of finished likelihoods, which a later run does not compute again.

It is one SQLite file that several processes may share. A damaged store is not used at all: it is
moved aside, and a new one is made. A problem with the store never ends a run: at worst there is a
warning and nothing is stored.

SQLite guarantees that stored values survive the end of the process, and that processes can read and
write at the same time. Every entry ends in a checksum, because SQLite does not notice a flipped bit
inside a value. Opening and moving aside happen under a lock of our own, because SQLite would
combine the new file with the old one's log.
"""

import contextlib
import hashlib
import itertools
import math
import os
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self, TypeVar

from filelock import FileLock

from nnd.schemas import SchemaError, cache_folder

_CHECKSUM_BYTES: Final = 8
_NUMBER: Final = struct.Struct("<d")
_ROUNDING: Final = 1e-3
"""How far above 0 rounding can push a sum of log-probabilities: about 1e-7 per token."""

_PATIENCE_S: Final = 30
"""How long to wait for the locks of other processes, in seconds."""

_APPLICATION: Final = int.from_bytes(b"nndL")
_VERSION: Final = 1
_TABLES: Final = (
    "CREATE TABLE likelihoods (key BLOB PRIMARY KEY, entry BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE proofs (key BLOB PRIMARY KEY, entry BLOB NOT NULL) WITHOUT ROWID",
)
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_Result = TypeVar("_Result")


class _DamagedError(Exception):
    """The file does not hold what was written; the message names the evidence."""


class _ForeignError(Exception):
    """The file belongs to another program or version; the message says to which."""


_UNUSABLE: Final = (
    *(OSError, sqlite3.DatabaseError, _DamagedError, _ForeignError),
    NotImplementedError,  # raised by older filelock if the file system has no locks
)


def default_store() -> Path:
    """Return the path of the store: in `$NND_CACHE`, else in `~/.cache/nnd`."""
    return cache_folder() / "likelihoods.sqlite"


def can_be_stored(value: float) -> bool:
    """Whether a number can be the log of a probability: finite, and not above 0."""
    return math.isfinite(value) and value <= _ROUNDING


class Store:
    """An open store, for one thread of one process; its file and folder are made if missing.

    A store that cannot be used warns once and then behaves as if it were empty: `get` finds nothing
    and `put` does nothing. This happens if the folder cannot be written, the disk is full, other
    processes lock the file for half a minute, or the file belongs to another program or to a newer
    nnd. `warn` is called with a sentence then, and when a damaged store is moved aside.
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
            values = ((key, _value(database, "likelihoods", key)) for key in keys)
            return {key: _log_probability(value) for key, value in values if value is not None}

        return self._do("DEFERRED", read) or {}

    def put(self, found: Mapping[bytes, float]) -> None:
        """Store the summed log-probability, in nats, of each key: either all or none.

        When this returns, they survive the end of the process, but not a power cut. A key that has
        a value keeps it, so that all readers get the same.
        """
        if wrong := [value for value in found.values() if not can_be_stored(value)]:
            raise ValueError(
                f"{wrong[0]} is not a log-likelihood; check values with can_be_stored first"
            )
        entries = [(key, _sealed(key, _NUMBER.pack(value))) for key, value in found.items()]
        statement = "INSERT OR IGNORE INTO likelihoods VALUES (?, ?)"
        self._do("IMMEDIATE", lambda database: database.executemany(statement, entries))

    def get_proof(self, fingerprint: str, parse: Callable[[str], _Result]) -> _Result | None:
        """Return what `put_proof` stored for this model, if anything.

        If `parse` raises ValueError or SchemaError for the stored text, the store is damaged.
        """

        def read(database: sqlite3.Connection) -> _Result | None:
            proof = _value(database, "proofs", fingerprint.encode())
            try:
                return None if proof is None else parse(proof.decode())
            except (ValueError, SchemaError) as error:
                raise _DamagedError("a stored proof cannot be read") from error

        return self._do("DEFERRED", read)

    def put_proof(self, fingerprint: str, proof: str) -> None:
        """Store a proof for this model, and replace an earlier one."""
        key = fingerprint.encode()
        entry = key, _sealed(key, proof.encode())
        statement = "INSERT OR REPLACE INTO proofs VALUES (?, ?)"
        self._do("IMMEDIATE", lambda database: database.execute(statement, entry))

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        if self._database is not None:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _do(self, kind: str, work: Callable[[sqlite3.Connection], _Result]) -> _Result | None:
        """Return what `work` returns in a transaction, or None if there is no store."""
        if self._database is None:
            return None
        with self._at_worst_without():
            if not self._is_in_place():
                self._open()
            try:
                return _transact(self._database, kind, work)
            except _DamagedError as damage:
                self._open(damage)
                return _transact(self._database, kind, work)
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

    def _open(self, damage: _DamagedError | None = None) -> None:
        """Open the file; before that, move it aside if it is the one with `damage`."""
        self.close()
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = self._path.with_name(f".{self._path.name}.lock")
        with FileLock(lock, timeout=_PATIENCE_S):
            # Two processes may find the damage at once: the second then finds a new file.
            if damage is not None and self._is_in_place():
                self._start_over(damage)
            try:
                self._database = _connect(self._path)
            except _DamagedError as error:
                self._start_over(error)
                self._database = _connect(self._path)
            self._file = _identity(self._path)

    def _is_in_place(self) -> bool:
        """Whether the open file still has its name: another process may have moved it aside."""
        return self._file is not None and _identity(self._path) == self._file

    def _start_over(self, damage: _DamagedError) -> None:
        aside = _set_aside(self._path)
        self._warn(
            f"{self._path}: the store of likelihoods is damaged ({damage}); it was moved to "
            f"{aside} (inspect or delete it), and everything is computed again"
        )


def _connect(path: Path) -> sqlite3.Connection:
    """Open a database and make its tables, or check that they are ours."""
    database = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
    try:
        with _damage_noticed():
            _prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    database.text_factory = bytes  # damaged text may not be UTF-8
    database.execute("PRAGMA synchronous = NORMAL")
    # Keys are random: with room for many pages, few are written more than once.
    database.execute("PRAGMA cache_size = -16000")  # KiB
    database.execute("PRAGMA wal_autocheckpoint = 10000")  # pages of 4 KiB
    database.execute("PRAGMA cell_size_check = ON")
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    tables = [made for (made,) in database.execute("SELECT sql FROM sqlite_master ORDER BY name")]
    if not (application or version or tables):
        database.execute("PRAGMA journal_mode = WAL")
        with database:
            database.execute("BEGIN IMMEDIATE")
            for statement in _TABLES:
                database.execute(statement)
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {_VERSION}")
    elif application != _APPLICATION:
        raise _ForeignError("it is the database of another program")
    elif version > _VERSION:
        raise _ForeignError(f"it has version {version}, but this nnd reads version {_VERSION}")
    elif version != _VERSION or tables != [made.encode() for made in _TABLES]:
        raise _DamagedError("its tables differ from those that nnd creates")


def _transact(
    database: sqlite3.Connection, kind: str, work: Callable[[sqlite3.Connection], _Result]
) -> _Result:
    with _damage_noticed(), database:
        database.execute(f"BEGIN {kind}")
        return work(database)


@contextlib.contextmanager
def _damage_noticed() -> Iterator[None]:
    """Raise _DamagedError in place of those errors of SQLite that mean damage."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise _DamagedError("SQLite's own message cannot be read") from error
    except sqlite3.DatabaseError as error:
        # The low byte is the kind of error; the others give details.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
            raise _DamagedError(str(error)) from error
        raise


def _sealed(key: bytes, value: bytes) -> bytes:
    """Return the entry to write: the value, and a checksum of it and its key."""
    return value + hashlib.sha256(key + value).digest()[:_CHECKSUM_BYTES]


def _value(database: sqlite3.Connection, table: str, key: bytes) -> bytes | None:
    """Return the value of a key, whose checksum is right, or None if the key is not there."""
    row = database.execute(f"SELECT entry FROM {table} WHERE key = ?", (key,)).fetchone()  # noqa: S608 - one of `_TABLES`
    if row is None:
        return None
    (entry,) = row
    if isinstance(entry, bytes) and entry == _sealed(key, value := entry[:-_CHECKSUM_BYTES]):
        return value
    raise _DamagedError("a checksum is wrong")


def _log_probability(value: bytes) -> float:
    """Return a stored number; `put` would have refused one that is not a log-likelihood."""
    if len(value) == _NUMBER.size and can_be_stored(number := _NUMBER.unpack(value)[0]):
        return float(number)
    raise _DamagedError("a stored number is not a log-likelihood")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes a file from a later one with the same name."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return state.st_dev, state.st_ino


def _set_aside(path: Path) -> Path:
    """Rename a database and its logs, and return its new path."""
    names = (path.with_name(f"{path.name}.corrupt-{number}") for number in itertools.count(1))
    aside = next(name for name in names if not any(part.exists() for part in _parts(name)))
    # The database file goes last: otherwise, if killed midway, we would leave a log that would join
    # a new file.
    for part, name in reversed(list(zip(_parts(path), _parts(aside), strict=True))):
        with contextlib.suppress(FileNotFoundError):
            part.rename(name)
    return aside


def _parts(path: Path) -> list[Path]:
    """Return the files that SQLite makes for one database, the main file first."""
    return [path.with_name(f"{path.name}{end}") for end in ("", "-journal", "-shm", "-wal")]
