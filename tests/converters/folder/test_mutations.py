"""What looks like a converted folder, and is not what its annotations give: found, row by row.

Every change is an honest-looking one: columns, dtypes, pair_ids and the manifest's digests fit.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.card_folders import make_folder, row
from support.stored_folders import in_row, restated, rewrite, store

from nnd.converters.folder.validation import validate
from nnd.converters.pairs import pair_ids

Change = Callable[[Path], None]

PAIRS, SCORES, ANNOTATIONS = "pairs.parquet", "human_scores.parquet", "annotations.parquet"

# Rows of pairs.parquet: 0 is c1: a over b (wrong), 1 is c1: a over c (rude), 2 is c2: d over e.
# Rows of human_scores.parquet, by system and category: heron 0-2, plover 3-5, wren 6-8.
# Rows of annotations.parquet: a, b, c of c1; d, e of c2.


SECOND = {"context_id": "c2", "context": "Who dives?", "inputs": {"question": "Who dives?"}}
ROWS = [
    row("a", "heron", "good", score=1.0, category="birds"),
    row("b", "wren", "wrong", score=0.25, category="birds"),
    row("c", "plover", "rude", score=0.5, category="birds"),
    row("d", "wren", "good", score=1.0, **SECOND),
    row("e", "heron", "wrong", score=0.0, **SECOND),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("toy"), ROWS, name="toy")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "out")


def pair(row: int, **cells: Any) -> Change:
    """Change cells of a pair; its pair_id becomes the digest of what it says then."""

    def change(folder: Path) -> None:
        pairs = pl.read_parquet(folder / PAIRS)
        columns = [in_row(row, cells[name], name, pairs.schema[name]) for name in cells]
        changed = pairs.with_columns(columns)
        if "pair_id" not in cells:
            changed = changed.with_columns(pair_id=pair_ids(changed))
        store(folder, PAIRS, changed)

    return change


def rows(name: str, choose: Callable[[pl.DataFrame], pl.DataFrame]) -> Change:
    """Leave rows out, or add some."""
    return lambda folder: store(folder, name, choose(pl.read_parquet(folder / name)))


def cell(name: str, row: int, column: str, value: Any) -> Change:
    def change(folder: Path) -> None:
        dtype = pl.read_parquet_schema(folder / name)[column]
        rewrite(folder, name, in_row(row, value, column, dtype))

    return change


def swapped(folder: Path) -> None:
    """A pair the other way round."""
    pairs = pl.read_parquet(folder / PAIRS)
    sides = {f"{name}_high": f"{name}_low" for name in ("candidate", "system")}
    sides["high_id"] = "low_id"
    turned = {**sides, **{low: high for high, low in sides.items()}}
    changed = pl.concat([pairs[:2], pairs[2:].rename(turned).select(pairs.columns)])
    store(folder, PAIRS, changed.with_columns(pair_id=pair_ids(changed)))


def invented(pairs: pl.DataFrame) -> pl.DataFrame:
    """One pair more: of two errors, which no rule compares."""
    more = pairs[:1].with_columns(
        high_id=pl.lit("c"),
        candidate_high=pl.lit("text of c"),
        system_high=pl.lit("plover"),
        label_high=pl.lit("rude"),
    )
    return pl.concat([pairs, more.with_columns(pair_id=pair_ids(more))])


def other_inputs(folder: Path) -> None:
    inputs = pl.col("inputs").list.eval(
        pl.struct(key=pl.element().struct.field("key"), value=pl.lit("Who flies?"))
    )
    first = pl.int_range(pl.len()) == 0
    rewrite(folder, PAIRS, pl.when(first).then(inputs).otherwise("inputs").alias("inputs"))


NO_SUCH = {
    PAIRS: "this pair does not follow from the annotations",
    SCORES: "this human score does not follow from the annotations",
}

# File, row, column, what stands there then, what the annotations give; a row that they do not give
# at all has no such value.
CELLS: list[tuple[str, int, str, Any, Any]] = [
    (PAIRS, 1, "source", "other", "toy"),
    (PAIRS, 0, "split", "train", None),
    (PAIRS, 2, "language", "de", "en"),
    (PAIRS, 0, "context_id", "c2", None),
    (PAIRS, 1, "context", "Who sang?", "Who sings?"),
    (PAIRS, 1, "context", "", "Who sings?"),
    (PAIRS, 0, "category", "fish", "birds"),
    (PAIRS, 1, "category", None, "birds"),
    (PAIRS, 2, "category", "birds", "null"),
    (PAIRS, 0, "aspect", "tone", None),
    (PAIRS, 0, "candidate_high", "Text of a", "text of a"),
    (PAIRS, 2, "candidate_low", "text of e.", "text of e"),
    (PAIRS, 0, "candidate_low", "text of c", "text of b"),  # of another candidate
    (PAIRS, 0, "candidate_low", "text of b ", "text of b"),
    (PAIRS, 0, "candidate_low", " text  of a", "text of b"),  # equal texts
    (PAIRS, 0, "high_id", "c", None),
    (PAIRS, 1, "low_id", "b", None),
    (PAIRS, 0, "system_high", "plover", "heron"),
    (PAIRS, 2, "system_low", "wren", "heron"),
    (PAIRS, 1, "label_high", "wrong", "good"),
    (PAIRS, 1, "label_high", None, "good"),
    (PAIRS, 0, "error_category", "rude", None),
    (PAIRS, 0, "error_group", "style", "content"),
    (PAIRS, 1, "error_group", "content", "null"),
    (PAIRS, 0, "margin", 0.5, 0.75),
    (PAIRS, 0, "margin", 0.750001, 0.75),
    (PAIRS, 2, "margin", -1.0, 1.0),
    (PAIRS, 2, "margin", None, 1.0),
    (PAIRS, 2, "origin", "synthetic:swap", "human"),
    (PAIRS, 0, "parent_id", "0123456789abcdef", "null"),
    (SCORES, 0, "score", 1.7, 0.5),
    (SCORES, 0, "score", 0.500001, 0.5),
    (SCORES, 2, "n", 3, 2),
    (SCORES, 0, "model_id", "a/b", "birds/heron"),
    (SCORES, 8, "source", "other", "toy"),
    (SCORES, 0, "system", "robin", None),
    (SCORES, 1, "aspect", "tone", None),
    (SCORES, 1, "category", "x", None),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", range(len(CELLS)), ids=[str(cell[:4]) for cell in CELLS])
def test_a_cell_is_found_with_what_the_annotations_give(folder: Path, place: int) -> None:
    file, row, column, value, given = CELLS[place]
    change = pair(row, **{column: value}) if file == PAIRS else cell(file, row, column, value)
    line = f"{file}: row {row}: {NO_SUCH[file]}"
    if given is not None:
        told = "null" if given == "null" else json.dumps(given)
        line = f"{file}: row {row}, {column}: {json.dumps(value)}, but the annotations give {told}"

    check_found(folder, change, line)


def check_found(folder: Path, change: Change, line: str) -> None:
    change(folder)

    lines = [str(finding) for finding in validate(folder)]
    assert any(each.startswith(line) for each in lines), lines


MISSING_FIRST = (
    'the pair of split "test", context_id "c1", aspect "answer", error_category "wrong", '
    'high_id "a", low_id "b" is missing, although the annotations give it'
)
NOT_A_PAIR = f"{PAIRS}: row 0: {NO_SUCH[PAIRS]}"
GIVE = ", but the annotations give"

CHANGES: dict[str, tuple[Change, str]] = {
    "pair_id": (
        pair(0, pair_id="0123456789abcdef"),
        f'{PAIRS}: row 0, pair_id: "0123456789abcdef"{GIVE} "',
    ),
    "inputs": (other_inputs, f'{PAIRS}: row 0, inputs: [{{"key": "question", "value": "Who fl'),
    "definition": (
        cell(SCORES, 4, "definition", "mean"),
        f'{SCORES}: row 4, definition: "mean"{GIVE} ',
    ),
    # Whole rows.
    "a pair swapped": (swapped, f"{PAIRS}: row 2: {NO_SUCH[PAIRS]}"),
    "a pair removed": (rows(PAIRS, lambda pairs: pairs[1:]), f"{PAIRS}: {MISSING_FIRST}"),
    "a pair added": (rows(PAIRS, invented), f"{PAIRS}: row 3: {NO_SUCH[PAIRS]}"),
    "a pair twice": (
        rows(PAIRS, lambda pairs: pl.concat([pairs, pairs[1:2]])),
        f"{PAIRS}: row 3: repeats an earlier row",
    ),
    "a human score removed": (
        rows(SCORES, lambda scores: scores[1:]),
        f'{SCORES}: the human score of aspect "answer", system "heron", category "overall" ',
    ),
    "a human score twice": (
        rows(SCORES, lambda scores: pl.concat([scores, scores[:1]])),
        f"{SCORES}: row 9: repeats an earlier row",
    ),
    # Annotations: what follows from them is no longer what stands there.
    "label": (cell(ANNOTATIONS, 1, "label", "rude"), NOT_A_PAIR),
    "label lost": (cell(ANNOTATIONS, 1, "label", None), NOT_A_PAIR),
    "label unknown": (
        cell(ANNOTATIONS, 1, "label", "bad"),
        f'{ANNOTATIONS}: row 1, label: "bad" is not in source.yaml',
    ),
    "score": (
        cell(ANNOTATIONS, 0, "score", 0.75),
        f"{PAIRS}: row 0, margin: 0.75{GIVE} 0.5",
    ),
    "candidate": (
        cell(ANNOTATIONS, 1, "candidate", "Text of b"),
        f'{PAIRS}: row 0, candidate_low: "text of b"{GIVE} "Text of b"',
    ),
    "candidate emptied": (
        cell(ANNOTATIONS, 1, "candidate", ""),
        f"{ANNOTATIONS}: row 1, candidate: is empty",
    ),
    "candidate of blanks": (
        cell(ANNOTATIONS, 1, "candidate", " \n"),
        f"{ANNOTATIONS}: row 1, candidate: consists of white space only",
    ),
    "candidate with NUL": (
        cell(ANNOTATIONS, 1, "candidate", "text\0of b"),
        f"{ANNOTATIONS}: row 1, candidate: contains the character NUL",
    ),
    "context of blanks": (
        lambda folder: rewrite(folder, ANNOTATIONS, pl.lit(" ").alias("context")),
        f"{ANNOTATIONS}: row 0, context: consists of white space only",
    ),
    "context of one row": (
        cell(ANNOTATIONS, 1, "context", "Who sang?"),
        f'{ANNOTATIONS}: row 1, context_id: "c1" names two different things',
    ),
    "system of a candidate": (
        cell(ANNOTATIONS, 2, "system", "wren"),
        f'{PAIRS}: row 1, system_low: "plover"{GIVE} "wren"',
    ),
    "system unknown": (
        cell(ANNOTATIONS, 2, "system", "robin"),
        f'{ANNOTATIONS}: row 2, system: "robin" is not in source.yaml',
    ),
    "source of an annotation": (
        cell(ANNOTATIONS, 4, "source", "other"),
        f'{ANNOTATIONS}: row 4, source: "other" is not the source of the manifest, "toy"',
    ),
    "context_id with a line end": (
        cell(ANNOTATIONS, 3, "context_id", "c2\n"),
        f"{ANNOTATIONS}: row 3, context_id: 'c2\\n' does not match",
    ),
    "candidate_id with a line end": (
        cell(ANNOTATIONS, 0, "candidate_id", "a\n"),
        f"{ANNOTATIONS}: row 0, candidate_id: 'a\\n' does not match",
    ),
    "language with a line end": (
        cell(ANNOTATIONS, 0, "language", "en\n"),
        f"{ANNOTATIONS}: row 0, language: 'en\\n' does not match",
    ),
    "pair_id with a line end": (
        pair(0, pair_id="0123456789abcdef\n"),
        f"{PAIRS}: row 0, pair_id: '0123456789abcdef\\n' does not match",
    ),
    "an annotation removed": (
        rows(ANNOTATIONS, lambda annotations: annotations[1:]),
        NOT_A_PAIR,
    ),
    "an annotation twice": (
        rows(ANNOTATIONS, lambda annotations: pl.concat([annotations, annotations[:1]])),
        f'{ANNOTATIONS}: row 5, candidate_id: "a" is annotated twice',
    ),
    # The manifest.
    "another rule": (
        restated({"rule": "gap", "minimum": 0.6}, "source", "quality"),
        f"{PAIRS}: row 1: {NO_SUCH[PAIRS]}",
    ),
    "a rule against itself": (
        restated({"rule": "credit", "high": [1], "low": [1]}, "source", "quality"),
        "manifest.json: source: quality: 1 is both high and low",
    ),
    "a model for a system": (
        restated("birds/wren", "source", "systems", "wren"),
        f'{SCORES}: row 6, model_id: null{GIVE} "birds/wren"',
    ),
    "a group for an error": (
        restated("style", "source", "taxonomy", "wrong", "group"),
        f'{PAIRS}: row 0, error_group: "content"{GIVE} "style"',
    ),
    "a file that is verified and is not": (
        restated(True, "files", 0, "verified"),
        "manifest.json: files/0/verified: true, but its SHA-256 is not the declared one",
    ),
    "what was dropped": (
        restated([{"reason": "x", "what": "pairs", "n": 1, "why": "x"}], "dropped"),
        "manifest.json: dropped: does not follow from the annotations",
    ),
    "hygiene": (
        restated(0.25, "hygiene", "pairs", "overall", "longer_wins"),
        "manifest.json: hygiene: does not follow from the annotations",
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CHANGES)
def test_it_is_found_with_its_place_and_what_is_wrong(folder: Path, name: str) -> None:
    check_found(folder, *CHANGES[name])


def test_the_folder_is_good_before(folder: Path) -> None:
    assert validate(folder).ok


def test_the_order_of_rows_is_free(folder: Path) -> None:
    for name in (PAIRS, SCORES, ANNOTATIONS):
        frame = pl.read_parquet(folder / name)
        store(folder, name, frame[list(reversed(range(frame.height)))])

    assert validate(folder).ok


def test_numbers_may_differ_by_rounding(folder: Path) -> None:
    rewrite(folder, SCORES, pl.col("score") + 1e-13)
    rewrite(folder, PAIRS, pl.col("margin") - 1e-13)

    assert validate(folder).ok
