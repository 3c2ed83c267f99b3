"""The convert.py of a new source of nested JSON: a loop per level, and what is yielded within."""

import keyword
from collections.abc import Iterator, Sequence

from nnd.converters.new_source.guess import Content, Guess, slug
from nnd.converters.new_source.scaffold.facts import context_template, part_names
from nnd.converters.new_source.scaffold.reads import (
    MAJORITY,
    literal,
    plain,
    read,
    read_judged,
    read_path,
)

_TAKEN = frozenset(
    [
        "annotations",
        "aspect",
        "context_id",
        "files",
        "inputs",
        "judge",
        "judges",
        "key",
        "label",
        "labels",
        "majority",
        "mark",
        "marks",
        "rating",
        "ratings",
        "score",
        "system",
        "vote",
    ]
)
_STEP = "    "


def nested_code(guess: Guess) -> str:
    """Return a generator for what was guessed."""
    chain = chain_of(guess.content, guess.level)
    names = _names(guess.content, chain)
    body = [_STEP * depth + line for depth, line in _loops(guess, chain, names)]
    text = "\n".join(body)
    imports = ["from collections.abc import Iterator"]
    imports += ["from hashlib import sha256"] if "sha256(" in text else []
    imports += ["from statistics import fmean"] if "fmean(" in text else []
    file = guess.content.file
    head = [
        f'"""{plain(file)} as `nnd new-source` read it; mend it where the guess is wrong."""',
        "",
        *imports,
        "",
        "from nnd.converters import Annotation, Files",
        "",
        f"FILE = {literal(file)}",
    ]
    if guess.quality.blank is not None:
        head.append(f"NO_ERROR = {literal(guess.quality.blank)}")
    return "\n".join([*head, "", "", text, ""]) + (MAJORITY if "majority(" in text else "")


def chain_of(content: Content, level: int) -> list[int]:
    """Return the levels from the outermost to `level`."""
    above = content.levels[level].above
    return [*([] if above is None else chain_of(content, above)), level]


def _names(content: Content, chain: Sequence[int]) -> dict[int, str]:
    """Return a variable for the objects of each level, called like the list that they lie in."""
    found: dict[int, str] = {}
    for level in chain:
        path = content.levels[level].path
        name = slug(path[-1] if path else "record", "item")
        name = name.removesuffix("s") if len(name) > 2 else name  # noqa: PLR2004
        if keyword.iskeyword(name) or name in _TAKEN or name in found.values():
            name = f"{name}_{len(found)}" if name in found.values() else f"{name}_item"
        found[level] = name
    return found


def _loops(guess: Guess, chain: Sequence[int], names: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of the generator, each with its depth."""
    yield 0, "def annotations(files: Files) -> Iterator[Annotation]:"
    yield 1, f'"""Yield the annotations of every {names[guess.level]}."""'
    depth = 1
    around = [*guess.context, *(guess.keys[k] for k in ("context_id",) if k in guess.keys)]
    context_level = max(chain.index(column.level) for column in around)
    for place, level in enumerate(chain):
        for line in _loop(guess.content, level, names):
            yield depth, line
            depth += line.endswith(":")
        if place == context_level:
            yield from ((depth, line) for line in _context(guess, names))
    system = read(guess.system, names)
    yield depth, f"system = {system}"
    yield from _yielded(guess, names, depth)


def _loop(content: Content, level: int, names: dict[int, str]) -> Iterator[str]:
    """Yield how the objects of a level are gone through."""
    entry, name = content.levels[level], names[level]
    if entry.above is None:
        kind = "jsonl" if content.file.lower().endswith(".jsonl") else "json"
        if not entry.keyed:
            yield f"for {name} in files.{kind}(FILE):"
            return
        outer = "next(files.json(FILE))"
    elif not entry.keyed:
        yield f"for {name} in {read_path(names[entry.above], entry.path, 'records')}:"
        return
    else:
        outer = read_path(names[entry.above], entry.path, "record")
    yield f"{name}_at = {outer}"
    yield f"for {name}_key in {name}_at.fields:"
    yield f"{name} = {name}_at.record({name}_key)"


def _context(guess: Guess, names: dict[int, str]) -> Iterator[str]:
    """Yield the lines that put the context together."""
    parts = part_names(guess)
    said = ", ".join(f"{literal(part)}: {read(column, names)}" for part, column in parts.items())
    yield f"inputs = {{{said}}}"
    if "context_id" in guess.keys:
        yield f"context_id = {read(guess.keys['context_id'], names)}"
    else:
        yield 'context_id = sha256("\\n".join(inputs.values()).encode()).hexdigest()[:16]'


def _yielded(guess: Guess, names: dict[int, str], depth: int) -> Iterator[tuple[int, str]]:
    """Yield the lines that yield the annotations of one candidate."""
    parts = list(part_names(guess))
    template = literal(context_template(guess))
    context = f'inputs["{parts[0]}"]' if len(parts) == 1 else f"{template}.format_map(inputs)"
    given = {
        "where": f"{names[guess.level]}.where",
        "context_id": "context_id",
        "context": context,
        "inputs": "inputs",
        "candidate_id": _candidate_id(guess, names),
        "candidate": read(guess.candidate, names),
        "system": "system",
    }
    for role in ("category", "split"):
        if role in guess.keys:
            given[role] = read(guess.keys[role], names)
    lines, inner, arguments = _judgements(guess, names)
    yield from ((depth + more, line) for more, line in lines)
    depth += inner
    yield depth, "yield Annotation("
    for name, value in {**given, **arguments}.items():
        yield depth + 1, f"{name}={value},"
    yield depth, ")"


def _candidate_id(guess: Guess, names: dict[int, str]) -> str:
    if "candidate_id" in guess.keys:
        return read(guess.keys["candidate_id"], names)
    if guess.is_ambiguous:
        text = read(guess.candidate, names)
        return f'f"{{context_id}}/{{system}}/" + sha256({text}.encode()).hexdigest()[:8]'
    return 'f"{context_id}/{system}"'


def _judgements(
    guess: Guess, names: dict[int, str]
) -> tuple[list[tuple[int, str]], int, dict[str, str]]:
    """Return the loops over what was judged, their depth, and the arguments that it becomes."""
    by_label = any(measure.has_labels for measure in guess.measures)
    found = {
        measure.aspect: read_judged(measure, guess, names)
        for measure in guess.measures
        if measure.has_labels == by_label
    }
    before = dict.fromkeys(each.before for each in found.values() if each.before is not None)
    lines, depth, aspect = [(0, line) for line in before], 0, "aspect"
    names_said = {each.name for each in found.values()}
    value = "labels" if "labels" in names_said else "ratings" if "ratings" in names_said else ""
    said = {
        name: f"[{each.expression}]" if value and each.name != value else each.expression
        for name, each in found.items()
    }
    value = value or names_said.pop()
    if len(said) == 1:
        ((name, expression),) = said.items()
        lines.append((0, f"{value} = {expression}"))
        aspect = literal(name)
    else:
        pairs = [(1, f"({literal(name)}, {expression}),") for name, expression in said.items()]
        lines += [(0, f"for aspect, {value} in ("), *pairs, (0, "):")]
        depth = 1
    if value == "labels":
        lines.append((depth, "for label in dict.fromkeys(labels):"))
        return lines, depth + 1, {"aspect": aspect, "label": "label"}
    arguments = {"aspect": aspect, value: value}
    if guess.quality.averaged:
        arguments["score"] = "fmean(ratings) if ratings else None"
    return lines, depth, arguments
