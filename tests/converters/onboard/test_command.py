"""`nnd new-source`: what it prints, and what it asks."""

import csv
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nnd.converters.source.source import load_source

COMMAND = Path(sys.executable).with_name("nnd")
Nnd = Callable[..., Any]
SYSTEMS = ("pine", "oak", "elm")


def write(path: Path, header: list[str], label: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for number in range(4):
            for place, system in enumerate(SYSTEMS):
                text = f"A [red]chair[/red] {number} from {system}."
                judged = place if label == "score" else f"{label} {place}"
                writer.writerow([f"What is there in room {number}?", system, text, judged])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with two tables."""
    write(tmp_path / "scores.csv", ["question", "model", "output", "score"], "score")
    write(tmp_path / "labels.csv", ["question", "model", "output", "label"], "kind")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_it_shows_its_guess_what_is_left_and_what_comes_next(nnd: Nnd) -> None:
    ran = nnd("new-source", "chairs", "--from", "scores.csv")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "[red]chair[/red]" in ran.stdout  # a text of the file is no markup
    for shown in (
        "candidate",
        "Next: fill in chairs/source.yaml (",
        "12 pairs of",
    ):
        assert shown in ran.stdout
    assert "Written: fixture/expected.yaml, fixture/scores.csv, source.yaml.\n" in ran.stdout
    assert "chairs has 12 pairs; 2 shown.\n" in ran.stdout


@pytest.mark.usefixtures("folder")
def test_what_it_wrote_converts_and_is_valid(nnd: Nnd) -> None:
    assert nnd("new-source", "chairs", "--from", "scores.csv").returncode == 0
    assert nnd("convert", "./chairs", "--from", "scores.csv").returncode == 0

    ran = nnd("validate", "chairs-nnd")
    assert (ran.returncode, ran.stdout) == (0, "chairs-nnd has no problems.\n")


@pytest.mark.usefixtures("folder")
def test_json_for_machines(nnd: Nnd) -> None:
    told = json.loads(nnd("new-source", "c", "--from", "scores.csv", "--json").stdout)

    assert [each["role"] for each in told["columns"]] == [
        "context",
        "system",
        "candidate",
        "score: score",
    ]
    assert {"field", "what", "why"} == set(told["left"][0])


def test_without_a_terminal_a_missing_answer_is_an_error_that_names_the_flag(
    folder: Path, nnd: Nnd
) -> None:
    ran = nnd("new-source", "chairs", "--from", "labels.csv")

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    assert "Say so with --no-error, one of: kind 0, kind 1, kind 2" in ran.stderr
    assert not (folder / "chairs").exists()


def test_every_flag_reaches_the_guess(folder: Path, nnd: Nnd) -> None:
    header = ["one", "two", "three", "four"]
    write(folder / "odd.csv", header, "kind")
    flags = ["--context", "one", "--system", "two", "--candidate", "three", "--label", "four"]

    ran = nnd("new-source", "odd", "--from", "odd.csv", *flags, "--no-error", "kind 1")

    assert (ran.returncode, ran.stderr) == (0, "")
    facts = load_source(folder / "odd").facts
    assert facts["table"]["columns"] == {"system": "two", "candidate": "three"}
    assert facts["table"]["inputs"] == {"one": "one"}
    assert facts["table"]["labels"] == {"four": "four"}
    assert facts["quality"] == {"rule": "no_error", "no_error": "kind 1"}


def test_on_a_terminal_it_asks(folder: Path) -> None:
    """The third label is chosen, after an answer that is none."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [COMMAND, "new-source", "chairs", "--from", "labels.csv", "--json"],
        cwd=folder,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    ) as process:
        os.close(theirs)
        os.write(ours, b"9\n3\n")
        assert process.stdout is not None
        told = json.loads(process.stdout.read())
    shown = os.read(ours, 10_000).decode()
    os.close(ours)

    assert told["quality"] == {"rule": "no_error", "no_error": "kind 2"}
    assert "Which label says that nothing is wrong with a candidate?" in shown
    assert "3  kind 2" in shown
    assert "a number from 1 to 3" in shown
