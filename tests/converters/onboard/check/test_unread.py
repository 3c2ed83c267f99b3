"""`check-source` on files unlike those of the built-in sources, of which a part is read."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.checked_source import Birds, make_birds, run_here

from nnd.converters.check.check_report import Check
from nnd.converters.onboard.check import separate_run
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.coverage import check_unread
from nnd.converters.onboard.check.source_readings import every_variant, real_readings
from nnd.converters.onboard.contents.level_columns import columns_in
from nnd.converters.onboard.contents.reading_files import read_parts
from nnd.converters.source.source import load_source

CODE = """\
from nnd.converters import Annotation

def annotations(files):
    for row in files.jsonl("birds.jsonl"):
        for one in PICKED:
            yield Annotation(
                where=row.where,
                context_id=row.text("key"),
                context=row.text("question"),
                inputs={"question": row.text("question")},
                candidate_id=f"{row.text('key')}/{one['system']}",
                candidate=one["answer"],
                system=one["system"],
                aspect="answer",
                score=float(one["score"]),
            )
"""


def item(n: int) -> dict[str, Any]:
    answer = f"It is answer number {n} of those that were given here."
    return {"system": f"s{n}", "answer": answer, "score": n % 5 + 1}


def row(n: int, **more: Any) -> dict[str, Any]:
    return {"key": f"k{n}", "question": f"Which of all birds has the number {n}?", **more}


def check_rows(birds: Birds, rows: list[dict[str, Any]], picked: str) -> Check:
    """Return what `coverage` says of a converter that reads what `picked` gives of each row."""
    birds.set_facts(
        quality={"rule": "gap", "minimum": 1}, taxonomy={}, systems={"*": None}, expected=None
    )
    (birds.folder / "convert.py").write_text(CODE.replace("PICKED", picked))
    birds.real.write_text("".join(json.dumps(one) + "\n" for one in rows))
    source, place = load_source(birds.folder), birds.folder.parent / "place"
    place.mkdir()
    checked = Case([*every_variant(source)], real_readings(source, [birds.real], place))
    return Check("coverage", *check_unread(checked))


@pytest.fixture
def birds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Birds:
    monkeypatch.setattr(separate_run, "run_readings", run_here(tmp_path / "runs"))
    (tmp_path / "birds").mkdir()
    return make_birds(tmp_path / "birds")


SHAPES: dict[str, tuple[list[dict[str, Any]], str, str, str]] = {
    "questions": (
        [row(n, questions=[item(5 * n + k) for k in range(5)]) for n in range(12)],
        'row.fields["questions"][:1]',
        "the last items of questions.*.answer",
        'row.fields["questions"]',
    ),
    "turns": (
        [row(n, turn_1=item(2 * n), turn_2=item(2 * n + 1)) for n in range(12)],
        '[row.fields["turn_1"]]',
        "turn_2.answer is unread",
        '[row.fields["turn_1"], row.fields["turn_2"]]',
    ),
    "workers": (
        [row(n, **item(n), ratings={"w1": n % 5 + 1, "w2": n % 3 + 1}) for n in range(12)],
        '[{**row.fields, "score": row.fields["ratings"]["w1"]}]',
        "ratings.w2 is unread",
        '[{**row.fields, "score": row.fields["score"] + sum(row.fields["ratings"].values())}]',
    ),
    "splits": (
        [row(0, train=[item(n) for n in range(9)], test=[item(n) for n in range(9, 18)])],
        'row.fields["train"]',
        "test.*.answer is unread",
        'row.fields["train"] + row.fields["test"]',
    ),
    "rows": (
        [row(n, **item(n)) for n in range(20)],
        'row.fields["score"] > 2 and [row.fields] or []',
        "8 of 20 texts under answer unread",
        "[row.fields]",
    ),
    "aspects": (
        [row(n, **item(n), fluency=(n * 7) % 5 + 1) for n in range(12)],
        "[row.fields]",
        "fluency is unread",
        '[{**row.fields, "score": row.fields["score"] + row.fields["fluency"]}]',
    ),
    "names of splits": (
        [row(n, **item(n), part="Train" if n % 3 else "test") for n in range(12)],
        "[row.fields]",
        "part is unread",
        '[{**row.fields, "answer": row.fields["answer"] + row.fields["part"]}]',
    ),
    "anything": (
        [row(n, **item(n), weight_of_the_bird=n * 11) for n in range(12)],
        "[row.fields]",
        "weight_of_the_bird is unread",
        '[{**row.fields, "answer": f"{row.fields}"}]',
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_like_something_read(birds: Birds, shape: str) -> None:
    rows, picked, said, _ = SHAPES[shape]

    check = check_rows(birds, rows, picked)

    assert check.outcome == "review"
    assert said in check.message


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_read_whole(birds: Birds, shape: str) -> None:
    rows, _, _, picked = SHAPES[shape]

    assert check_rows(birds, rows, picked).outcome == "pass"


def test_what_is_declared(birds: Birds) -> None:
    rows, picked, _, _ = SHAPES["turns"]
    birds.set_facts(unread={"turn_2.*": "The second turn is another task."})

    check = check_rows(birds, rows, picked)

    assert (check.outcome, check.message.partition("; ")[2]) == (
        "pass",
        "declared as unread: turn_2.*",
    )


def test_a_file_beside_with_the_same_fields(birds: Birds) -> None:
    rows, _, _, picked = SHAPES["rows"]
    (birds.real.parent / "test.jsonl").write_text(json.dumps(rows[0]) + "\n")

    check = check_rows(birds, rows, picked)

    assert "test.jsonl has the fields of birds.jsonl, and is not declared" in check.message


def test_keys_that_are_names_of_records_are_one_column() -> None:
    value = {f"document {n}": {"text": "x", "votes": {"1": n, "2": n}} for n in range(8)}

    assert [one.pattern for one in columns_in(value).values()] == ["text", "votes.*"]


@pytest.mark.parametrize("kind", ["zip", "gztar"])
def test_an_archive_has_a_part_for_each_readable_member(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "held"
    folder.mkdir()
    (folder / "a.csv").write_text("a,b\n1,2\n")
    (folder / "notes.txt").write_text("of something else")

    parts = read_parts(Path(shutil.make_archive(str(tmp_path / "a"), kind, folder)))

    assert list(parts.values()) == [[{"a": "1", "b": "2"}]]


def test_files_of_a_declared_pattern_are_not_named(birds: Birds) -> None:
    rows, _, _, picked = SHAPES["rows"]
    declared = {"name": "people/*.jsonl", "url": None, "sha256": None, "bytes": None}
    birds.set_facts(files=[*birds.facts()["files"], declared])
    people = birds.real.parent / "people"
    people.mkdir()
    (people / "ada.jsonl").write_text(json.dumps(rows[0]) + "\n")

    message = check_rows(birds, rows, picked).message

    assert "ada" not in message
    assert "people/*.jsonl is declared but never opened" in message
