"""Tables 1 and 2 of ED-FAITH by the commands of the guide, with tiny models under the real names.

Reduced to a row of each table and two seeds, in this process; in full mode all commands run as a
reader runs them, and run again after two kills they leave the same bytes.
"""

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.places import ROOT
from support.screens.commands import Nnd

from nnd.converters.folder import convert
from nnd.metric.train.training_folder import TRAINING

EXAMPLES = ROOT / "tests/metric/cli/examples"
NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn")
MODELS = ("bart-large", "bart-large-cnn", "bart-large-xsum")
ROWS = ("reddit", "ref", "swapent", "maskent", "hallu", "two", "all")
LISTING = (
    "nnd() { printf '%q ' nnd \"$@\"; echo; }; python() { printf '%q ' python \"$@\"; echo; }\n"
)


def script(*, steps: int, seeds: int) -> str:
    """The block of the guide, for tiny models: few steps, which are large."""
    page = (ROOT / "cards/guide/negatives.md").read_text(encoding="utf-8")
    part = page.split("\n## Tables 1 and 2 of ED-FAITH\n")[1]
    found = re.search(r"```sh\n(.*?)```", part, re.DOTALL)
    assert found is not None
    few = f"--learning-rate 0.01 --steps {steps} --device cpu"
    text = (
        found[1].replace("--learning-rate 2e-5", few).replace("--repeats 3", f"--repeats {seeds}")
    )
    for seed in range(seeds, 3):
        text = text.replace(f"--scorer bartscore_faithfulness=edfaith/$row/{seed} ", "")
    return text


def commands(text: str) -> list[list[str]]:
    """What a script would run, in order, each as words."""
    listed = subprocess.run(["bash", "-c", LISTING + text], capture_output=True, check=True)
    return [shlex.split(line) for line in listed.stdout.decode().splitlines()]


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def prepare(place: Path, model: Path) -> None:
    """Write what the commands name: models, ConFiT, and made-up dialogues of two speakers."""
    (place / "facebook").mkdir(parents=True)
    for name in MODELS:
        (place / "facebook" / name).symlink_to(model)
    (place / "bigscience").mkdir()
    (place / "bigscience/T0_3B").symlink_to(model)
    fixture = ROOT / "converters/sources/confit_samsum/fixture"
    convert("confit_samsum", origin=fixture, out=place / "confit_samsum")
    talks = [
        {
            "context": f"{one}: Shall I come at {hour}?\n{other}: Yes, {one}, at {hour}.",
            "reference": f"{one} will bring {other} cake at {hour}.",
        }
        for hour, (one, other) in enumerate(itertools.pairwise(NAMES), start=5)
    ]
    write_lines(place / "samsum.jsonl", [*talks, {"context": "Gus: Hi.", "reference": "Hm."}])
    write_lines(place / "reddit.jsonl", [{"context": each["context"]} for each in talks])
    for name in ("negatives_by_model.py", "fake_references.py"):
        code = (EXAMPLES / name).read_text(encoding="utf-8")
        code = re.sub(r"MOST_TOKENS = \d+", "MOST_TOKENS = 6", code)
        (place / name).write_text(code, encoding="utf-8")


def spearmans(place: Path, row: str) -> list[float]:
    """The correlations of a row of the tables, one for each seed."""
    facts = json.loads((place / "edfaith/tables" / row / "metrics.json").read_text("utf-8"))
    found = []
    for each in facts["rows"]:
        (agreement,) = each["candidates"].values()
        found.append(agreement["sample"]["spearman"])
        assert each["name"] == f"bartscore_faithfulness=edfaith/{row}/{len(found) - 1}"
    return found


def negatives_of(place: Path, row: str) -> list[list[str]]:
    text = (place / "edfaith/negatives" / row / "references.jsonl").read_text(encoding="utf-8")
    return [json.loads(line)["negatives"] for line in text.splitlines()]


def test_the_commands_are_those_of_the_two_tables() -> None:
    found = commands(script(steps=1, seeds=3))
    trained = [words for words in found if words[:2] == ["nnd", "train"]]
    assert [words[-1] for words in trained] == [f"edfaith/{row}" for row in ROWS]
    losses = [words[words.index("--loss") + 1] for words in trained]
    assert losses == ["mle"] * 2 + ["unlikelihood"] * 5
    measured = [words for words in found if words[:2] == ["nnd", "metrics"]]
    assert [words.count("--scorer") for words in measured] == [3] * len(ROWS)


