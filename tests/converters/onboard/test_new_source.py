"""`new_source`: from a file that nobody has described to a folder that converts."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate
from nnd.converters.onboard.guess.questions import Answers
from nnd.converters.onboard.scaffold.first_facts import LEFT
from nnd.converters.onboard.scaffold.scaffolding import NewSource, new_source
from nnd.converters.reading.file_writing import write_objects
from nnd.converters.source.source import load_source
from nnd.schemas import NNDError, SourceError

MOST_LINES = 40

SYSTEMS = ("pine", "oak", "elm")
REVIEWS = (
    "The tram stopped twice in the tunnel, and nobody said why.",
    "Breakfast was served on the roof, which was windy.",
)
# (fluency, relevance, specificity) of what pine, oak and elm replied.
RATINGS = (((5, 4, 5), (3, 4, 2), (1, 2, 1)), ((4, 4, 3), (5, 4, 3), (2, 1, 3)))
HEADER = ["document", "bot_name", "reply", "fluency", "relevance", "specificity"]
ROWS: list[list[Any]] = [
    [review, system, f"Dear guest, {system} is sorry, {number}.", *RATINGS[number][place]]
    for number, review in enumerate(REVIEWS)
    for place, system in enumerate(SYSTEMS)
]

TAGS: tuple[list[str], ...] = ([], ["number_wrong"], ["name_wrong", "omitted"])
REPORTS = [
    {
        "match_id": 100 + number,
        "source": {"league": "north", "text": f"Match {number}: North 2, South 1."},
        "reports": [
            {
                "generator": system,
                "output": f"North won match {number}, writes {system}.",
                "error_tags": [{"type": tag, "at": 7} for tag in TAGS[(number + place) % 3]],
            }
            for place, system in enumerate(SYSTEMS)
        ],
    }
    for number in range(4)
]

Write = Callable[[str, Any], Path]


def csv_of(header: Sequence[str], rows: Sequence[Sequence[Any]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([header, *rows])
    return text.getvalue().encode()


def jsonl_of(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def objects() -> list[dict[str, Any]]:
    return [dict(zip(HEADER, row, strict=True)) for row in ROWS]


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., NewSource]:
    """`make("a.csv", raw, no_error="ok")`: a source that was made from a file."""

    def run(name: str, raw: bytes, **answers: Any) -> NewSource:
        path = tmp_path / name
        path.write_bytes(raw)
        return new_source("toy", path, tmp_path / "toy", answers=Answers(**answers))

    return run


def facts_of(made: NewSource) -> dict[str, Any]:
    return dict(load_source(made.folder).facts)


def pairs_of(made: NewSource, origin: Path) -> dict[str, int]:
    counts = convert(made.folder, origin=origin).manifest["counts"]
    return dict(counts["by_error_category"])


def texts_in(value: object) -> set[str]:
    """Every text of more than three words in nested JSON."""
    if isinstance(value, Mapping):
        return set().union(*map(texts_in, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(texts_in, value)) if value else set()
    return {value} if isinstance(value, str) and value.count(" ") > 2 else set()


# The two ways of the house: a table needs no Python, nested JSON a page of it.


def test_a_flat_table_of_ratings_needs_no_python(make: Any, tmp_path: Path) -> None:
    made = make("replies.csv", csv_of(HEADER, ROWS))
    out = tmp_path / "toy-nnd"
    conversion = convert(made.folder, origin=tmp_path / "replies.csv", out=out)

    assert made.files == ("fixture/expected.yaml", "fixture/replies.csv", "source.yaml")
    # Review 1: fluency 5 3 1 and specificity 5 2 1 differ by a point in 3 and 3 pairs, relevance
    # 4 4 2 in 2. Review 2: 4 5 2 in 3, relevance 4 4 1 in 2, specificity 3 3 3 in none.
    assert conversion.manifest["counts"]["by_error_category"] == {
        "fluency": 6,
        "relevance": 4,
        "specificity": 3,
    }
    assert list(validate(out)) == []


def test_nested_json_gets_a_generator_of_at_most_forty_lines(make: Any, tmp_path: Path) -> None:
    made = make("reports.jsonl", jsonl_of(REPORTS))
    out = tmp_path / "toy-nnd"
    conversion = convert(made.folder, origin=tmp_path / "reports.jsonl", out=out)

    code = (made.folder / "convert.py").read_text("utf-8")
    assert len(code.splitlines()) <= MOST_LINES
    assert "#   reports.error_tags.type  tags: error_tags\n" in code
    assert "#   reports.error_tags.at    not read\n" in code
    # In each of four matches the clean report beats one with number_wrong and one with two tags.
    assert conversion.manifest["counts"]["by_error_category"] == {
        "name_wrong": 4,
        "number_wrong": 4,
        "omitted": 4,
    }
    assert set(conversion.pairs["context_id"]) == {"100", "101", "102", "103"}
    assert list(validate(out)) == []


# What is written.


def test_what_is_known_of_the_file_stands_in_source_yaml(make: Any, tmp_path: Path) -> None:
    raw = csv_of(HEADER, ROWS)
    facts = facts_of(make("replies.csv", raw))

    digest = hashlib.sha256(raw).hexdigest()
    assert facts["files"] == [
        {"name": "replies.csv", "url": None, "sha256": digest, "bytes": len(raw)}
    ]
    assert list(facts["systems"]) == ["pine", "oak", "elm"]
    assert facts["expected"] == {
        "annotations": 18,
        "contexts": 2,
        "systems": 3,
        "pairs": 13,
        "by_error_category": {"fluency": 6, "relevance": 4, "specificity": 3},
    }
    # The declared file is verified, so that the counts are held against it from now on.
    assert convert(tmp_path / "toy", origin=tmp_path / "replies.csv").manifest["files"][0][
        "verified"
    ]


def test_what_nobody_can_know_is_left_open_and_asked_for(make: Any) -> None:
    made = make("reports.jsonl", jsonl_of(REPORTS))
    text = (made.folder / "source.yaml").read_text("utf-8")
    facts = yaml.safe_load(text)

    assert (facts["licence"], facts["redistribution"], facts["languages"]) == (
        "unknown",
        "unknown",
        ["und"],
    )
    for open_ in (facts["task"], facts["citation"], facts["aspects"]["error_tags"]):
        assert "TODO" in open_
    assert all("TODO" in entry["description"] for entry in facts["taxonomy"].values())
    comments = " ".join(text.replace("\n# ", " ").split())
    for left in made.left:
        assert f"TODO: {left.what}. Why: {left.why}." in comments
        assert f"{left.field}:" in text
    assert [left.field for left in made.left] == [left.field for left in LEFT]


def test_a_source_without_labels_is_not_asked_for_a_taxonomy(make: Any) -> None:
    made = make("replies.csv", csv_of(HEADER, ROWS))

    assert "taxonomy" not in {left.field for left in made.left}


def test_the_same_file_gives_the_same_bytes(make: Any, tmp_path: Path) -> None:
    made = make("reports.jsonl", jsonl_of(REPORTS))
    again = new_source("toy", tmp_path / "reports.jsonl", tmp_path / "again")

    assert made.files == again.files
    for name in made.files:
        assert (made.folder / name).read_bytes() == (again.folder / name).read_bytes()


def test_a_workbook_and_a_parquet_file_give_the_same_bytes(tmp_path: Path) -> None:
    pl.DataFrame(objects()).write_parquet(tmp_path / "a.parquet")
    first = new_source("toy", tmp_path / "a.parquet", tmp_path / "first")
    write_workbook(book := tmp_path / "b.xlsx")
    second = new_source("toy", book, tmp_path / "second")
    for made, path in ((first, tmp_path / "a.parquet"), (second, book)):
        again = new_source("toy", path, tmp_path / f"again{path.suffix}")
        fixture = Path("fixture", path.name)
        assert (made.folder / fixture).read_bytes() == (again.folder / fixture).read_bytes()


def write_workbook(path: Path) -> None:
    """Write the table with the writer of fixtures."""
    cells = [{name: str(value) for name, value in row.items()} for row in objects()]
    write_objects(path, cells)


# Every kind of file.


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json", ".xlsx", ".parquet"])
def test_a_table_is_a_table_in_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"replies{suffix}"
    match suffix:
        case ".csv":
            path.write_bytes(csv_of(HEADER, ROWS))
        case ".tsv":
            path.write_bytes(csv_of(HEADER, ROWS, "\t"))
        case ".jsonl":
            path.write_bytes(jsonl_of(objects()))
        case ".json":
            path.write_text(json.dumps(objects()), encoding="utf-8")
        case ".xlsx":
            write_workbook(path)
        case _:
            pl.DataFrame(objects()).write_parquet(path)

    made = new_source("toy", path, tmp_path / "toy")

    assert "convert.py" not in made.files
    assert pairs_of(made, path) == {"fluency": 6, "relevance": 4, "specificity": 3}
    assert pairs_of(made, made.folder / "fixture" / path.name).keys() <= {*HEADER}


@pytest.mark.parametrize("kind", ["lines", "list", "object", "keys"])
def test_nested_json_of_every_shape(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("a.jsonl" if kind == "lines" else "a.json")
    content: dict[str, Any] = {
        "lines": jsonl_of(REPORTS).decode(),
        "list": json.dumps(REPORTS),
        "object": json.dumps({"version": 2, "items": {"all": REPORTS}}),
        "keys": json.dumps({f"m{report['match_id']}": report for report in REPORTS}),
    }
    path.write_text(content[kind], encoding="utf-8")

    each = (".",) if kind == "keys" else ()
    made = new_source("toy", path, tmp_path / "toy", answers=Answers(each=each))

    expected = {"name_wrong": 4, "number_wrong": 4, "omitted": 4}
    assert pairs_of(made, path) == expected
    assert pairs_of(made, made.folder / "fixture").keys() <= expected.keys()


# The fixture is invented, and of the same shape.


@pytest.mark.parametrize("nested", [True, False])
def test_no_text_of_the_file_is_in_the_fixture(make: Any, *, nested: bool) -> None:
    raw = jsonl_of(REPORTS if nested else objects())
    made = make("a.jsonl", raw)
    fixture = (made.folder / "fixture" / "a.jsonl").read_text("utf-8")
    given = [json.loads(line) for line in raw.splitlines()]
    invented = [json.loads(line) for line in fixture.splitlines()]

    assert texts_in(invented)
    assert texts_in(given).isdisjoint(texts_in(invented))
    assert shape_of(invented[0]) == shape_of(given[0])


def shape_of(value: object) -> object:
    """Names and types, whatever the texts and numbers; of a list what its first item is."""
    if isinstance(value, Mapping):
        return {name: shape_of(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape_of(value[0])] if value and not isinstance(value[0], Mapping) else list
    return type(value)


def test_what_is_not_used_is_not_copied(make: Any) -> None:
    columns = {"annotator_email": "ann@example.org", "comment": "I know the guest."}
    made = make("a.csv", csv_of([*HEADER, *columns], [[*row, *columns.values()] for row in ROWS]))
    fixture = (made.folder / "fixture" / "a.csv").read_text("utf-8")

    assert fixture.startswith(",".join([*HEADER, *columns]))
    assert "ann@" not in fixture
    assert "guest" not in fixture


def test_the_fixture_covers_every_label_and_system(make: Any) -> None:
    labels = ["ok", "late", "rude"]
    rows = [
        [f"Where is room {n}, please?", system, f"{system} says left {n}.", labels[(n + k) % 3]]
        for n in range(10)
        for k, system in enumerate(SYSTEMS)
    ]
    made = make("a.csv", csv_of(["question", "model", "output", "error"], rows))
    found = convert(made.folder, origin=made.folder / "fixture").manifest["counts"]

    assert (found["contexts"], found["systems"]) == (4, 3)
    assert found["by_error_category"].keys() == {"late", "rude"}


def test_expected_yaml_says_what_the_fixture_gives(make: Any) -> None:
    made = make("reports.jsonl", jsonl_of(REPORTS))
    (entry,) = yaml.safe_load((made.folder / "fixture" / "expected.yaml").read_text("utf-8"))
    manifest = convert(made.folder, origin=made.folder / "fixture").manifest

    assert entry["pairs"] > 0
    for name in ("annotations", "contexts", "pairs", "by_error_category"):
        assert manifest["counts"][name] == entry[name]
    assert (entry["set"], entry["variant"]) == (None, None)


# Nothing is half-written, nothing is overwritten.


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("kind", ["file", "folder", "full", "dangling"])
def test_what_is_there_is_never_overwritten(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.csv").write_bytes(csv_of(HEADER, ROWS))
    target = tmp_path / "toy"
    match kind:
        case "file":
            target.write_text("mine", encoding="utf-8")
        case "dangling":
            target.symlink_to(tmp_path / "nowhere")
        case _:
            target.mkdir()
    if kind == "full":
        (target / "source.yaml").write_text("mine", encoding="utf-8")
    before = listing(tmp_path)

    with pytest.raises(NNDError, match="already exists; name another place with --out"):
        new_source("toy", tmp_path / "a.csv", target)

    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[*row[:3], "x", "y", "z"] for row in ROWS], "Which columns say how good a candidate is?"),
        ([[*row[:3], 3, 3, 3] for row in ROWS], "Which columns say how good a candidate is?"),
    ],
)
def test_a_file_that_cannot_be_guessed_leaves_nothing(
    tmp_path: Path, rows: list[list[Any]], words: str
) -> None:
    (tmp_path / "a.csv").write_bytes(csv_of(HEADER, rows))

    with pytest.raises(SourceError) as caught:
        new_source("toy", tmp_path / "a.csv", tmp_path / "toy")

    assert str(caught.value).startswith(f"a.csv: {words}")
    assert listing(tmp_path) == ["a.csv"]


def test_a_guess_that_does_not_convert_leaves_nothing_and_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(csv_of(HEADER, ROWS))

    with pytest.raises(SourceError) as caught:
        new_source("toy", tmp_path / "a.csv", tmp_path / "toy", answers=Answers(minimum=99))

    message = str(caught.value)
    assert message.startswith("what was guessed does not convert: toy: the file makes no pair ")
    assert "Guessed: document is context, bot_name is system, reply is candidate, " in message
    assert "name the right columns with --context, --context-id, --candidate," in message
    assert listing(tmp_path) == ["a.csv"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("My Source", "'My Source' does not match"),
        ("", "'' does not match"),
        ("../up", "'../up' does not match"),
        ("summeval", "summeval: a built-in source has this name; choose another"),
    ],
)
def test_a_name_that_is_none(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "a.csv").write_bytes(csv_of(HEADER, ROWS))

    with pytest.raises(SourceError) as caught:
        new_source(name, tmp_path / "a.csv", tmp_path / "toy")

    assert str(caught.value).startswith(words)
    assert listing(tmp_path) == ["a.csv"]


@pytest.mark.parametrize(
    ("place", "what"), [("b.csv", "file not found"), (".", "a folder without .csv, .*")]
)
def test_a_file_that_is_not_there(tmp_path: Path, place: str, what: str) -> None:
    with pytest.raises(SourceError, match=f"{what}; name the annotation file with --from"):
        new_source("toy", tmp_path / place, tmp_path / "toy")


def test_without_a_folder_it_is_called_like_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_bytes(csv_of(HEADER, ROWS))
    monkeypatch.chdir(tmp_path)

    made = new_source("toy", "a.csv")

    assert made.folder == Path("toy")
    assert load_source("toy").name == "toy"


def test_it_is_told_as_plain_values(make: Any) -> None:
    told = json.loads(json.dumps(make("replies.csv", csv_of(HEADER, ROWS)).to_dict()))

    assert told["quality"] == {"rule": "gap", "minimum": 1, "tolerance": 1e-6}
    assert told["counts"]["pairs"] == 13
    assert told["columns"][1] == {
        "column": "bot_name",
        "role": "system",
        "distinct": 3,
        "samples": ['"pine"', '"oak"', '"elm"'],
    }
