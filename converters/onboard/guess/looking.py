"""Finding the column of each role: named by the user, suggested by its name, or asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from nnd.converters.onboard.contents.level_columns import Column, determines, joint
from nnd.converters.onboard.guess import measures, name_words as words
from nnd.converters.onboard.guess.questions import NONE, Answers, Ask, Question, ask_for
from nnd.converters.onboard.guess.row_shapes import aspect_columns
from nnd.converters.reading import shown
from nnd.schemas import SourceError

QUESTIONS = {
    "system": "Which column names the system that wrote the candidate?",
    "candidate": "Which columns hold candidates, the texts that systems generated?",
    "context": "Which columns are the context, what the systems were given?",
    "candidate_id": "Which column is the key of a candidate?",
    "annotator": "A candidate is in several rows: which column says who judged?",
    "score": "Which columns say how good a candidate is?",
    "label": "Which columns say how good a candidate is?",
}
_NO_NAME = "no name says so"
_NOTHING_ELSE = "the rows differ in nothing else, unless --candidate-id names a key"
_SAMPLES = 3

_LONGEST_SYSTEM = 60
_REPEATED = 1.5
_MOST_SYSTEMS = 200
_NO_TEXT = words.IDENTIFIER | words.LABEL | words.ANNOTATOR | words.SYSTEM
_NO_SYSTEM = _NO_TEXT - words.SYSTEM | words.SPLIT | words.CATEGORY | words.LANGUAGE | words.SCORE
_NO_SYSTEM |= words.COUNTED | words.ASPECT | words.REFERENCE | words.CONTEXT | words.CANDIDATE


@dataclass(frozen=True, slots=True)
class ColumnSearch:
    """The columns to search, the answers of the user, and a way to ask more."""

    columns: Sequence[Column]
    answers: Answers
    ask: Ask | None

    def named(self, flag: str, names: Sequence[str]) -> list[Column]:
        """Return the columns that an option names."""
        known = {column.name: column for column in self.columns}
        if unknown := [name for name in names if name not in known]:
            raise SourceError(
                f"--{flag.replace('_', '-')}: unknown column {shown(unknown[0])}; the columns "
                f"are {', '.join(map(shown, known))}"
            )
        return [known[name] for name in names]

    def only(self, flag: str) -> tuple[Column, ...]:
        """Return the column that an option names, if any."""
        name = getattr(self.answers, flag)
        return () if name in (None, NONE) else tuple(self.named(flag, [name]))

    def asked(
        self,
        role: str,
        columns: Sequence[Column],
        why: str,
        *,
        many: bool = False,
        none: bool = False,
        usage: str | None = None,
    ) -> tuple[Column, ...]:
        """Ask which columns have a role."""
        names = tuple(column.name for column in columns)
        held = tuple(", ".join(samples(column)) for column in columns)
        if none:
            names, held = (*names, NONE), (*held, "no column")
        question = Question(role, QUESTIONS[role], names, why, many, held, usage)
        answer = ask_for(question, self.ask)
        return () if none and NONE in answer else tuple(self.named(role, answer))

    def candidates(self) -> tuple[Column, ...]:
        """Return the column of the candidates, or several if a row holds several."""
        if self.answers.candidate:
            return tuple(self.named("candidate", self.answers.candidate))
        named, may = likely_candidates(self.columns)
        if self.answers.system not in (None, NONE) or likely_systems(self.columns)[0]:
            named = [column for column in named if not column.words & words.REFERENCE]
        if len(named) == 1:
            return tuple(named)
        why = "a row may hold several: name one, two that are compared, or all"
        choices = named or may
        return self.asked("candidate", choices, why if choices[1:] else _NO_NAME, many=True)

    def system(self, taken: Sequence[Column]) -> tuple[Column, ...]:
        """Return the column of systems, if any."""
        if self.answers.system is not None:
            return self.only("system")
        named, may = likely_systems([column for column in self.columns if column not in taken])
        if len(named) == 1 or not (named or may):
            return tuple(named)
        why = "several names say so" if named else _NO_NAME
        return self.asked("system", named or may, why, none=True)

    def contexts(self, taken: Sequence[Column]) -> tuple[Column, ...]:
        """Return the parts of the context."""
        if self.answers.context:
            return tuple(self.named("context", self.answers.context))
        judged = self._names()
        free = [c for c in self.columns if c.name not in judged and c not in taken]
        named, may = likely_contexts(free)
        return tuple(named) or self.asked("context", may, _NO_NAME, many=True)

    def _names(self) -> set[str]:
        """Return the columns that the user named for other roles than texts and systems."""
        several = ("label", "score", "rating", "mark", "context_id")
        one = ("error", "aspect", "annotator", "group", "candidate_id")
        names = {name for role in several for name in getattr(self.answers, role)}
        return names | {getattr(self.answers, role) for role in one} - {None}

    def keys(
        self, taken: Sequence[Column], context: Sequence[Column]
    ) -> dict[str, tuple[Column, ...]]:
        """Return the columns of keys and of facts about contexts."""
        found = {role: self.only(role) for role in ("candidate_id", "category", "split", "group")}
        found["context_id"] = tuple(self.named("context_id", self.answers.context_id))
        used = self._names() | {column.name for column in taken}
        used |= {column.name for columns in found.values() for column in columns}
        free = [column for column in self.columns if column.name not in used]
        if not found["context_id"] and (key := find_context_id(free, context)):
            found["context_id"] = (key,)
        splits = [c for c in free if c.words & words.SPLIT and c.kind == "text" and c.is_short]
        contexts = joint(found["context_id"] or context)
        if not found["split"] and splits and determines(contexts, splits[0].values):
            found["split"] = (splits[0],)
        return found

    def judgements(
        self, candidate: Sequence[Column], used: Sequence[Column], *, is_marked: bool
    ) -> tuple[tuple[Column, ...], tuple[Column, ...], list[measures.Measure]]:
        """Return the columns of aspect and judgement, the annotators, and the measures."""
        rows = joint(candidate)
        is_repeated = len(set(rows)) < len(rows)
        aspect, who = self.only("aspect"), tuple[Column, ...]()
        if aspect or is_repeated:
            who = self.annotator(used, must=False)
            rows = joint([*candidate, *who])
            if not aspect and len(set(rows)) < len(rows):
                free = [c for c in self.columns if c not in used and c.words & words.ASPECT]
                fits = [c for c in free if c.kind == "text" and c.is_short and c.filled == c.rows]
                aspect = tuple(fits[:1])
        found = self.judged([c for c in self.columns if c not in (*used, *who, *aspect)])
        if aspect:
            (judged, *others) = [column for measure in found for column in measure.columns]
            if others:
                names = ", ".join(column.name for column in (judged, *others))
                raise SourceError(
                    f"{aspect[0].name} names the aspect of each row, and {names} hold what was "
                    "judged; name one of them with --score or --label"
                )
            own = [measures.measure_of(column) for column in aspect_columns(aspect[0], judged)]
            return (*aspect, judged), who, own
        is_label = found[0].has_labels
        if is_repeated and not who and not is_label:
            who = self.annotator(used, must=True)
        return (), () if is_marked and is_label else who, found

    def annotator(self, used: Sequence[Column], *, must: bool) -> tuple[Column, ...]:
        """Return the column of annotators, if a candidate is in several rows."""
        if self.answers.annotator is not None:
            return self.only("annotator")
        free = [c for c in self.columns if c not in used and c.above == 0 and c.filled == c.rows]
        people = [c for c in free if c.words & words.ANNOTATOR and not c.words & words.SCORE]
        if len(people) > 1 or (must and not people):
            fits = [c for c in free if c.kind in ("text", "number") and c.repetition > 1]
            return self.asked("annotator", people or fits, _NOTHING_ELSE)
        return tuple(people)

    def judged(self, free: Sequence[Column]) -> list[measures.Measure]:
        """Return the measures: named by the user, found by name, or asked."""
        flags = ("label", "mark", "score", "rating")
        named = {flag: self.named(flag, getattr(self.answers, flag)) for flag in flags}
        if any(named.values()):
            return measures.chosen_measures(named)
        found = measures.find_judged(free)
        if same := measures.alike(found):
            usage = " ".join(f"--rating {column.name}" for column in same)
            usage += f", or --score {same[0].name} … where each is an aspect of its own"
            why = "some names differ only by a number or an annotator"
            found = [*self.asked("score", found, why, many=True, usage=usage)]
        if not found:
            near = [column for column in free if column.above <= 0 and column.counts]
            is_number = any(column.kind in ("number", "numbers") for column in near)
            role = "score" if is_number or not near else "label"
            why = "--label reads labels, --mark columns with marks of errors, --rating several "
            found = [*self.asked(role, near, f"{why}annotators", many=True)]
        return measures.told_apart([measures.measure_of(column) for column in found])

    def candidate_id(self, candidate: Sequence[Column], text: Column) -> tuple[Column, ...]:
        """Ask for the key of candidates, if a system wrote several texts for one context."""
        without = [column for column in candidate if column is not text]
        if len(set(joint(candidate))) == len(set(joint(without))):
            return ()
        fits = [c for c in self.columns if c.above == 0 and c.words & words.IDENTIFIER]
        why = "a system wrote several texts for a context; or make each text its own key with "
        return self.asked("candidate_id", fits, f"{why}--system {NONE}")


def samples(column: Column) -> list[str]:
    """Return the first few distinct values of a column for a table."""
    return [shown(value) for value in list(column.counts)[:_SAMPLES]]


def likely_systems(columns: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """Return the columns that name systems by their names, and other possible ones."""
    able = [
        column
        for column in columns
        if column.above >= 0
        and column.kind in ("text", "number")
        and column.length <= _LONGEST_SYSTEM
        and 0 < len(column.counts) <= min(_MOST_SYSTEMS, max(column.rows / _REPEATED, 1))
    ]
    keys = [column for column in able if not column.path and column.above == 0]
    named = [c for c in able if c.words & words.SYSTEM and not c.words & words.CANDIDATE]
    plain = [column for column in named if column.words <= words.SYSTEM | {"name", "id"}]
    near = [column for column in able if column.above == 0 and column.kind == "text"]
    return plain or named or keys, [c for c in near if not c.words & _NO_SYSTEM]


def likely_candidates(columns: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """Return the columns that hold candidates by their names, and other possible ones."""
    texts = [
        column
        for column in columns
        if column.kind == "text" and column.above == 0 and column.path and len(column.counts) > 1
    ]
    named = [c for c in texts if c.words & words.CANDIDATE or c.words == {"answer"}]
    plain = [c for c in named if not c.words & (_NO_TEXT - words.SYSTEM)]
    may = [column for column in texts if not column.words & _NO_TEXT]
    return plain, may or texts


def likely_contexts(columns: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """Return the columns that are the context by their names, and other possible ones."""
    texts = [c for c in columns if c.kind in ("text", "texts") and c.above >= 0 and c.path]
    able = [
        column
        for column in texts
        if (column.kind == "text" or column.words & words.CONTEXT)
        and not column.all_words & words.REFERENCE
        and not column.words & _NO_TEXT
    ]
    near = [c for c in able if c.words & words.CONTEXT and not c.words & words.CANDIDATE]
    return [c for c in near if any(" " in text.strip() for text in c.counts)], able


def find_context_id(columns: Sequence[Column], context: Sequence[Column]) -> Column | None:
    """Return the column of context keys: each of its values belongs to one context."""
    other = words.ANNOTATOR | words.SYSTEM | words.CANDIDATE
    contexts = joint(context)
    named = [c for c in columns if (c.words & words.IDENTIFIER or not c.path) and c.above >= 0]
    found = (
        column
        for column in named
        if column.kind in ("text", "number")
        and not column.words & other
        and (column.above > 0 or column.repetition >= _REPEATED)
        and all(isinstance(value, str | int) for value in column.values)
        and determines(column.values, contexts)
    )
    return max(found, key=lambda column: len(column.counts), default=None)
