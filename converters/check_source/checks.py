"""`nnd check-source`: all that a reviewer of a source would check, in one list with remedies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nnd.converters.check_source import (
    card as check_card,
    code as check_code,
    facts as check_facts,
    rows as check_rows,
    texts as check_texts,
)
from nnd.converters.check_source.fixture import FIXTURE, check_fixture, fixture_jobs
from nnd.converters.check_source.job import Job, is_own, real_jobs
from nnd.converters.check_source.outcome import Check, listed, not_reached
from nnd.converters.check_source.run import Run, run_jobs
from nnd.converters.check_source.shuffle import shuffle_file
from nnd.converters.source import Files, Source, load_source
from nnd.schemas import SourceError

NAMES = (
    check_facts.SCHEMA,
    check_facts.FILLED_IN,
    check_facts.LICENCE,
    check_facts.CITATION,
    check_facts.FILES,
    FIXTURE,
    check_code.CODE,
    check_code.NETWORK,
    check_code.LIMITS,
    check_rows.CONVERTS,
    check_rows.ASPECTS,
    check_rows.CATEGORIES,
    check_rows.SYSTEMS,
    check_rows.PAIRS,
    check_rows.IDS,
    check_rows.COUNTS,
    check_texts.INVENTED,
    check_texts.CONFOUNDS,
    check_texts.HYGIENE,
    check_texts.PERSONAL_DATA,
    check_card.CARD,
)
"""What is checked, in this order; each once."""


@dataclass(frozen=True, slots=True)
class _Runs:
    """All that was converted: the fixture and the real files, each as they are and shuffled."""

    fixtures: list[tuple[Run, Mapping[str, Any]]]
    real: list[Run]
    shuffled: dict[str, Run]
    kept: list[str]

    @property
    def straight(self) -> list[Run]:
        return [*(run for run, _ in self.fixtures), *self.real]

    @property
    def every(self) -> list[Run]:
        return [*self.straight, *self.shuffled.values()]


def check_source(source: str | Path, origin: str | Path | None = None) -> list[Check]:
    """Check a source as a reviewer would; nothing is fetched, and nothing is written.

    Its convert.py runs in a process of its own, which can neither connect nor start programs. The
    real files are read where they are at hand: at `origin`, in the source's own folder, or in the
    download cache.

    Args:
        source: Name of a source, or a folder with a source.yaml.
        origin: File or folder with the real files.

    Returns:
        One check for each of NAMES, in that order. Nothing fails twice for one reason: what cannot
        be looked at because something else fails is `not reached`.

    Raises:
        SourceError: If there is no such source, or nothing at `origin`.
    """
    try:
        loaded = load_source(source)
    except SourceError as error:
        if not (Path(source) / "source.yaml").exists():
            raise
        schema = Check(check_facts.SCHEMA, "fail", str(error), "mend that field")
        return _complete([schema], check_facts.SCHEMA)
    schema = check_facts.check_schema(loaded)
    if schema.outcome == "fail":
        return _complete([schema], check_facts.SCHEMA)
    facts = [
        schema,
        check_facts.check_filled_in(loaded),
        check_facts.check_licence(loaded),
        check_facts.check_citation(loaded),
        check_facts.check_files(loaded),
        check_fixture(loaded),
    ]
    with TemporaryDirectory(prefix="nnd-check-") as place:
        real = real_jobs(loaded, None if origin is None else Path(origin), Path(place))
        if facts[-1].outcome == "fail":
            return _complete(facts, FIXTURE)
        runs = _run_all(loaded, real, Path(place))
    return _complete([*facts, *_check_runs(loaded, runs, facts)], check_rows.CONVERTS)


def _complete(checks: Sequence[Check], because: str) -> list[Check]:
    """Return a check for each name; those that are not there were not reached."""
    found = {check.name: check for check in checks}
    return [found.get(name) or not_reached(name, because) for name in NAMES]


def _run_all(source: Source, real: list[Job], place: Path) -> _Runs:
    fixtures = fixture_jobs(source)
    straight = [*(job for job, _ in fixtures), *real]
    shuffled, kept = {}, dict[str, None]()
    for number, job in enumerate(straight):
        origin, files = _shuffle(job, place / f"shuffled-{number}")
        if any(files.values()):
            shuffled[job.label] = replace(job, origin=origin)
        kept |= dict.fromkeys(name for name, done in files.items() if not done)
    runs = run_jobs([*straight, *shuffled.values()])
    first, last = len(fixtures), len(straight)
    expected = [entry for _, entry in fixtures]
    return _Runs(
        list(zip(runs[:first], expected, strict=True)),
        runs[first:last],
        dict(zip(shuffled, runs[last:], strict=True)),
        list(kept),
    )


def _shuffle(job: Job, place: Path) -> tuple[Path, dict[str, bool]]:
    """Put the files of a job into a folder, with their rows shuffled.

    Returns:
        Where they are, and of each whether its rows were shuffled.
    """
    place.mkdir()
    source = job.source()
    files, done, origin = Files(source, job.origin), dict[str, bool](), place
    for file in source.files:
        if files.has(file.name):
            path = files.path(file.name)
            target = place / Path(file.name).with_suffix(path.suffix).name
            done[file.name] = shuffle_file(path, target)
            if not done[file.name]:
                target.symlink_to(path.absolute())
            if file == source.files[0] and target.name != file.name:
                origin = target  # a .parquet given for a .csv is found by its whole name only
    return origin, done


def _check_runs(source: Source, runs: _Runs, facts: Sequence[Check]) -> Iterator[Check]:
    code = check_code.check_code(source, runs.every)
    network = check_code.check_network(runs.every)
    limits = check_code.check_limits(source, runs.every)
    yield from (code, network, limits)
    first = next((one.name for one in (code, network, limits) if one.outcome == "fail"), None)
    if any(run.annotations is None for run in runs.straight):
        errors = [f"{run.job.label}: {run.error}" for run in runs.straight if run.error]
        remedy = "mend what the message names; `nnd convert` says it, too"
        failed = Check(check_rows.CONVERTS, "fail", listed(errors, 1), remedy)
        yield not_reached(check_rows.CONVERTS, first) if first else failed
        return
    yield from _check_readings(source, runs, facts)


def _check_readings(source: Source, runs: _Runs, facts: Sequence[Check]) -> Iterator[Check]:
    readings = {
        run.job.label: check_rows.read_run(run, run.annotations)
        for run in runs.straight
        if run.annotations is not None
    }
    fixtures = [(readings[run.job.label], entry) for run, entry in runs.fixtures]
    invented = [one for one, _ in fixtures]
    real = [readings[run.job.label] for run in runs.real]
    every = [*invented, *real]
    yield check_rows.check_converts(every)
    yield from check_rows.check_known(every, real)
    pairs = check_rows.check_pairs(every)
    yield pairs
    yield check_texts.check_invented(invented, real, is_own=is_own(source))
    yield check_texts.check_personal_data(invented, real)
    if pairs.outcome == "fail":
        rest = check_rows.IDS, check_rows.COUNTS, check_texts.CONFOUNDS, check_texts.HYGIENE
        yield from (not_reached(name, check_rows.PAIRS) for name in (*rest, check_card.CARD))
        return
    ids = check_rows.check_ids(every, runs.shuffled, runs.kept)
    yield ids
    yield check_rows.check_counts(fixtures, real)
    yield check_texts.check_confounds(real)
    yield check_texts.check_hygiene(real)
    first = next((one.name for one in facts if one.outcome == "fail"), None)
    yield not_reached(check_card.CARD, first) if first else check_card.check_card(every)
