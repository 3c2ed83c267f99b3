"""The `table` section of a new source, in the shape of its rows."""

from pathlib import Path
from typing import Any

from nnd.converters.onboard.contents.level_columns import SAYS_LITTLE, Column
from nnd.converters.onboard.guess.guessing import Guess
from nnd.converters.onboard.guess.measures import MARKS, Measure
from nnd.converters.onboard.guess.name_words import slug
from nnd.converters.onboard.guess.row_shapes import Pair
from nnd.converters.onboard.guess.rule_guess import UNSPECIFIED
from nnd.converters.reading import default_options

_OF_ROWS = ("category", "split", "group", "annotator")


def is_mapped(guess: Guess) -> bool:
    """Say whether a `table` section can read the files: rows of plain cells, or lists of texts."""
    levels = guess.content.levels
    if levels[0].keys is not None or not guess.content.is_list:
        return False
    for column in guess.read:
        level = levels[column.level]
        if column.above < 0 and (not guess.is_spans or level.keys or level.missing):
            return False
        path = level.path if column.above < 0 else column.path
        if column.kind in ("numbers", "other") or (column.level and column.above >= 0):
            return False
        if len(path) != 1 or len(column.path) != 1 or path[0] in guess.content.ragged:
            return False
        # Null and the empty list may have different meanings.
        is_half_judged = column.filled < column.rows and [] in column.values
        if column.kind == "texts" and (column in guess.context or is_half_judged):
            return False
    return True


def rating_columns(column: Column) -> list[str]:
    """Return the names of the columns that a list of ratings is split into."""
    size = max(len(value) for value in column.values if value is not None)
    return [f"{column.name}.{number}" for number in range(1, size + 1)]


