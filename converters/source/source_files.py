"""Where the files of a source come from.

The order is `--from`, the source's own folder, the cache, a compressed copy in its folder, the URL.
"""

import contextlib
import glob
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from nnd.converters.source.download import fetch, find_cached, unpack_copy, unpack_declared
from nnd.converters.source.file_patterns import join_files
from nnd.converters.source.source import Source, SourceFile
from nnd.schemas import (
    Cells,
    FileRecord,
    SourceError,
    as_records,
    by_header,
    decode,
    file_digest,
    find_member,
    git_blob,
    is_lines,
    listed,
    load_json,
    one_line,
    read_archive,
    read_jsonl,
    read_lines,
    read_rows,
    read_text,
    sheet_names,
    split_cells,
)

_NAMED = 3

Change: TypeAlias = Callable[[tuple[str, ...], Callable[[], Any]], Any]
"""Returns what converters shall read in place of the content of a file. Called with the declared
name, the part (member or sheet) and how it is read, and with a function that reads it as it is."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one source, as a converter asks for them by their declared names.

    Attributes:
        source: The source that declares them.
        origin: Folder or file given by the user (`--from`), or None: then a file in the source's
            own folder is taken, else the download cache, else the compressed copy `NAME.xz` in
            that folder, else the declared URL.
        opened: Declared name → path of every file asked for so far.
        oddities: Odd cells or rows that the converter reported, with how it read them.
        change: Changes what the methods read (`check-source` shuffles rows so); None: nothing does.
    """

    source: Source
    origin: Path | None = None
    opened: dict[str, Path] = field(default_factory=dict)
    oddities: list[str] = field(default_factory=list)
    change: Change | None = None

    def report(self, where: str, what: str) -> None:
        """Report something odd that is not an error; it goes into the manifest and is printed."""
        self.oddities.append(one_line(f"{where}: {what}"))

    def has(self, name: str) -> bool:
        """Say whether a declared file is available without fetching it."""
        try:
            return name in self.opened or self._at_hand(self._declared(name)) is not None
        except SourceError:
            return False

    def path(self, name: str) -> Path:
        """Return the path of the declared file `name`, fetching it if needed."""
        if name not in self.opened:
            file = self._declared(name)
            try:
                self.opened[name] = self._at_hand(file) or fetch(file, self.source.name)
            except SourceError as error:
                sets = " or --set ".join(self.source.facts.get("sets", {}))
                if not sets or "set" in self.source.facts or file != self.source.files[0]:
                    raise
                remedy = f"{error.remedy}; or choose a set: --set {sets}"
                raise SourceError(error.code, error.what, error.where, remedy) from error
        return self.opened[name]

    def jsonl(self, name: str) -> Iterator[FileRecord]:
        """Yield the objects of a JSON-lines file (see `records.read_jsonl`)."""
        return self._changed((name, "", "jsonl"), read_jsonl(self.path(name)))

    def _changed(self, how: tuple[str, ...], records: Iterator[FileRecord]) -> Iterator[FileRecord]:
        if self.change is None:
            return records
        return as_records(self.change(how, lambda: [one.fields for one in records]), how[0])

    def json(self, name: str, *, member: str | None = None) -> Iterator[FileRecord]:
        """Yield the objects of a JSON file, which holds a list of objects or a single one.

        Args:
            name: The file, or a zip or .tar.gz.
            member: Name of the file in that archive, without folders.
        """
        path = self.path(name)
        place = path.name if member is None else f"{path.name}/{member}"

        def load() -> Any:  # noqa: ANN401 - a JSON value may be anything
            if member is None:
                return load_json(read_text(path), place)
            members = self.members(name)
            return load_json(decode(members[find_member(path, members, member)], place), place)

        how = (name, member or "", "json")
        return as_records(self.change(how, load) if self.change else load(), place)

    def objects(self, name: str) -> Iterator[FileRecord]:
        """Yield the outermost objects of a JSON file, in lines or not, as its suffix says."""
        return self.jsonl(name) if is_lines(self.path(name), name) else self.json(name)

    def members(self, name: str) -> dict[str, bytes]:
        """Return the files of a zip or .tar.gz as name → content."""
        return read_archive(self.path(name))

    def cells(
        self,
        name: str,
        *,
        delimiter: str,
        quoted: bool,
        even: bool = True,
        member: str | None = None,
    ) -> Iterator[Cells]:
        """Yield the rows of a delimited file, the header first (see `records.cells_of`).

        Args:
            name: The file, or a zip or .tar.gz.
            delimiter: One character.
            quoted: Whether `"` quotes a cell.
            even: Whether all rows must have the same number of cells.
            member: Name of the file in that archive, with folders.
        """
        lines = read_lines(self.path(name))
        if member is not None:
            raw = enumerate(io.BytesIO(self.members(name)[member]), start=1)
            lines = (decode(line, member, line=number) for number, line in raw)
        place = member or self.path(name).name
        rows = split_cells(lines, place, delimiter=delimiter, quoted=quoted, even=even)
        if self.change is None:
            yield from rows
            return
        header = next(rows, None)
        how = (name, member or "", "cells", delimiter, str(quoted))
        table = self.change(how, lambda: by_header([header, *rows] if header else []))
        yield from () if header is None else (header,)
        for number, row in enumerate(table, start=2):
            yield Cells(f"{place}:{number}", list(row.values()))

    def table(
        self, name: str, options: Mapping[str, Any] = {}, columns: list[str] | None = None
    ) -> Iterator[FileRecord]:
        """Yield the rows of a csv, tsv, xlsx, jsonl, json or parquet file by column.

        Cells of csv (quoted), tsv (not quoted) and xlsx (the first sheet) are texts.

        Args:
            name: The file.
            options: Delimiter, quotation and sheet, if they differ from that.
            columns: Required columns, and the only ones that are read; None: all.
        """
        path = self.path(name)
        records = read_rows(path, name, options, columns)
        part = str(options.get("sheet") or "")
        if self.change and path.suffix.lower() == ".xlsx" and not part:
            part = sheet_names(path)[0]
        how = (name, part, *map(str, options.values()), *(columns or ()))
        return self._changed(how, records)

    def first_line(self, name: str) -> str:
        """Return the first line of a file, which may show its layout."""
        return next(read_lines(self.path(name)), "").removesuffix("\n")

    def digests(self) -> list[dict[str, Any]]:
        """Return name, SHA-256, size and `verified` (is it a declared file?) of opened files.

        A declared version other than the main one is named too (`version`).
        """
        found: list[dict[str, Any]] = []
        for name, path in sorted(self.opened.items()):
            digest, size = file_digest(path), path.stat().st_size
            declared = self._declared(name)
            others = [each.version for each in declared.versions if each.sha256 == digest]
            of_git = declared.git_blob is not None and git_blob(path) == declared.git_blob
            verified = digest == declared.sha256 or bool(others) or of_git
            entry = {"name": name, "sha256": digest, "bytes": size, "verified": verified}
            found.append({**entry, "version": others[0]} if others else entry)
        return found

    def check_declared(self, digests: Sequence[Mapping[str, Any]]) -> None:
        """Refuse a file that has the name of a declared one and another digest.

        A file is accepted if its digest is not declared, if the user gave it another name, or if it
        is part of the source's fixture. `digests` is what `digests()` returns.
        """
        fixture = (self.source.folder / "fixture").resolve()
        for entry in digests:
            path, declared = self.opened[entry["name"]], self._declared(entry["name"])
            is_named_so = declared.is_pattern or _is_called(path, declared.name)
            place = (self.origin or path) if declared.is_pattern else path
            is_invented = place.resolve().is_relative_to(fixture)
            if entry["verified"] or not declared.has_digest or not is_named_so or is_invented:
                continue
            raise SourceError(
                "source.another-file",
                f"not the declared file: {_facts(entry['bytes'], entry['sha256'])} where "
                f"source.yaml declares {_declared_facts(declared)}; it may be cut off or edited",
                path,
                "fetch it again, or, if it is right, change sha256 and bytes in source.yaml, or "
                'use nnd convert --accept-changed "why"',
            )

    def _declared(self, name: str) -> SourceFile:
        found = [file for file in self.source.files if file.name == name]
        if not found:
            raise SourceError(
                "source.definition",
                f'"{name}" is not declared',
                f"{self.source.folder}/source.yaml: files",
            )
        return found[0]

    def _at_hand(self, file: SourceFile) -> Path | None:
        """Return the path of a file, or None if it must be fetched (never with --from)."""
        if self.origin is not None:
            with _looking_into(self.origin):
                if file.is_pattern:
                    return join_files(file, self.origin, self.source.name)
                is_main = file == self.source.files[0]
                return _find(file, self.origin, self.source.name, is_main=is_main)
        folder, name = self.source.folder, self.source.name
        if (folder / file.name).is_file():
            return folder / file.name
        return find_cached(file, name) or unpack_copy(file, folder, name)


