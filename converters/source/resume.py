"""Completing a partial file from its URL, by HTTP range requests.

The part `a.part` has a companion `a.part.json`, which identifies the version of the file by its URL
and the ETag or Last-Modified of the server. A later try requests the rest of exactly that version.
A server that has another version by now, or cannot send parts, sends the whole file. If the server
names no version, two halves might not fit, so no part is kept.

A source.yaml may come from a stranger. So https never becomes http, and no request goes to the
computer itself or its private network, unless the declared URL names such an address.
"""

import ipaddress
import json
import re
import ssl
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
from tqdm import tqdm

from nnd.schemas import SourceError, nnd_version, write_whole

MOST_BYTES = 2**30
"""Largest download of a file whose size is not declared."""

TRIES = 3
MOST_PAUSE_S = 10
"""Longest Retry-After of a server after which it is tried again."""
_SILENCE_S = 30
_RANGE_REFUSED = 416
_PASSING = {408, _RANGE_REFUSED, 429, 500, 502, 503, 504}  # these errors may pass
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class FetchError(Exception):
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


def complete(part: Path, url: str, *, size: int | None = None, pause_s: float) -> None:
    """Fetch the missing rest of a file, or the whole file if `part` cannot be continued.

    The part keeps what has arrived if the connection is lost. At most the declared `size` in bytes
    is fetched, or `MOST_BYTES`. Before the third try the pause is twice as long.
    """
    for later_tries in reversed(range(TRIES)):
        try:
            _fetch_rest(part, url, size)
            break
        except FetchError as error:
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
    """Request the file, from the end of the part if it is still the known version."""
    known = _known_version(part, url)
    start = part.stat().st_size if known and part.exists() else 0
    headers = {"User-Agent": f"nnd/{nnd_version()}", "Accept-Encoding": "identity"}
    if known and start:
        headers |= {"Range": f"bytes={start}-", "If-Range": known}
    try:
        with (
            httpx.Client(
                follow_redirects=True,
                timeout=_SILENCE_S,
                limits=httpx.Limits(max_keepalive_connections=0),
                verify=ssl.create_default_context(),
                event_hooks={"request": [partial(_check_request, url)]},
            ) as client,
            client.stream("GET", url, headers=headers) as answer,
        ):
            _write_rest(part, url, size, answer, start)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        is_final = isinstance(error, httpx.UnsupportedProtocol) or "CERTIFICATE" in str(error)
        again = isinstance(error, httpx.TransportError) and not is_final
        raise FetchError(str(error) or type(error).__name__, again=again) from error


def _write_rest(part: Path, url: str, size: int | None, answer: httpx.Response, start: int) -> None:
    if answer.is_error:
        asked = answer.headers.get("Retry-After", "")
        raise FetchError(
            f"HTTP Error {answer.status_code}: {answer.reason_phrase}",
            again=answer.status_code in _PASSING,
            from_start=answer.status_code == _RANGE_REFUSED,
            pause_s=int(asked) if asked.isdecimal() else 0,
        )
    first, total = _place(answer)
    current = _version(answer)
    if first == 0:
        forget(part)
    elif first != start or current not in (None, _known_version(part, url)):
        raise FetchError("the server does not send the rest of the file", from_start=True)
    with (
        part.open("ab") as opened,
        tqdm(
            desc=part.stem,
            initial=first,
            total=total,
            unit="B",
            unit_scale=True,
            disable=None,
            leave=False,
        ) as bar,
    ):
        if first == 0 and current:
            write_whole(_version_file(part), json.dumps({"url": url, "version": current}))
        _check_size(total or 0, size)
        try:
            for block in answer.iter_raw():
                _check_size(opened.tell() + len(block), size)
                opened.write(block)
                bar.update(len(block))
        except httpx.RemoteProtocolError:
            if total is None:
                raise
        if total is not None and opened.tell() < total:
            raise FetchError(f"{total - opened.tell()} bytes did not arrive")


def _place(answer: httpx.Response) -> tuple[int, int | None]:
    """Return the byte of the file at which the body begins, and the file's size if stated."""
    if answer.status_code != httpx.codes.PARTIAL_CONTENT:
        length = answer.headers.get("Content-Length")
        return 0, None if length is None else int(length)
    stated = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if stated is None:
        raise FetchError("the server does not state which part it sends", from_start=True)
    return int(stated[1]), int(stated[2])


def _check_size(arrived: int, declared: int | None) -> None:
    """Raise an error if more arrives than was declared or, if undeclared, than `MOST_BYTES`."""
    most, what = (
        (MOST_BYTES, "the most that is fetched if no size is declared")
        if declared is None
        else (declared, "its declared size")
    )
    if arrived > most:
        reason = f"the file is larger than {most:,} bytes, {what}"
        raise FetchError(reason, again=False, from_start=True)


def _version(answer: httpx.Response) -> str | None:
    """Return the identifier of this exact version for If-Range, or None."""
    etag: str | None = answer.headers.get("ETag")
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


def check_step(declared: str, url: str) -> None:
    """Refuse a request that a declared URL must not lead to.

    Raises:
        FetchError: If it is not https although the declared URL is, or if it goes to a private
            address that the declared URL does not name.
    """
    target, origin = urlsplit(url), urlsplit(declared)
    allowed = {"https"} if origin.scheme == "https" else {"http", "https"}
    if target.scheme not in allowed:
        reason = f"it redirects to {url}, which is not {' or '.join(sorted(allowed))}"
        raise FetchError(reason, again=False)
    host = target.hostname or "localhost"
    if host != origin.hostname and _is_private(host):
        raise FetchError(f"it redirects to {url}, which is not a public address", again=False)


def _check_request(declared: str, request: httpx.Request) -> None:
    """Check a request before it is sent, and the host that it will be sent to once connected."""
    check_step(declared, str(request.url))
    host, asked = request.url.host, urlsplit(declared).hostname
    by_proxy = {request.url.scheme, "all"} & getproxies().keys() and not proxy_bypass(host)
    if not by_proxy and not (host == asked and _is_private(host)):
        request.extensions = {**request.extensions, "trace": partial(_check_peer, host)}


def _check_peer(host: str, event: str, facts: Mapping[str, Any]) -> None:
    """Refuse a public name with a private address before a request is sent to it."""
    if event == "connection.connect_tcp.complete":
        address = str(facts["return_value"].get_extra_info("server_addr")[0])
        if _is_private(address):
            raise FetchError(f"{host} is {address}, which is not a public address", again=False)


def _is_private(host: str) -> bool:
    """Say whether the name of a host shows that it is this computer or in a private network."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:  # a name
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return not (mapped or address).is_global
