"""A `table:` section in the making: what is read, which rule says what is better, and what is open.

`notes` has a comment for each line that a person must look at, by the keys that lead to the line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nnd.converters.onboard.contents.level_columns import SAYS_LITTLE, Column
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.directions import good_label, is_doubtful, more_is_better
from nnd.converters.onboard.guess.roles import Roles, is_unclear

TODO = "TODO"
"""Stands where nothing in the file says what belongs there; nothing is converted before."""

_LISTED = 8
_NARROW, _WIDE = 2, 10
_NO_ERROR = "no error"


@dataclass
class Draft:
    """What a source.yaml says of a file, before a person has read it."""

    roles: Roles
    table: dict[str, Any] = field(default_factory=dict)
    quality: dict[str, Any] = field(default_factory=dict)
    aspects: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)  # of errors, which the taxonomy describes
    systems: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def note(self, place: str, text: str, others: Iterable[Column | str] = ()) -> None:
        """Mark a line as open, with what it might say instead."""
        names = [one if isinstance(one, str) else one.path for one in others]
        more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
        listed = ", ".join([*names[:_LISTED], *more])
        self.notes[place] = f"{text}{': ' if listed else ''}{listed}"

    def compute(self, name: str, expression: str) -> str:
        """Add a computed column under a name that the file does not use, and return the name."""
        taken = {column.path for column in self.roles.content.columns} | {*self.part("compute")}
        while name in taken:
            name = f"{name}_"
        self.part("compute")[name] = expression
        return name

    def part(self, name: str) -> dict[str, Any]:
        """Return a mapping of the section, which is made if there is none."""
        return self.table.setdefault(name, {})  # type: ignore[no-any-return]

    def read_files(self) -> None:
        """Say which files are read, how, and what a row is."""
        content = self.roles.content
        if len(content.files) > 1:
            self.table["files"] = list(content.files)
        self.table |= content.options
        if self.roles.level:
            self.table["unfold"] = self.roles.level

    def read_row(self, *, has_candidate: bool = True) -> None:
        """Say which columns are the candidate, its system and its context."""
        roles, columns = self.roles, self.part("columns")
        if has_candidate:
            first, others = roles.candidates[:1], roles.candidates[1:]
            columns["candidate"] = first[0].path if first else TODO
            if not first:
                texts = [c for c in roles.content.columns if c.kind == "text"]
                self.note("columns.candidate", "the generated text is one of", texts)
            elif others:
                self.note("columns.candidate", "there are other texts", others)
            self._read_system()
        if roles.context_id is not None:
            columns["context_id"] = roles.context_id.path
        for role, kinds in (("category", words.CATEGORY), ("split", words.SPLIT)):
            column = roles.first(kinds, lambda c: 1 < len(c.counts) <= len(c.values) / 2)
            if column is not None and (role != "category" or column in self._of_contexts()):
                columns[role] = column.path
        self._read_context(has_candidate=has_candidate)
        if roles.references:
            self.table["references"] = [column.path for column in roles.references]
        if not columns:
            del self.table["columns"]

    def _of_contexts(self) -> list[Column]:
        near = {column.level for column in self.roles.contexts}
        return [
            c for c in self.roles.row_columns if c.level in near and c.level != self.roles.level
        ]

    def _read_system(self) -> None:
        roles, columns = self.roles, self.part("columns")
        if roles.systems:
            system, *others = roles.systems
            columns["system"] = system.path
            self.systems = list(dict.fromkeys(s for c in system.counts for s in c.split("|")))
            if others:
                self.note("columns.system", "who wrote the candidate may be named by", others)
        elif roles.level.endswith("*"):
            depth = roles.level.count("*") + roles.level.count("[]")
            columns["system"] = "_key" if depth == 1 else f"_key{depth}"
            self.systems = ["*"]
            self.note("columns.system", "the keys are taken for systems; if not, delete this line")
        own = [*roles.candidates[:1], *roles.contexts, *roles.systems[:1]]
        keys = own[1:] if roles.systems else own
        if roles.annotator is None and own and roles.is_repeated(keys):
            fits = [
                column
                for column in roles.row_columns
                if column.words & words.IDENTIFIER
                and column.level == roles.level
                and column.is_full
                and len(column.counts) == len(column.values)
            ]
            columns["candidate_id"] = fits[0].path if fits else self.row_key()

    def row_key(self) -> str:
        """Return a column that is the key of a row."""
        parts = ["_row"] if len(self.roles.content.files) == 1 else ["_file", "_row"]
        depth = sum(self.roles.level.count(step) for step in ("[]", "*"))
        parts += ["_key", *(f"_key{level}" for level in range(2, depth + 1))] if depth else []
        return parts[0] if parts == ["_row"] else self.compute("row_key", " || '/' || ".join(parts))

    def join(self, others: Iterable[Roles]) -> None:
        """Take the candidate from files of another shape that share columns with these."""
        own = {column.name: column for column in self.roles.content.columns if not column.level}
        for other in others:
            shared = [c for c in other.row_columns if c.name in own and c not in other.candidates]
            if not other.candidates or not shared:
                continue
            columns = {"text": other.candidates[0].path}
            columns |= {part: column.path for part, column in part_names(other.contexts).items()}
            self.table["join"] = {
                "file": list(other.content.files),
                **({"unfold": other.level} if other.level else {}),
                "on": {own[column.name].path: column.path for column in shared},
                "columns": columns,
            }
            self.note(
                "join",
                "the texts are taken from other files, whose rows have the same key; `_row`, "
                "`_key` or a part of `_file` (`extract`) may be one",
            )
            self.part("columns")["candidate"] = "text"
            self.notes.pop("columns.candidate")
            if other.contexts:
                self.table["inputs"] = {part: part for part in columns if part != "text"}
                self.notes.pop("inputs", None)
            return

    def _read_context(self, *, has_candidate: bool) -> None:
        roles = self.roles
        parts = {part: column.path for part, column in part_names(roles.contexts).items()}
        if parts:
            self.table["inputs"] = parts
            if len(parts) > 1:
                self.table["context"] = "\n".join(f"{{{part}}}" for part in parts)
            if roles.possible_contexts and "context" not in roles.given:
                self.note(
                    "inputs", "other texts of a row, read if named here", roles.possible_contexts
                )
        elif roles.possible_contexts or has_candidate:
            self.table["inputs"] = {"context": TODO}
            self.note(
                "inputs",
                "what was the system given? `context: none` in place of `inputs` if nothing; "
                "or one of",
                roles.possible_contexts,
            )
        else:
            self.table["context"] = "none"
            self.note(
                "context", "no column is a context; if one is, write `inputs: {text: COLUMN}`"
            )

    def judge(self, columns: Sequence[Column]) -> None:
        """Read labels or numbers, and choose the rule for them."""
        labels = set(self.roles.given.get("label", ()))
        given = {*self.roles.given.get("score", ())}
        numbers = [c for c in columns if c.kind == "number" and c.path not in labels]
        numbers = [c for c in numbers if c.path in given or not is_unclear(c)]
        if numbers and len(numbers) == len(columns):
            names = aspect_names(numbers)
            turned = {c.path: self._turned(c) for c in numbers}
            self.table["scores"] = {name: turned[c.path] for name, c in names.items()}
            self.by_numbers(names)
            return
        names = aspect_names([column for column in columns if column not in numbers])
        self.table["labels"] = {name: column.path for name, column in names.items()}
        self.by_labels(list(names.values()), list(names))

    def judge_nothing(self) -> None:
        """Leave open what says how good a candidate is."""
        free = [c for c in self.roles.free(self.roles.contexts) if not c.words & words.IDENTIFIER]
        able = [c for c in free if c.kind in ("number", "flag")]
        few = [c for c in free if c not in able]
        few = [c for c in few if c.counts and c.repetition > 1 and c.length < words.SHORT]
        self.aspects, self.table["scores"] = ["quality"], {"quality": TODO}
        text = "how good a candidate is; `labels:` in place of `scores:` if it is a label"
        self.note("scores.quality", text, [*able, *few])
        self.quality = {"rule": "gap", "minimum": 1, "tolerance": 1e-6}

    def _turned(self, column: Column) -> str:
        """Return a column of numbers, below zero if less of it is better."""
        better, place = more_is_better([column]), f"scores.{words.slug(column.name, 'quality')}"
        if better is not False:
            if better is None:
                self.note(place, f"more of {column.path} is read as better; if not, compute 0 - it")
            return column.path
        self.note(place, f"less of {column.path} is better, by its name; if not, name it here")
        name = f"{words.slug(column.name, 'score')}_turned"
        return self.compute(name, f"0 - CAST(NULLIF({quoted(column.path)}, '') AS DOUBLE)")

    def by_numbers(self, named: dict[str, Column], *, many: bool = False) -> None:
        """Choose a rule for numbers: good ones, most annotators' top, or a gap."""
        columns, self.aspects = list(named.values()), list(named)
        values = {number for column in columns for number in column.numbers}
        width = max((max(c.numbers) - min(c.numbers) for c in columns), default=1)
        is_mixed = {False, True} <= {more_is_better([column]) for column in columns}
        if values == {0, 1} and not many and not is_mixed:
            good = 0 if more_is_better(columns) is False else 1
            if good == 0:  # the scores are turned
                self.quality = {"rule": "credit", "high": [0], "low": [-1]}
            else:
                self.quality = {"rule": "credit", "high": [1], "low": [0]}
            if more_is_better(columns) is None:
                self.note("quality", "a 1 is read as good; if a 0 is, exchange high and low")
            return
        whole = all(number.is_integer() for number in values)
        if many and whole and width <= _WIDE:
            top = max(values)
            self.quality = {"rule": "majority", "top": int(top)}
            self.note(
                "quality", f"most annotators must give {top:g}; or `rule: gap` of their means"
            )
            return
        minimum = sensible_minimum(width)
        self.quality = {"rule": "gap", "minimum": minimum, "tolerance": 1e-6}
        if many:
            self.quality["ratings"] = "mean"
        self.note("quality.minimum", f"a difference that counts; values go over {width:g}")

    def by_labels(self, columns: Sequence[Column], aspects: Sequence[str]) -> None:
        """Choose the label without an error; what is not clear from the words is left open."""
        counted = sum((column.counts for column in columns), columns[0].counts.__class__())
        labels = [label for label, _ in counted.most_common() if label.strip()]
        good = good_label(labels, columns)
        has_blanks = any(not column.is_full for column in columns) or (
            columns[0].level not in ("", self.roles.level)
        )
        of_errors = all(column.all_words & words.ERROR for column in columns)
        is_list = columns[0].level != self.roles.level and columns[0].level != ""
        if good is None and has_blanks and (of_errors or is_list):
            good = _NO_ERROR
            for aspect, path in list(self.table.get("labels", {}).items()):
                self.table["labels"][aspect] = {"column": path, "empty": good}
            self.note("quality.no_error", "a candidate without a label has no error")
        elif good is None:
            good = TODO
            self.note(
                "quality.no_error", "the label that says that nothing is wrong is one of", labels
            )
        elif len(labels) > _NARROW or is_doubtful(columns[0]):
            others = [label for label in labels if label != good]
            self.note("quality.no_error", "it must be better than every other label", others)
        self.aspects = list(aspects)
        self.quality = {"rule": "no_error", "no_error": good}
        self.labels = [label for label in labels if label != good]


def aspect_names(columns: Sequence[Column]) -> dict[str, Column]:
    """Return the names of aspects for columns, as short as they differ."""
    short = [words.slug(column.name, "quality") for column in columns]
    names = (
        short if len(set(short)) == len(short) else [words.slug(c.path, "quality") for c in columns]
    )
    return dict(zip(names, columns, strict=True))


def part_names(columns: Sequence[Column]) -> dict[str, Column]:
    """Return the parts of a context by the names that templates use."""
    parts: dict[str, Column] = {}
    for number, column in enumerate(columns, start=1):
        says_little = column.name.lower() in SAYS_LITTLE
        name = words.slug("context" if says_little else column.name, "context")
        parts[name if name not in parts else f"{name}_{number}"] = column
    return parts


def sensible_minimum(width: float) -> float:
    """Return the smallest difference that counts: a point on usual scales, a tenth of others."""
    return 1 if _NARROW <= width <= _WIDE else float(f"{width / 10:.0e}")


def quoted(name: str) -> str:
    """Return a column as SQL names it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"