def run_row(row: str, nnd: Nnd, place: Path) -> list[float]:
    """Run the commands of a row of the tables for two seeds, and return its correlations."""
    for words in commands(script(steps=1, seeds=2)):
        if words[0] == "nnd" and any(word.endswith(f"/{row}") for word in words):
            done = nnd(*words[1:])
            assert done.code == 0, done.err
    facts = json.loads((place / "edfaith" / row / "1" / TRAINING).read_text(encoding="utf-8"))
    assert facts["schedule"]["seed"] == 1
    return spearmans(place, row)


def test_a_row_of_table_1_runs(nnd: Nnd, saved: Callable[[str], Path], tmp_path: Path) -> None:
    prepare(tmp_path, saved("bart"))
    one, other = run_row("ref", nnd, tmp_path)
    assert one != other


def test_a_row_of_table_2_runs(
    nnd: Nnd, saved: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(tmp_path, saved("bart"))
    monkeypatch.setenv("NND_EXAMPLE_MODEL", "facebook/bart-large")
    one, other = run_row("all", nnd, tmp_path)
    assert one != other
    made = negatives_of(tmp_path, "all")
    assert [len(texts) > 0 for texts in made] == [True] * len(made)  # hallu makes one of all
    assert made[0][0] == "Bob will bring Ann cake at 5."
    assert len(made[0]) > 1


# As a reader runs them, and killed twice

TIMES = ("seconds", "training_seconds", "digest", "scoring_seconds")
"""What no two runs have in common, and what follows from it."""


def run(place: Path, text: str, kill_when: Path | None = None) -> None:
    """Run a script; kill it with all its processes when a file is there."""
    (place / "bin").mkdir(exist_ok=True)
    main = "from nnd.metric.cli.command import main; main()"
    for name, arguments in (("nnd", f"-c {shlex.quote(main)}"), ("python", "")):
        wrapper = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n'
        (place / "bin" / name).write_text(wrapper, encoding="utf-8")
        (place / "bin" / name).chmod(0o755)
    environment = os.environ | {
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "NND_CACHE": str(place / "cache"),
        "NND_EXAMPLE_MODEL": "facebook/bart-large",
        "OMP_NUM_THREADS": "1",
    }
    with (place / "log").open("ab") as log:
        child = subprocess.Popen(
            ["bash", "-e", "-c", text],
            cwd=place,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        while kill_when is not None and child.poll() is None and not kill_when.exists():
            time.sleep(0.01)
        if kill_when is not None:
            os.killpg(child.pid, signal.SIGKILL)
        code = child.wait()
    told = (place / "log").read_text(encoding="utf-8", errors="replace")[-3000:]
    assert code == (0 if kill_when is None else -signal.SIGKILL), told


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(of) for key, of in value.items() if key not in TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def contents(folder: Path) -> dict[str, Any]:
    """Every file: byte for byte, but for the times in documents."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "cost.json":
            name = str(path.relative_to(folder))
            if path.suffix == ".json":
                found[name] = without_times(json.loads(path.read_text(encoding="utf-8")))
            elif path.name == "nnd_history.jsonl":
                lines = path.read_text(encoding="utf-8").splitlines()
                found[name] = [without_times(json.loads(line)) for line in lines]
            else:
                found[name] = path.read_bytes()
    return found


@pytest.mark.full
def test_all_commands_killed_twice_leave_the_same_bytes(
    saved: Callable[[str], Path], tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    text = script(steps=2, seeds=3)
    for place in (whole, killed):
        prepare(place, saved("bart"))
    run(whole, text)
    edfaith = killed / "edfaith"
    run(killed, text, kill_when=edfaith / "ref/1/checkpoints/checkpoint-1")
    assert not (edfaith / "ref/1" / TRAINING).exists()
    run(killed, text, kill_when=edfaith / "maskent/2/before/result.json")
    assert not (edfaith / "maskent/2" / TRAINING).exists()
    run(killed, text)

    for row in ROWS:
        assert len(spearmans(whole, row)) == 3
    assert [len(texts) for texts in negatives_of(whole, "swapent")] == [1] * 5 + [0]
    assert contents(whole / "edfaith") == contents(killed / "edfaith")
    references = [(place / "reddit-references.jsonl").read_bytes() for place in (whole, killed)]
    assert references[0] == references[1]
    scores = [pl.read_parquet(p / "edfaith/tables/all/scores.parquet") for p in (whole, killed)]
    assert scores[0].equals(scores[1])
