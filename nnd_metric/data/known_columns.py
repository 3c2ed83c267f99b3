"""Pairs in tables of one's own, whose columns have known names or are named by the user.

BLiMP and its kin have `sentence_good, sentence_bad`; TRL and RewardBench `prompt, chosen, rejected`
as texts or messages. Their other columns are not read.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from nnd.metric.data.any_frames import Column, frame_of_lists
from nnd.metric.data.completion import IDS, OPTIONAL
from nnd.metric.data.message_pairs import MessagePair, read_pair
from nnd.metric.data.pair_columns import COLUMNS
from nnd.schemas import ScoringError, check_known, did_you_mean, listed, read_number


class Layout(NamedTuple):
    """Names of the columns that hold the better and the worse text, and perhaps the context."""

    high: str
    low: str
    contexts: tuple[str, ...] = ("context", "prompt")


_OURS = Layout("candidate_high", "candidate_low", ("context",))
_LAYOUTS = (
    _OURS,
    Layout("sentence_good", "sentence_bad", ()),
    Layout("chosen", "rejected", ("prompt",)),
)

_CONVERSATIONS = "conversations"
"""The prompts of preferences in ShareGPT's form, as LLaMA-Factory reads them."""

CATEGORY_COLUMNS = ("error_category", "subset", "UID", "category")
"""Columns that are read as the error category, the first that exists; in tables with our names,
`category` is that of the context."""

_SYSTEMS = {"system_high": "chosen_model", "system_low": "rejected_model"}

_KEPT = (
    *("split", "language", "context_language", "aspect", "error_group"),
    *("context_id", "pair_id", "group"),
)
"""Columns of ours that tables with other names may have too."""

_KEYS = {"high": "candidate_high", "low": "candidate_low", "category": "error_category"}
"""Short names of our columns in `columns`."""

_PARTS = {"context": "context", "high": "candidate_high", "low": "candidate_low"}
"""Short names of our columns of texts."""

_NAMED = ("context", *_KEYS.values(), *_KEPT, "system_high", "system_low")
"""Columns of ours that can be named."""

_READ = {
    *COLUMNS,
    *(name for each in _LAYOUTS for name in (each.high, each.low, *each.contexts)),
    *(_CONVERSATIONS, *CATEGORY_COLUMNS, *_SYSTEMS.values(), *_KEPT),
}

_MOST_LISTED = 40

_TEXTS = (pl.String, pl.Categorical, pl.Enum)


class OwnTable(NamedTuple):
    """A table whose columns may have any names.

    `where` returns the place of a row for messages, given its number; `label` is what messages call
    the table, and `name` what results do. `names` are those of all columns, read or not.
    """

    name: str
    columns: Mapping[str, Column]
    where: Callable[[int], str]
    label: str
    names: Sequence[str]

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str) -> "OwnTable":
        """Return the table of a frame."""
        columns = {each: frame[each] for each in frame.columns}
        return cls(name, columns, lambda row: f"{name}: row {row}", name, frame.columns)

    def with_numbers(self, name: str) -> "OwnTable":
        """Return the table with numbers in a column, where others spell them (`read_number`)."""
        numbers = list[float | None]()
        for row, value in enumerate(self.columns[name]):
            try:
                numbers.append(None if value is None else read_number(value))
            except TypeError as error:
                what = f"{name}: {error}"
                raise ScoringError("cell.not-a-number", what, self.where(row)) from error
        return self._replace(columns={**self.columns, name: pl.Series(numbers, dtype=pl.Float64)})

    def frame(self) -> pl.DataFrame:
        """Return the table as a frame."""
        try:
            return frame_of_lists(self.columns)
        except ScoringError as error:
            raise error.inside(self.label) from error


def columns_read(columns: Mapping[str, str] | None = None, cluster: str | None = None) -> set[str]:
    """Return the names of all columns that `frame_of_table` may read."""
    return {*_READ, *(columns or {}).values(), *([cluster] if cluster else [])}


def frame_of_table(
    table: OwnTable, columns: Mapping[str, str] | None = None, cluster: str | None = None
) -> pl.DataFrame:
    """Return the pairs of a table with the names of our columns.

    `columns` gives `high`, `low`, `context`, `category` or another column of ours → column of the
    table that holds it; the values of the column `cluster` say which pairs belong together.
    """
    chosen = _choose(table, columns or {}, cluster)
    sides = {key: chosen.pop(name) for key, name in _PARTS.items() if name in chosen}
    others = {ours: table.columns[theirs] for ours, theirs in chosen.items()}
    frame = _with_columns(_texts_of(table, sides), others, table.where)
    ordered = [name for name in table.columns if name in frame.columns]
    return frame.select(*ordered, pl.exclude(ordered))


def _choose(table: OwnTable, asked: Mapping[str, str], cluster: str | None) -> dict[str, str]:
    """Return our column → the table's."""
    there = table.columns
    named = {_KEYS.get(key, key): column for key, column in asked.items()}
    unknown = [key for key in asked if _KEYS.get(key, key) not in _NAMED]
    known = [*_KEYS, *(name for name in _NAMED if name not in _KEYS.values())]
    check_known("key", unknown, known, "columns", code="key.unknown", family=ScoringError)
    for column in [*named.values(), *([cluster] if cluster else [])]:
        if column not in there:
            raise ScoringError(
                "column.missing",
                f"column {column} is missing{did_you_mean(column, table.names)}",
                table.label,
                f"the columns are {listed(table.names, _MOST_LISTED)}",
            )
    layout = _layout(table, named)
    is_ours = layout == _OURS
    found = {"candidate_high": layout.high, "candidate_low": layout.low}
    contexts = [each for each in layout.contexts if each in there]
    if not contexts and layout.high == "chosen" and _CONVERSATIONS in there:
        contexts = [_CONVERSATIONS]
    if len(contexts) > 1 and "context" not in named:
        raise _ambiguous(table, "context", contexts)
    if contexts:
        found["context"] = contexts[0]
    categories = [each for each in CATEGORY_COLUMNS[: -1 if is_ours else None] if each in there]
    if categories:
        found["error_category"] = categories[0]
    found |= {ours: theirs for ours, theirs in _SYSTEMS.items() if theirs in there}
    kept = there if is_ours else [name for name in _KEPT if name in there]
    found |= {name: name for name in kept if name not in found}
    return found | named | ({"cluster": cluster} if cluster else {})


