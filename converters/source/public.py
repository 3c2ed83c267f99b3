"""Opening a declared URL, and where its redirects may lead.

A source.yaml is often a stranger's. What was https stays https, and nothing is asked of the
computer itself or of its private network, unless the declared URL names such an address.
"""

import http.client
import ipaddress
import ssl
import urllib.request
from http.client import HTTPResponse
from urllib.parse import urlsplit


class NotPublicError(ValueError):
    """A URL that may not be asked; another try would not help."""


def open_url(request: urllib.request.Request, *, timeout: float) -> HTTPResponse:
    """Open a declared URL, through redirects, with every step checked.

    Args:
        request: Of the URL as it is declared.
        timeout: Seconds of silence to bear.

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
    """Raise where a declared URL must not lead to `url`.

    Raises:
        NotPublicError: If it is not https though the declared one is, or names a private address
            that the declared one does not name.
    """
    target = urlsplit(url)
    allowed = {"https"} if urlsplit(declared).scheme == "https" else {"http", "https"}
    if target.scheme not in allowed:
        raise NotPublicError(f"it redirects to {url}, which is not {' or '.join(sorted(allowed))}")
    if _is_private(target.hostname) and not _may_be_private(declared, target.hostname):
        raise NotPublicError(f"it redirects to {url}, which is not a public address")


def _may_be_private(declared: str, host: str | None) -> bool:
    """Return whether the declared URL itself names this private address."""
    return host == urlsplit(declared).hostname and _is_private(host)


def _is_private(host: str | None) -> bool:
    """Return whether a host is, by its name alone, this computer or one of a private network."""
    if host is None or host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:  # a name; what it stands for is checked once connected
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
    """Refuse a public name that stands for a private address, before anything is asked of it."""
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
    """In place of urllib's own, which follows redirects to FTP."""

    def __init__(self, declared: str) -> None:
        self.declared = declared

    def ftp_open(self, req: urllib.request.Request) -> None:  # type: ignore[override]
        check_redirect(self.declared, req.full_url)


def _is_trusted(request: urllib.request.Request, declared: str) -> bool:
    """Return whether we connect to a private address that was declared, or to the user's proxy."""
    proxied = request.has_proxy() or getattr(request, "_tunnel_host", None) is not None
    return proxied or _may_be_private(declared, urlsplit(request.full_url).hostname)
