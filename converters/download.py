"""Fetching declared files: cached, atomic, and checked against the declared digest."""

import hashlib
import http.client
import os
import shutil
import ssl
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from tqdm import tqdm

from nnd.converters.source import SourceFile
from nnd.schemas import SourceError

_TIMEOUT_S = 30
_NOT_FETCHED = (
    urllib.error.URLError,
    http.client.HTTPException,
    TimeoutError,
    ConnectionError,
    ssl.SSLError,
)


def cache_folder() -> Path:
    """Return where fetched files are kept: `$NND_CACHE`, else `~/.cache/nnd`."""
    return Path(os.environ.get("NND_CACHE") or Path.home() / ".cache" / "nnd")


def fetch(file: SourceFile, source_name: str) -> Path:
    """Return a declared file from the cache, fetching it from its URL where needed.

    What arrives is written beside its place and moved there only when its digest is the declared
    one (or none is declared), so that the cache never holds half a file.

    Raises:
        SourceError: If no URL is declared, it cannot be reached, something else arrives, or the
            cache cannot be written.
    """
    target = cache_folder() / source_name / file.name
    try:
        if target.is_file() and _is_declared(target, file):
            return target
        if file.url is None:
            raise SourceError(f"{file.name}: no URL is declared; name your copy with --from")
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            part = Path(folder) / file.name
            _download(file, part)
            part.replace(target)
    except OSError as error:
        raise SourceError(
            f"{target}: the download cache cannot be used: {error.strerror or error}; set "
            "NND_CACHE to a folder with room, or name your copy with --from"
        ) from error
    return target


def _is_declared(path: Path, file: SourceFile) -> bool:
    if file.sha256 is None:
        return True
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256


def _download(file: SourceFile, part: Path) -> None:
    """Write what the URL gives to `part`; anything but the declared file is a SourceError."""
    request = urllib.request.Request(str(file.url))  # noqa: S310 - the schema admits http(s) only
    try:
        with (
            urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer,  # noqa: S310
            part.open("wb") as opened,
            tqdm.wrapattr(
                answer,
                "read",
                total=file.bytes,
                desc=file.name,
                unit="B",
                disable=None,
                leave=False,
            ) as body,
        ):
            shutil.copyfileobj(body, opened)
            missing = answer.length  # bytes announced and not sent
    except _NOT_FETCHED as error:
        reason = getattr(error, "reason", error)
        if isinstance(error, urllib.error.HTTPError):
            reason = error  # the reason alone lacks the number
            error.close()  # it is the answer, with its connection
        raise SourceError(
            f"{file.url}: cannot be fetched: {reason}; name your copy with --from"
        ) from error
    if missing:
        raise SourceError(f"{file.url}: {missing} bytes did not arrive; try again")
    if not _is_declared(part, file):
        raise SourceError(
            f"{file.url}: what arrived is not the declared file (SHA-256 differs); if the "
            "publisher changed it, name your copy with --from"
        )
