"""Where the files of a source come from: `--from`, the source's own folder, the cache, the URL."""

import glob
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nnd.converters.download import fetch
from nnd.converters.records import Cells, Record, read_cells, read_jsonl, read_text
from nnd.converters.source import Source, SourceFile
from nnd.schemas import SourceError


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one source, as a converter asks for them by their declared names.

    Attributes:
        source: Whose files they are.
        origin: Folder or file given by the user (`--from`), or None: then a file in the source's
            own folder is taken, else the download cache, else the declared URL.
        opened: Declared name → path of every file asked for so far.
    """

    source: Source
    origin: Path | None = None
    opened: dict[str, Path] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        """Return where the declared file `name` lies, fetching it where needed.

        Raises:
            SourceError: If it cannot be had, or two files in the folder fit equally well.
        """
        if name not in self.opened:
            self.opened[name] = self._locate(name)
        return self.opened[name]

    def jsonl(self, name: str) -> Iterator[Record]:
        """Yield the objects of a JSON-lines file (see `records.read_jsonl`)."""
        return read_jsonl(self.path(name))

    def cells(self, name: str, *, delimiter: str, quoted: bool) -> Iterator[Cells]:
        """Yield the rows of a delimited file (see `records.read_cells`)."""
        return read_cells(self.path(name), delimiter=delimiter, quoted=quoted)

    def first_line(self, name: str) -> str:
        """Return the first line of a file, to tell its layout by."""
        return read_text(self.path(name)).split("\n", 1)[0]

    def digests(self) -> list[dict[str, str | int | bool]]:
        """Return name, SHA-256, size and whether it is the declared file, of every file opened."""
        declared = {file.name: file.sha256 for file in self.source.files}
        found: list[dict[str, str | int | bool]] = []
        for name, path in sorted(self.opened.items()):
            raw = path.read_bytes()
            digest = hashlib.sha256(raw).hexdigest()
            verified = digest == declared[name]
            found.append({"name": name, "sha256": digest, "bytes": len(raw), "verified": verified})
        return found

    def _locate(self, name: str) -> Path:
        declared = next((file for file in self.source.files if file.name == name), None)
        if declared is None:
            raise SourceError(f'{self.source.folder}/source.yaml: files: "{name}" is not declared')
        if self.origin is not None:
            try:
                return _find(declared, self.origin, is_main=declared == self.source.files[0])
            except OSError as error:
                raise SourceError(
                    f"{self.origin}: cannot be looked into: {error.strerror}; correct --from"
                ) from error
        own = self.source.folder / name
        return own if own.is_file() else fetch(declared, self.source.name)


def _find(declared: SourceFile, origin: Path, *, is_main: bool) -> Path:
    """Look for a declared file at the place the user named."""
    if origin.is_file() and is_main:
        return origin
    folder = origin.parent if origin.is_file() else origin
    if not folder.is_dir():
        raise SourceError(f"{origin}: there is no such file or folder; correct --from")
    if (folder / declared.name).is_file():
        return folder / declared.name
    name = Path(glob.escape(declared.name))
    for pattern in (name.name, f"{name.stem}*{name.suffix}"):
        found = sorted(path for path in folder.rglob(pattern) if path.is_file())
        if len(found) == 1:
            return found[0]
        if found:
            names = " and ".join(str(path.relative_to(folder)) for path in found)
            raise SourceError(f"{folder}: {names} fit equally well; name one of them with --from")
    raise SourceError(
        f"{folder}: there is no {declared.name}; name the file with --from"
        + (f", or fetch it from {declared.url}" if declared.url else "")
    )