def find_set(source: Source, origin: Path) -> Source:
    """Return the set of a source whose main file is at `origin`, or the source itself.

    If the main file of the source itself is there, sets are chosen by name only.
    """
    names = source.facts.get("sets", {})
    mains = {name: source.choose("set", name).files[0].name for name in names}
    with _looking_into(origin):
        is_at = _is_called if origin.is_file() else _holds
        is_own = is_at is _holds and _holds(origin, source.files[0].name)
        found = [] if is_own else [name for name, main in mains.items() if is_at(origin, main)]
    if len(found) > 1:
        raise SourceError(
            "source.several-files",
            "holds several sets",
            origin,
            f"choose one: --set {' or --set '.join(found)}",
        )
    return source.choose("set", found[0]) if found else source


def _declared_facts(file: SourceFile) -> str:
    if file.sha256 is None:
        return f"git's id {file.git_blob}"
    return _facts(file.bytes, file.sha256)


def _facts(size: int | None, digest: str) -> str:
    return f"SHA-256 {digest}" if size is None else f"{size:,} bytes, SHA-256 {digest}"


@contextlib.contextmanager
def _looking_into(origin: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SourceError(
            "file.not-readable", f"cannot be read: {error.strerror}", origin, "correct --from"
        ) from error


def _is_called(path: Path, name: str) -> bool:
    """Say whether a path ends in a declared name, which may have folders."""
    parts = PurePath(name).parts
    return path.parts[-len(parts) :] == parts


def _holds(folder: Path, name: str) -> bool:
    return any(True for _ in folder.rglob(glob.escape(name)))


def _find(declared: SourceFile, origin: Path, source_name: str, *, is_main: bool) -> Path:
    is_zip = origin.suffix.lower() == ".zip" and not declared.name.lower().endswith(".zip")
    if is_zip and (unpacked := unpack_declared(declared, origin, source_name)):
        return unpacked
    if origin.is_file() and is_main:
        return origin
    folder = origin.parent if origin.is_file() else origin
    if not folder.is_dir():
        raise SourceError("file.not-found", "file or folder not found", origin, "correct --from")
    name = PurePath(glob.escape(declared.name))
    # A file given as a/b/primary.en is in the same folder as the declared b/secondary.en.
    for place in origin.parents[: len(name.parts)] if origin.is_file() else (origin,):
        if (place / declared.name).is_file():
            return place / declared.name
    for pattern in (name, name.with_name(f"{name.stem}*{name.suffix}")):
        found = sorted(path for path in folder.rglob(str(pattern)) if path.is_file())
        if len(found) == 1:
            return found[0]
        if found:
            names = listed([str(path.relative_to(folder)) for path in found], _NAMED)
            raise SourceError(
                "source.several-files", f"several files fit equally well: {names}", folder
            )
    if unpacked := unpack_declared(declared, folder, source_name):
        return unpacked
    fetched = f", or fetch it from {declared.url}" if declared.url else ""
    raise SourceError(
        "file.not-found",
        f"{declared.name} not found",
        folder,
        f"name the file with --from{fetched}",
    )
