"""What the columns of an unknown annotation file are: a guess with reasons."""

from collections.abc import Sequence
from dataclasses import dataclass

from nnd.converters.new_source.guess import words
from nnd.converters.new_source.guess.aspects import Measure
from nnd.converters.new_source.guess.columns import Column, columns_of, joint
from nnd.converters.new_source.guess.content import Content
from nnd.converters.new_source.guess.measures import chosen_measures, find_measures, one_per_aspect
from nnd.converters.new_source.guess.quality import Quality, choose_quality
from nnd.converters.new_source.guess.questions import Answers, Ask, Question, ask_for
from nnd.converters.new_source.guess.roles import (
    Pick,
    Ranking,
    find_candidate_id,
    find_context_id,
    find_property,
    pick_contexts,
    rank_candidates,
    rank_contexts,
    rank_systems,
)
from nnd.converters.new_source.guess.shapes import (
    check_names,
    check_not_compared,
    check_not_wide,
    check_numbers,
    check_one_aspect,
    check_scales,
)
from nnd.converters.reading import shown
from nnd.schemas import SourceError

NAMED = "it was named"

_UNUSED = "not used"
_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class Guess:
    """What the columns of a file were taken for.

    Attributes:
        content: The file.
        level: Which of its levels the candidates are.
        columns: All its columns, as the candidates see them.
        candidate: The column of the generated text.
        system: The column of the system that wrote it.
        context: The columns of the context, a part each.
        keys: context_id, candidate_id, category, split → column, where there is one.
        measures: What was judged.
        quality: The rule, and how labels are read.
        why: Name of a column → why it was taken for what it is.
    """

    content: Content
    level: int
    columns: tuple[Column, ...]
    candidate: Column
    system: Column
    context: tuple[Column, ...]
    keys: dict[str, Column]
    measures: tuple[Measure, ...]
    quality: Quality
    why: dict[str, str]

    def roles(self) -> dict[str, str]:
        """Return what every column was taken for, those that were left aside included."""
        found = {self.candidate.name: "candidate", self.system.name: "system"}
        found |= {column.name: "context" for column in self.context}
        found |= {column.name: role.replace("_", " ") for role, column in self.keys.items()}
        for measure in self.measures:
            said = f"{measure.kind}: {measure.aspect}"
            found |= {column.name: said for column in measure.columns}
        return {column.name: found.get(column.name, _UNUSED) for column in self.columns}

    @property
    def unused(self) -> list[Column]:
        """The columns that were left aside."""
        roles = self.roles()
        return [column for column in self.columns if roles[column.name] == _UNUSED]

    @property
    def has_people(self) -> bool:
        """Whether some column says who judged."""
        return any(column.all_words & words.ANNOTATOR for column in self.columns)

    @property
    def is_repeated(self) -> bool:
        """Whether a candidate is in several rows: one for each annotator, or each mark."""
        found = self._own_candidates()
        return len(set(found)) < len(found)

    @property
    def is_ambiguous(self) -> bool:
        """Whether a system wrote several texts for one context, and they have no key."""
        if "candidate_id" in self.keys:
            return False
        keys = set(joint([*self._context_key(), self.system]))
        return len(set(self._own_candidates())) > len(keys)

    def _context_key(self) -> list[Column]:
        keys = [self.keys[name] for name in ("context_id", "split") if name in self.keys]
        return keys if "context_id" in self.keys else [*self.context, *keys]

    def _own_candidates(self) -> list[object]:
        return list(joint([*self._context_key(), self.system, self.candidate]))


def guess(content: Content, answers: Answers | None = None, ask: Ask | None = None) -> Guess:
    """Guess what the columns of a file are, and ask only what cannot be guessed.

    Args:
        content: The file.
        answers: What need not be guessed.
        ask: Puts a question to a person; None: what would be asked is an error that names its flag.

    Raises:
        SourceError: If a column that was named is not there, or something cannot be guessed.
    """
    told = answers or Answers()
    level = _candidate_level(content, told)
    columns = tuple(columns_of(content, level))
    look = _Look(columns, told, ask)
    system, candidate = look.system_and_candidate()
    parts = look.contexts([system.column, candidate.column])
    context = tuple(part.column for part in parts)
    keys = look.keys(system.column, candidate.column, context)
    picked = [system, candidate, *parts, *keys.values()]
    measures = look.measures([pick.column for pick in picked])
    why = {pick.column.name: pick.why for pick in picked}
    why |= {column.name: measure.why for measure in measures for column in measure.columns}
    for column in columns:
        if column.spoilt_by is not None:
            why.setdefault(column.name, f"it holds numbers, and {shown(column.spoilt_by)}")
    found = Guess(
        content=content,
        level=level,
        columns=columns,
        candidate=candidate.column,
        system=system.column,
        context=context,
        keys={name: pick.column for name, pick in keys.items()},
        measures=tuple(measures),
        quality=choose_quality(measures, told, ask),
        why=why,
    )
    if found.is_repeated:
        check_one_aspect(found.unused)
    return found


_NUMBERS = ("number", "numbers")
_JUDGED = "Which columns say how good a candidate is?"
_QUESTIONS = {
    "system": "Which column names the system that wrote the candidate?",
    "candidate": "Which column holds the candidates, the texts that systems generated?",
    "context": "Which columns are the context, what the systems were given?",
    "score": _JUDGED,
    "label": _JUDGED,
}


