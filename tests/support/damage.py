"""Files spoilt from good ones, so that the damage lies deep in them and not at the first byte."""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from hypothesis import HealthCheck, example, given, settings, strategies as st

from nnd.schemas import NNDError

T = TypeVar("T")

IN_FULL = bool(os.environ.get("NND_TEST_FULL"))

# Parts that mean something to one of the formats, and values that a field may not have.
PARTS = [
    *(b"\n", b"\r", b"\r\n", b"\0", b"\t", b",", b'"', b'""', b"\\", b"{", b"}", b"[", b"]", b":"),
    *(b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x80\xa8", b"\xc2\xa0", b"\\ud800"),
    *(b"\\u0000", b"null", b"true", b"NaN", b"1e999", b"-1", b"0", b"9" * 400, b"9" * 5000),
    *(b"[" * 2000, b'{"a":' * 500, b"<!DOCTYPE a>", b"&a;", b"<c>", b"<row>", b"overall", b"|"),
]


@dataclass(frozen=True)
class Damage:
    """A few changes to a file: bytes changed, cut out, doubled, or parts put in.

    Attributes:
        seed: What they are drawn from; with 0 the file stays whole.
    """

    seed: int

    def __call__(self, raw: bytes) -> bytes:
        chance = random.Random(self.seed)
        for _ in range(chance.randint(1, 4) if self.seed else 0):
            raw = _changed(raw, chance)
        return raw


def _changed(raw: bytes, chance: random.Random) -> bytes:
    place, length, part = chance.randint(0, len(raw)), chance.randint(1, 40), chance.choice(PARTS)
    head, tail = raw[:place], raw[place:]
    match chance.choice(["byte", "cut", "double", "put", "over", "end"]):
        case "byte":
            return head + chance.randbytes(1) + tail[1:]
        case "cut":
            return head + tail[length:]
        case "double":
            return head + tail[:length] + tail
        case "put":
            return head + part + tail
        case "over":
            return head + part + tail[len(part) :]
        case _:
            return head


def fuzz(examples: int, *, in_full: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with the argument `damage`, so many times by default, and so many in full."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
        times = in_full if IN_FULL else examples
        chosen = settings(max_examples=times, suppress_health_check=quiet)
        damages = st.builds(Damage, st.integers(1, 2**64))
        return chosen(given(damage=damages)(example(damage=Damage(0))(test)))

    return decorate


def read_or_refused(read: Callable[[], T]) -> T | None:
    """Return what is read, or None where that was refused: with an NNDError of one line."""
    try:
        return read()
    except NNDError as error:
        text = str(error)
        assert text.isprintable()
        # convert() wraps whatever a convert.py does not expect: ours expect all.
        assert "did not expect" not in text, text
        return None
