"""Examples of pairs and annotations for terminals and notebooks.

Words in which two candidates differ are in [brackets], and coloured if colours are available. Long
texts are cut; long candidates begin shortly before their first difference.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from nnd.converters.folder.examples.difference import Piece, mark_differences
from nnd.schemas import Printable, choose_examples, counted, excerpt, one_line, text_table

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

Row: TypeAlias = "tuple[str, str | Text]"

_LONGEST_PART = 320
_LONGEST_CANDIDATE = 480
_BEFORE_DIFFERENCE = 80
_LONGEST_NAME = 24
_WHOLE = 10**9


@dataclass(frozen=True, slots=True, repr=False)
class Examples(Printable):
    """A few rows to look at.

    Attributes:
        name: Name of the data.
        noun: `pair` or `annotation`.
        rows: The chosen rows of the pair or the annotation schema.
        total: How many rows the data has.
        whole: Whether long texts are shown uncut.
    """

    name: str
    noun: Literal["pair", "annotation"]
    rows: pl.DataFrame
    total: int
    whole: bool = False

    def headline(self) -> str:
        """Return how many there are, and how many are shown."""
        return f"{self.name} has {counted(self.total, self.noun)}; {self.rows.height} shown."

    def table(self) -> "Table | None":
        """Return a block for each row, with its context and its texts."""
        if self.rows.is_empty():
            return None
        table = text_table(("", "texts"), prose=["texts"])
        table.columns[1].overflow = "fold"  # a text may hold no space
        described = _pair_rows if self.noun == "pair" else _annotation_rows
        for number, row in enumerate(self.rows.iter_rows(named=True), start=1):
            table.add_section()
            (name, head), *others = described(row, whole=self.whole)
            table.add_row(f"{name} {number}", _plain(head))
            for title, text in others:
                table.add_row(title, text)
        return table

    def remarks(self) -> list[str]:
        """Return what the brackets mean."""
        if self.noun == "annotation" or self.rows.is_empty():
            return []
        return ["In [brackets]: words that the other candidate does not have there."]

    def to_frame(self) -> pl.DataFrame:
        """Return the chosen rows."""
        return self.rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, with uncut rows."""
        return {"name": self.name, f"{self.noun}s": self.total, "shown": self.rows.to_dicts()}


def pair_examples(name: str, pairs: pl.DataFrame, most: int, *, whole: bool = False) -> Examples:
    """Choose example pairs of as many error categories as possible (`choose_examples`)."""
    return Examples(name, "pair", choose_examples(pairs, most), pairs.height, whole)


def annotation_examples(
    name: str, annotations: pl.DataFrame, most: int, *, whole: bool = False
) -> Examples:
    """Choose example annotations: the first of each aspect and label, then the second of each."""
    turn = pl.int_range(pl.len()).over("aspect", "label")
    chosen = annotations.with_row_index("row").sort(turn, "row").head(most).drop("row")
    return Examples(name, "annotation", chosen, annotations.height, whole)


def _pair_rows(pair: Mapping[str, Any], *, whole: bool) -> Iterator[Row]:
    label = pair["error_category"] or pair.get("aspect") or "no category"
    systems = [pair.get(f"system_{side}") for side in ("high", "low")]
    beats = "" if None in systems else f": {systems[0]} beats {systems[1]}"
    made = ("origin",) if str(pair.get("origin")).startswith("synthetic:") else ()
    yield "pair", f"{label}{beats}\n{_facts(pair, ('pair_id', 'context_id', 'margin', *made))}"
    yield from _parts(pair, whole=whole)
    high, low = (_readable(pair[f"candidate_{side}"]) for side in ("high", "low"))
    marked = mark_differences(high, low)
    start = max(0, min(map(_alike, marked)) - _BEFORE_DIFFERENCE)
    if whole or max(len(high), len(low)) <= _LONGEST_CANDIDATE:
        start = 0
    longest = _WHOLE if whole else _LONGEST_CANDIDATE
    for title, pieces, style in zip(("better", "worse"), marked, ("green", "red"), strict=True):
        yield title, _marked(pieces, start, longest, style)
    if not any(piece.differs for pieces in marked for piece in pieces):
        yield "", "(the same words: they differ in blanks only, or not at all)"


def _alike(pieces: Sequence[Piece]) -> int:
    """Return the number of characters before the first difference."""
    return len(pieces[0].text) if pieces and not pieces[0].differs else 0


def _annotation_rows(row: Mapping[str, Any], *, whole: bool) -> Iterator[Row]:
    ratings = "/".join(f"{rating:g}" for rating in row["ratings"] or ())
    judged = [
        f"{name} {value}"
        for name, value in (("label", row["label"]), ("score", _number(row["score"])))
        if value is not None
    ]
    judged += [f"ratings {ratings}"] if ratings else []
    by = f"by {row['system']}, " if row["system"] else ""
    said = ", ".join(judged) or "no judgement"
    yield "annotation", f"{by}{row['aspect']}: {said}\n{_facts(row, ('candidate_id', 'group'))}"
    yield from _parts(row, whole=whole)
    yield "candidate", _cut(_readable(row["candidate"]), whole, _LONGEST_CANDIDATE) or "(empty)"


def _facts(row: Mapping[str, Any], names: Iterable[str]) -> str:
    known = (*names, "split", "category")
    return ", ".join(
        f"{name.removesuffix('_id')} {_number(row[name])}"
        for name in known
        if row.get(name) is not None
    )


def _number(value: object) -> object:
    return f"{value:g}" if isinstance(value, float) else value


def _parts(row: Mapping[str, Any], *, whole: bool) -> Iterator[Row]:
    """Yield the parts of a context by name, or the context if it has no parts."""
    inputs = row.get("inputs") or {}
    pairs = inputs.items() if isinstance(inputs, Mapping) else (entry.values() for entry in inputs)
    for name, text in list(pairs) or [("context", row["context"])]:
        if text is not None:
            yield (
                one_line(excerpt(name, _LONGEST_NAME)),
                _cut(_readable(text), whole, _LONGEST_PART),
            )


def _readable(text: str) -> str:
    """Return the lines of a text, with blanks folded and invisible characters as escapes."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(one_line(line) for line in lines if line)


def _plain(text: "str | Text") -> "str | Text":
    return "\n".join(map(one_line, text.split("\n"))) if isinstance(text, str) else text


def _cut(text: str, whole: bool, longest: int) -> str:  # noqa: FBT001
    return text if whole else excerpt(text, longest)


def _marked(pieces: Iterable[Piece], start: int, longest: int, style: str) -> "Text":
    """Return pieces as one marked text from `start`, cut if it is long."""
    from rich.text import Text  # noqa: PLC0415 - slow, and only people look at it

    text, at, end = Text("…" if start else ""), 0, start + longest
    for piece in pieces:
        kept = piece.text[max(0, start - at) : max(0, end - at)]
        at += len(piece.text)
        if piece.differs and kept:
            text.append(f"[{kept}]", f"bold {style}")
        else:
            text.append(kept)
    text.append("…" if at > end else "")
    return text or Text("(empty)")
