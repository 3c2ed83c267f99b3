"""`nnd new-source`: what it prints, and the conversation by the file that it writes."""

import csv
import json
from pathlib import Path

import pytest
from support.screens.commands import Nnd

SYSTEMS = ("pine", "oak", "elm")


def write(path: Path, header: list[str], kind: str = "") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for number in range(4):
            for place, system in enumerate(SYSTEMS):
                text = f"A [red]chair[/red] {number} from {system}."
                judged = f"{kind} {place}" if kind else place
                writer.writerow([f"What is there in room {number}?", system, text, judged])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The working folder, with two tables."""
    write(tmp_path / "scores.csv", ["question", "model", "output", "score"])
    write(tmp_path / "labels.csv", ["question", "model", "output", "label"], "kind")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_it_shows_the_columns_the_shape_and_what_comes_next(nnd: Nnd) -> None:
    ran = nnd("new-source", "chairs", "--from", "scores.csv")

    assert (ran.code, ran.err) == (0, "")
    for shown in (
        "12 pairs of 4 contexts; the source is in chairs.",
        "[red]chair[/red]",  # a text of the file is no markup
        "Shape: scores (a text in a row, with a number for each aspect).",
        "Open in chairs/source.yaml:",
        "Next: edit chairs/source.yaml, and look again with\n  nnd new-source chairs\n",
        "chairs has 12 pairs; 2 shown.\n",
    ):
        assert shown in ran.out


@pytest.mark.usefixtures("folder")
def test_what_it_wrote_converts_and_is_valid(nnd: Nnd) -> None:
    assert nnd("new-source", "chairs", "--from", "scores.csv").code == 0
    assert nnd("convert", "./chairs", "--from", "scores.csv").code == 0

    ran = nnd("validate", "chairs-nnd")
    assert (ran.code, ran.out) == (0, "chairs-nnd has no problems.\n")


@pytest.mark.usefixtures("folder")
def test_json_for_machines(nnd: Nnd) -> None:
    told = json.loads(nnd("new-source", "c", "--from", "scores.csv", "--json").out)

    assert (told["shapes"], told["problem"]) == (["scores"], None)
    assert [column["column"] for column in told["columns"]] == [
        "question",
        "model",
        "output",
        "score",
    ]


def test_an_answer_is_an_edit_and_the_command_says_what_is_left(folder: Path, nnd: Nnd) -> None:
    first = nnd("new-source", "chairs", "--from", "labels.csv").out

    assert "it does not convert yet" in first
    assert "no_error: TODO  # the label that says that nothing is wrong is one of: kind 0" in first
    yaml = folder / "chairs" / "source.yaml"
    edited = yaml.read_text("utf-8").replace("no_error: TODO", "no_error: kind 1")
    edited = edited.replace("taxonomy:\n", "taxonomy:\n  kind 0: *kind\n").replace(
        "  kind 0:\n", "  kind 9: &kind\n", 1
    )
    lines = [line for line in edited.splitlines() if "kind 0: *kind" not in line]
    lines = [line.replace("kind 9: &kind", "kind 0:") for line in lines]
    yaml.write_text("\n".join(lines) + "\n", encoding="utf-8")

    second = nnd("new-source", "chairs").out  # it knows the file, and nothing typed is lost

    assert second.startswith("8 pairs of 4 contexts; the source is in chairs.")
    assert "kind 1" in yaml.read_text("utf-8")


@pytest.mark.usefixtures("folder")
def test_every_option_reaches_the_file(nnd: Nnd) -> None:
    roles = ["--context", "output", "--candidate", "question", "--system", "model"]

    ran = nnd("new-source", "c", "--from", "labels.csv", *roles, "--label", "label")

    assert ran.code == 0
    text = Path("c/source.yaml").read_text("utf-8")
    assert "candidate: question" in text
    assert "output: output" in text
    for given, names in (
        (["d", "--from", "labels.csv", "--score", "points"], ["--score: ", '"points"']),
        (["d", "--from", "labels.csv", "--shape", "lable"], ["--shape: ", '"lable"', '"labels"']),
        (["c", "--score", "label"], ["nnd: c: "]),
    ):
        ran = nnd("new-source", *given)
        assert ran.code == 2
        assert [name for name in names if name not in ran.err] == []