def _layout(table: OwnTable, named: Mapping[str, str]) -> Layout:
    there, sides = table.columns, ("candidate_high", "candidate_low")
    if any(side in named for side in sides):
        if not all(side in named for side in sides):
            raise ScoringError(
                "option.needs-another",
                where="columns",
                remedy="name both the better text, high=…, and the worse, low=…",
            )
        return Layout(named["candidate_high"], named["candidate_low"])
    found = [each for each in _LAYOUTS if each.high in there and each.low in there]
    if len(found) > 1:
        raise _ambiguous(table, "high", [f"{each.high} and {each.low}" for each in found])
    half = [each for each in _LAYOUTS if each.high in there or each.low in there]
    if not found and half:
        (missing,) = {half[0].high, half[0].low} - {*there}
        raise ScoringError(
            "column.missing",
            f"column {missing} is missing",
            table.label,
            f"the columns are {listed(table.names, _MOST_LISTED)}",
        )
    if not found:
        known = ", or ".join(f"{each.high} and {each.low}" for each in _LAYOUTS)
        raise ScoringError(
            "column.missing",
            f"no columns with known names ({known}); the columns are "
            f"{listed(table.names, _MOST_LISTED)}",
            table.label,
            "rename them, or use nnd evaluate --columns high=COLUMN,low=COLUMN,"
            "context=COLUMN; if each row is one judged text, write a source that makes pairs of "
            "them: nnd new-source NAME --from FILE",
        )
    return found[0]


def _ambiguous(table: OwnTable, key: str, names: Sequence[str]) -> ScoringError:
    remedy = "high=COLUMN,low=COLUMN" if key == "high" else f"{key}=COLUMN"
    return ScoringError(
        "column.ambiguous",
        f"the table has {' and also '.join(names)}",
        table.label,
        f"rename one of them, or choose with nnd evaluate --columns {remedy}",
    )


def _texts_of(table: OwnTable, sides: Mapping[str, str]) -> pl.DataFrame:
    """Return context, candidate_high and candidate_low, and `inputs` if prompts are dialogues."""
    columns = {key: table.columns[name] for key, name in sides.items()}
    if all(isinstance(each, pl.Series) and each.dtype in _TEXTS for each in columns.values()):
        return _plain_texts(table, sides)
    for key, column in columns.items():
        dtype = column.dtype if isinstance(column, pl.Series) else pl.Null()
        if dtype not in (*_TEXTS, pl.List, pl.Struct, pl.Null):
            raise ScoringError("column.wrong-type", f"column {sides[key]} is {dtype}", table.label)
    lists = {
        key: column.to_list() if isinstance(column, pl.Series) else column
        for key, column in columns.items()
    }
    prompts = lists.get("context", [None] * len(lists["high"]))
    pairs: list[MessagePair] = []
    for row, cells in enumerate(zip(prompts, lists["high"], lists["low"], strict=True)):
        try:
            pairs.append(read_pair(*cells, names=sides))
        except ScoringError as error:
            raise error.inside(table.where(row)) from error
    texts = {
        "context": [pair.context for pair in pairs],
        "candidate_high": [pair.high for pair in pairs],
        "candidate_low": [pair.low for pair in pairs],
    }
    if any(pair.is_dialogue for pair in pairs):
        texts["inputs"] = [pair.parts() for pair in pairs]  # type: ignore[misc] # objects
    return frame_of_lists(texts)


def _plain_texts(table: OwnTable, sides: Mapping[str, str]) -> pl.DataFrame:
    found = {}
    for key, name in sides.items():
        column = pl.Series(table.columns[name])
        if column.null_count():
            row = int(column.is_null().arg_max() or 0)
            raise ScoringError("cell.null", f"{name} is null", table.where(row))
        found[_PARTS[key]] = column.cast(pl.String)
    frame = pl.DataFrame(found)
    return frame if "context" in found else frame.with_columns(context=pl.lit(""))


def _with_columns(
    texts: pl.DataFrame, others: Mapping[str, Column], where: Callable[[int], str]
) -> pl.DataFrame:
    series = [each.alias(name) for name, each in others.items() if isinstance(each, pl.Series)]
    lists = {name: each for name, each in others.items() if not isinstance(each, pl.Series)}
    for name in {*OPTIONAL, *IDS} & lists.keys():  # which may be numbers in some rows only
        lists[name] = [_key_text(key, name, row, where) for row, key in enumerate(lists[name])]
    return texts.with_columns(*series, *frame_of_lists(lists).get_columns())


def _key_text(key: Any, name: str, row: int, where: Callable[[int], str]) -> Any:  # noqa: ANN401
    """Return a number as a text, and true and false as JSON spells them."""
    if isinstance(key, float) and not math.isfinite(key):
        raise ScoringError("cell.not-text", f"{name} is {key}", where(row), "leave it empty")
    if isinstance(key, bool):
        return str(key).lower()
    return str(key) if isinstance(key, int | float) else key
