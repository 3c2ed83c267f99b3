"""Completing a partial file from its URL, by HTTP range requests.

The part `a.part` has a companion `a.part.json`, which identifies the version of the file by its URL
and the ETag or Last-Modified of the server. A later try requests the rest of exactly that version.
A server that has another version by now, or cannot send parts, sends the whole file. If the server
names no version, two halves might not fit, so no part is kept.
"""

import contextlib
import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from nnd.converters.source.public_urls import open_url
from nnd.schemas import SourceError, nnd_version, write_whole

MOST_BYTES = 2**30
"""Largest download of a file whose size is not declared."""

TRIES = 3
PAUSE_S = 0.5
"""Pause before the second try; it doubles before the third."""
MOST_PAUSE_S = 10
"""Longest Retry-After of a server after which it is tried again."""
_SILENCE_S = 30
_BLOCK = 1 << 18
_RANGE_REFUSED = 416
_PASSING = {408, _RANGE_REFUSED, 429, 500, 502, 503, 504}  # these errors may pass
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class _FetchError(Exception):
    """The URL did not return what it should.

    Attributes:
        again: Whether another try may help.
        from_start: Whether that must start from the first byte.
        pause_s: Seconds for which the server asks us to wait.
    """

    def __init__(
        self, reason: object, *, again: bool = True, from_start: bool = False, pause_s: float = 0
    ) -> None:
        super().__init__(str(reason))
        self.again, self.from_start, self.pause_s = again, from_start, pause_s


def complete(part: Path, url: str, *, size: int | None = None, pause_s: float = PAUSE_S) -> None:
    """Fetch the missing rest of a file, or the whole file if `part` cannot be continued.

    Args:
        part: File to write. It keeps what has arrived if the connection is lost.
        url: Address of the file.
        size: Declared size in bytes, which is the most to fetch; None: `MOST_BYTES`.
        pause_s: Seconds before the second try.

    Raises:
        SourceError: If the rest does not arrive in `TRIES` tries.
        OSError: If `part` cannot be written.
    """
    for later_tries in reversed(range(TRIES)):
        try:
            _fetch_rest(part, url, size)
            break
        except _FetchError as error:
            if error.from_start or _known_version(part, url) is None:
                forget(part)
            if not later_tries or not error.again or error.pause_s > MOST_PAUSE_S:
                remedy = "try again, or " if error.again else ""
                raise SourceError(
                    f"{url}: cannot be fetched: {error}; {remedy}name your copy with --from"
                ) from error
            time.sleep(max(error.pause_s, pause_s))
            pause_s *= 2


def forget(part: Path) -> None:
    """Remove a part. Its companion goes first, because a part without it is never continued."""
    _version_file(part).unlink(missing_ok=True)
    part.unlink(missing_ok=True)


def _fetch_rest(part: Path, url: str, size: int | None) -> None:
    known = _known_version(part, url)
    start = part.stat().st_size if known and part.exists() else 0
    with _answer(url, start, known) as answer:
        first, total = _place(answer)
        if first == 0:
            forget(part)
        elif first != start or _version(answer) not in (None, known):
            raise _FetchError("the server does not send the rest of the file", from_start=True)
        with part.open("ab") as opened:
            if first == 0 and (current := _version(answer)):
                facts = json.dumps({"url": url, "version": current})
                write_whole(_version_file(part), facts)
            _check_size(total or 0, size)
            for block in _blocks(answer, part.stem, first, total):
                _check_size(opened.tell() + len(block), size)
                opened.write(block)


def _answer(url: str, start: int, known: str | None) -> http.client.HTTPResponse:
    """Request the file, from byte `start` if it is still the known version."""
    headers = {"User-Agent": f"nnd/{nnd_version()}", "Accept-Encoding": "identity"}
    if known and start:
        headers |= {"Range": f"bytes={start}-", "If-Range": known}
    with _on_the_net():
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - the schema: http(s)
        return open_url(request, timeout=_SILENCE_S)


def _place(answer: http.client.HTTPResponse) -> tuple[int, int | None]:
    """Return the byte of the file at which the body begins, and the file's size if stated."""
    if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0, answer.length
    stated = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if stated is None:
        raise _FetchError("the server does not state which part it sends", from_start=True)
    return int(stated[1]), int(stated[2])


def _blocks(
    answer: http.client.HTTPResponse, name: str, size: int, total: int | None
) -> Iterator[bytes]:
    """Yield the body as it arrives; raise an error if the connection ends before the file does."""
    with tqdm(
        desc=name, initial=size, total=total, unit="B", unit_scale=True, disable=None, leave=False
    ) as bar:
        while size != total:
            with _on_the_net():
                block = answer.read1(_BLOCK if total is None else min(_BLOCK, total - size))
            if not block:
                break
            size += len(block)
            bar.update(len(block))
            yield block
    if total is not None and size < total:
        raise _FetchError(f"{total - size} bytes did not arrive")


def _check_size(arrived: int, declared: int | None) -> None:
    """Raise an error if more arrives than was declared or, if undeclared, than `MOST_BYTES`."""
    most, what = (
        (MOST_BYTES, "the most that is fetched if no size is declared")
        if declared is None
        else (declared, "its declared size")
    )
    if arrived > most:
        reason = f"the file is larger than {most:,} bytes, {what}"
        raise _FetchError(reason, again=False, from_start=True)


@contextlib.contextmanager
def _on_the_net() -> Iterator[None]:
    """Raise errors of the connection as a _FetchError; errors of the disk pass unchanged."""
    try:
        yield
    except urllib.error.HTTPError as error:
        asked = error.headers.get("Retry-After", "")
        error.close()  # the error is the response, with an open connection
        pause_s = int(asked) if asked.isdecimal() else 0
        again, from_start = error.code in _PASSING, error.code == _RANGE_REFUSED
        raise _FetchError(error, again=again, from_start=from_start, pause_s=pause_s) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        # An invalid address, or a wrong certificate (a ValueError), stays invalid.
        again = not isinstance(reason, (ValueError, http.client.InvalidURL, str))
        raise _FetchError(reason, again=again) from error


def _version(answer: http.client.HTTPResponse) -> str | None:
    """Return the identifier of this exact version for If-Range, or None."""
    etag = answer.headers.get("ETag")
    return etag if etag and not etag.startswith("W/") else answer.headers.get("Last-Modified")


def _version_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _known_version(part: Path, url: str) -> str | None:
    """Return the version of the file at `url` that the part belongs to; None if unknown."""
    try:
        facts = json.loads(_version_file(part).read_text(encoding="utf-8"))
        return str(facts["version"]) if facts["url"] == url else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
