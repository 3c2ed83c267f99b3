"""Completing a partial file from its URL, by HTTP range requests.

What has arrived is kept, and the next try asks for the rest. The declared digest tells whether the
pieces are of one version of the file, so a file without a digest is always fetched from its start.
"""

import os
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import httpx
from tqdm import tqdm

from nnd.converters.source.source import SourceFile
from nnd.schemas import SourceError, nnd_version

MOST_BYTES = 2**30
"""Largest download of a file whose size is not declared."""

FLOOR = 60_000
"""Bytes a minute below which a download is given up, unless `NND_SLOWEST_DOWNLOAD` says another."""

TRIES = 3
_SILENCE_S = 30
_WINDOW_S = 60.0
_FLOOR_VARIABLE = "NND_SLOWEST_DOWNLOAD"
_RANGE_REFUSED = 416
_PASSING = {408, _RANGE_REFUSED, 500, 502, 503, 504}  # these errors may pass


class FetchError(Exception):
    """The URL did not return what it should; another try may help, perhaps from the first byte."""

    def __init__(
        self, reason: str, *, again: bool = True, from_start: bool = False, remedy: str = ""
    ) -> None:
        super().__init__(reason)
        self.again, self.from_start, self.remedy = again, from_start, remedy


def complete(part: Path, url: str, file: SourceFile, *, pause_s: float) -> bool:
    """Fetch what is missing of a file; return whether it came in one piece.

    At most its declared size is fetched, or `MOST_BYTES`. Each pause is twice as long as the last.
    """
    tries = TRIES
    while True:
        start = part.stat().st_size if part.exists() and file.sha256 else 0
        try:
            return _fetch_rest(part, url, file, start) == 0
        except FetchError as error:
            tries -= 1
            if error.from_start or file.sha256 is None:
                part.unlink(missing_ok=True)
            if not tries or not error.again:
                what, code = f"cannot be fetched: {error}", "source.cannot-fetch"
                remedy = "try again, or name your copy with --from" if error.again else ""
                raise SourceError(code, what, url, error.remedy or remedy) from error
            time.sleep(pause_s)
            pause_s *= 2


def _fetch_rest(part: Path, url: str, file: SourceFile, start: int) -> int:
    """Request a file from a byte on; return the byte from which the server sent it."""
    headers = {
        "User-Agent": f"nnd/{nnd_version()}",
        "Accept-Encoding": "identity",
        "Connection": "close",  # a redirect could meet a connection that the server just closed
    }
    if start:
        headers["Range"] = f"bytes={start}-"
    own = ssl.create_default_context()  # the system's certificates, to which companies add theirs
    try:
        with httpx.stream(
            "GET", url, headers=headers, follow_redirects=True, timeout=_SILENCE_S, verify=own
        ) as answer:
            first = _first_byte(answer, url, start)
            length = answer.headers.get("Content-Length")
            total = None if length is None else first + int(length)
            with _open_part(part, first) as opened:
                for block in _blocks(answer, file, first, total):
                    opened.write(block)
            if total is not None and (missing := total - part.stat().st_size) > 0:
                raise FetchError(f"{missing} bytes did not arrive")
            return first
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        is_final = isinstance(error, httpx.UnsupportedProtocol) or "CERTIFICATE" in str(error)
        again = isinstance(error, httpx.TransportError) and not is_final
        raise FetchError(str(error) or type(error).__name__, again=again) from error


def _open_part(part: Path, first: int) -> BinaryIO:
    """Open a partial file to go on with it, or to begin it again; a link is not followed."""
    way = os.O_APPEND if first else os.O_TRUNC
    flags = (
        os.O_WRONLY | os.O_CREAT | way | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    )
    return os.fdopen(os.open(part, flags, 0o666), "ab" if first else "wb")


def _first_byte(answer: httpx.Response, url: str, asked: int) -> int:
    """Return the byte of the file at which an answer begins; refuse what is not the file."""
    insecure = [one.url for one in (*answer.history, answer) if one.url.scheme != "https"]
    if url.startswith("https:") and insecure:
        raise FetchError(f"it redirects to {insecure[0]}, which is not https", again=False)
    if answer.is_error:
        raise FetchError(
            f"HTTP Error {answer.status_code}: {answer.reason_phrase}",
            again=answer.status_code in _PASSING,
            from_start=answer.status_code == _RANGE_REFUSED,
        )
    if answer.status_code != httpx.codes.PARTIAL_CONTENT:
        return 0
    if not answer.headers.get("Content-Range", "").startswith(f"bytes {asked}-"):
        raise FetchError("the server does not send the rest of the file", from_start=True)
    return asked


def _blocks(
    answer: httpx.Response, file: SourceFile, arrived: int, total: int | None
) -> Iterator[bytes]:
    """Yield the body of an answer as far as it arrives, and show the progress."""
    most = MOST_BYTES if file.bytes is None else file.bytes
    what = (
        "the most that is fetched if no size is declared"
        if file.bytes is None
        else "its declared size"
    )
    with tqdm(
        desc=file.name,
        initial=arrived,
        total=total,
        unit="B",
        unit_scale=True,
        disable=None,
        leave=False,
    ) as bar:
        floor, begin, before = _floor(), time.monotonic(), arrived
        try:
            for block in answer.iter_raw():
                arrived += len(block)
                if (seconds := time.monotonic() - begin) >= _WINDOW_S:
                    _check_speed((arrived - before) * 60 / seconds, floor)
                    begin, before = time.monotonic(), arrived
                if arrived > most:
                    reason = f"the file is larger than {most:,} bytes, {what}"
                    raise FetchError(reason, again=False, from_start=True)
                bar.update(len(block))
                yield block
        except httpx.RemoteProtocolError:
            if total is None:
                raise


def _floor() -> float:
    """Return the bytes a minute below which a download is given up."""
    text = os.environ.get(_FLOOR_VARIABLE) or str(FLOOR)
    if text.isascii() and text.isdecimal():
        return float(text)
    raise FetchError(
        f"{_FLOOR_VARIABLE} is not a whole number: {text}",
        again=False,
        remedy=f"set it to bytes a minute, such as {FLOOR}, or 0 for no limit",
    )


def _check_speed(per_minute: float, floor: float) -> None:
    """Refuse a server that sends so little that it only keeps the file locked for others."""
    if per_minute < floor:
        raise FetchError(
            f"{per_minute:,.0f} bytes a minute arrived, and the least is {floor:,.0f}",
            again=False,
            remedy=f"name your copy with --from, or set {_FLOOR_VARIABLE}=0 to wait for it",
        )
