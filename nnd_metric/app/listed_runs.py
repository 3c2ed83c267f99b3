"""Lists of runs, which users keep in a file."""

import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path

from nnd.converters.reading import find_line, load_yaml
from nnd.metric.app.any_data import find_data
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.run import Sweep, check_entries, read_entries, score_entries
from nnd.schemas import NNDError, ScoringError, write_whole


def evaluate_runs(
    runs: str | Path,
    *,
    out: str | Path,
    limit: int | None = None,
    scoring: Scoring = Scoring(),
    loading: Loading = Loading(),
) -> Sweep:
    """Score a list of runs, which can be kept, resumed and cited.

    Results are written to `OUT/MANNER/DATASET`. MANNER is the protocol, followed by the template
    and other options if they are not the default: `native/quiz_design`,
    `laban2022+mixqg/quiz_design`. Each folder has the form that `evaluate` writes, and a second
    call resumes the first. A copy of the file is stored next to them, under its name and the first
    digits of its SHA-256.

    Args:
        runs: YAML file of a list of runs to score: entries with model, data and, if needed,
            revision, adapter, quantise, dtype, protocol, template, chat_template, system_prompt,
            keep and system (runs.schema.json). Relative paths are relative to the file.
        out: Folder of all results.
        limit: Score at most this many tests of each dataset.
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
    path, place = Path(runs), Path(out)
    if place.exists() and not place.is_dir():
        raise NNDError("place.wrong-kind", "is a file", place)
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
        document = load_yaml(text)
    except Exception as error:  # PyYAML also raises ValueError, KeyError and others
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise ScoringError("file.not-yaml", f"cannot be read as YAML: {reason}", path) from error
    entries, find = [], cache(find_data)  # which prints its note on each name once
    for entry in read_entries(
        document,
        path.parent,
        lambda keys: f"{path}:{find_line(text, keys)}",
        scoring=scoring,
        loading=loading,
    ):
        with entry.named():
            entries.append(replace(entry, data=tuple(map(find, entry.data))))
    check_entries(entries)
    write_whole(place / f"{path.stem}-{hashlib.sha256(content).hexdigest()[:12]}.yaml", content)
    return score_entries(entries, place, limit=limit)
