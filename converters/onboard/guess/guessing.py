"""Guessing what the columns of unknown annotation files are, with reasons and questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nnd.converters.onboard.contents.level_columns import Column, columns_of
from nnd.converters.onboard.contents.levels import alike_objects
from nnd.converters.onboard.contents.reading_files import Content
from nnd.converters.onboard.guess import row_shapes as shapes
from nnd.converters.onboard.guess.looking import QUESTIONS, ColumnSearch, likely_candidates
from nnd.converters.onboard.guess.measures import Measure
from nnd.converters.onboard.guess.questions import Answers, Ask, Question, ask_for
from nnd.converters.onboard.guess.rule_guess import Quality, choose_quality
from nnd.schemas import SourceError

UNUSED = "not read"
_BETTER = {"rule": "no_error", "no_error": "better"}


@dataclass(frozen=True, slots=True)
class Guess:
    """The guessed meaning of the columns of a file."""

    content: Content
    level: int  # number of the level of the candidates
    columns: tuple[Column, ...]  # all columns, with a value for each candidate
    candidates: tuple[Column, ...]  # the generated text, or the two of a pair
    system: Column | None
    context: tuple[Column, ...]  # one for each part
    keys: dict[str, tuple[Column, ...]]  # context_id, candidate_id, category, … where known
    measures: tuple[Measure, ...]
    quality: Quality
    pair: shapes.Pair | None
    wide: shapes.Wide | None
    aspect: tuple[Column, ...]  # the columns of the aspect of each row, and of its judgement
    error: Column | None  # the error categories of a text that is not good
    tags: tuple[str, ...]  # around marked words in the texts

    @property
    def candidate(self) -> Column:
        """The column of the generated text; of pairs, the first one."""
        return self.candidates[0]

    def roles(self) -> dict[str, str]:
        """Return the guessed meaning of every column, including unread ones."""
        found: dict[str, str] = {}
        for measure in self.measures:
            meaning = f"{measure.kind}: {measure.aspect}"
            found |= {column.name: meaning for column in measure.columns}
        if self.aspect:
            found |= {self.aspect[0].name: "aspect", self.aspect[1].name: "judged"}
        if self.pair is not None:
            found |= {column.name: "system" for column in self.pair.systems}
            found |= {self.pair.verdict.name: "verdict"} if self.pair.verdict else {}
        found |= {self.error.name: "error"} if self.error else {}
        found |= {column.name: "context" for column in self.context}
        for role, columns in self.keys.items():
            found |= {column.name: role.replace("_", " ") for column in columns}
        found |= {column.name: "candidate" for column in self.candidates}
        found |= {self.system.name: "system"} if self.system else {}
        return {column.name: found.get(column.name, UNUSED) for column in self.columns}

    @property
    def read(self) -> list[Column]:
        """The columns that are read, in the order of the file."""
        roles = self.roles()
        return [column for column in self.columns if roles[column.name] != UNUSED]

    @property
    def is_spans(self) -> bool:
        """Whether rows are marked errors, or candidates with lists of them."""
        if len(self.measures) != 1:
            return False
        (measure,) = self.measures
        below = measure.kind == "tags" and measure.columns[0].above < 0
        return below or (measure.kind == "label" and bool(self.tags) and not self.error)


def every_column(content: Content) -> list[Column]:
    """Return the fields of all levels, each with the values of its own level."""
    levels = range(len(content.levels))
    return [c for level in levels for c in columns_of(content, level) if c.level == level]


def guess(content: Content, answers: Answers | None = None, ask: Ask | None = None) -> Guess:
    """Guess what the columns of files mean, and ask what cannot be guessed.

    Without `ask`, which asks a person, a question is an error that names its option.

    Raises:
        SourceError: If a named column is missing, or something cannot be guessed.
    """
    try:
        return _guess(content, answers or Answers(), ask)
    except SourceError as error:
        notes = list(content.notes)
        if keyed := " or ".join(f"--each {path}" for path in alike_objects(content.levels)):
            notes.append(
                f"alike objects are under different keys: to read each of them, use {keyed}"
            )
        raise SourceError("; ".join([str(error), *notes])) from error


def _guess(content: Content, answers: Answers, ask: Ask | None) -> Guess:
    level = _candidate_level(content, answers, ask)
    columns = columns_of(content, level)
    candidates = ColumnSearch(columns, answers, ask).candidates()
    pair = wide = None
    if len(candidates) == 2:  # noqa: PLR2004 - a pair
        pair = shapes.pair_of(candidates, columns, answers, ask)
    if len(candidates) > 1 and pair is None:
        wide = shapes.wide_of(candidates, columns)
        columns = shapes.split_columns(wide, columns)
        answers = _renamed(answers, wide.renamed)
        candidates = ColumnSearch(columns, answers, ask).candidates()
    return _described(ColumnSearch(columns, answers, ask), content, level, candidates, pair, wide)


def _candidate_level(content: Content, answers: Answers, ask: Ask | None) -> int:
    every = every_column(content)
    given = [column.level for column in every if column.name in answers.candidate]
    named, may = likely_candidates(every)
    levels = given or list(dict.fromkeys(column.level for column in named))
    if len(levels) == 1 or len(content.levels) == 1 or answers.candidate:
        return levels[0] if levels else 0
    names = {column.name: column.level for column in named or may}
    why = "several lists may hold them" if named else "no name says so"
    question = Question("candidate", QUESTIONS["candidate"], tuple(names), why)
    return names[ask_for(question, ask)[0]]


def _renamed(answers: Answers, renamed: dict[str, str]) -> Answers:

    def new(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(renamed.get(name, name) for name in names))

    lists = ("candidate", "label", "mark", "score", "rating", "higher", "lower")
    given = {name: new(getattr(answers, name)) for name in lists}
    return replace(answers, system=shapes.SYSTEM, **given)  # type: ignore[arg-type]


def _described(  # noqa: PLR0917 - what was found so far
    search: ColumnSearch,
    content: Content,
    level: int,
    candidates: tuple[Column, ...],
    pair: shapes.Pair | None,
    wide: shapes.Wide | None,
) -> Guess:
    candidates = pair.sides if pair else candidates
    system = () if pair else search.system(candidates)
    taken = [*candidates, *system]
    taken += [*pair.systems, *([pair.verdict] if pair.verdict else ())] if pair else []
    context = search.contexts(taken)
    tags = tuple(shapes.tags_in(candidates))
    parts, texts = ([_untagged(c, tags) for c in columns] for columns in (context, candidates))
    keys, error = search.keys([*taken, *context], parts), search.only("error")
    used = [*taken, *context, *error, *(column for each in keys.values() for column in each)]
    candidate = [*(keys["context_id"] or parts), *texts, *system]
    candidate += [*keys["split"], *keys["group"], *keys["candidate_id"]]
    aspect, who, measures = tuple[Column, ...](), tuple[Column, ...](), list[Measure]()
    if pair is not None:
        kinds = [*error[0].counts] if error else ["worse"]
        quality = Quality(_BETTER, "a row says which text is better", ("better", *kinds))
        who = search.annotator(used, must=False) if pair.verdict else ()
    else:
        aspect, who, measures = search.judgements(candidate, used, is_marked=bool(tags))
        by_who = bool(who)
        quality = choose_quality(measures, search.answers, search.ask, error, by_annotator=by_who)
        if system and not tags and search.answers.candidate_id is None and not keys["candidate_id"]:
            keys["candidate_id"] = search.candidate_id(candidate, texts[0])
    keys |= {"annotator": who}
    return Guess(
        content=content,
        level=level,
        columns=tuple(search.columns),
        candidates=candidates,
        system=system[0] if system else None,
        context=context,
        keys={role: columns for role, columns in keys.items() if columns},
        measures=tuple(measures),
        quality=quality,
        pair=pair,
        wide=wide,
        aspect=aspect,
        error=error[0] if error else None,
        tags=tags,
    )


def _untagged(column: Column, tags: Sequence[str]) -> Column:
    if not tags:
        return column
    bare = [shapes.without_tags(v, tags) if isinstance(v, str) else v for v in column.values]
    return replace(column, values=bare)
