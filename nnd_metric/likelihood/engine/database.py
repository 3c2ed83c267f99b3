"""One SQLite file of nnd's own: opened with its tables, checked for damage, read entry by entry.

Every entry ends in a checksum, because SQLite does not notice a flipped bit inside a value.
"""

import contextlib
import hashlib
import itertools
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

from filelock import FileLock

_CHECKSUM_BYTES: Final = 8
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


class DamagedError(Exception):
    """The file does not hold what was written; the message names the evidence."""


class ForeignError(Exception):
    """The file belongs to another program or version; the message says to which."""


def locked(path: Path) -> FileLock:
    """Return the lock under which a database is opened or set aside."""
    return FileLock(path.with_name(f".{path.name}.lock"), timeout=_PATIENCE_S)


def connect(path: Path) -> sqlite3.Connection:
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
        _make_tables(database)
    elif application != _APPLICATION:
        raise ForeignError("it is the database of another program")
    elif version > _VERSION:
        raise ForeignError(f"it has version {version}, but this nnd reads version {_VERSION}")
    elif version != _VERSION or tables != [made.encode() for made in _TABLES]:
        raise DamagedError("its tables differ from those that nnd creates")


def _make_tables(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    with database:
        database.execute("BEGIN IMMEDIATE")
        for statement in _TABLES:
            database.execute(statement)
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(f"PRAGMA user_version = {_VERSION}")


def transact(
    database: sqlite3.Connection, kind: str, work: Callable[[sqlite3.Connection], _Result]
) -> _Result:
    """Return what `work` returns in a transaction of this kind (DEFERRED or IMMEDIATE).

    Raises:
        DamagedError: If SQLite, or `work`, finds the file damaged.
    """
    with _damage_noticed(), database:
        database.execute(f"BEGIN {kind}")
        return work(database)


@contextlib.contextmanager
def _damage_noticed() -> Iterator[None]:
    """Raise DamagedError in place of those errors of SQLite that mean damage."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DamagedError("SQLite's own message cannot be read") from error
    except sqlite3.DatabaseError as error:
        # The low byte is the kind of error; the others give details.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
            raise DamagedError(str(error)) from error
        raise


def rows(
    database: sqlite3.Connection, query: str, keys: Sequence[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    """Yield each key that exists, with its entry without the checksum.

    Raises:
        DamagedError: If a checksum is wrong.
    """
    for key in keys:
        if (row := database.execute(query, (key,)).fetchone()) is not None:
            yield key, _unsealed(key, row[0])


def seal(key: bytes, value: bytes) -> bytes:
    """Return the entry to write: the value, and a checksum of it and its key."""
    return value + hashlib.sha256(key + value).digest()[:_CHECKSUM_BYTES]


def _unsealed(key: bytes, entry: object) -> bytes:
    if isinstance(entry, bytes):
        value = entry[:-_CHECKSUM_BYTES]
        if entry == seal(key, value):
            return value
    raise DamagedError("a checksum is wrong")


def identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes a file from a later one with the same name."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def set_aside(path: Path) -> Path:
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
