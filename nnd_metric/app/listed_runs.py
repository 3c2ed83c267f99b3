"""Lists of runs, which users keep in a file."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nnd.metric.app.any_data import find_data
from nnd.metric.app.listed_scorers import measure_listed
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.run import (
    RunEntry,
    ScorerEntry,
    Sweep,
    Trouble,
    check_entries,
    find_built_in,
    loadable_entries,
    read_entries,
    score_entries,
    split_scorers,
)
from nnd.schemas import NNDError, ScoringError, line_finder, load_yaml, write_whole


def evaluate_runs(
    runs: str | Path,
    *,
    out: str | Path,
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
            machine cannot load is left out with the reason.
        out: Folder of all results.
        limit: Score at most this many tests of each dataset; scorers, which need all candidates,
            are left out.
        scoring: Scoring options that an entry does not set.
        loading: Loading options that an entry does not set.

    Returns:
        The results: `MANNER/DATASET` → evaluation.

    Raises:
        ScoringError: If the file cannot be read, an entry is wrong (the message says in which
            line), or a model cannot be found; nothing is scored then.
        NNDError: If `out` is a file, or a folder of results holds anything that nnd did not write.
        OSError: If `out` cannot be written.
    """
    place, own = Path(out), Path(runs)
    if place.exists() and not place.is_dir():
        raise NNDError("place.wrong-kind", "is a file", place)
    is_built_in = not own.suffix and not own.exists()
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
    read = (
        read_entries(split.runs, folder, split.where, scoring=scoring, loading=loading)
        if split.runs or not split.scorers
        else []
    )
    missing = Trouble(fatal=not is_built_in)
    entries = _with_data(read, missing)
    if is_built_in:
        entries = loadable_entries(entries, missing)
    check_entries(entries)
    write_whole(place / f"{path.stem}-{hashlib.sha256(content).hexdigest()[:12]}.yaml", content)
    trouble = Trouble(fatal=len(read) + len(split.scorers) == 1, failures=missing.failures)
    found = score_entries(entries, place, trouble, limit=limit)
    scorers = [] if limit is not None else _with_place(split.scorers, missing)
    measured = measure_listed(scorers, place, trouble)
    return replace(found, scorers=measured, failures=tuple(trouble.failures))


def _with_data(entries: Sequence[RunEntry], missing: Trouble) -> list[RunEntry]:
    """Return the entries whose data can be found, with its places."""
    found: dict[str, str | None] = {}
    for entry in entries:
        for name in entry.data:
            if name not in found:  # each is looked for once
                found[name] = None
                with missing.survived(None, name), entry.named():
                    found[name] = find_data(name)
    places = [(entry, [found[name] for name in entry.data]) for entry in entries]
    return [
        replace(entry, data=tuple(place for place in of_entry if place is not None))
        for entry, of_entry in places
        if None not in of_entry
    ]


def _with_place(scorers: Sequence[ScorerEntry], missing: Trouble) -> list[ScorerEntry]:
    """Return the scorers whose data can be found, with its place."""
    found: dict[str, str] = {}
    for entry in scorers:
        if entry.data not in found:
            with missing.survived(None, entry.data), entry.named():
                found[entry.data] = find_data(entry.data)
    return [replace(e, data=found[e.data]) for e in scorers if e.data in found]
