"""A source under check, with everything that its checks need, computed once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from nnd.converters.check import labelled
from nnd.converters.onboard.check.file_changes import Change
from nnd.converters.onboard.check.file_content import Contents, read_parts
from nnd.converters.onboard.check.separate_run import ReadingRun, run_readings
from nnd.converters.onboard.check.source_readings import Reading, fixture_readings
from nnd.converters.source import Source, SourceFile
from nnd.schemas import SourceError


@dataclass(frozen=True)
class Case:
    """A source under check.

    The fixture is read and the converter runs when a check first needs their results.
    """

    variants: Sequence[Source]  # the source itself, its sets, and the variants of all these
    real: Sequence[Reading]  # the readings of the real files that are available
    _read: dict[tuple[Path, tuple[SourceFile, ...]], Contents] = field(default_factory=dict)

    @property
    def source(self) -> Source:
        """The source itself."""
        return self.variants[0]

    @cached_property
    def _fixture(self) -> tuple[list[Reading], str | None]:
        try:
            return fixture_readings(self.source), None
        except SourceError as error:
            return [], str(error)

    @property
    def fixture(self) -> list[Reading]:
        """The readings of the fixture; none if it cannot be read."""
        return self._fixture[0]

    @property
    def fixture_fault(self) -> str | None:
        """Why the fixture cannot be read, or None."""
        return self._fixture[1]

    @property
    def unshuffled(self) -> list[str]:
        """The files whose rows cannot be shuffled."""
        opened = [(run.label, str(file["name"])) for run in self.straight for file in run.files]
        changed = {run.label: run.changed for run in self.shuffled.values()}
        return list(dict.fromkeys(n for label, n in opened if n not in changed.get(label, ())))

    @cached_property
    def runs(self) -> list[ReadingRun]:
        """All runs: fixture and real files, unchanged and with shuffled rows."""
        readings = [*self.fixture, *self.real]
        shuffled = [replace(one, change=Change(shuffles=True)) for one in readings]
        return run_readings([*readings, *shuffled]) if readings else []

    @property
    def straight(self) -> list[ReadingRun]:
        """The runs of unchanged files."""
        return [run for run in self.runs if run.reading.change is None]

    @property
    def shuffled(self) -> dict[str, ReadingRun]:
        """Label of a run → the run of the same files with shuffled rows."""
        return {run.label: run for run in self.runs if run.changed}

    @property
    def failed(self) -> list[ReadingRun]:
        """The runs of unchanged files that gave no rows."""
        return [run for run in self.straight if run.error is not None]

    def contents(self, runs: Sequence[ReadingRun]) -> Contents:
        """Return the content of the files that runs of one origin opened, by name and part."""
        reading = runs[0].reading
        key = (reading.origin, tuple(reading.source.files))
        if key not in self._read:
            files = reading.files
            paths = {one.name: files.path(one.name) for one in key[1] if files.has(one.name)}
            self._read[key] = {name: read_parts(path) for name, path in paths.items()}
        opened = {str(file["name"]) for run in runs for file in run.files}
        found = self._read[key].items()
        return {name: parts for name, parts in found if parts and name in opened}

    @staticmethod
    def convert(readings: Sequence[Reading]) -> list[ReadingRun]:
        """Return the runs of further readings, such as of changed files."""
        return run_readings(readings)

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

    def found(self, find: Callable[[ReadingRun], Iterable[str]]) -> list[str]:
        """Return the findings of a function in the real files, labelled if there are several."""
        if len(self.measured) == 1:
            return [*find(self.measured[0])]
        return [what for run in self.measured for what in labelled(run.label, find(run))]
