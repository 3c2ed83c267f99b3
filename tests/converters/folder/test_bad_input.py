"""Bad annotation files: one line that says what, where, and the remedy, and nothing written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert
from nnd.schemas import NNDError

Toy = Callable[..., dict[str, Any]]
MakeSource = Callable[..., Path]

GROUP: dict[str, Any] = {
    "group_id": 7,
    "answer_span": "Lima",
    "context": "Lima is the capital of Peru.",
    "questions": [
        {"question": "What is the capital of Peru?", "reason": "No error", "model_name": "mixqg"},
        {"question": "What is Lima?", "reason": "off_target", "model_name": "gpt2b_sup"},
    ],
}

HEADER = ["id", "question", "category", "Macaw-11B", "GPT3-davinci", "Credits->"]
HEADER += ["credit-Macaw-11B", "credit-GPT3-davinci"]
ANSWER = ["p1", "Is it so?", "commonsense", "yes", "no", "", "1", "0"]


def with_question(number: int, **fields: Any) -> dict[str, Any]:
    """GROUP with other fields in one of its questions."""
    questions = [dict(question) for question in GROUP["questions"]]
    questions[number] |= fields
    return GROUP | {"questions": questions}


def lines(*groups: object) -> bytes:
    return "".join(json.dumps(group) + "\n" for group in groups).encode()


def question(**fields: Any) -> bytes:
    """GROUP with other fields in the second of its questions."""
    return lines(with_question(1, **fields))


def table(*rows: list[str]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def row(*rows: list[str]) -> bytes:
    """A table of these rows."""
    return table(HEADER, *rows)


def cell(column: str, value: str) -> list[str]:
    """ANSWER with another value in one of its columns."""
    changed = list(ANSWER)
    changed[HEADER.index(column)] = value
    return changed


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str, bytes], Conversion]:
    """`read("quiz_design", raw)`: what a built-in source makes of a file with these bytes."""

    def convert_bytes(source: str, raw: bytes) -> Conversion:
        (tmp_path / "given").write_bytes(raw)
        return convert(source, origin=tmp_path / "given", out=tmp_path / "out")

    return convert_bytes


Refused: TypeAlias = Callable[[str, bytes, str, str], NNDError]


@pytest.fixture
def refused(read: Callable[[str, bytes], Conversion], tmp_path: Path) -> Refused:
    """`refused("quiz_design", raw, code, where)`: the error; nothing may have been written."""

    def refuse(source: str, raw: bytes, code: str, where: str) -> NNDError:
        with refusal(code, where) as caught:
            read(source, raw)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["given"]
        assert str(caught.value).isprintable()  # one line, and nothing that steers a terminal
        return caught.value

    return refuse


def test_the_files_that_the_tests_below_spoil_are_good(
    read: Callable[[str, bytes], Conversion],
) -> None:
    assert read("quiz_design", lines(GROUP)).pairs.height == 1
    assert read("challenge300", row(ANSWER)).pairs.height == 1


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (
            # The string that is cut off starts with the 32nd character of the line.
            lines(GROUP) + b'{"group_id": 7, "answer_span": "Li',
            "file.cut-off",
        ),
        (lines(GROUP) + b'{"group_id": 8}\n', "file.another-kind"),
        (lines(GROUP, 3), "file.another-kind"),
        (lines(GROUP, None), "file.another-kind"),
        (lines(GROUP, "text"), "file.another-kind"),
        (lines(GROUP, []), "file.another-kind"),
        (lines(GROUP) + b"NaN\n", "file.another-kind"),
    ],
    ids=["cut off", "field missing", "number", "null", "string", "list", "NaN"],
)
def test_a_line_that_is_not_what_it_should_be(refused: Refused, raw: bytes, code: str) -> None:
    refused("quiz_design", raw, code, "given:2")


LIMA = "given:1, questions[1]: "


@pytest.mark.parametrize(
    ("raw", "code", "where"),
    [
        (lines(GROUP | {"questions": "none"}), "file.another-kind", "given:1, questions"),
        (lines(GROUP | {"questions": [3]}), "file.another-kind", "given:1, questions[0]"),
        (lines(GROUP | {"group_id": 1.5}), "file.another-kind", "given:1, group_id"),
        (lines(GROUP | {"group_id": True}), "file.another-kind", "given:1, group_id"),
        (question(question=None), "file.another-kind", "given:1, questions[1], question"),
        (question(reason=2), "file.another-kind", "given:1, questions[1], reason"),
        (question(reason="No error"), "file.another-kind", "quiz_design"),  # no pair
        (question(reason="OutE2"), "row.wrong-shape", f"{LIMA}label"),
        (question(question=""), "row.wrong-shape", f"{LIMA}candidate"),
        (question(question="  "), "row.wrong-shape", f"{LIMA}candidate"),
        (question(question="\n\u00a0"), "row.wrong-shape", f"{LIMA}candidate"),
        (question(question="Who\0?"), "cell.not-text", "given:1"),
        # One system, two questions in one group.
        (question(model_name="mixqg"), "row.wrong-shape", f"{LIMA}candidate_id"),
        (lines(GROUP, GROUP), "row.wrong-shape", "given:2, questions[0]: candidate_id"),
        (
            lines(GROUP, GROUP | {"context": "Quito is the capital of Ecuador."}),
            "row.wrong-shape",
            "given:2, questions[0]: context_id",
        ),
    ],
)
def test_a_group_that_is_not_what_it_should_be(
    refused: Refused, raw: bytes, code: str, where: str
) -> None:
    refused("quiz_design", raw, code, where)


CREDIT = "given:3, credit-GPT3-davinci"
GPT4 = [name.replace("GPT3-davinci", "GPT4") for name in HEADER]


@pytest.mark.parametrize(
    ("raw", "code", "where"),
    [
        # Not even where an empty candidate is one like any other.
        (row(cell("GPT3-davinci", "  ")), "row.wrong-shape", "given:2, GPT3-davinci: candidate"),
        *(
            (row(ANSWER, cell("credit-GPT3-davinci", credit)), "cell.not-a-number", CREDIT)
            for credit in ("x", "1,0", "nan", "NaN", "inf", "-Infinity", "1e999", " ")
        ),
        *(
            (row(ANSWER, ragged), "file.not-csv", "given:3")
            for ragged in (ANSWER[:-1], [*ANSWER, "1"], ["p1"])
        ),
        (table(['"id"', *HEADER[1:]], ANSWER) + b'p2\t"Is it', "file.not-csv", "given:3"),
        (table(["system", *HEADER[1:]], ANSWER), "file.another-kind", "given:1"),
        # Or the credits of GPT3-davinci would be lost without a word.
        (table([*HEADER[:-1], "credit-GPT4"], ANSWER), "header.wrong-names", "given:1"),
        (table([*HEADER[:-1], "credit-Macaw-11B"], ANSWER), "header.wrong-names", "given:1"),
        (table(GPT4, ANSWER), "row.wrong-shape", "given:2, GPT4: system"),
        (row(cell("category", "sports")), "cell.unknown-value", "given:2"),
        (row(ANSWER, ANSWER), "row.wrong-shape", "given:3, Macaw-11B: candidate_id"),
    ],
)
def test_a_table_that_is_not_what_it_should_be(
    refused: Refused, raw: bytes, code: str, where: str
) -> None:
    refused("challenge300", raw, code, where)


@pytest.mark.parametrize(
    ("encoding", "where"), [("latin1", "given:2"), ("utf-16", "given:1"), ("utf-16-le", "given:1")]
)
@pytest.mark.parametrize("source", ["quiz_design", "challenge300"])
def test_another_encoding(refused: Refused, source: str, encoding: str, where: str) -> None:
    good = {"quiz_design": lines(GROUP), "challenge300": row(ANSWER)}[source]
    # An accent in the second line; latin1 writes it as the byte e9.
    first, rest = good.decode().split("\n", 1)

    refused(source, f"{first}\né{rest}\n".encode(encoding), "file.not-utf8", where)


@pytest.mark.parametrize("system", ["gpt5", "mixqg|gpt5", "mixqg|", ""])
def test_an_unknown_system(refused: Refused, system: str) -> None:
    error = refused("quiz_design", question(model_name=system), "row.wrong-shape", f"{LIMA}system")

    if system:
        assert f'"{system.rpartition("|")[2]}"' in error.what


def test_an_empty_context_with_an_empty_part_is_one(make_source: MakeSource, toy: Toy) -> None:
    rows = [
        toy("a", "heron", "good", context="", inputs={"question": ""}),
        toy("b", "wren", "wrong", context="", inputs={"question": ""}),
    ]

    assert convert(make_source(rows)).pairs["context"].to_list() == [""]


def test_an_empty_candidate_that_is_kept(read: Callable[[str, bytes], Conversion]) -> None:
    conversion = read("challenge300", row(cell("GPT3-davinci", "")))

    assert conversion.pairs["candidate_low"].to_list() == [""]
    assert conversion.manifest["counts"]["empty_candidates"] == 1


def test_unlabelled_rows_and_lonely_contexts_are_counted_and_no_error(
    read: Callable[[str, bytes], Conversion],
) -> None:
    lonely = GROUP | {"group_id": 8, "questions": GROUP["questions"][:1]}
    undecided = GROUP | {"group_id": 9, "questions": with_question(0, reason=None)["questions"]}

    dropped = read("quiz_design", lines(GROUP, lonely, undecided)).manifest["dropped"]

    assert [(entry["reason"], entry["what"], entry["n"]) for entry in dropped] == [
        ("unlabelled", "annotations", 1),
        ("one_candidate", "contexts", 1),
    ]


@pytest.mark.parametrize(
    ("source", "file", "code"),
    [
        ("quiz_design", "challenge300/challenge300-outputs.tsv", "file.cut-off"),
        ("quiz_design", "challenge300/challenge300-probes-v1.jsonl", "file.another-kind"),
        ("quiz_design", "dialsummeval/human_judgment.jsonl", "file.another-kind"),
        ("quiz_design", "frank/human_annotations.json", "file.cut-off"),
        ("quiz_design", "frank/AggreFact-Unified-test.xlsx", "file.not-utf8"),
        ("challenge300", "quiz_design/quiz_design_groups.jsonl", "file.another-kind"),
        ("challenge300", "wmt_mqm/ted/ende/mqm_ted_ende.tsv", "file.another-kind"),
        ("challenge300", "simplification/simplicity_DA.csv", "file.another-kind"),
    ],
)
def test_a_file_of_another_source(nnd_data: Path, source: str, file: str, code: str) -> None:
    path = nnd_data / file
    with refusal(code, f"{path.name}:1") as caught:
        convert(source, origin=path)

    assert str(caught.value).isprintable()


@pytest.mark.parametrize("place", ["nowhere", "."])
def test_a_place_without_the_file(tmp_path: Path, place: str) -> None:
    with refusal("file.not-found", (tmp_path / place).name):
        convert("quiz_design", origin=tmp_path / place)


TEXT = {"question": "Who sings?"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"context": " \n "}, "context"),
        ({"context": "\u2003"}, "context"),
        ({"inputs": TEXT | {"hint": " "}}, "inputs"),
        ({"context_id": "c1\n"}, "context_id"),
        ({"candidate_id": "a\n"}, "candidate_id"),
        ({"language": "en\n"}, "language"),
        ({"split": "test\n"}, "split"),
        ({"aspect": "style"}, "aspect"),
        ({"category": "overall"}, "category"),  # human scores have a row of that name
        ({"ratings": [5, float("nan")]}, "ratings/1"),
        *(
            ({"inputs": inputs}, "inputs")
            for inputs in ({"": "x"}, {}, {"question": None}, [], "x")
        ),
        ({"candidate": 3}, "candidate"),
        ({"score": 10**400}, "score"),  # no float holds it
    ],
)
def test_a_field_that_cannot_be(
    make_source: MakeSource, toy: Toy, fields: dict[str, Any], field: str
) -> None:
    with refusal("row.wrong-shape", f"toy.jsonl:1: {field}"):
        convert(make_source([toy("a", "heron", "good") | fields]))


@pytest.mark.parametrize(
    "fields",
    [{"inputs": {"hint": "a\0b"}}, {"inputs": {"\ud800": "x"}}, {"candidate": "a\0b"}],
    ids=repr,
)
def test_what_is_no_character_is_refused(
    make_source: MakeSource, toy: Toy, fields: dict[str, Any]
) -> None:
    with refusal("cell.not-text", "toy.jsonl:1"):
        convert(make_source([toy("a", "heron", "good") | fields]))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "5", True, [5]])
def test_a_score_that_is_no_finite_number(make_source: MakeSource, toy: Toy, value: object) -> None:
    # json.dumps writes NaN and Infinity, and json.loads reads them: JSON has neither.
    rows = [toy("a", "heron", None, score=1.0), toy("b", "wren", None, score=value)]
    folder = make_source(rows, quality={"rule": "gap", "minimum": 1})

    with refusal("row.wrong-shape", "toy.jsonl:2: score"):
        convert(folder)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("category", ("birds", "bees")),
        ("category", (None, "bees")),
        ("language", ("en", "de")),
        ("metadata", ({"topic": "a"}, {"topic": "b"})),
        ("inputs", ({"question": "Who?"}, {"question": "What?"})),
    ],
)
def test_a_context_is_one_thing_in_all_its_rows(
    make_source: MakeSource, toy: Toy, field: str, values: tuple[Any, Any]
) -> None:
    rows = [
        toy("a", "heron", "good", **{field: values[0]}),
        toy("b", "wren", "wrong", **{field: values[1]}),
    ]

    with refusal("row.wrong-shape", "toy.jsonl:2: context_id"):
        convert(make_source(rows))


def test_more_problems_are_counted(make_source: MakeSource, toy: Toy) -> None:
    rows = [toy(name, "heron", "bad") for name in "abc"]

    with refusal("row.wrong-shape", "toy.jsonl:1: label"):
        convert(make_source(rows))