class TableSection:
    """Builds the section, adding computed columns if needed."""

    def __init__(self, guess: Guess) -> None:
        self.guess = guess
        self.compute: dict[str, str] = {}

    def written(self) -> dict[str, Any]:
        """Return the section."""
        guess, content = self.guess, self.guess.content
        columns = self._columns()
        parts = {part: column.name for part, column in part_names(guess).items()}
        judged = self._shape()
        table = {
            "files": list(content.files) if len(content.files) > 1 else None,
            "wide": guess.wide and guess.wide.section(),
            "compute": self.compute,
            "columns": columns,
            "inputs": parts,
            "context": "\n".join(f"{{{part}}}" for part in parts) if len(parts) > 1 else None,
            **judged,
        }
        usual = default_options(Path(content.files[0]).suffix.lower())
        other = {key: value for key, value in content.options.items() if value != usual.get(key)}
        return {key: value for key, value in table.items() if value} | other

    def _shape(self) -> dict[str, Any]:
        if self.guess.pair:
            return {"pairs": self._pairs(self.guess.pair)}
        if self.guess.is_spans and is_mapped(self.guess):
            return {"spans": self._spans()}
        if self.guess.aspect:
            return {"pivot": self._pivot()}
        found: dict[str, Any] = {}
        for measure in self.guess.measures:
            section, value = self._measure(measure)
            found.setdefault(section, {})[measure.aspect] = value
        return found

    def _columns(self) -> dict[str, str]:
        guess, keys = self.guess, self.guess.keys
        left_out = {"group"} if guess.pair else set[str]()
        left_out |= {"annotator"} if guess.pair or guess.is_spans else set()
        roles = [role for role in _OF_ROWS if role in keys and role not in left_out]
        found = {role: keys[role][0].name for role in roles}
        if "context_id" in keys:
            first, *more = [column.name for column in keys["context_id"]]
            joined = " || '/' || ".join(map(_quoted, (first, *more)))
            found["context_id"] = self._computed("context_key", joined) if more else first
        if guess.pair:
            return found
        if "candidate_id" in keys:
            found["candidate_id"] = keys["candidate_id"][0].name
        if guess.system is not None:
            found["system"] = guess.system.name
        return {**found, "candidate": guess.candidate.name}

    def _computed(self, name: str, expression: str) -> str:
        """Add a computed column under a name that the file does not use."""
        taken = {column.name for column in self.guess.columns} | {*self.compute}
        while name in taken:
            name = f"{name}_"
        self.compute[name] = expression
        return name

    def _pairs(self, pair: Pair) -> dict[str, Any]:
        guess, keys = self.guess, self.guess.keys
        sides = {
            name: {"candidate": side.name, "system": pair.systems[number].name}
            if pair.systems
            else side.name
            for number, (name, side) in enumerate(
                zip(
                    ("first", "second") if pair.verdict else ("high", "low"),
                    pair.sides,
                    strict=True,
                )
            )
        }
        by_meaning: dict[str, list[str]] = {}
        for cell, meaning in pair.values.items():
            by_meaning.setdefault(meaning, []).append(cell)
        verdict = {"better": pair.verdict.name, "values": by_meaning} if pair.verdict else {}
        category = {"category": guess.error.name} if guess.error else {}
        if "annotator" in keys:
            row = {"annotator": keys["annotator"][0].name}
        elif "candidate_id" in keys:
            row = {"id": keys["candidate_id"][0].name}
        elif len(guess.content.files) > 1:
            row = {"id": self._computed("row", "_file || '/' || _row")}
        else:
            row = {"id": "_row"}
        return {**sides, **verdict, **category, **row}

    def _spans(self) -> dict[str, Any]:
        guess, (column,) = self.guess, self.guess.measures[0].columns
        found = {
            "list": guess.content.levels[column.level].path[-1] if column.above < 0 else None,
            "category": column.path[-1],
            "no_error": guess.quality.rule.get("no_error"),
            "tags": list(guess.tags),
        }
        return {key: value for key, value in found.items() if value}

    def _pivot(self) -> dict[str, Any]:
        guess = self.guess
        aspect, judged = guess.aspect
        kind = "label" if guess.measures[0].has_labels else "score"
        column, lower = judged.name, sorted(guess.quality.lower)
        if lower:
            cells = ", ".join(_literal(cell) for cell in lower)
            where = f"{_quoted(aspect.name)} IN ({cells})"
            number = f"CAST({_quoted(judged.name)} AS DOUBLE)"
            text = f"CASE WHEN {where} THEN 0 - {number} ELSE {number} END"
            column = self._computed("turned", text)
        names = {measure.columns[0].name: measure.aspect for measure in guess.measures}
        return {"aspect": aspect.name, "names": names, kind: column}

    def _measure(self, measure: Measure) -> tuple[str, Any]:
        (first, *_), quality = measure.columns, self.guess.quality
        match measure.kind:
            case "score":
                return "scores", self._turned(first.name, turned=first.name in quality.lower)
            case "ratings":
                each = rating_columns(first) if first.kind == "numbers" else None
                names = each or [column.name for column in measure.columns]
                turned = first.name in quality.lower
                return "ratings", [self._turned(name, turned=turned) for name in names]
            case "marks":
                cells = {cell.strip() for column in measure.columns for cell in column.cells}
                blank = {"blank": sorted(cells - MARKS - {""})} if cells - MARKS - {""} else {}
                return "marks", {
                    "no_error": quality.blank or quality.rule["no_error"],
                    "marks": sorted(cells & MARKS),
                    **blank,
                    "columns": {column.path[-1]: column.name for column in measure.columns},
                }
        return "labels", self._label(measure, first)

    def _label(self, measure: Measure, column: Column) -> str | dict[str, str]:
        quality, error, name = self.guess.quality, self.guess.error, column.name
        if error is not None:
            good = _literal(quality.rule["no_error"])
            kinds = f"[{good}]" if error.kind == "texts" else good
            text = f"CASE WHEN {_quoted(name)} = {good} THEN {kinds} ELSE {_quoted(error.name)} END"
            return {"column": self._computed("kinds", text), "empty": UNSPECIFIED}
        if quality.separator is not None:
            text = f"STRING_TO_ARRAY({_quoted(name)}, {_literal(quality.separator)})"
            name = self._computed(f"{measure.aspect}_labels", text)
        return name if quality.blank is None else {"column": name, "empty": quality.blank}

    def _turned(self, name: str, *, turned: bool) -> str:
        """Return a column of numbers, negated if lower is better."""
        if not turned:
            return name
        text = f"0 - CAST(NULLIF({_quoted(name)}, '') AS DOUBLE)"
        return self._computed(f"{slug(name, 'score')}_turned", text)


def part_names(guess: Guess) -> dict[str, Column]:
    """Return the parts of a context by the names that templates use."""
    parts: dict[str, Column] = {}
    for number, column in enumerate(guess.context, start=1):
        *around, last = ("", *column.path)
        says_little = last.lower() in SAYS_LITTLE and len(around) > 1
        name = slug(around[-1] if says_little else last, "context")
        parts[name if name not in parts else f"{name}_{number}"] = column
    return parts


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