@dataclass(frozen=True, slots=True)
class _Look:
    """The columns that are looked at, what the user said of them, and who can be asked."""

    columns: Sequence[Column]
    told: Answers
    ask: Ask | None

    def named(self, flag: str, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        names = ", ".join(shown(column.name) for column in self.columns)
        raise SourceError(f"--{flag}: there is no column {shown(name)}; the columns are {names}")

    def system_and_candidate(self) -> tuple[Pick, Pick]:
        told, systems = self.told, rank_systems(self.columns)
        if told.candidate is None:
            for likeliest in rank_candidates(self.columns, None).columns[:1]:
                check_not_compared(likeliest, self.columns)
            if told.system is None and systems.clear is None:
                check_not_wide(self.columns)
        system = self.one("system", told.system, systems)
        check_names(system.column)
        candidates = rank_candidates(self.columns, system.column)
        return system, self.one("candidate", told.candidate, candidates)

    def one(self, role: str, told: str | None, ranking: Ranking) -> Pick:
        """Return the column that was named, the likeliest one, or the answer of a person."""
        if told is not None:
            return Pick(self.named(role, told), NAMED)
        if ranking.clear is not None:
            return ranking.clear
        (chosen,) = self.asked(role, ranking.columns, ranking.doubt)
        return Pick(chosen, NAMED)

    def asked(
        self, role: str, columns: Sequence[Column], why: str, *, many: bool = False
    ) -> list[Column]:
        """Ask which columns are something."""
        names = tuple(column.name for column in columns)
        held = tuple(", ".join(samples(column)) for column in columns)
        question = Question(role, _QUESTIONS[role], names, why, many, held)
        return [self.named(role, name) for name in ask_for(question, self.ask)]

    def contexts(self, taken: Sequence[Column]) -> list[Pick]:
        if self.told.context:
            return [Pick(self.named("context", name), NAMED) for name in self.told.context]
        ranking = rank_contexts(self.columns, taken)
        picks = pick_contexts(ranking)
        if picks:
            order = {column.name: place for place, column in enumerate(self.columns)}
            return sorted(picks, key=lambda pick: order[pick.column.name])
        asked = self.asked("context", ranking.columns, ranking.doubt, many=True)
        return [Pick(column, NAMED) for column in asked]

    def keys(self, system: Column, candidate: Column, context: Sequence[Column]) -> dict[str, Pick]:
        """Return the columns of keys, and of what all candidates of a context share."""
        named = {
            role: self.named(role.replace("_", "-"), name)
            for role in ("context_id", "candidate_id", "category", "split")
            if (name := getattr(self.told, role)) is not None
        }
        judged = (*self.told.label, *self.told.score, *self.told.rating)
        taken = [system, candidate, *context, *named.values()]
        taken += [column for column in self.columns if column.name in judged]
        free = [column for column in self.columns if column not in taken]
        context_id = named.get("context_id") or find_context_id(free, context)
        key = joint(context if context_id is None else [_column(context_id)])
        texts = joint([*context, system, candidate])
        own = find_candidate_id(free) if len(set(texts)) == len(texts) else None
        found: dict[str, Column | Pick | None] = {
            "context_id": context_id,
            "candidate_id": named.get("candidate_id") or own,
            "category": named.get("category") or find_property(free, words.CATEGORY, key),
            "split": named.get("split") or find_property(free, words.SPLIT, key),
        }
        return {
            role: Pick(each, NAMED) if isinstance(each, Column) else each
            for role, each in found.items()
            if each is not None
        }

    def measures(self, taken: Sequence[Column]) -> list[Measure]:
        told = self.told
        named = [
            [self.named(flag, name) for name in names]
            for flag, names in (
                ("label", told.label),
                ("score", told.score),
                ("rating", told.rating),
            )
        ]
        free = [column for column in self.columns if column not in taken]
        found = chosen_measures(*named) if any(named) else find_measures(free)
        if not any(named):
            check_scales(found)
        if not found:
            check_numbers(free)
            found = self.asked_measures(free)
        return one_per_aspect(found)

    def asked_measures(self, free: Sequence[Column]) -> list[Measure]:
        near = [column for column in free if column.above <= 0 and column.counts]
        numbers = [column for column in near if column.kind in _NUMBERS]
        role, why = "score", "labels go by --label, ratings of several annotators by --rating"
        if near and not numbers:
            role, why = "label", "none of them holds numbers"
        picked = self.asked(role, near, why, many=True)
        scores = [column for column in picked if column in numbers]
        return chosen_measures([c for c in picked if c not in scores], scores, [])


def _column(found: Column | Pick) -> Column:
    return found.column if isinstance(found, Pick) else found


def _candidate_level(content: Content, told: Answers) -> int:
    """Return the level of the candidates: where the named column is, or the likeliest."""
    points: list[tuple[int, int]] = []
    for level in range(len(content.levels)):
        own = [column for column in columns_of(content, level) if column.level == level]
        if any(column.name == told.candidate for column in own):
            return level
        best = rank_candidates(own, None).points + rank_systems(own).points
        if len(content.levels[level].owners) > 1:
            points.append((best, -level))
    return -max(points)[1] if points else 0


def samples(column: Column) -> list[str]:
    """Return the first few different values of a column, as a table shows them."""
    return [shown(value) for value in list(column.counts)[:_SAMPLES]]
