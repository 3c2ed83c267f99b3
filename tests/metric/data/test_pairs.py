"""Reading pairs and human scores from wherever they are, but for the Hub (test_data_hub.py)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import polars as pl
import pytest
from support.refusals import refusal
from support.shown import check_shown

from nnd.metric.data import REQUIRED, load_pairs, name_datasets, parts_of, read_human_scores
from nnd.schemas import table_text

PAIRS = pl.DataFrame(
    {
        "context": ["c0", "c1", "c1", "c2"],
        "candidate_high": ["h0", "h1", "h2", "h3"],
        "candidate_low": ["l0", "l1", "l2", "l3"],
        "error_category": ["x", "y", "x", "y"],
    }
)
SCORES = pl.DataFrame(
    {
        "system": ["s0", "s1"],
        "model_id": [None, "org/model"],
        "aspect": ["quality", "quality"],
        "category": ["overall", "overall"],
        "score": [0.25, 0.75],
    }
)


def as_dataset(frame: pl.DataFrame) -> datasets.Dataset:
    return datasets.Dataset.from_dict(frame.to_dict(as_series=False))


def as_file(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_parquet(folder / "mine.parquet")
    return folder / "mine.parquet"


def as_folder(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_parquet(folder / "pairs.parquet")
    return folder


FORMS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "frame": pl.DataFrame.clone,
    "pandas": pl.DataFrame.to_pandas,
    "dataset": as_dataset,
    "rows": pl.DataFrame.to_dicts,
    "arrow": pl.DataFrame.to_arrow,
}
ON_DISK = {"a file": as_file, "a folder": as_folder}


def made(form: str, frame: pl.DataFrame, folder: Path) -> Any:
    return FORMS[form](frame) if form in FORMS else ON_DISK[form](frame, folder)


@pytest.mark.parametrize("form", [*FORMS, *ON_DISK])
def test_every_form_gives_the_same_rows_and_version(form: str, tmp_path: Path) -> None:
    found = load_pairs(made(form, PAIRS, tmp_path))
    assert found.pairs.select(PAIRS.columns).equals(PAIRS)
    assert found.version == load_pairs(PAIRS).version


@pytest.mark.parametrize(
    ("form", "name"),
    [("frame", "frame"), ("pandas", "frame"), ("dataset", "dataset"), ("rows", "rows")],
)
def test_a_table_in_memory_is_called_by_its_kind(form: str, name: str) -> None:
    data = FORMS[form](PAIRS)
    assert load_pairs(data).name == name
    assert name_datasets([data]) == [name]


def test_of_a_pandas_frame_neither_the_index_nor_nan_is_a_value() -> None:
    frame = PAIRS.to_pandas()
    frame.loc[2, "error_category"] = float("nan")
    found = load_pairs(frame[frame["error_category"] != "x"])  # the index is 1, 2, 3 then
    assert found.pairs["error_category"].to_list() == ["y", None, "y"]
    assert not [name for name in found.pairs.columns if "index" in name]


def test_rows_may_lack_what_other_rows_have_and_hold_objects() -> None:
    rows: list[dict[str, Any]] = PAIRS.select(REQUIRED).to_dicts()
    rows[1]["inputs"] = {"question": "who?"}
    rows[3] |= {"inputs": {"article": "the", "question": None}, "aspect": "style"}
    found = load_pairs(rows)
    assert found.pairs["aspect"].to_list() == [None, None, None, "style"]
    assert parts_of(found.pairs) == [None, {"question": "who?"}, None, {"article": "the"}]


def test_a_folder_may_be_a_string_and_may_have_human_scores(tmp_path: Path) -> None:
    found = load_pairs(str(as_folder(PAIRS, tmp_path)))
    assert (found.pairs.height, found.name, found.human_scores) == (4, tmp_path.name, None)
    SCORES.write_parquet(tmp_path / "human_scores.parquet")
    scores = load_pairs(tmp_path).human_scores
    assert scores is not None
    assert scores.equals(SCORES)


@pytest.mark.parametrize(
    ("rows", "choose"),
    [
        ([3, 0], lambda rows: rows.select([3, 0])),
        ([1, 3], lambda rows: rows.filter(lambda row: row["error_category"] == "y")),
        ([2, 3], lambda rows: rows.select([0, 2, 3]).select(range(1, 3))),
    ],
)
def test_rows_chosen_from_a_dataset_are_the_rows_read(
    rows: list[int], choose: Callable[[datasets.Dataset], datasets.Dataset]
) -> None:
    # Such a dataset keeps the whole table and a list of row numbers beside it.
    found = load_pairs(choose(as_dataset(PAIRS)))
    assert found.pairs.select(PAIRS.columns).equals(PAIRS[rows])


def test_a_pair_set_shows_what_is_in_it(tmp_path: Path) -> None:
    SCORES.write_parquet(tmp_path / "human_scores.parquet")
    found = load_pairs(as_folder(PAIRS, tmp_path))
    check_shown(found)
    assert found.headline() == (
        f"{tmp_path.name} has 4 pairs in 3 contexts, and human scores of 2 systems."
    )
    rows = [line.split() for line in table_text(found.table()).splitlines()]
    assert [row for row in rows if row[:1] == ["error_category"]] == [
        ["error_category", "x", "2"],
        ["error_category", "y", "2"],
    ]
    assert found.to_frame().equals(found.pairs)
    assert found.to_dict()["human_scores"] == SCORES.to_dicts()
    assert load_pairs(PAIRS).headline().endswith("and human scores of no systems.")


def test_version_depends_on_the_texts_and_not_on_the_order_of_rows() -> None:
    version = load_pairs(PAIRS).version
    assert load_pairs(PAIRS.reverse()).version == version
    assert load_pairs(PAIRS.with_columns(context=pl.lit("c0"))).version != version
    assert load_pairs(PAIRS.head(3)).version != version


def test_ids_follow_from_the_texts_where_there_are_none() -> None:
    found = load_pairs(PAIRS).pairs
    assert found["context_id"].n_unique() == 3  # c0, c1, c2: rows 1 and 2 share theirs
    assert found["context_id"][1] == found["context_id"][2]
    assert found["high_id"].n_unique() == 4
    assert found["pair_id"].n_unique() == 4


def test_a_null_id_follows_from_the_text_too() -> None:
    # As a value, null would make one test of all pairs that have no ids.
    found = load_pairs(PAIRS.with_columns(high_id=pl.Series(["a", None, None, None]))).pairs
    assert found["high_id"].to_list() == ["a", *load_pairs(PAIRS).pairs["high_id"][1:]]


def test_optional_columns_may_be_missing() -> None:
    found = load_pairs(PAIRS.drop("error_category")).pairs
    assert found["error_category"].null_count() == found["split"].null_count() == 4


def test_numbers_serve_as_ids_and_categories() -> None:
    frame = PAIRS.with_columns(context_id=pl.Series([7, 8, 8, 9]), error_category=pl.lit(3))
    found = load_pairs(frame).pairs
    assert found["context_id"].to_list() == ["7", "8", "8", "9"]
    assert found["error_category"].to_list() == ["3"] * 4


def test_texts_may_be_stored_as_categories() -> None:
    found = load_pairs(PAIRS.with_columns(pl.all().cast(pl.Categorical)))
    assert found.pairs.select(PAIRS.columns).equals(PAIRS)


def test_no_rows_are_no_error() -> None:
    nothing: dict[str, Any] = {"context": [], "candidate_high": [], "candidate_low": []}
    assert load_pairs(pl.DataFrame(nothing)).pairs.height == 0


def test_several_splits_are_refused_by_name() -> None:
    rows = as_dataset(PAIRS)
    with refusal("data.several-splits") as caught:
        load_pairs(datasets.DatasetDict(train=rows, test=rows))
    assert "train, test" in caught.value.what


def _pandas_of_two_types() -> Any:
    frame = PAIRS.to_pandas().astype(object)
    frame.loc[1, "context"] = 7
    return frame


@pytest.mark.parametrize(
    "data",
    [
        ["a", "b"],
        7,
        [*PAIRS.to_dicts(), {**PAIRS.row(0, named=True), "error_category": ["x"]}],
        _pandas_of_two_types(),
    ],
    ids=["list", "number", "rows of two types", "frame of two types"],
)
def test_what_is_no_dataset_is_refused(data: Any) -> None:
    with refusal("data.not-a-dataset"):
        load_pairs(data)


@pytest.mark.parametrize("column", ["candidate_high", "candidate_low"])
def test_a_missing_column_is_named(column: str, tmp_path: Path) -> None:
    path = as_file(PAIRS.drop(column), tmp_path)
    with refusal("column.missing", "mine") as caught:
        load_pairs(path)
    assert column in caught.value.what


@pytest.mark.parametrize("column", ["context", "candidate_high", "candidate_low"])
def test_a_null_text_is_named_with_its_row(column: str) -> None:
    texts = PAIRS.get_column(column).to_list()
    frame = PAIRS.with_columns(pl.Series(column, [*texts[:2], None, texts[3]]))
    with refusal("cell.null", "frame: row 2") as caught:
        load_pairs(frame)
    assert column in caught.value.what


@pytest.mark.parametrize(("column", "value"), [("candidate_low", 1.5), ("split", ["test"])])
def test_a_text_that_is_a_number_or_a_list_is_refused(column: str, value: Any) -> None:
    with refusal("column.wrong-type", "frame") as caught:
        load_pairs(PAIRS.with_columns(pl.lit(value).alias(column)))
    assert column in caught.value.what


@pytest.mark.parametrize(
    ("name", "code", "where"),
    [
        *(
            (name, "file.not-found", str(name))
            for name in ("nowhere", "./out/nowhere", "/out/nowhere", Path("out/nowhere"))
        ),
        ("out/pairs.parquet", "file.not-found", "out/pairs.parquet"),
        ("", "file.not-found", '""'),
        (".", "data.not-converted", "."),
        ("torn", "data.convert-again", "torn/pairs.parquet"),
    ],
)
def test_what_is_neither_here_nor_a_hub_name_is_refused(
    *,
    name: str | Path,
    code: str,
    where: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "pairs.parquet").write_text("context\tcandidate_high\n")
    with refusal(code, where):
        load_pairs(name)


@pytest.mark.parametrize("column", ["context", "candidate_low", "error_category", "inputs"])
def test_half_a_surrogate_pair_is_no_character(column: str) -> None:
    half = "a \ud800"
    row = {"context": "c", "candidate_high": "h", "candidate_low": "l", "error_category": "x"}
    value = {"question": [half]} if column == "inputs" else half

    with refusal("cell.not-text", "row 1") as caught:
        load_pairs([row, row | {column: value}])
    assert column in caught.value.what


@pytest.mark.parametrize("form", [*FORMS, "a file", "folder"])
def test_human_scores_from_every_form(form: str, tmp_path: Path) -> None:
    SCORES.write_parquet(tmp_path / "human_scores.parquet")
    given = str(tmp_path) if form == "folder" else made(form, SCORES, tmp_path)
    assert read_human_scores(given).equals(SCORES)


def test_a_folder_without_human_scores_says_so(tmp_path: Path) -> None:
    with refusal("data.not-converted", str(tmp_path)):
        read_human_scores(as_folder(PAIRS, tmp_path))


def test_human_scores_that_are_there_twice_count_once() -> None:
    twice = pl.concat([SCORES, SCORES[:1], SCORES[1:].with_columns(score=pl.lit(None, pl.Float64))])

    assert read_human_scores(twice).drop_nulls("score").equals(SCORES)


def test_the_same_system_of_two_sources_has_two_scores() -> None:
    both = pl.concat(
        SCORES.with_columns(source=pl.lit(name), score=pl.col("score") / number)
        for number, name in enumerate(("a", "b"), start=1)
    )

    assert read_human_scores(both).equals(both)


@pytest.mark.parametrize(
    ("frame", "code", "where"),
    [
        (pl.concat([SCORES, SCORES[1:].with_columns(score=0.5)]), "row.twice", "human_scores"),
        (SCORES.drop("score"), "column.missing", "human_scores"),
        (
            SCORES.with_columns(score=pl.Series([0.5, float("nan")])),
            "cell.not-finite",
            "human_scores: row 1",
        ),
        (SCORES.with_columns(score=pl.lit("high")), "cell.not-a-number", "human_scores"),
    ],
)
def test_human_scores_that_cannot_be_used_are_refused(
    frame: pl.DataFrame, code: str, where: str
) -> None:
    with refusal(code, where):
        read_human_scores(frame)


def test_a_missing_human_score_may_be_null() -> None:
    frame = SCORES.with_columns(score=pl.Series([None, 0.5]))
    assert read_human_scores(frame).equals(frame)


# Pairs without a context


def test_a_pair_without_a_context_is_a_cluster_of_its_own() -> None:
    rows = [
        {"context": context, "candidate_high": high, "candidate_low": "bad", "aspect": aspect}
        for context, high, aspect in [
            ("", "good", "x"),
            ("", "good", "y"),  # the same test under another aspect
            (" \n", "better", "x"),
            ("text", "good", "x"),
            ("text", "better", "x"),
        ]
    ]
    ids = load_pairs(rows).pairs["context_id"].to_list()
    assert ids[0] == ids[1]
    assert (
        ids[3]
        == ids[4]
        == load_pairs(PAIRS.with_columns(context=pl.lit("text"))).pairs["context_id"][0]
    )
    assert len({*ids}) == 3


def test_parts_or_ids_tell_blank_contexts_apart() -> None:
    rows = [
        {"context": "", "inputs": parts, "candidate_high": high, "candidate_low": "bad"}
        for parts, high in [({"q": "one"}, "a"), ({"q": "one"}, "b"), ({"q": "two"}, "a")]
    ]
    one, same, other = load_pairs(rows).pairs["context_id"].to_list()
    assert one == same != other
    blank = load_pairs([row | {"inputs": {"q": " "}} for row in rows])
    assert blank.pairs["context_id"].n_unique() == 2  # the first pair is the last one again
    given = load_pairs([row | {"context_id": "mine"} for row in rows])
    assert given.pairs["context_id"].unique().to_list() == ["mine"]


# Pairs with two equal texts


EQUAL = PAIRS.with_columns(candidate_low=pl.Series(["l0", " h1", "l2", "h3\n"]))


@pytest.mark.parametrize("form", ["frame", "rows", "a file"])
def test_own_pairs_with_two_equal_texts_are_dropped_and_counted(form: str, tmp_path: Path) -> None:
    found = load_pairs(made(form, EQUAL, tmp_path))
    assert found.pairs["candidate_high"].to_list() == ["h0", "h2"]
    assert len(found.equal) == 2
    assert found.headline().endswith(" 2 pairs with two equal texts were dropped.")
    assert found.version == load_pairs(PAIRS[[0, 2]]).version


def test_those_of_a_converted_folder_stay(tmp_path: Path) -> None:
    EQUAL.write_parquet(tmp_path / "pairs.parquet")  # as `nnd convert --keep-equal` writes them
    found = load_pairs(tmp_path)
    assert (found.pairs.height, found.equal) == (4, ())
