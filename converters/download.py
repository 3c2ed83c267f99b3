"""Fetching declared files: cached, atomic, and checked against the declared digest."""

import hashlib
import os
import shutil
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from tqdm import tqdm

from nnd.converters.source import SourceFile
from nnd.schemas import SourceError

_TIMEOUT_S = 30


def cache_folder() -> Path:
    """Return where fetched files are kept: `$NND_CACHE`, else `~/.cache/nnd`."""
    return Path(os.environ.get("NND_CACHE") or Path.home() / ".cache" / "nnd")


def fetch(file: SourceFile, source_name: str) -> Path:
    """Return a declared file from the cache, fetching it from its URL where needed.

    What arrives is written beside its place and moved there only when its digest is the declared
    one (or none is declared), so that the cache never holds half a file.

    Raises:
        SourceError: If no URL is declared, it cannot be reached, or something else arrives.
    """
    target = cache_folder() / source_name / file.name
    if target.is_file() and _is_declared(target, file):
        return target
    if file.url is None:
        raise SourceError(f"{file.name}: no URL is declared; name your copy with --from")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        part = Path(folder) / file.name
        _download(file, part)
        if not _is_declared(part, file):
            raise SourceError(
                f"{file.url}: what arrived is not the declared file (SHA-256 differs); if the "
                "publisher changed it, name your copy with --from"
            )
        part.replace(target)
    return target


def _is_declared(path: Path, file: SourceFile) -> bool:
    if file.sha256 is None:
        return True
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256


def _download(file: SourceFile, part: Path) -> None:
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
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise SourceError(
            f"{file.url}: cannot be fetched: {reason}; name your copy with --from"
        ) from error
