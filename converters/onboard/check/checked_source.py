"""A source under check, with everything that its checks need, computed once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from nnd.converters.folder import Conversion, convert_again
from nnd.converters.onboard.check.check_result import labelled
from nnd.converters.onboard.check.checked_fixture import fixture_readings
from nnd.converters.onboard.check.file_content import Contents
from nnd.converters.onboard.check.separate_run import Run, run_readings
from nnd.converters.onboard.check.shuffled_files import shuffle_rows
from nnd.converters.onboard.check.source_readings import Reading, copy_files, read_files
from nnd.converters.pairs import check_annotations
from nnd.converters.source import Source, SourceFile
from nnd.schemas import Problem, SourceError, nnd_version


@dataclass(frozen=True, slots=True)
class Result:
    """What follows from the rows of a run.

    Attributes:
        problems: Problems by `check_annotations`, by field.
        conversion: The conversion; None if there are no pairs.
        no_pair: Why there are no pairs, or the empty text.
    """

    run: Run
    annotations: pl.DataFrame
    problems: Mapping[str, Sequence[Problem]]
    conversion: Conversion | None
    no_pair: str

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.run.label

    @property
    def made(self) -> Conversion:
        """The conversion; raises a SourceError if there is none."""
        if self.conversion is None:
            raise SourceError(self.no_pair)
        return self.conversion

    @property
    def source(self) -> Source:
        """The source in its set and variant."""
        return self.run.reading.source


@dataclass(frozen=True)
class Case:
    """A source under check.

    The fixture is read and the converter runs when a check first needs their results.

    Attributes:
        variants: The source itself, its sets, and the variants of all these.
        real: The readings of the real files that are available.
        place: A folder for copies of files with their rows shuffled.
    """

    variants: Sequence[Source]
    real: Sequence[Reading]
    place: Path

    @property
    def source(self) -> Source:
        """The source itself."""
        return self.variants[0]

    @cached_property
    def fixture(self) -> list[Reading]:
        """The readings of the fixture; raises a SourceError if it cannot be read."""
        return fixture_readings(self.source)

    @cached_property
    def _copies(self) -> dict[str, Reading]:
        """Label of a reading → a reading of the same files with shuffled rows."""
        return {
            one.label: replace(one, origin=copy_files(one.files, shuffle_rows(known), place))
            for number, one in enumerate([*self.fixture, *self.real])
            if (known := self._contents(one)) and (place := self.place / f"shuffled-{number}")
        }

    @property
    def unshuffled(self) -> list[str]:
        """The files whose rows cannot be shuffled."""
        opened = ((run.reading, str(file["name"])) for run in self.straight for file in run.files)
        return list(dict.fromkeys(n for reading, n in opened if n not in self._contents(reading)))

    @cached_property
    def runs(self) -> list[Run]:
        """All runs: fixture and real files, unchanged and with shuffled rows."""
        return run_readings([*self.fixture, *self.real, *self._copies.values()])

    @property
    def straight(self) -> list[Run]:
        """The runs of unchanged files."""
        return self.runs[: len(self.fixture) + len(self.real)]

    @property
    def shuffled(self) -> dict[str, Run]:
        """Label of a run → the run of the same files with shuffled rows."""
        return {run.label: run for run in self.runs[len(self.straight) :]}

    @property
    def gives_rows(self) -> bool:
        """Whether every run of unchanged files gave rows."""
        return all(run.annotations is not None for run in self.straight)

    @cached_property
    def _read(self) -> dict[tuple[Path, tuple[SourceFile, ...]], Contents]:
        return {}

    def _contents(self, reading: Reading) -> Contents:
        key = (reading.origin, tuple(reading.source.files))
        if key not in self._read:
            self._read[key] = read_files(reading)
        return self._read[key]

    def contents(self, results: Sequence[Result]) -> Contents:
        """Return the content of the files that results of one origin opened, by name and part."""
        opened = {str(file["name"]) for one in results for file in one.run.files}
        found = self._contents(results[0].run.reading)
        return {name: parts for name, parts in found.items() if name in opened}

    @staticmethod
    def convert(readings: Sequence[Reading]) -> list[Run]:
        """Return the runs of further readings, such as of changed files."""
        return run_readings(readings)

    @cached_property
    def results(self) -> list[Result]:
        """The results of the runs of unchanged files."""
        return [
            _result(run, run.annotations) for run in self.straight if run.annotations is not None
        ]

    @property
    def invented(self) -> list[Result]:
        """The results of the fixture."""
        return [one for one in self.results if not one.run.reading.is_real]

    @property
    def measured(self) -> list[Result]:
        """The results of the real files."""
        return [one for one in self.results if one.run.reading.is_real]

    def found(self, find: Callable[[Result], Iterable[str]]) -> list[str]:
        """Return the findings of a function in the real files, labelled if there are several."""
        if len(self.measured) == 1:
            return [*find(self.measured[0])]
        return [what for one in self.measured for what in labelled(one.label, find(one))]


def _result(run: Run, annotations: pl.DataFrame) -> Result:
    """Derive what `nnd convert` derives from the rows of a run, collecting problems."""
    source = run.reading.source
    problems: dict[str, list[Problem]] = {}
    for problem in check_annotations(source, annotations):
        problems.setdefault(problem.path, []).append(problem)
    manifest = {
        "nnd_version": nnd_version(),
        "source": {k: v for k, v in source.facts.items() if k not in ("sets", "variants")},
        "files": run.files,
        "oddities": run.oddities,
        "normalised": [],
    }
    try:
        conversion, no_pair = convert_again(annotations, run.references, manifest), ""
    except SourceError as error:
        conversion, no_pair = None, str(error)
    return Result(run, annotations, problems, conversion, no_pair)
