"""Readings of a source: its real files in every set and variant, and its fixture.

fixture/expected.yaml lists the readings of a fixture, with the expected counts of each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nnd.converters.onboard.check.file_changes import Change
from nnd.converters.source import Files, Source, find_set
from nnd.schemas import SourceError, read_yaml

AT_HAND = "name the real file with --from"
NOT_AT_HAND = "the real files are not available"

COUNTED = ("annotations", "contexts", "systems", "pairs", "by_error_category")
"""Counts that expected.yaml states."""

MADE = "# Counted by the converter itself"
"""Begins an expected.yaml whose numbers no one has counted yet."""

_PLACE = ("from", "set", "variant")
_WRITE = "list in it what the fixture gives, as CONTRIBUTING.md describes"


@dataclass(frozen=True, slots=True)
class Reading:
    """A source in one of its sets and variants, with the place of its files."""

    label: str  # its name in messages
    source: Source  # the source in that set and variant
    origin: Path  # file or folder with the files
    expected: Mapping[str, Any] | None = None  # the counts in expected.yaml; None for real files
    change: Change | None = None  # how what the converter reads is changed; None: not at all

    @property
    def files(self) -> Files:
        """Its files, none opened yet."""
        return Files(self.source, self.origin)

    @property
    def is_real(self) -> bool:
        """Whether it reads the real files, rather than the fixture."""
        return self.expected is None


def every_variant(source: Source) -> Iterator[Source]:
    """Yield a source itself, its sets, and the variants of all these, if they are valid."""
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
    """
    if origins:
        return [
            replace(one, label=f"{one.label} at {origin.name}" if len(origins) > 1 else one.label)
            for origin in origins
            for held in _sets_at(source, origin)
            for one in _readings(held, origin.absolute())
        ]
    found = list[Reading]()
    for number, chosen in enumerate([] if is_own(source) else _every_set(source)):
        files, origin = Files(chosen), place / f"set-{number}"
        if all(files.has(file.name) for file in chosen.files):
            for file in chosen.files:
                (origin / file.name).parent.mkdir(parents=True, exist_ok=True)
                (origin / file.name).symlink_to(files.path(file.name).absolute())
            found += _readings(chosen, origin)
    return found


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


def fixture_readings(source: Source) -> list[Reading]:
    """Return the readings of a fixture, one for each entry of fixture/expected.yaml."""
    return [_reading(source, entry) for entry in _entries(source)]


def _reading(source: Source, entry: Mapping[str, Any]) -> Reading:
    folder = source.folder if is_own(source) else source.folder / "fixture"
    origin = Path(folder, str(entry.get("from") or "."))
    set_name, variant = entry.get("set"), entry.get("variant")
    chosen = find_set(source, origin) if set_name is None else source.choose("set", set_name)
    return Reading(
        label=" ".join(["fixture", *(f"{key} {entry[key]}" for key in _PLACE if entry.get(key))]),
        source=chosen if variant is None else chosen.choose("variant", variant),
        origin=origin,
        expected={key: value for key, value in entry.items() if key not in _PLACE},
    )


def _entries(source: Source) -> list[dict[str, Any]]:
    path, name = source.folder / "fixture" / "expected.yaml", "fixture/expected.yaml"
    if not path.is_file():
        raise SourceError("source.definition", "is missing", name, _WRITE)
    entries = read_yaml(path)
    if not entries or not isinstance(entries, list):
        raise SourceError("source.definition", "is not a list of entries", name, _WRITE)
    for entry in entries:
        is_mapping = isinstance(entry, dict)
        if not is_mapping or not all(isinstance(entry.get(k), str | None) for k in _PLACE):
            raise SourceError(
                "source.definition",
                f"an entry is not a mapping in which {', '.join(_PLACE)} are texts or null",
                name,
            )
    return entries
