"""What is converted to check a source: its fixture and the real files, as they are and shuffled."""

from dataclasses import dataclass, replace
from pathlib import Path

from nnd.converters.source import Files, Source, find_set, load_source


@dataclass(frozen=True, slots=True)
class Job:
    """A reading of a source, and where its files lie.

    Attributes:
        label: What it is called in messages.
        folder: The source.
        origin: File or folder with the files.
        set_name: Which set; None: the main one, or the one that is there.
        variant: Which variant; None: the main one.
    """

    label: str
    folder: Path
    origin: Path
    set_name: str | None = None
    variant: str | None = None

    def source(self) -> Source:
        """Return the source as it is read here.

        Raises:
            SourceError: If it is not valid, or has no such set or variant.
        """
        chosen = load_source(self.folder)
        if self.set_name is not None:
            chosen = chosen.choose("set", self.set_name)
        else:
            chosen = find_set(chosen, self.origin)
        return chosen if self.variant is None else chosen.choose("variant", self.variant)


def is_own(source: Source) -> bool:
    """Whether a source's own files lie in its folder, and so are its fixture."""
    return all((source.folder / file.name).is_file() for file in source.files)


def real_jobs(source: Source, origin: Path | None, place: Path) -> list[Job]:
    """Return the readings of the real files that are at hand; none where the fixture is the source.

    Args:
        source: The source.
        origin: File or folder with the files; None: its folder and the download cache.
        place: Where links to files of the cache may be put.

    Raises:
        SourceError: If nothing at `origin` is of the source.
    """
    if origin is not None:
        return _named_jobs(source, origin)
    if is_own(source):
        return []
    jobs = []
    for number, name in enumerate((None, *_sets(source))):
        chosen = source if name is None else source.choose("set", name)
        files = Files(chosen)
        if all(files.has(file.name) for file in chosen.files):
            linked = place / f"set-{number}"
            linked.mkdir()
            for file in chosen.files:
                (linked / file.name).symlink_to(files.path(file.name).absolute())
            jobs += _in_every_variant(source, linked, name)
    return jobs


def _named_jobs(source: Source, origin: Path) -> list[Job]:
    """Return the readings of what the user named; of a folder, every set whose file it holds."""
    if origin.is_dir():
        every = [(None, source), *((name, source.choose("set", name)) for name in _sets(source))]
        held = [name for name, one in every if Files(one, origin).has(one.files[0].name)]
    else:
        held = [find_set(source, origin).facts.get("set")]
    if not held or not origin.exists():
        Files(source, origin).path(source.files[0].name)  # tells what is missing there
    return [job for name in held for job in _in_every_variant(source, origin, name)]


def _sets(source: Source) -> list[str]:
    return list(source.facts.get("sets", {}))


def _in_every_variant(source: Source, origin: Path, name: str | None) -> list[Job]:
    chosen = source if name is None else source.choose("set", name)
    label = "real files" if name is None else f"real files of {name}"
    first = Job(label, source.folder, origin.absolute(), name)
    variants = chosen.facts.get("variants", {})
    return [first, *(replace(first, label=f"{label} as {v}", variant=v) for v in variants)]
