"""Tables of one's own: known names of columns, and files that are wrong."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import polars as pl
import pytest
from support.refusals import refusal

from nnd.metric.data import PairSet, load_pairs, open_pairs, parts_of

BLIMP = [
    {"sentence_good": "I sleep.", "sentence_bad": "I sleeps.", "UID": "agree", "pairID": "0"},
    {"sentence_good": "He sleeps.", "sentence_bad": "He sleep.", "UID": "agree", "pairID": "1"},
]
PLAIN = [
    {"prompt": "Sky?", "chosen": "Blue.", "rejected": "Green.", "subset": "colour", "id": 1},
    {"prompt": "Sum?", "chosen": "Two.", "rejected": "Nine.", "subset": "maths", "id": 2},
]


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


MESSAGES: list[dict[str, Any]] = [
    {
        "prompt": [user("Hi"), assistant("Yes?"), user("Sky?")],
        "chosen": [assistant("Blue.")],
        "rejected": [assistant("Green.")],
    },
    {
        "prompt": [{"role": "system", "content": "Be brief."}, user("Sum?")],
        "chosen": [assistant("Two.")],
        "rejected": [assistant("Nine.")],
    },
]


def texts(pairs: PairSet) -> list[tuple[str, ...]]:
    names = ("context", "candidate_high", "candidate_low", "error_category")
    return pairs.pairs.select(names).rows()


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_sentences_have_no_context_and_each_pair_is_a_cluster(tmp_path: Path) -> None:
    found = load_pairs(lines(tmp_path / "agree.jsonl", BLIMP))
    assert texts(found) == [
        ("", "I sleep.", "I sleeps.", "agree"),
        ("", "He sleeps.", "He sleep.", "agree"),
    ]
    assert not found.has_contexts
    assert found.pairs["context_id"].n_unique() == 2
    assert found.name == "agree"


def test_a_cluster_may_be_a_column() -> None:
    found = load_pairs(BLIMP, cluster="UID")
    assert found.pairs["cluster"].to_list() == ["agree", "agree"]
    assert found.title == "rows (--cluster UID)"
    with refusal("column.missing") as caught:
        load_pairs(BLIMP, cluster="paradigm")
    assert "paradigm" in caught.value.what


def test_a_folder_of_files_is_one_dataset_whatever_else_they_have(tmp_path: Path) -> None:
    lines(tmp_path / "b.jsonl", [BLIMP[0] | {"one_prefix_prefix": "I"}])
    lines(tmp_path / "a.jsonl", [BLIMP[1] | {"simple_LM_method": True}])
    (tmp_path / "README.txt").write_text("about", encoding="utf-8")
    assert [row[1] for row in texts(load_pairs(tmp_path))] == ["He sleeps.", "I sleep."]
    assert load_pairs(tmp_path).name == tmp_path.name


def test_every_kind_of_table_gives_the_same_pairs(tmp_path: Path) -> None:
    frame = pl.DataFrame(PLAIN)
    frame.write_csv(tmp_path / "csv.csv")
    frame.write_parquet(tmp_path / "parquet.parquet")
    lines(tmp_path / "jsonl.jsonl", PLAIN)
    frame.write_csv(tmp_path / "tsv.tsv", separator="\t")
    frame.write_json(tmp_path / "json.json")
    kinds = ["csv.csv", "parquet.parquet", "jsonl.jsonl", "tsv.tsv", "json.json"]
    found = [load_pairs(tmp_path / name) for name in kinds]
    found += [load_pairs(datasets.Dataset.from_list(PLAIN)), load_pairs(PLAIN), load_pairs(frame)]
    assert texts(found[0]) == [
        ("Sky?", "Blue.", "Green.", "colour"),
        ("Sum?", "Two.", "Nine.", "maths"),
    ]
    assert {each.version for each in found} == {found[0].version}
    assert {open_pairs(tmp_path / name).sizes()[""] for name in kinds} == {2}


def test_systems_of_rewardbench_are_kept() -> None:
    rows = [row | {"chosen_model": "a", "rejected_model": "b"} for row in PLAIN]
    found = load_pairs(rows).pairs
    assert found.select("system_high", "system_low").row(0) == ("a", "b")


def test_messages_are_turns_and_a_prompt_may_be_implicit(tmp_path: Path) -> None:
    implicit = [
        {side: row["prompt"] + row[side] for side in ("chosen", "rejected")} for row in MESSAGES
    ]
    pl.DataFrame(MESSAGES).write_parquet(tmp_path / "messages.parquet")
    forms: list[Any] = [
        MESSAGES,
        implicit,
        [whole | {"prompt": row["prompt"]} for row, whole in zip(MESSAGES, implicit, strict=True)],
        lines(tmp_path / "messages.jsonl", MESSAGES),
        tmp_path / "messages.parquet",
    ]
    for form in forms:
        found = load_pairs(form)
        assert texts(found) == [
            ("user: Hi\nassistant: Yes?\nuser: Sky?\nassistant:", "Blue.", "Green.", None),
            ("system: Be brief.\nuser: Sum?\nassistant:", "Two.", "Nine.", None),
        ]
        assert parts_of(found.pairs) == [
            {"turn_1": "Hi", "turn_2": "Yes?", "turn_3": "Sky?"},
            {"system": "Be brief.", "turn_1": "Sum?"},
        ]


def test_single_turns_are_the_same_as_texts() -> None:
    as_messages = [
        {
            "prompt": row["prompt"],
            "chosen": [user(str(row["prompt"])), assistant(str(row["chosen"]))],
            "rejected": [assistant(str(row["rejected"]))],
            "subset": row["subset"],
        }
        for row in PLAIN
    ]
    assert load_pairs(as_messages).version == load_pairs(PLAIN).version


def test_columns_of_other_names_are_named() -> None:
    rows = [{"q": "Sky?", "good": "Blue.", "bad": "Green.", "type": 7, "prompt": "not this"}]
    columns = {"high": "good", "low": "bad", "context": "q", "category": "type"}
    assert texts(load_pairs(rows, columns=columns)) == [("Sky?", "Blue.", "Green.", "7")]
    known = {"high": "good", "low": "bad"}  # a context of a known name is read
    assert texts(load_pairs(rows, columns=known))[0][0] == "not this"
    of_ours = [{"candidate_high": "h", "candidate_low": "l", "category": "topic", "kind": "k"}]
    found = load_pairs(of_ours, columns={"category": "kind"}).pairs
    assert found.select("category", "error_category").row(0) == ("topic", "k")


@pytest.mark.parametrize(
    ("row", "columns", "code", "where"),
    [
        ({"a": "x", "b": "y"}, {}, "column.missing", "rows"),
        ({"chosen": "x", "b": "y"}, {}, "column.missing", "rows"),
        (PLAIN[0] | BLIMP[0], {}, "column.ambiguous", "rows"),
        (
            PLAIN[0] | {"context": "c"},
            {"high": "chosen", "low": "rejected"},
            "column.ambiguous",
            "rows",
        ),
        (PLAIN[0], {"high": "chosen"}, "option.needs-another", "columns"),
        (PLAIN[0], {"hihg": "chosen"}, "key.unknown", "columns"),
        (PLAIN[0], {"category": "subst"}, "column.missing", "rows"),
    ],
)
def test_a_table_that_is_unclear_is_refused(
    *, row: dict[str, Any], columns: Mapping[str, str], code: str, where: str
) -> None:
    with refusal(code, where):
        load_pairs([row], columns=columns)


GOOD = '{"prompt": "p", "chosen": "c", "rejected": "r"}\n\n'


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"prompt": "p", "chosen"', "file.cut-off"),
        ("[]", "file.another-kind"),
        ('{"prompt": "p", "chosen": NaN, "rejected": "r"}', "row.wrong-shape"),
        ('{"prompt": "p", "chosen": "c"}', "cell.null"),
        ('{"prompt": "p", "chosen": "c", "rejected": 7}', "row.wrong-shape"),
        (
            json.dumps({"prompt": "p", "chosen": ["a"], "rejected": ["b", "c"]}),
            "row.wrong-shape",
        ),
        (
            json.dumps(MESSAGES[0] | {"chosen": [user("Other"), assistant("Blue.")]}),
            "row.wrong-shape",
        ),
        (json.dumps(MESSAGES[0] | {"prompt": [assistant("Yes?")]}), "row.wrong-shape"),
        (
            json.dumps(
                {"chosen": [user("a"), assistant("b"), user("c")], "rejected": [assistant("d")]}
            ),
            "cell.null",
        ),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{GOOD}{line}\n", encoding="utf-8")
    with refusal(code, "x.jsonl:3"):
        load_pairs(path)


def test_without_a_prompt_a_single_answer_must_follow() -> None:
    row = {
        "chosen": [user("a"), assistant("b"), user("c")],
        "rejected": [user("a"), assistant("d")],
    }
    with refusal("row.wrong-shape", "rows: row 0"):
        load_pairs([row])


@pytest.mark.parametrize(
    ("rows", "code", "where"),
    [
        (b'"a\nb",c,d\n,c,\n', "cell.null", "x.csv:4"),
        (b'"a\nb",c,d\na,c,d,e\n', "file.not-csv", "x.csv:4"),
        (b"a,b,c\n\xff,c,d\n", "file.not-utf8", "x.csv:3"),
    ],
)
def test_a_cell_of_csv_that_is_wrong_is_named(
    rows: bytes, code: str, where: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"prompt,chosen,rejected\n" + rows)
    with refusal(code, where):
        load_pairs(path)


def test_a_prompt_of_csv_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("prompt,chosen,rejected\n,c,d\n", encoding="utf-8")
    assert texts(load_pairs(path)) == [("", "c", "d", None)]


def test_equal_answers_are_dropped_and_counted() -> None:
    found = load_pairs([*PLAIN, PLAIN[0] | {"rejected": "Blue. "}])
    assert (found.pairs.height, len(found.equal)) == (2, 1)


def test_options_for_tables_are_refused_with_pairs_of_nnd(tmp_path: Path) -> None:
    load_pairs(PLAIN).pairs.write_parquet(tmp_path / "pairs.parquet")
    with refusal("option.conflict", str(tmp_path)):
        load_pairs(tmp_path, cluster="UID")
