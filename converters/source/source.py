"""A source: a folder with `source.yaml` (the facts) and perhaps `convert.py` (a generator)."""

import os.path
import runpy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal

from nnd.converters.source.contradictions import check_instruction, check_licence
from nnd.converters.source.entry_points import GROUP, offered_folders
from nnd.schemas import (
    JudgedSystem,
    Rules,
    SourceError,
    check_document,
    check_known,
    did_you_mean,
    read_rules,
    read_systems,
    read_yaml,
)

BUILT_IN = Path(__file__).parents[1] / "sources"

_LARGEST_YAML = 2**20
"""Most bytes of a source.yaml: PyYAML takes seconds per megabyte, and ours have about 10 kB."""


@dataclass(frozen=True, slots=True)
class FileVersion:
    """Another published version of a declared file."""

    version: str
    sha256: str
    # The counts that it gives, or None if unknown.
    expected: Mapping[str, Any] | None = field(hash=False)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a source declares."""

    name: str  # or a pattern of names, with `*`
    url: str | None
    sha256: str | None
    bytes: int | None
    versions: tuple[FileVersion, ...] = ()  # others that were published, and are accepted too
    git_blob: str | None = None  # its id in git, where no SHA-256 is known
    # Commands that fetch it, and the path `from` that they leave, where it has no URL.
    obtain: Mapping[str, Any] | None = field(default=None, hash=False)

    @property
    def has_digest(self) -> bool:
        """Whether it is known which file it must be."""
        return self.sha256 is not None or self.git_blob is not None

    @property
    def is_pattern(self) -> bool:
        """Whether it is all files of a pattern, read as one (see `file_patterns`)."""
        return "*" in self.name


@dataclass(frozen=True, slots=True)
class Source:
    """A source as its source.yaml describes it."""

    folder: Path
    facts: Mapping[str, Any]  # all of source.yaml, valid under `source.schema.json`

    @property
    def name(self) -> str:
        """Name of the source."""
        return str(self.facts["name"])

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """The files it declares, the main one first."""
        return tuple(
            SourceFile(
                **{**entry, "versions": tuple(FileVersion(**v) for v in entry.get("versions", ()))}
            )
            for entry in self.facts["files"]
        )

    @property
    def rules(self) -> Rules:
        """The quality rule of every aspect."""
        return read_rules(self.facts["quality"])

    @property
    def taxonomy(self) -> Mapping[str, Mapping[str, Any]]:
        """Error label → name, group, description; empty for rules without labels."""
        return self.facts["taxonomy"]  # type: ignore[no-any-return]

    @property
    def systems(self) -> Mapping[str, JudgedSystem]:
        """System → what is known about its model."""
        return read_systems(self.facts)

    @property
    def is_constructed(self) -> bool:
        """Whether people made the errors on purpose, so that no system's own output was judged."""
        return self.facts.get("origin") == "constructed"

    @property
    def cluster(self) -> str | None:
        """The input part or fact of the metadata that contexts may share, or None."""
        return self.facts.get("cluster")

    @property
    def keeps_empty_candidates(self) -> bool:
        """Whether an empty candidate is valid, rather than an error."""
        return self.facts.get("empty_candidates") == "keep"

    @property
    def variant(self) -> str | None:
        """The variant that was chosen, or None."""
        return self.facts.get("variant")

    def for_files(self, digests: Sequence[Mapping[str, Any]]) -> "Source":
        """Return the source with the `expected` counts of the versions of its files that were read.

        `digests` is what `Files.digests` returns. Other versions were counted one at a time, in the
        main reading; any other case has None.
        """
        versions = [entry["sha256"] for entry in digests if "version" in entry]
        if not versions:
            return self
        counts = {each.sha256: each.expected for file in self.files for each in file.versions}
        is_counted = len(versions) == 1 and self.variant is None
        expected = counts[versions[0]] if is_counted else None
        return Source(self.folder, {**self.facts, "expected": expected})

    def choose(self, kind: Literal["set", "variant"], name: str) -> "Source":
        """Return one of the sets or variants of the source, with the fields that it overrides."""
        known: Mapping[str, Any] = self.facts.get(f"{kind}s", {})
        check_known(kind, [name], known, self.name, family=SourceError)
        other = {field: value for field, value in known[name].items() if field != "description"}
        facts = {**self.facts, **other, kind: name}
        _check_facts(facts, self.folder / "source.yaml")
        return Source(self.folder, facts)


def list_sources() -> list[Source]:
    """Return the built-in sources, by name."""
    return [load_source(path.parent) for path in sorted(BUILT_IN.glob("*/source.yaml"))]


@dataclass(frozen=True, slots=True)
class FoundSource:
    """A source that can be converted by name, or says why it cannot."""

    name: str  # name to convert it by
    distribution: str | None  # the installed distribution that offers it; None for built-in sources
    source: Source | None  # the source; None if it cannot be read
    problem: (
        SourceError | None
    )  # why it cannot be converted by name, and what to do; None if it can


