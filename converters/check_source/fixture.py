"""What a fixture holds: which readings of the source, and what each is expected to give."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nnd.converters.check_source.job import Job, is_own
from nnd.converters.check_source.outcome import Check, listed
from nnd.converters.reading import load_yaml
from nnd.converters.source import Source
from nnd.schemas import SourceError

FIXTURE = "fixture"

_PLACE = ("from", "set", "variant")
_LAYOUT = (
    "make fixture/ with a tiny invented file called as in source.yaml, and fixture/expected.yaml: "
    "a list of {set, variant, annotations, contexts, systems, pairs, by_error_category, dropped}, "
    "counted by hand"
)


def read_entries(source: Source) -> list[dict[str, Any]]:
    """Return the entries of fixture/expected.yaml.

    Raises:
        SourceError: If it is missing, is no YAML, or no list of entries.
    """
    path = source.folder / "fixture" / "expected.yaml"
    try:
        entries = load_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SourceError("there is no fixture/expected.yaml") from error
    except Exception as error:  # PyYAML lets ValueError, KeyError and others through
        reason = " ".join(str(error).split())
        raise SourceError(f"fixture/expected.yaml cannot be read: {reason}") from error
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise SourceError("fixture/expected.yaml is no list of entries")
    if not entries:
        raise SourceError("fixture/expected.yaml has no entry")
    named = [entry.get(key) for entry in entries for key in _PLACE]
    if not all(name is None or isinstance(name, str) for name in named):
        raise SourceError(f"fixture/expected.yaml: {', '.join(_PLACE)} are texts or null")
    return entries


def check_fixture(source: Source) -> Check:
    """Check that there is a fixture, that its files are there, and that it covers every variant."""
    try:
        entries = read_entries(source)
        missing = list(_missing(source, entries))
    except SourceError as error:
        return Check(FIXTURE, "fail", str(error), _LAYOUT)
    if missing:
        return Check(FIXTURE, "fail", listed(missing), _LAYOUT)
    return Check(FIXTURE, "pass", f"{len(entries)} reading(s)")


def _missing(source: Source, entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        job = _job(source, entry)
        name = job.source().files[0].name
        if not (job.origin / name).is_file():
            yield f"{job.label}: there is no {name} in {job.origin.name}/"
    covered = {entry.get("variant") for entry in entries}
    variants = set(source.facts.get("variants", {}))
    for one in source.facts.get("sets", {}).values():
        variants |= set(one.get("variants", {}))
    yield from (f"no reading of the variant {name}" for name in sorted(variants - covered))
    # Sets are read alike: one stands for all.
    if source.facts.get("sets") and not any(entry.get("set") for entry in entries):
        yield "no reading of a set"


def fixture_jobs(source: Source) -> list[tuple[Job, Mapping[str, Any]]]:
    """Return the readings of a fixture, and what each is expected to give.

    Raises:
        SourceError: If the fixture cannot be read.
    """
    return [
        (_job(source, entry), {k: v for k, v in entry.items() if k not in _PLACE})
        for entry in read_entries(source)
    ]


def _job(source: Source, entry: Mapping[str, Any]) -> Job:
    chosen = [f"{key} {entry[key]}" for key in _PLACE if entry.get(key)]
    folder = source.folder if is_own(source) else source.folder / "fixture"
    return Job(
        label=" ".join(["fixture", *chosen]),
        folder=source.folder,
        origin=Path(folder, str(entry.get("from") or ".")),
        set_name=entry.get("set"),
        variant=entry.get("variant"),
    )
