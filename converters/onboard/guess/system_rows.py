"""The shape of rows that hold a text of each system, with its judgements."""

from collections.abc import Sequence

from nnd.converters.onboard.contents.level_columns import Column, level_of
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.draft import TODO, Draft
from nnd.converters.onboard.guess.roles import Roles, is_score
from nnd.converters.source import unfolded_keys
from nnd.schemas import SourceError

SIDES = 2
"""Texts of a pair."""


def patterns_of_judgements(roles: Roles) -> dict[str, str]:
    """Return the patterns of columns that each of several texts of a row has: its judgements."""
    wide = _wide(roles.candidates)
    known = {column.path for column in roles.row_columns}
    found = {}
    for column in roles.row_columns:
        part = next((p for p in wide.values() if p in column.path and column.path != p), None)
        if part is None or column in roles.candidates or column.kind == "empty":
            continue
        pattern = column.path.replace(part, "{system}", 1)
        if all(pattern.replace("{system}", other) in known for other in wide.values()):
            found[words.slug(pattern.replace("{system}", ""), "judged")] = pattern
    return found


def _wide(candidates: Sequence[Column]) -> dict[str, str]:
    """Return system → its part in the names of columns, for a text of each system in a row."""
    paths = [column.path for column in candidates]
    start, end = _shared(paths), _shared([path[::-1] for path in paths])
    parts = [path[len(start) : len(path) - len(end)] for path in paths]
    parts = parts if all(parts) else paths
    return {part.strip("_- .") or part: part for part in parts}


def _shared(names: Sequence[str]) -> str:
    """Return the common beginning of names, up to the end of a word."""
    size = next((n for n, chars in enumerate(zip(*names, strict=False)) if len({*chars}) > 1), 0)
    while size and names[0][size - 1].isalnum():
        size -= 1
    return names[0][:size]


def write_systems(draft: Draft) -> None:
    """Write the section for a text of each system."""
    roles = draft.roles
    if len(roles.candidates) < SIDES:
        raise SourceError("--shape: systems needs the texts of a row; name each by --candidate")
    wide, patterns = _wide(roles.candidates), patterns_of_judgements(roles)
    part = next(iter(wide.values()))
    pattern = roles.candidates[0].path.replace(part, "{system}", 1)
    same = all(name == own for name, own in wide.items())
    draft.table["wide"] = {
        "systems": [*wide] if same else wide,
        "columns": {"candidate": pattern, **patterns},
    }
    draft.note("wide", "each row has a text of each of these systems; take out what is none")
    by_path = {column.path: column for column in roles.content.columns}
    judged = []
    for name, own in patterns.items():
        cells = [v for p in wide.values() for v in by_path[own.replace("{system}", p)].values]
        judged.append(Column(name, cells))
    draft.read_row(has_candidate=False)
    draft.part("columns").update({"system": "_system", "candidate": "candidate"})
    draft.systems = [*wide]
    if draft.table.get("context") == "none":
        draft.table["inputs"] = {"context": TODO}
        del draft.table["context"]
        draft.note("inputs", "what the systems were given is one of", roles.possible_contexts)
    judged = [column for column in judged if column.kind == "number" or is_score(column)]
    if judged:
        draft.judge(judged)
    elif not _best_worst(draft):
        draft.judge_nothing()


def _best_worst(draft: Draft) -> bool:
    """Read the columns, if any, that name the best and the worst system."""
    found: dict[str, str] = {}
    for column in draft.roles.content.columns:
        side = next(iter(column.words & {"best", "worst"}), None)
        if side and {*column.counts} <= {*draft.systems}:
            found.setdefault(side, column.path)
    if len(found) < SIDES:
        return False
    level = level_of(found["best"].removesuffix("[]"))
    if level:
        draft.table["unfold"] = level
        draft.part("columns")["group"] = draft.compute(
            "own_row", " || '/' || ".join(["_file", *unfolded_keys(level)])
        )
    draft.table["best_worst"] = {"quality": found}
    draft.aspects, draft.quality = ["quality"], {"rule": "gap", "minimum": 1, "tolerance": 1e-6}
    draft.note("quality.minimum", "the best has 1, the worst -1, others 0: with 2 only these pair")
    return True