def find_sources() -> list[FoundSource]:
    """Return the built-in sources, then those of installed packages (`entry_points`), by name.

    A package cannot override a built-in source, because a name must mean the same on every machine.
    If two packages use one name, neither source can be converted by it. `problem` states both, and
    why a source cannot be read. No module of a package is imported.
    """
    built_in = [FoundSource(source.name, None, source, None) for source in list_sources()]
    others = sorted(_offered_sources(), key=lambda found: (found.name, str(found.distribution)))
    names = Counter(found.name for found in [*built_in, *others])
    hidden = {found.name for found in built_in}
    for place, found in enumerate(others):
        if found.source is not None and names[found.name] > 1:
            other = "a built-in source" if found.name in hidden else "another package's source"
            remedy = f"convert it by its folder, {found.source.folder}"
            problem = SourceError("name.twice", f"is also the name of {other}", found.name, remedy)
            others[place] = replace(found, problem=problem)
    return built_in + others


def _offered_sources() -> Iterator[FoundSource]:
    """Yield the sources of packages, broken entry points included."""
    for point in entry_points(group=GROUP):
        owner = "?" if point.dist is None else f"{point.dist.name} {point.dist.version}"
        try:
            folders = offered_folders(point)
        except (SourceError, OSError) as error:
            place = f'entry point {point.name} = "{point.value}" of {owner}'
            what = error.what if isinstance(error, SourceError) else str(error)
            problem = SourceError("source.entry-point", what, place)
            yield FoundSource(point.name, owner, None, problem)
        else:
            yield from (_read_offered(name, owner, folder) for name, folder in folders.items())


def _read_offered(name: str, owner: str, folder: Path) -> FoundSource:
    """Read a source of a package; its name is the one in its source.yaml."""
    try:
        source = Source(folder, _read_facts(folder / "source.yaml"))
        for chosen in source.facts.get("sets", {}):
            source.choose("set", chosen)
    except SourceError as error:
        return FoundSource(name, owner, None, error)
    return FoundSource(source.name, owner, source, None)


def load_source(name_or_folder: str | Path) -> Source:
    """Return a built-in source by name, the source in a folder, or that of an installed package.

    Args:
        name_or_folder: The name of a built-in source, a folder, or the name of a source of an
            installed package, in this order. For a folder called like a built-in source, give a
            Path or write `./name`.
    """
    known = built_in_names()
    folder = Path(BUILT_IN, name_or_folder) if name_or_folder in known else Path(name_or_folder)
    path = folder / "source.yaml"
    if os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises for some names
        return Source(folder, _read_facts(path))
    others = [] if isinstance(name_or_folder, Path) else find_sources()
    for found in others:
        if found.name == name_or_folder and found.problem is not None:
            raise found.problem
        if found.name == name_or_folder and found.source is not None:
            return found.source
    if os.path.isfile(folder):  # noqa: PTH113 - as above
        raise SourceError(
            "source.unknown",
            "a file, not a source",
            str(folder),
            f"write the source that reads it: nnd new-source NAME --from {folder}",
        )
    names = known + [f"{each.name} of {each.distribution}" for each in others if each.distribution]
    raise SourceError(
        "source.unknown",
        f'"{name_or_folder}" is neither a built-in source ({", ".join(names)}) nor a folder '
        f"with a source.yaml{did_you_mean(str(name_or_folder), known)}",
    )


def built_in_names() -> list[str]:
    """Return the names of the built-in sources."""
    return [found.parent.name for found in sorted(BUILT_IN.glob("*/source.yaml"))]


def _read_facts(path: Path) -> dict[str, Any]:
    facts = read_yaml(path, largest=_LARGEST_YAML)
    _check_facts(facts, path)
    return facts  # type: ignore[no-any-return]


def _check_facts(facts: Any, path: Path) -> None:  # noqa: ANN401 - whatever the YAML held
    for problem in check_document("source", facts):
        raise problem.error(SourceError, "source.definition", path)
    names = [file["name"] for file in facts["files"]]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SourceError("name.twice", f'"{twice}" is declared twice', f"{path}: files")
    unknown = sorted(facts["quality"].get("aspects", {}).keys() - facts["aspects"].keys())
    if unknown:
        raise SourceError(
            "source.definition",
            f"{', '.join(unknown)} is not under `aspects`, only {', '.join(facts['aspects'])}",
            f"{path}: quality",
        )
    try:
        check_licence(facts)
        check_instruction(facts)
        read_rules(facts["quality"])
    except SourceError as error:
        raise error.inside(path) from error


def load_converter(source: Source) -> dict[str, Any]:
    """Return what a source's convert.py defines: at least the generator `annotations`."""
    path = source.folder / "convert.py"
    if not path.is_file():
        raise SourceError(
            "source.definition",
            "missing",
            path,
            "write `def annotations(files)` there, or a `table:` section in source.yaml",
        )
    try:
        names = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        raise SourceError("source.definition", f"{type(error).__name__}: {error}", path) from error
    if not callable(names.get("annotations")):
        raise SourceError("source.definition", "the function `annotations(files)` is missing", path)
    return names
