"""Lists of runs, which users keep in a file."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from nnd.metric.app.any_data import find_data
from nnd.metric.app.listed_scorers import measure_listed
from nnd.metric.data import check_place, is_url
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.run import (
    Failure,
    ListEstimate,
    RunEntry,
    ScorerEntry,
    Sweep,
    Trouble,
    check_entries,
    estimate_entries,
    find_built_in,
    loadable_entries,
    read_entries,
    score_entries,
    split_scorers,
)
from nnd.schemas import (
    NNDError,
    ScoringError,
    check_known,
    line_finder,
    listed,
    load_yaml,
    write_whole,
)


class _ReadList(NamedTuple):
    """A list of runs as it was read.

    Attributes:
        path: The file.
        content: Its bytes.
        entries: Its entries with a model, whose data is not searched for yet.
        scorers: Its entries with a scorer, likewise.
        is_built_in: Whether it comes with nnd.
    """

    path: Path
    content: bytes
    entries: list[RunEntry]
    scorers: list[ScorerEntry]
    is_built_in: bool


def evaluate_runs(
    runs: str | Path,
    *,
    out: str | Path,
    data: Mapping[str, str] | None = None,
    limit: int | None = None,
    scoring: Scoring = Scoring(),
    loading: Loading = Loading(),
) -> Sweep:
    """Score a list of runs, which can be kept, resumed and cited.

    An entry with a scorer of `nnd metrics` in the place of a model gives its pass rate, and its
    agreement with people on single candidates.

    Results are written to `OUT/MANNER/DATASET`. MANNER is the protocol, followed by the template
    and other options if they are not the default: `native/quiz_design`,
    `laban2022+mixqg/quiz_design`. Each folder has the form that `evaluate` writes, and a second
    call resumes the first. A copy of the file is stored next to them, under its name and the first
    digits of its SHA-256.

    Args:
        runs: YAML file of a list of runs to score: entries with model, data and, if needed,
            revision, adapter, quantise, dtype, protocol, template, chat_template, system_prompt,
            keep, system, columns and cluster (runs.schema.json). Relative paths are relative to the
            file. Or the name of a built-in list: laban2022, edfaith or golden; of these, what this
            machine cannot load is left out with the reason. With a list, --data NAME=DATA scores
            DATA where the list names NAME.
        out: Folder of all results.
        data: Data named in the list → what to score in its place, such as the converted folder of a
            source whose files cannot be downloaded.
        limit: Score at most this many tests of each dataset; scorers, which need all candidates,
            are left out.
        scoring: Scoring options that an entry does not set.
        loading: Loading options that an entry does not set.

    Returns:
        The results: `MANNER/DATASET` → evaluation.

    Raises:
        ScoringError: If the file cannot be read, an entry is wrong (the message says in which
            line), a model cannot be found, or `data` names data that the list does not have;
            nothing is scored then.
        NNDError: If `out` is a file, or a folder of results holds anything that nnd did not write.
        OSError: If `out` cannot be written.
    """
    place = Path(out)
    if place.exists() and not place.is_dir():
        raise NNDError("place.wrong-kind", "is a file", place)
    read = _read_list(runs, data or {}, scoring, loading)
    missing = Trouble(fatal=not read.is_built_in)
    entries = _with_data(_available(read.entries, missing), missing)
    if read.is_built_in:
        entries = loadable_entries(entries, missing)
    check_entries(entries)
    copy = f"{read.path.stem}-{hashlib.sha256(read.content).hexdigest()[:12]}.yaml"
    write_whole(place / copy, read.content)
    only_one = len(read.entries) + len(read.scorers) == 1
    trouble = Trouble(fatal=only_one, failures=missing.failures)
    found = score_entries(entries, place, trouble, limit=limit)
    scorers = [] if limit is not None else _with_place(read.scorers, missing)
    measured = measure_listed(scorers, place, trouble)
    return replace(found, scorers=measured, failures=tuple(trouble.failures))


def estimate_runs(
    runs: str | Path,
    *,
    data: Mapping[str, str] | None = None,
    scoring: Scoring = Scoring(),
    loading: Loading = Loading(),
) -> ListEstimate:
    """Say what a list of runs would download, which models fit this machine, and what is left out.

    Only configurations and tokenizers are loaded, never weights, and no results are written.

    Args:
        runs: A list of runs, as in `evaluate_runs`.
        data: Data named in the list → what to score in its place.
        scoring: Scoring options that an entry does not set.
        loading: Loading options that an entry does not set.

    Returns:
        A row per entry.

    Raises:
        ScoringError: As `evaluate_runs`, except that a model or data that cannot be found is a row
            with the reason.
    """
    read = _read_list(runs, data or {}, scoring, loading)
    entries = read.entries
    missing = _missing_data(entries)
    reasons = [
        entry.unavailable or next((missing[name] for name in entry.data if name in missing), None)
        for entry in entries
    ]
    return estimate_entries(entries, reasons, scorers=len(read.scorers))


def _read_list(
    runs: str | Path, data: Mapping[str, str], scoring: Scoring, loading: Loading
) -> _ReadList:
    """Return the entries of a list, with other data in the place of what `data` names."""
    own = Path(runs)
    # A folder may have the name of a list: that of the results that the list wrote.
    is_built_in = not own.suffix and not own.is_file()
    path = find_built_in(str(runs)) if is_built_in else own
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
        document = load_yaml(text)
    except Exception as error:  # PyYAML also raises ValueError, KeyError and others
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise ScoringError("file.not-yaml", f"cannot be read as YAML: {reason}", path) from error
    line_of = line_finder(text)
    folder = Path() if is_built_in else path.parent
    split = split_scorers(document, folder, lambda keys: f"{path}:{line_of(keys)}")
    entries = (
        read_entries(split.runs, folder, split.where, scoring=scoring, loading=loading)
        if split.runs or not split.scorers
        else []
    )
    scorers = split.scorers
    known = dict.fromkeys(
        [name for entry in entries for name in entry.data] + [entry.data for entry in scorers]
    )
    check_known("data", data, known, "--data", family=ScoringError)
    for place in data.values():
        if not is_url(place):
            check_place(place)
    return _ReadList(
        path,
        content,
        [replace(e, data=tuple(data.get(name, name) for name in e.data)) for e in entries],
        [replace(e, data=data.get(e.data, e.data)) for e in scorers],
        is_built_in,
    )


def _available(entries: Sequence[RunEntry], missing: Trouble) -> list[RunEntry]:
    """Return the entries whose models anybody can load; the others are `missing`."""
    for entry in entries:
        if entry.unavailable is not None:
            missing.failures.append(Failure(entry.model, listed(entry.data), entry.unavailable))
    return [entry for entry in entries if entry.unavailable is None]


def _missing_data(entries: Sequence[RunEntry]) -> dict[str, str]:
    """Return data that cannot be found → why; that of entries without a model is not looked for."""
    reasons = {}
    for name in dict.fromkeys(n for e in entries if e.unavailable is None for n in e.data):
        try:
            found = _find(name)
            if not is_url(found):
                check_place(found)
        except NNDError as error:
            reasons[name] = str(error)
    return reasons


def _find(name: str) -> str:
    return find_data(name, use=f"add --data {name}=FOLDER")


def _with_data(entries: Sequence[RunEntry], missing: Trouble) -> list[RunEntry]:
    """Return the entries whose data can be found, with its places."""
    found = _find_each([(entry, name) for entry in entries for name in entry.data], missing)
    return [
        replace(entry, data=tuple(found[name] for name in entry.data))
        for entry in entries
        if found.keys() >= {*entry.data}
    ]


def _with_place(scorers: Sequence[ScorerEntry], missing: Trouble) -> list[ScorerEntry]:
    """Return the scorers whose data can be found, with its place."""
    found = _find_each([(entry, entry.data) for entry in scorers], missing)
    return [replace(e, data=found[e.data]) for e in scorers if e.data in found]


def _find_each(
    named: Sequence[tuple[RunEntry | ScorerEntry, str]], missing: Trouble
) -> dict[str, str]:
    """Return name of data → its place; each is looked for once."""
    found: dict[str, str] = {}
    by_name = dict[str, RunEntry | ScorerEntry]()
    for entry, name in named:
        by_name.setdefault(name, entry)
    for name, entry in by_name.items():
        with missing.survived(None, name), entry.named():
            found[name] = _find(name)
    return found
