"""The content of a fixture: readings of the source, with the expected counts of each."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nnd.converters.onboard.check.source_readings import Reading, is_own
from nnd.converters.reading import load_yaml
from nnd.converters.source import Source, find_set
from nnd.schemas import SourceError

_PLACE = ("from", "set", "variant")
_WRITE = "list in it what the fixture gives, as CONTRIBUTING.md describes"


def fixture_readings(source: Source) -> list[Reading]:
    """Return the readings of a fixture, one for each entry of fixture/expected.yaml.

    Raises:
        SourceError: If that is missing or faulty, or names an unknown set or variant.
    """
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
    path = source.folder / "fixture" / "expected.yaml"
    try:
        entries = load_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SourceError(f"fixture/expected.yaml is missing; {_WRITE}") from error
    except Exception as error:  # PyYAML lets ValueError, KeyError and others through
        reason = " ".join(str(error).split())
        raise SourceError(
            f"fixture/expected.yaml cannot be read: {reason}; fix the file"
        ) from error
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise SourceError(f"fixture/expected.yaml is not a list of entries; {_WRITE}")
    if not entries:
        raise SourceError(f"fixture/expected.yaml has no entry; {_WRITE}")
    named = [entry.get(key) for entry in entries for key in _PLACE]
    if not all(name is None or isinstance(name, str) for name in named):
        raise SourceError(
            f"fixture/expected.yaml: {', '.join(_PLACE)} must be texts or null; correct them"
        )
    return entries


def without_main_file(readings: list[Reading]) -> Iterator[tuple[Reading, str]]:
    """Yield a message for each reading of a fixture without a main file.

    A converter need not open the main file; running it shows whether it does.
    """
    for one in readings:
        name = one.source.files[0].name
        if not (one.origin / name).is_file():
            yield one, f"{one.label}: {one.origin.name}/ has no {name}"


def missing_in(source: Source, readings: list[Reading]) -> Iterator[str]:
    """Yield a message for missing readings of variants and sets in a fixture."""
    covered = {one.source.variant for one in readings}
    variants = set(source.facts.get("variants", {}))
    for chosen in source.facts.get("sets", {}).values():
        variants |= set(chosen.get("variants", {}))
    yield from (f"no reading of the variant {name}" for name in sorted(variants - covered))
    # Sets are read in the same way: one is enough.
    if source.facts.get("sets") and not any(one.source.facts.get("set") for one in readings):
        yield "no reading of a set"
