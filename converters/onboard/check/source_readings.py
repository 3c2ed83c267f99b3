"""Readings of the real files of a source, in every set and variant (see also `fixture`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nnd.converters.onboard.check.file_content import Contents, read_parts, write_parts
from nnd.converters.source import Files, Source, find_set


@dataclass(frozen=True, slots=True)
class Reading:
    """A source in one of its sets and variants, with the place of its files.

    Attributes:
        label: Its name in messages.
        source: The source in that set and variant.
        origin: File or folder with the files.
        expected: The counts in expected.yaml; None for real files.
    """

    label: str
    source: Source
    origin: Path
    expected: Mapping[str, Any] | None = None

    @property
    def files(self) -> Files:
        """Its files, none opened yet."""
        return Files(self.source, self.origin)

    @property
    def is_real(self) -> bool:
        """Whether it reads the real files, rather than the fixture."""
        return self.expected is None


def every_variant(source: Source) -> Iterator[Source]:
    """Yield a source itself, its sets, and the variants of all these.

    Raises:
        SourceError: If one is not valid.
    """
    for chosen in _every_set(source):
        yield chosen
        yield from _variants(chosen)


def is_own(source: Source) -> bool:
    """Say whether a source's own files are in its folder, and serve as its fixture."""
    return all((source.folder / file.name).is_file() for file in source.files)


def real_readings(source: Source, origins: Sequence[Path], place: Path) -> list[Reading]:
    """Return the readings of the available real files; none if they are the fixture.

    They are searched at `origins`, or else in its folder and the download cache, to which links are
    made in `place`.

    Raises:
        SourceError: If one of `origins` has no file of the source.
    """
    if origins:
        return [
            replace(one, label=f"{one.label} at {origin.name}" if len(origins) > 1 else one.label)
            for origin in origins
            for held in _sets_at(source, origin)
            for one in _readings(held, origin.absolute())
        ]
    if is_own(source):
        return []
    found = list[Reading]()
    for number, chosen in enumerate(_every_set(source)):
        files = Files(chosen)
        if all(files.has(file.name) for file in chosen.files):
            found += _readings(chosen, copy_files(files, {}, place / f"set-{number}"))
    return found


def read_files(reading: Reading) -> Contents:
    """Return name → parts of the files whose content can be read."""
    files = reading.files
    names = [file.name for file in reading.source.files if files.has(file.name)]
    return {name: parts for name in names if (parts := read_parts(files.path(name)))}


def copy_files(files: Files, contents: Contents, place: Path) -> Path:
    """Write files with changed contents into a new folder, and links to the others.

    Returns:
        The origin for a reading of them.
    """
    origin = place
    for file in files.source.files:
        if files.has(file.name):
            path = files.path(file.name)
            target = (place / file.name).with_suffix(path.suffix)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.name in contents:
                write_parts(path, target, contents[file.name])
            else:
                target.symlink_to(path.absolute())
            if file == files.source.files[0] and target != place / file.name:
                origin = target  # a .parquet given for a .csv is found by its full name only
    return origin


def _sets_at(source: Source, origin: Path) -> list[Source]:
    """Return the set that the user named, or all sets whose main file is in the folder."""
    if origin.is_dir():
        every = _every_set(source)
        held = [one for one in every if Files(one, origin).has(one.files[0].name)]
    else:
        held = [find_set(source, origin)]
    if not held or not origin.exists():
        Files(source, origin).path(source.files[0].name)  # its error states what is missing
    return held


def _readings(chosen: Source, origin: Path) -> Iterator[Reading]:
    """Yield the readings of a set's files: the main one, and one for each variant."""
    name = chosen.facts.get("set")
    label = "real files" if name is None else f"real files of {name}"
    yield Reading(label, chosen, origin)
    for variant in _variants(chosen):
        yield Reading(f"{label} as {variant.variant}", variant, origin)


def _every_set(source: Source) -> Iterator[Source]:
    yield source
    yield from (source.choose("set", name) for name in source.facts.get("sets", {}))


def _variants(source: Source) -> Iterator[Source]:
    return (source.choose("variant", name) for name in source.facts.get("variants", {}))
