"""Files spoilt from good ones, so that the damage lies deep in them and not at the first byte."""

import os
from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, given, settings, strategies as st

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

Damage = Callable[[bytes], bytes]


@st.composite
def damages(draw: st.DrawFn) -> Damage:
    """A few changes to a file: bytes changed, cut out, doubled, or parts put in."""
    places = st.floats(0, 1, exclude_max=True)
    steps = draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("byte"), places, st.integers(0, 255)),
                st.tuples(st.just("cut"), places, st.integers(1, 40)),
                st.tuples(st.just("double"), places, st.integers(1, 40)),
                st.tuples(st.just("put"), places, st.sampled_from(PARTS)),
                st.tuples(st.just("over"), places, st.sampled_from(PARTS)),
                st.tuples(st.just("end"), places, st.just(0)),
            ),
            min_size=1,
            max_size=4,
        )
    )

    def spoil(raw: bytes) -> bytes:
        for kind, share, what in steps:
            place = int(share * len(raw))
            head, tail = raw[:place], raw[place:]
            match kind, what:
                case "byte", int():
                    raw = head + bytes([what]) + tail[1:]
                case "cut", int():
                    raw = head + tail[what:]
                case "double", int():
                    raw = head + tail[:what] + tail
                case "put", bytes():
                    raw = head + what + tail
                case "over", bytes():
                    raw = head + what + tail[len(what) :]
                case _:
                    raw = head
        return raw

    return spoil


def fuzz(examples: int, *, in_full: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with the argument `damage`, so many times by default, and so many in full."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
        times = in_full if IN_FULL else examples
        chosen = settings(max_examples=times, deadline=None, suppress_health_check=quiet)
        return chosen(given(damage=damages())(test))

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
