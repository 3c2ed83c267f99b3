"""What processes of their own do to a store: `python store_processes.py WHAT PATH [NUMBER]`.

They say what they did on standard output, a line for each thing done; warnings too.
"""

import hashlib
import resource
import sys
from itertools import count
from pathlib import Path

from nnd.metric.likelihood.engine.store import Store

BATCH = 20


def key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()[:16]


def value(number: int) -> float:
    return -number / 7


def entries(numbers: range) -> dict[bytes, float]:
    return {key(number): value(number) for number in numbers}


def batch(number: int) -> range:
    return range(number * BATCH, (number + 1) * BATCH)


def say(line: object) -> None:
    print(line, flush=True)  # noqa: T201


def warn(message: str) -> None:
    say(f"warning: {message}")


def write(path: Path, first: int) -> None:
    """Put batch after batch until somebody ends it."""
    with Store(path, warn=warn) as store:
        for number in count(first):
            store.put(entries(batch(number)))
            say(number)


def share(path: Path, first: int) -> None:
    """Read and write 50 stretches of numbers that overlap each other and those of the others."""
    sys.stdin.readline()
    with Store(path, warn=warn) as store:
        for start in range(first, first + 50 * 7, 7):
            wanted = entries(range(start, start + 40))
            found = store.get(list(wanted))
            if any(found[one] != wanted[one] for one in found):
                say(f"a wrong value from {start} on")
            missing = {one: wanted[one] for one in wanted if one not in found}
            store.put(missing)
            if store.get(list(wanted)) != wanted:
                say(f"a value is lost from {start} on")


def discover(path: Path, number: int) -> None:
    """Open the store, wait, and read what has been damaged meanwhile; then put a batch."""
    with Store(path, warn=warn) as store:
        say("open")
        sys.stdin.readline()
        for one, found in store.get([key(n) for n in range(1000)]).items():
            say(f"{one.hex()} still is {found}")
        store.put(entries(batch(number)))


def start(path: Path, number: int) -> None:
    """Wait, open the store, put a batch."""
    sys.stdin.readline()
    with Store(path, warn=warn) as store:
        store.put(entries(batch(number)))


def fill(path: Path, largest: int) -> None:
    """Put 500 batches where no file may grow beyond `largest` bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    with Store(path, warn=warn) as store:
        for number in range(500):
            store.put(entries(batch(number)))
            say(number)


if __name__ == "__main__":
    work = {f.__name__: f for f in (write, share, discover, start, fill)}[sys.argv[1]]
    work(Path(sys.argv[2]), int(sys.argv[3]))
