"""Opening a declared URL, with checks of where its redirects lead.

A source.yaml may come from a stranger. So https never becomes http, and no request goes to the
computer itself or its private network, unless the declared URL names such an address.
"""

import http.client
import ipaddress
import ssl
import urllib.request
from http.client import HTTPResponse
from urllib.parse import urlsplit


class NotPublicError(ValueError):
    """A URL must not be requested; trying again would not help."""


def open_url(request: urllib.request.Request, *, timeout: float) -> HTTPResponse:
    """Open a declared URL and follow its redirects, checking every step.

    Args:
        request: A request of the declared URL.
        timeout: Seconds without data after which to give up.

    Raises:
        NotPublicError: If a step is not allowed.
        OSError, http.client.HTTPException, ValueError: As urllib does.
    """
    declared = request.full_url
    opener = urllib.request.build_opener(
        _HTTPHandler(declared), _HTTPSHandler(declared), _FTPHandler(declared)
    )
    answer: HTTPResponse = opener.open(request, timeout=timeout)
    return answer


def check_redirect(declared: str, url: str) -> None:
    """Raise an error if a declared URL must not redirect to `url`.

    Raises:
        NotPublicError: If it is not https although the declared URL is, or if it names a private
            address that the declared URL does not name.
    """
    target = urlsplit(url)
    allowed = {"https"} if urlsplit(declared).scheme == "https" else {"http", "https"}
    if target.scheme not in allowed:
        raise NotPublicError(f"it redirects to {url}, which is not {' or '.join(sorted(allowed))}")
    if _is_private(target.hostname) and not _may_be_private(declared, target.hostname):
        raise NotPublicError(f"it redirects to {url}, which is not a public address")


def _may_be_private(declared: str, host: str | None) -> bool:
    """Say whether the declared URL itself names this private address."""
    return host == urlsplit(declared).hostname and _is_private(host)


def _is_private(host: str | None) -> bool:
    """Say whether the name of a host shows that it is this computer or in a private network."""
    if host is None or host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:  # a name; its address is checked after connecting
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return not (mapped or address).is_global


class _HTTPConnection(http.client.HTTPConnection):
    def connect(self) -> None:
        super().connect()
        _check_peer(self)


class _HTTPSConnection(http.client.HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        _check_peer(self)


def _check_peer(connection: http.client.HTTPConnection) -> None:
    """Refuse a public name with a private address before sending a request."""
    address = str(connection.sock.getpeername()[0])
    if _is_private(address):
        connection.close()
        raise NotPublicError(f"{connection.host} is {address}, which is not a public address")


class _HTTPHandler(urllib.request.HTTPHandler):
    def __init__(self, declared: str) -> None:
        super().__init__()
        self.declared = declared

    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        check_redirect(self.declared, req.full_url)
        trusted = _is_trusted(req, self.declared)
        return self.do_open(http.client.HTTPConnection if trusted else _HTTPConnection, req)


class _HTTPSHandler(urllib.request.HTTPSHandler):
    def __init__(self, declared: str) -> None:
        super().__init__()
        self.declared = declared

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        check_redirect(self.declared, req.full_url)
        trusted = _is_trusted(req, self.declared)
        kind = http.client.HTTPSConnection if trusted else _HTTPSConnection
        return self.do_open(kind, req, context=ssl.create_default_context())


class _FTPHandler(urllib.request.FTPHandler):
    """Refuses redirects to FTP, which urllib's own handler follows."""

    def __init__(self, declared: str) -> None:
        self.declared = declared

    def ftp_open(self, req: urllib.request.Request) -> None:  # type: ignore[override]
        check_redirect(self.declared, req.full_url)


def _is_trusted(request: urllib.request.Request, declared: str) -> bool:
    """Say whether the address is a declared private one, or the user's proxy."""
    proxied = request.has_proxy() or getattr(request, "_tunnel_host", None) is not None
    return proxied or _may_be_private(declared, urlsplit(request.full_url).hostname)
