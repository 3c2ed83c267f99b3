"""Axes of slices, as written after `--by`.

    NAME[:WORD…][=EDGE,EDGE,…]        length    length:words    length:words=0,10,20
                                      novelty:low               length=0%,50%,100%
                                      margin:quantiles=4        error_category

Words choose the measure. Edges make half-open bins, the last closed (`bins`); `quantiles=K` stands
for K equal percentages. Without either, numbers are cut into quartiles, novelty into tenths.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from nnd.metric.numbers.slices.bins import Edge, check_edges
from nnd.metric.numbers.slices.text_measures import DISTANCES, LENGTHS
from nnd.schemas import ScoringError, did_you_mean

_CONTEXT, _CANDIDATES = ("context", "high", "low"), ("high", "low")

MEASURES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "length": (tuple(LENGTHS), _CONTEXT),
    "sentences": (_CONTEXT,),
    "turns": (),
    "components": (),
    "candidates": (),
    "novelty": (_CANDIDATES,),
    "nearness": (tuple(DISTANCES),),
    "margin": (),
    "agreement": (),
}
"""Numeric axis → its words: one of each tuple, of which the first is the default."""

LABELS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "category": (),
    "error_category": (),
    "error_group": (),
    "aspect": (),
    "shape": (_CONTEXT,),
    "system": (),
    "language": (),
    "split": (),
    "seen": (),
}
"""Axis of names → its words, likewise."""

_QUANTILES = "quantiles"
_EDGE = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)\s*")
_MOST_QUANTILES = 100


class Axis(NamedTuple):
    """One axis of slices.

    `title` is as given by the user, without edges. `name` is one of MEASURES or LABELS, or a part
    of inputs or metadata. `words` has one word for each choice of the axis.
    """

    title: str
    name: str
    words: tuple[str, ...]
    edges: tuple[Edge, ...] | None


def read_axes(texts: Sequence[str]) -> list[Axis]:
    """Parse axes from texts, each of which may list several, separated by commas."""
    axes = [_read(each) for text in texts for each in _split(text)]
    titles = [axis.title for axis in axes]
    twice = [title for title in titles if titles.count(title) > 1]
    if twice:
        raise ScoringError("name.twice", f'"{twice[0]}" is named twice', "--by")
    return axes


def _split(text: str) -> Iterator[str]:
    """Yield the axes of a list; numbers belong to the axis before them."""
    together: list[str] = []
    for part in text.split(","):
        if together and "=" in together[0] and _EDGE.fullmatch(part):
            together.append(part)
            continue
        if together:
            yield ",".join(together)
        together = [part]
    yield ",".join(together)


def _read(text: str) -> Axis:
    before, equals, after = text.strip().partition("=")
    name, *words = (part.strip() for part in before.split(":"))
    if not name:
        raise ScoringError(
            "input.missing",
            where='--by ""',
            remedy="name what to slice by, such as length or error_category",
        )
    quantiles = _QUANTILES in words
    words = [word for word in words if word != _QUANTILES]
    title = ":".join([name, *words])
    where = f'--by "{text.strip()}"'
    chosen = _choose(MEASURES.get(name) or LABELS.get(name) or (), words, where)
    if quantiles:
        edges: tuple[Edge, ...] | None = _percentages(after, where)
    elif equals:
        edges = tuple(_edge(part, where) for part in after.split(","))
    else:
        edges = _percentages("4", where) if name in MEASURES and name != "novelty" else None
    if edges is not None:
        if name in LABELS:
            raise ScoringError(
                "option.conflict", f"{name} has names, not numbers", where, "leave the edges out"
            )
        check_edges(edges, where)
    return Axis(title, name, chosen, edges)


def _choose(choices: Sequence[Sequence[str]], words: Sequence[str], where: str) -> tuple[str, ...]:
    """Return one word of every choice: the one that is named, else the first."""
    known = [word for choice in choices for word in choice]
    for word in words:
        if word not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes no words"
            raise ScoringError(
                "option.unknown-value",
                f'unknown word "{word}"{did_you_mean(word, known)}',
                where,
                f"{takes}, and quantiles=K where it has numbers",
            )
    chosen = []
    for choice in choices:
        named = [word for word in words if word in choice]
        if len(named) > 1:
            raise ScoringError(
                "option.conflict", f"{' and '.join(named)} exclude each other", where, "give one"
            )
        chosen.append(named[0] if named else choice[0])
    return tuple(chosen)


def _percentages(text: str, where: str) -> tuple[Edge, ...]:
    if not re.fullmatch(r"\s*[0-9]{1,3}\s*", text) or not 0 < int(text) <= _MOST_QUANTILES:
        raise ScoringError(
            "slice.edges",
            f'"{text}" is not a number of quantiles',
            where,
            f"give a whole number from 1 to {_MOST_QUANTILES}, such as quantiles=4",
        )
    count = int(text)
    return tuple(Edge(Fraction(100 * k, count), is_percentage=True) for k in range(count + 1))


def _edge(text: str, where: str) -> Edge:
    found = _EDGE.fullmatch(text)
    if found is None:
        raise ScoringError(
            "slice.edges",
            f'"{text}" is not an edge',
            where,
            "give numbers (0,10,20) or percentages (0%,50%,100%)",
        )
    return Edge(Fraction(found[1]), bool(found[2]))
