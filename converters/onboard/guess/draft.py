"""A `table:` section in the making: what is read, which rule says what is better, and what is open.

`notes` has a comment for each line that a person must look at, by the keys that lead to the line;
`choices` has what these lines may say instead.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nnd.converters.onboard.contents.level_columns import Column
from nnd.converters.onboard.guess import name_words as words
from nnd.converters.onboard.guess.name_words import good_label, is_doubtful, more_is_better
from nnd.converters.onboard.guess.roles import Roles, is_unclear
from nnd.converters.onboard.guess.source_parts import (
    TODO,
    Change,
    aspect_names,
    labelled,
    part_names,
    quoted,
    without_error,
)
from nnd.converters.source import KEY, unfolded_keys
from nnd.schemas import listed

NO_ERROR = "no error"
"""What is written as the label of texts that have none."""

_NARROW, _WIDE = 2, 10
_MOST_CHOICES = 8


@dataclass
class Draft:
    """What a source.yaml says of a file, before a person has read it."""

    roles: Roles
    table: dict[str, Any] = field(default_factory=dict)
    quality: dict[str, Any] = field(default_factory=dict)
    aspects: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)  # of errors, which the taxonomy describes
    systems: list[str] = field(default_factory=list)
    cluster: str | None = None  # what several contexts share
    notes: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[Change]] = field(default_factory=dict)

    def offer(self, place: str, *changes: Change) -> None:
        """Offer what an open line, with the lines that must change with it, may say instead."""
        self.choices.setdefault(place, []).extend(changes)

    def note(self, place: str, text: str, others: Iterable[Column | str] = ()) -> None:
        """Mark a line as open, with what it might say instead."""
        names = [one if isinstance(one, str) else one.path for one in others]
        self.notes[place] = f"{text}{': ' if names else ''}{listed(names)}"

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
            self._read_candidate()
            self._read_system()
        if roles.context_id is not None:
            columns["context_id"] = roles.context_id.path
        above = {column.level for column in roles.contexts} - {roles.level}
        for role, kinds in (("category", words.CATEGORY), ("split", words.SPLIT)):
            column = roles.first(kinds, lambda c: 1 < len(c.counts) <= len(c.values) / 2)
            if column is not None and (role == "split" or column.level in above):
                columns[role] = column.path
        self._read_context(has_candidate=has_candidate)
        if roles.references:
            self.table["references"] = [column.path for column in roles.references]
        if not columns:
            del self.table["columns"]

    def _read_candidate(self) -> None:
        first, others = self.roles.candidates[:1], self.roles.candidates[1:]
        self.part("columns")["candidate"] = first[0].path if first else TODO
        if not first:
            texts = [c for c in self.roles.content.columns if c.kind == "text" and c.has_spaces]
            self.note("columns.candidate", "the generated text is one of", texts)
        elif others:
            self.note("columns.candidate", "there are other texts", others)
        instead = others if first else texts
        self.offer("columns.candidate", *({"columns.candidate": c.path} for c in instead))

    def _read_system(self) -> None:
        roles, columns = self.roles, self.part("columns")
        if roles.systems:
            system, *others = roles.systems
            columns["system"] = system.path
            self.systems = _systems_in(system)
            if others:
                self.note("columns.system", "who wrote the candidate may be named by", others)
            self.offer(
                "columns.system",
                *(
                    {
                        "columns.system": other.path,
                        "systems": dict.fromkeys(_systems_in(other)),
                    }
                    for other in others
                ),
            )
        elif roles.level.endswith("*"):
            columns["system"] = unfolded_keys(roles.level)[-1]
            self.systems = ["*"]
            self.note("columns.system", "the keys are taken for systems; if not, delete this line")
        own = [*roles.candidates[:1], *roles.contexts, *roles.systems[:1]]
        keys = own[1:] if roles.systems else own
        if roles.annotator is None and own and roles.is_repeated(keys):
            ids = (
                column
                for column in roles.row_columns
                if column.words & words.IDENTIFIER
                and column.level == roles.level
                and column.is_full
                and len(column.counts) == len(column.values)
            )
            key = next(ids, None)
            columns["candidate_id"] = key.path if key else self.row_key()

    def row_key(self) -> str:
        """Return a column that is the key of a row."""
        file = ["_file"] if len(self.roles.content.files) > 1 else []
        parts = [*file, "_row", *unfolded_keys(self.roles.level)]
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
                self.note("inputs", "other texts of a row, read if named", roles.possible_contexts)
                self.offer("inputs", *map(self._with_input, roles.possible_contexts))
        elif roles.has_texts_as_keys:
            self.table["inputs"] = {"context": KEY}
            self.note("inputs", "the keys are read as what the systems were given")
        elif roles.possible_contexts or has_candidate:
            self.ask_for_context()
        else:
            self.table["context"] = "none"
            self.note("context", "no column is a context; if another file has one, add a `join`")

    def ask_for_context(self) -> None:
        """Leave open what the systems were given: one of the texts of a row, or nothing."""
        self.table["inputs"] = {"context": TODO}
        self.offer("inputs", *({"inputs": {"text": c.path}} for c in self.roles.possible_contexts))
        nothing: dict[str, Any] = {"inputs": None, "context": "none"}
        kept_apart = "; if nothing, name under `columns` the `group` that is compared"
        is_keyed = self.roles.level.startswith("*")
        if is_keyed:
            nothing["columns.context_id"] = unfolded_keys(self.roles.level)[0]
            self.offer("inputs", nothing)
            kept_apart = ""
        self.note("inputs", f"what the systems were given{kept_apart}")

    def _with_input(self, column: Column) -> Change:
        """Return the change that makes a text of a row another part of the context."""
        parts = {part: c.path for part, c in part_names([*self.roles.contexts, column]).items()}
        return {
            "inputs": parts,
            "context": "\n".join(f"{{{part}}}" for part in parts),
        }

    def judge(self, columns: Sequence[Column]) -> None:
        """Read labels or numbers, and choose the rule for them."""
        labels = set(self.roles.given.get("label", ()))
        given = {*self.roles.given.get("score", ())}
        numbers = [c for c in columns if c.kind == "number" and c.path not in labels]
        numbers = [c for c in numbers if c.path in given or not is_unclear(c)]
        if numbers and len(numbers) == len(columns):
            names = aspect_names(numbers)
            self.table["scores"] = {
                name: self.turned(column, f"scores.{name}") for name, column in names.items()
            }
            self.by_numbers(names)
            if self.quality["rule"] == "credit":  # what a 1 means is asked there
                for name in names:
                    self.notes.pop(f"scores.{name}", None)
            return
        names = aspect_names([column for column in columns if column not in numbers])
        self.table["labels"] = {name: column.path for name, column in names.items()}
        self.by_labels(list(names.values()), list(names))

    def judge_nothing(self) -> None:
        """Leave open what says how good a candidate is."""
        roles = self.roles
        free = [
            column
            for column in roles.free(roles.contexts)
            if not (column.words & words.IDENTIFIER or roles.is_of_sibling(column))
        ]
        able = [c for c in free if c.kind in ("number", "flag")]
        few = [c for c in free if c not in able and c.repetition > 1 and c.length < words.SHORT]
        self.note("scores.quality", "how good a candidate is, by a number or a label")
        self.offer("scores.quality", *({"scores.quality": c.path} for c in able))
        self.offer("scores.quality", *map(labelled, few))
        self.table["scores"] = {"quality": TODO}
        self.by_order()

    def by_order(self, minimum: float = 1) -> None:
        """Choose the rule for numbers of which more is better, here of the only aspect."""
        self.aspects = ["quality"]
        self.quality = {"rule": "gap", "minimum": minimum, "tolerance": 1e-6}

    def turned(self, column: Column, place: str) -> str:
        """Return a column of numbers, below zero if less of it is better."""
        better, name = more_is_better([column]), f"{words.slug(column.name, 'score')}_turned"
        expression = f"0 - CAST(NULLIF({quoted(column.path)}, '') AS DOUBLE)"
        if better is None:
            self.note(place, f"more of {column.path} is read as better; if less is, turn it")
            self.offer(place, {f"compute.{name}": expression, place: name})
        if better is not False:
            return column.path
        self.note(place, f"less of {column.path} is better, by its name")
        self.offer(place, {place: column.path})
        return self.compute(name, expression)

    def by_numbers(
        self,
        named: Mapping[str, Column],
        *,
        many: bool = False,
        better: Collection[bool | None] | None = None,
    ) -> None:
        """Choose a rule for numbers: a gap (of means, if there are several), or votes of 0 and 1.

        `better` says for each of them whether more is better; by default their names do.
        """
        columns = list(named.values())
        values = {number for column in columns for number in column.numbers}
        width = max((max(c.numbers) - min(c.numbers) for c in columns), default=1)
        better = {*(better or (more_is_better([column]) for column in columns))}
        is_turned = better == {False}
        top = None if {False, True} <= better else -min(values) if is_turned else max(values)
        if values == {0, 1} and top is not None:
            self._by_votes(named, int(top), many=many)
        else:
            # A point on usual scales, a tenth of others.
            self.by_order(1 if _NARROW <= width <= _WIDE else float(f"{width / 10:.0e}"))
            what = "a difference that counts"
            if many:
                what = "a difference of mean ratings that counts"
                self.quality["ratings"] = "mean"
                is_scale = width <= _WIDE and all(number.is_integer() for number in values)
                self._offer_verdicts(top if is_scale else None)
            self.note("quality.minimum", f"{what}; values go over {width:g}")
        self.aspects = list(named)

    def _by_votes(self, named: Mapping[str, Column], top: int, *, many: bool) -> None:
        """Choose the rule for numbers that are 0 or 1, or below zero if a 0 is good."""
        if many:
            self.quality = {"rule": "majority", "top": top}
            self.note("quality", f"most annotators must give {top}, or all, or their means differ")
            everyone = {"rule": "majority", "top": top, "ratings": "unanimity"}
            means = {"rule": "gap", "minimum": 0.5, "ratings": "mean"}
            self.offer("quality", {"quality": everyone}, {"quality": means})
            return
        self.quality = {"rule": "credit", "high": [top], "low": [top - 1]}
        if unsure := [name for name, column in named.items() if more_is_better([column]) is None]:
            self.note("quality", "a 1 is read as good", unsure)
            other = {"rule": "credit", "high": [top - 1], "low": [top]}
            each = {"default": self.quality, "aspects": dict.fromkeys(unsure, other)}
            self.offer("quality", {"quality": each if len(unsure) < len(named) else other})

    def _offer_verdicts(self, top: float | None) -> None:
        """Offer other ways in which several ratings become one verdict."""
        others = [{**self.quality, "ratings": "median"}]
        if "annotator" in self.table.get("columns", {}):
            others.append({**self.quality, "within": "annotator"})
        if top is not None:
            others.append({"rule": "majority", "top": int(top)})
        self.offer("quality.minimum", *({"quality": other} for other in others))

    def by_labels(self, columns: Sequence[Column], aspects: Sequence[str]) -> None:
        """Choose the label without an error; what is not clear from the words is left open."""
        counted = sum((column.counts for column in columns), Counter[str]())
        labels = [label for label, _ in counted.most_common()]
        good, place = good_label(labels, columns), "quality.no_error"
        is_list = columns[0].level not in ("", self.roles.level)
        of_errors = all(column.all_words & words.ERROR for column in columns)
        if good is None and (is_list or (of_errors and not all(c.is_full for c in columns))):
            good = NO_ERROR
            for aspect, path in list(self.table.get("labels", {}).items()):
                self.table["labels"][aspect] = {"column": path, "empty": good}
            self.note(place, "a candidate without a label has no error")
        elif good is None:
            good = TODO
            self.note(place, "the label that says that nothing is wrong is one of", labels)
            self.offer(place, *(without_error(label, labels) for label in labels[:_MOST_CHOICES]))
        elif len(labels) > _NARROW or is_doubtful(columns[0]):
            others = [label for label in labels if label != good]
            self.note(place, "it must be better than every other label", others)
        self.aspects = list(aspects)
        self.quality = {"rule": "no_error", "no_error": good}
        self.labels = [label for label in labels if label != good]


def _systems_in(column: Column) -> list[str]:
    return list(dict.fromkeys(name for cell in column.counts for name in cell.split("|")))
