"""A source under check, with everything that its checks need, computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nnd.converters.onboard.check import separate_run
from nnd.converters.onboard.check.file_changes import Change
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import Reading
from nnd.converters.onboard.contents.reading_files import Contents, read_parts
from nnd.converters.source import Source


@dataclass(frozen=True)
class Case:
    """A source under check; its converter runs when a check first needs the results."""

    variants: Sequence[Source]  # the source itself, its sets, and the variants of all these
    real: Sequence[Reading]  # the readings of the real files that are available
    fixture: Sequence[Reading] = ()  # the readings of the fixture
    fixture_fault: str | None = None  # why the fixture cannot be read, or None
    _read: dict[Path, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def source(self) -> Source:
        """The source itself."""
        return self.variants[0]

    @cached_property
    def runs(self) -> list[ReadingRun]:
        """All runs: fixture and real files, unchanged and with shuffled rows."""
        readings = [*self.fixture, *self.real]
        shuffled = [replace(one, change=Change(shuffles=True)) for one in readings]
        return separate_run.run_readings([*readings, *shuffled]) if readings else []

    @property
    def straight(self) -> list[ReadingRun]:
        """The runs of unchanged files."""
        return [run for run in self.runs if run.reading.change is None]

    @property
    def shuffled(self) -> dict[str, ReadingRun]:
        """Label of a run → the run of the same files with shuffled rows."""
        return {run.label: run for run in self.runs if run.changed}

    @property
    def unshuffled(self) -> list[str]:
        """The files whose rows cannot be shuffled."""
        changed = {(label, name) for label, run in self.shuffled.items() for name in run.changed}
        opened = [(run.label, str(file["name"])) for run in self.straight for file in run.files]
        return list(dict.fromkeys(one[1] for one in opened if one not in changed))

    @property
    def failed(self) -> list[ReadingRun]:
        """The runs of unchanged files that gave no rows."""
        return [run for run in self.straight if run.error is not None]

    def contents(self, runs: Sequence[ReadingRun]) -> Contents:
        """Return the content of the files that runs of one origin opened, by name and part."""
        opened = {str(file["name"]) for run in runs for file in run.files}
        files, found = runs[0].reading.files, dict[str, Mapping[str, Any]]()
        for name in (file.name for file in files.source.files if file.name in opened):
            path = files.path(name)
            found[name] = self._read[path] = self._read.get(path) or read_parts(path)
        return {name: parts for name, parts in found.items() if parts}

    @property
    def results(self) -> list[ReadingRun]:
        """The runs of unchanged files that gave rows."""
        return [run for run in self.straight if run.error is None]

    @property
    def invented(self) -> list[ReadingRun]:
        """The results of the fixture."""
        return [run for run in self.results if not run.reading.is_real]

    @property
    def measured(self) -> list[ReadingRun]:
        """The results of the real files."""
        return [run for run in self.results if run.reading.is_real]
