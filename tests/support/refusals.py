"""Refusals: errors that a test provokes, asserted by code and place.

Their sentences are in one file, `errors.txt`: made by raising them, compared at the end of a run,
written by `make texts`, and read by a person when they change.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nnd.schemas import NNDError
from nnd.schemas.words.error_codes import REMEDIES

FILE = Path(__file__).parent / "errors.txt"
PYTHON = "3.11"
"""The Python of `errors.txt`: some sentences quote its own errors."""

_VOLATILE = (
    (re.compile(r"(?<![\w/])(?:/[^\s/:;,()\"'`]+)+/"), "…/"),  # folders of this machine
    (re.compile(r"\b[0-9a-f]{12,}\b"), "…"),  # digests
    (re.compile(r"\br[0-9a-f]{12}\b"), "r…"),  # repositories of tests
    (re.compile(r"(?<=127\.0\.0\.1:)\d+|(?<=localhost:)\d+"), "…"),
    (re.compile(r"0x[0-9a-f]{8,}"), "0x…"),
)

raised: dict[str, set[str]] = {}
"""Module of tests → the texts that its tests raised in this process."""


@contextmanager
def refusal(
    code: str, where: str = "", family: type[NNDError] = NNDError
) -> Iterator[pytest.ExceptionInfo[NNDError]]:
    """Expect an error with a code whose place holds `where`."""
    with pytest.raises(family) as caught:
        yield caught
    check_refusal(caught.value, code, where)


def check_refusal(error: NNDError, code: str, where: str = "") -> None:
    """Check code, place and remedy, and keep the sentence for the comparison with `errors.txt`."""
    assert error.code == code, f"{error.code}: {error}"
    assert where in error.where, f"{error.where!r} lacks {where!r}"
    assert error.remedy or not REMEDIES[code]
    module = os.environ["PYTEST_CURRENT_TEST"].partition("::")[0]
    raised.setdefault(module, set()).add(f"{error.code}  {_lasting(str(error))}")


def _words(text: str) -> str:
    """Return the words of our own in a text, for a comparison.

    Numbers may be of the machine (memory, times, ports). What is in quotes, in brackets or
    behind the second colon is of data and of other libraries, which say it in several ways.
    """
    place, *rest = re.sub(r"\d+(?:[.,]\d+)*", "0", text).split(": ", 2)
    if len(rest) > 1:
        rest[1] = re.sub(r"^[^;]*", "…", rest[1])
    return re.sub(r"\([^()]*\)|\"[^\"]*\"", "…", ": ".join([place, *rest]))


def _lasting(text: str) -> str:
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def read_texts() -> dict[str, set[str]]:
    """Return module of tests → texts, as `errors.txt` has them."""
    texts: dict[str, set[str]] = {}
    module = ""
    for line in FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else ():
        if line.startswith("# "):
            module = line[2:]
        elif line:
            texts.setdefault(module, set()).add(line)
    return texts


def write_texts(found: dict[str, set[str]]) -> None:
    """Write what was raised in the place of what `errors.txt` has of these modules."""
    old = read_texts()
    for name, lines in found.items():
        known = old.get(name, set())
        alike = {_words(line): line for line in known}
        old[name] = {line if line in known else alike.get(_words(line), line) for line in lines}
    texts = {name: lines for name, lines in old.items() if Path(name).exists()}
    parts = ["\n".join([f"# {name}", *sorted(lines)]) for name, lines in sorted(texts.items())]
    FILE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def differences() -> list[str]:
    """Return the raised texts that `errors.txt` lacks."""
    if not sys.version.startswith(f"{PYTHON}."):
        return []
    known = {module: {*map(_words, lines)} for module, lines in read_texts().items()}
    return [
        f"{module}: {text}"
        for module, lines in sorted(raised.items())
        for text in sorted(lines)
        if _words(text) not in known.get(module, ())
    ]
