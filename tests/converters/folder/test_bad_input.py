"""Bad annotation files: one line that says what, where, and the remedy, and nothing written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def table(*rows: list[str]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in rows).encode()


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


@pytest.fixture
def refused(
    read: Callable[[str, bytes], Conversion], tmp_path: Path
) -> Callable[[str, bytes], str]:
    """`refused("quiz_design", raw)`: the message, after checking that nothing was written."""

    def message(source: str, raw: bytes) -> str:
        with pytest.raises(NNDError) as caught:
            read(source, raw)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["given"]
        text = str(caught.value)
        assert text.isprintable()  # one line, and nothing that steers a terminal
        return text

    return message


def test_the_files_that_the_tests_below_spoil_are_good(
    read: Callable[[str, bytes], Conversion],
) -> None:
    assert read("quiz_design", lines(GROUP)).pairs.height == 1
    assert read("challenge300", table(HEADER, ANSWER)).pairs.height == 1


RIGHT = "check that this is the right file"
OTHER = f"{RIGHT}, and not another source's"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            # The string that is cut off starts with the 32nd character of the line.
            lines(GROUP) + b'{"group_id": 7, "answer_span": "Li',
            (
                "not a whole JSON object: Unterminated string starting at (column 32); "
                f"{RIGHT}, or fetch it again: it may be cut off"
            ),
        ),
        (lines(GROUP) + b'{"group_id": 8}\n', f'there is no "context", only group_id; {OTHER}'),
        (lines(GROUP, 3), f"3 is not a JSON object; {OTHER}"),
        (lines(GROUP, None), f"null is not a JSON object; {OTHER}"),
        (lines(GROUP, "text"), f'"text" is not a JSON object; {OTHER}'),
        (lines(GROUP, []), f"[] is not a JSON object; {OTHER}"),
        (lines(GROUP) + b"NaN\n", f"NaN is not a JSON object; {OTHER}"),
    ],
    ids=["cut off", "field missing", "number", "null", "string", "list", "NaN"],
)
def test_a_line_that_is_not_what_it_should_be(
    refused: Callable[[str, bytes], str], raw: bytes, message: str
) -> None:
    assert refused("quiz_design", raw) == f"given:2: {message}"


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (GROUP | {"questions": "none"}, ', questions: "none" is not a list'),
        (GROUP | {"questions": [3]}, ", questions[0]: 3 is not an object"),
        (GROUP | {"group_id": 1.5}, ", group_id: 1.5 is not a string or a whole number"),
        (GROUP | {"group_id": True}, ", group_id: true is not a string or a whole number"),
        (with_question(1, question=None), ", questions[1], question: null is not a string"),
        (with_question(1, reason=2), ", questions[1], reason: 2 is not a string"),
    ],
)
def test_a_field_that_is_not_what_it_should_be(
    refused: Callable[[str, bytes], str], group: object, message: str
) -> None:
    assert refused("quiz_design", lines(group)) == f"given:1{message}; {OTHER}"


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        (
            "latin1",
            (
                "given:2: byte 0xe9 is not UTF-8; convert the file first, "
                "e.g. iconv -f latin1 -t utf-8"
            ),
        ),
        (
            "utf-16",
            (
                "given:1: UTF-16, or not a text; convert the file first, "
                "e.g. iconv -f utf-16 -t utf-8"
            ),
        ),
        (
            "utf-16-le",
            (
                "given:1: UTF-16, or not a text; convert the file first, "
                "e.g. iconv -f utf-16 -t utf-8"
            ),
        ),
    ],
)
@pytest.mark.parametrize("source", ["quiz_design", "challenge300"])
def test_another_encoding(
    refused: Callable[[str, bytes], str], source: str, encoding: str, message: str
) -> None:
    good = {"quiz_design": lines(GROUP), "challenge300": table(HEADER, ANSWER)}[source]
    # An accent in the second line; latin1 writes it as the byte e9.
    first, rest = good.decode().split("\n", 1)

    assert refused(source, f"{first}\né{rest}\n".encode(encoding)) == message


def test_duplicate_ids(refused: Callable[[str, bytes], str]) -> None:
    assert refused("quiz_design", lines(GROUP, GROUP)) == (
        'given:2, questions[0]: candidate_id: "7/mixqg" is annotated twice under "question" with '
        "the same label (keep one of the rows, or give each its own id); and 1 more like it"
    )


def test_one_context_id_for_two_contexts(refused: Callable[[str, bytes], str]) -> None:
    other = GROUP | {"context": "Quito is the capital of Ecuador."}

    assert refused("quiz_design", lines(GROUP, other)).startswith(
        'given:2, questions[0]: context_id: "7" names two different things '
        "(its context differs from that of an earlier row; give each its own id)"
    )


def test_one_candidate_id_for_two_candidates(refused: Callable[[str, bytes], str]) -> None:
    # One system, two questions in one group.
    assert refused("quiz_design", lines(with_question(1, model_name="mixqg"))).startswith(
        'given:1, questions[1]: candidate_id: "7/mixqg" names two different things '
        "(its candidate differs from that of an earlier row; give each its own id)"
    )


def test_an_unknown_label(refused: Callable[[str, bytes], str]) -> None:
    assert refused("quiz_design", lines(with_question(1, reason="OutE2"))) == (
        'given:1, questions[1]: label: "OutE2" is not in source.yaml (known: No error, disfluent, '
        "off_target, wrong_context; add it under `taxonomy` in source.yaml if it is new)"
    )


@pytest.mark.parametrize("system", ["gpt5", "mixqg|gpt5", "mixqg|", ""])
def test_an_unknown_system(refused: Callable[[str, bytes], str], system: str) -> None:
    message = refused("quiz_design", lines(with_question(1, model_name=system)))

    assert message.startswith("given:1, questions[1]: system: ")
    if system:
        unknown = system.rpartition("|")[2]
        assert f'"{unknown}" is not in source.yaml (known: bartb_sup, bartl_sup, ' in message


def test_an_empty_candidate(refused: Callable[[str, bytes], str]) -> None:
    assert refused("quiz_design", lines(with_question(1, question=""))) == (
        "given:1, questions[1]: candidate: is empty (leave it out, or set `empty_candidates: keep` "
        "in source.yaml)"
    )


@pytest.mark.parametrize("text", ["  ", "\n\u00a0"])
def test_a_candidate_of_blanks(refused: Callable[[str, bytes], str], text: str) -> None:
    message = "candidate: consists of white space only (leave it out, or make it an empty text)"

    assert refused("quiz_design", lines(with_question(1, question=text))) == (
        f"given:1, questions[1]: {message}"
    )
    # Not even where an empty candidate is one like any other.
    assert refused("challenge300", table(HEADER, cell("GPT3-davinci", "  "))) == (
        f"given:2, GPT3-davinci: {message}"
    )


@pytest.mark.parametrize("text", [" \n ", "\u2003"])
def test_a_context_of_blanks(make_source: MakeSource, toy: Toy, text: str) -> None:
    rows = [toy("a", "heron", "good", context=text), toy("b", "wren", "wrong", context=text)]

    with refusal("data.invalid", "toy.jsonl:1: row 0, context"):
        convert(make_source(rows))


@pytest.mark.parametrize("part", [" ", "a\0b"])
def test_a_part_of_a_context_that_is_no_text(make_source: MakeSource, toy: Toy, part: str) -> None:
    rows = [
        toy(name, "heron", label, inputs={"question": "Who sings?", "hint": part})
        for name, label in (("a", "good"), ("b", "wrong"))
    ]

    with refusal("data.invalid", "toy.jsonl:1: row 0, inputs"):
        convert(make_source(rows))


def test_an_empty_context_with_an_empty_part_is_one(make_source: MakeSource, toy: Toy) -> None:
    rows = [
        toy("a", "heron", "good", context="", inputs={"question": ""}),
        toy("b", "wren", "wrong", context="", inputs={"question": ""}),
    ]

    assert convert(make_source(rows)).pairs["context"].to_list() == [""]


def test_a_candidate_with_nul(refused: Callable[[str, bytes], str]) -> None:
    assert refused("quiz_design", lines(with_question(1, question="Who\0?"))) == (
        "given:1, questions[1]: candidate: contains the character NUL, which texts do not "
        "have (the file may be damaged; fetch it again)"
    )


@pytest.mark.parametrize("field", ["context_id", "candidate_id", "language", "split"])
def test_an_id_with_a_line_end(make_source: MakeSource, toy: Toy, field: str) -> None:
    row = toy("a", "heron", "good", language="en", split="test")
    rows = [row | {field: f"{row[field]}\n"}, toy("b", "wren", "wrong")]

    with refusal("data.invalid"):
        convert(make_source(rows))


def test_an_empty_candidate_that_is_kept(read: Callable[[str, bytes], Conversion]) -> None:
    conversion = read("challenge300", table(HEADER, cell("GPT3-davinci", "")))

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


def test_a_file_that_makes_no_pair(refused: Callable[[str, bytes], str]) -> None:
    message = refused("quiz_design", lines(with_question(1, reason="No error")))

    assert message.startswith(
        "quiz_design: the file makes no pair; check that it is the right file"
    )
    assert message.endswith(
        "check that it is the right file and that `quality` in source.yaml fits it"
    )


@pytest.mark.parametrize("raw", [b"", b"\n\n", b"\xef\xbb\xbf"], ids=["empty", "blank", "bom"])
def test_an_empty_file(refused: Callable[[str, bytes], str], raw: bytes) -> None:
    assert "the file makes no pair" in refused("quiz_design", raw)
    assert "given" not in refused("quiz_design", raw)
    assert "the columns are not id, question, category" in refused("challenge300", raw)


@pytest.mark.parametrize("credit", ["x", "1,0", "nan", "NaN", "inf", "-Infinity", "1e999", " "])
def test_a_credit_that_is_no_number(refused: Callable[[str, bytes], str], credit: str) -> None:
    assert refused("challenge300", table(HEADER, ANSWER, cell("credit-GPT3-davinci", credit))) == (
        f'given:3, GPT3-davinci, credit-GPT3-davinci: "{credit}" is not a number; '
        "correct it or leave it empty"
    ).replace("GPT3-davinci, ", "")


@pytest.mark.parametrize("row", [ANSWER[:-1], [*ANSWER, "1"], ["p1"]], ids=["short", "long", "one"])
def test_a_ragged_row(refused: Callable[[str, bytes], str], row: list[str]) -> None:
    assert refused("challenge300", table(HEADER, ANSWER, row)) == (
        f"given:3: {len(row)} cells, but the header has 8; correct the row, or fetch the file again"
    )


def test_a_quote_that_is_not_closed(refused: Callable[[str, bytes], str]) -> None:
    raw = table(['"id"', *HEADER[1:]], ANSWER) + b'p2\t"Is it'

    assert refused("challenge300", raw) == (
        "given:3: not a row of cells: unexpected end of data; correct the row, or fetch the file "
        "again"
    )


def test_other_columns(refused: Callable[[str, bytes], str]) -> None:
    assert refused("challenge300", table(["system", *HEADER[1:]], ANSWER)) == (
        "given:1: the columns are not id, question, category, the answers, Credits->, the credits; "
        "check that this is challenge300-outputs.tsv"
    )


@pytest.mark.parametrize("column", ["credit-GPT4", "credit-Macaw-11B"], ids=["unknown", "twice"])
def test_a_credit_column_that_belongs_to_no_answer(
    refused: Callable[[str, bytes], str], column: str
) -> None:
    # Or the credits of GPT3-davinci would be lost without a word.
    message = refused("challenge300", table([*HEADER[:-1], column], ANSWER))

    assert message.startswith(f"given:1: the credits of {column.removeprefix('credit-')}")
    assert message.endswith("give every credit column the name of one answer column")


def test_an_unknown_category(refused: Callable[[str, bytes], str]) -> None:
    message = refused("challenge300", table(HEADER, cell("category", "sports")))

    assert message.startswith('given:2: category "sports" is not known, only commonsense, ')


def test_an_answer_column_of_an_unknown_system(refused: Callable[[str, bytes], str]) -> None:
    header = [name.replace("GPT3-davinci", "GPT4") for name in HEADER]

    assert refused("challenge300", table(header, ANSWER)).startswith(
        'given:2, GPT4: system: "GPT4" is not in source.yaml (known: GPT3-davinci, '
    )


def test_two_rows_with_one_id(refused: Callable[[str, bytes], str]) -> None:
    assert refused("challenge300", table(HEADER, ANSWER, ANSWER)).startswith(
        'given:3, Macaw-11B: candidate_id: "p1/Macaw-11B" is annotated twice under "correctness" ('
    )


@pytest.mark.parametrize(
    ("source", "file", "start"),
    [
        (
            "quiz_design",
            "challenge300/challenge300-outputs.tsv",
            "challenge300-outputs.tsv:1: not a",
        ),
        (
            "quiz_design",
            "challenge300/challenge300-probes-v1.jsonl",
            "challenge300-probes-v1.jsonl:1",
        ),
        ("quiz_design", "dialsummeval/human_judgment.jsonl", "human_judgment.jsonl:1: there is no"),
        ("quiz_design", "frank/human_annotations.json", "human_annotations.json:1: "),
        ("quiz_design", "frank/AggreFact-Unified-test.xlsx", "AggreFact-Unified-test.xlsx:"),
        ("challenge300", "quiz_design/quiz_design_groups.jsonl", "quiz_design_groups.jsonl:1: the"),
        ("challenge300", "wmt_mqm/ted/ende/mqm_ted_ende.tsv", "mqm_ted_ende.tsv:1: the columns"),
        ("challenge300", "simplification/simplicity_DA.csv", "simplicity_DA.csv:1: the columns"),
    ],
)
def test_a_file_of_another_source(nnd_data: Path, source: str, file: str, start: str) -> None:
    with pytest.raises(NNDError) as caught:
        convert(source, origin=nnd_data / file)

    assert str(caught.value).startswith(start)
    assert (
        "right file" in str(caught.value)
        or "check that this is" in str(caught.value)
        or ("convert the file first" in str(caught.value))
    )
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "5", True, [5]])
def test_a_score_that_is_no_finite_number(make_source: MakeSource, toy: Toy, value: object) -> None:
    # json.dumps writes NaN and Infinity, and json.loads reads them: JSON has neither.
    rows = [toy("a", "heron", None, score=1.0), toy("b", "wren", None, score=value)]
    folder = make_source(rows, quality={"rule": "gap", "minimum": 1})

    with refusal("data.invalid") as caught:
        convert(folder)

    assert str(caught.value) == (
        f"toy.jsonl:2: score: {value!r} is not of type 'number', 'null' "
        "(The score given, where the source gives numbers, for example 0.5)"
    )


def test_a_rating_that_is_no_number(make_source: MakeSource, toy: Toy) -> None:
    rows = [toy("a", "heron", None, ratings=[5, float("nan")])]
    folder = make_source(rows, quality={"rule": "majority", "top": 5})

    with refusal("data.invalid", "toy.jsonl:1: row 0, ratings/1"):
        convert(folder)


def test_an_unknown_aspect(make_source: MakeSource, toy: Toy) -> None:
    folder = make_source([toy("a", "heron", "good", aspect="style")])

    with refusal("data.invalid", "toy.jsonl:1: row 0, aspect"):
        convert(folder)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("category", ("birds", "bees")),
        ("category", (None, "bees")),
        ("language", ("en", "de")),
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

    with refusal("data.invalid", "toy.jsonl:2: row 1, context_id"):
        convert(make_source(rows))


def test_a_category_of_contexts_cannot_be_called_overall(make_source: MakeSource, toy: Toy) -> None:
    # Human scores have a row of that name.
    with refusal("data.invalid", "toy.jsonl:1: row 0, category"):
        convert(make_source([toy("a", "heron", "good", category="overall")]))


def test_more_problems_are_counted(make_source: MakeSource, toy: Toy) -> None:
    rows = [toy(name, "heron", "bad") for name in "abc"]

    with refusal("data.invalid", "toy.jsonl:1: row 0, label"):
        convert(make_source(rows))


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with refusal("file.not-found", "nowhere"):
        convert("quiz_design", origin=tmp_path / "nowhere")


def test_a_folder_without_the_file(tmp_path: Path) -> None:
    with refusal("file.not-found", "test_a_folder_without_the_file0"):
        convert("quiz_design", origin=tmp_path)
