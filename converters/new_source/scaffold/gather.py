"""The convert.py of a new source whose rows a `table:` section reads, but cannot bring together.

One row per annotator, several texts of a system, several labels in a cell, or labels that are not
there where nothing is wrong.
"""

from nnd.converters.new_source.guess import Guess
from nnd.converters.new_source.scaffold.reads import MAJORITY, literal, plain


def gathered_code(guess: Guess) -> str | None:
    """Return a generator over what the `table:` section gives; None where that is all there is."""
    if not _must_gather(guess):
        return None
    by_label = any(measure.has_labels for measure in guess.measures)
    votes = by_label and _by_annotator(guess)
    body = list(_gather_labels(guess, votes=votes) if by_label else _gather_numbers(guess))
    imports = ["from collections.abc import Iterator", "from dataclasses import replace"]
    if guess.is_ambiguous:
        imports.append("from hashlib import sha256")
        body = [line.replace("table_annotations(files)", "rows_with_keys(files)") for line in body]
        body += _rows_with_keys()
    if guess.quality.separator is not None:
        body += _labels_of(guess)
    if not by_label:
        imports.append("from statistics import fmean")
    ours = [
        "from nnd.converters import Annotation, Files",
        "from nnd.converters.source import table_annotations",
    ]
    title = f'"""{plain(guess.content.file)}: its rows as the `table` of source.yaml, gathered."""'
    return "\n".join([title, "", *imports, "", *ours, *body, ""]) + (MAJORITY if votes else "")


def _by_annotator(guess: Guess) -> bool:
    """Say whether several labels of a candidate are opinions, rather than errors side by side."""
    if any(measure.kind == "votes" for measure in guess.measures):
        return True
    return guess.is_repeated and guess.has_people and not guess.quality.separator


def _gather_numbers(guess: Guess) -> list[str]:
    several = any(measure.kind == "ratings" for measure in guess.measures)
    ratings = "row.ratings or [row.score]" if several else "[row.score]"
    return [
        "",
        "",
        "def annotations(files: Files) -> Iterator[Annotation]:",
        '    """Yield an annotation per candidate and aspect, with the ratings of all its rows."""',
        "    gathered: dict[tuple[str, ...], list[Annotation]] = {}",
        "    for row in table_annotations(files):",
        "        gathered.setdefault((row.split, row.candidate_id, row.aspect), []).append(row)",
        "    for rows in gathered.values():",
        f"        found = (rating for row in rows for rating in {ratings})",
        "        ratings = sorted(rating for rating in found if rating is not None)",
        "        score = fmean(ratings) if ratings else None",
        "        yield replace(rows[0], score=score, ratings=ratings)",
    ]


def _gather_labels(guess: Guess, *, votes: bool) -> list[str]:
    (first, *_) = [measure for measure in guess.measures if measure.has_labels]
    several = first.kind == "votes"  # columns of one aspect, which the table calls one aspect each
    aspect = literal(first.aspect) if several else "row.aspect"
    row = f"replace(row, aspect={aspect})" if several else "row"
    what = "the label that most annotators gave" if votes else "every label of a candidate"
    lines = [
        "",
        "",
        "def annotations(files: Files) -> Iterator[Annotation]:",
        f'    """Yield {what}."""',
        "    gathered: dict[tuple[str, ...], list[Annotation]] = {}",
        "    for row in table_annotations(files):",
        f"        key = (row.split, row.candidate_id, {aspect})",
        f"        gathered.setdefault(key, []).append({row})",
        "    for rows in gathered.values():",
        f"        labels = [label for row in rows for label in {_cell(guess)} if label]",
    ]
    if votes:
        return [*lines, "        yield replace(rows[0], label=majority(labels))"]
    return [
        *lines,
        "        for label in dict.fromkeys(labels) or [None]:",
        "            yield replace(rows[0], label=label)",
    ]


def _cell(guess: Guess) -> str:
    """Return the expression of the labels in one cell."""
    blank, separator = guess.quality.blank, guess.quality.separator
    label = "row.label" if blank is None else f"row.label or {literal(blank)}"
    if separator is None:
        return f"[{label}]"
    return "labels_of(row)"


def _labels_of(guess: Guess) -> list[str]:
    """Return the function that takes the labels of a cell apart."""
    blank, separator = guess.quality.blank, guess.quality.separator
    text = f"row.label or {literal(blank or '')}"
    return [
        "",
        "",
        "def labels_of(row: Annotation) -> list[str]:",
        '    """Return the labels that stand in one cell."""',
        f"    return [label.strip() for label in ({text}).split({literal(separator or '')})]",
    ]


def _rows_with_keys() -> list[str]:
    return [
        "",
        "",
        "def rows_with_keys(files: Files) -> Iterator[Annotation]:",
        '    """A system wrote several texts for one context: each gets a key of its own."""',
        "    for row in table_annotations(files):",
        "        digest = sha256(row.candidate.encode()).hexdigest()[:8]",
        '        yield replace(row, candidate_id=f"{row.candidate_id}/{digest}")',
    ]


def _must_gather(guess: Guess) -> bool:
    labels = [measure for measure in guess.measures if measure.kind in ("label", "votes")]
    quality = guess.quality
    filled_in = bool(labels) and (quality.blank is not None or quality.separator is not None)
    several = any(measure.kind == "votes" for measure in labels)
    return guess.is_repeated or guess.is_ambiguous or several or filled_in or quality.averaged
