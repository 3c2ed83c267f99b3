"""A dry run of a list: sizes of downloads, what fits, what is left out, and nothing is written."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from support.hub.clients import IMPATIENT, environment
from support.hub.server import Hub
from support.metric_runs import write_pairs
from support.screens.commands import Nnd

from nnd.metric.run.cost.download import size_of_weights

Saved = Callable[[str], Path]


@pytest.fixture
def listed(tmp_path: Path, saved: Saved) -> Callable[[str], Path]:
    """`listed(text)`: a list of runs beside a model and a dataset."""
    (tmp_path / "birds").mkdir()
    write_pairs(tmp_path / "birds")
    (tmp_path / "gpt2").symlink_to(saved("gpt2"))

    def write(text: str) -> Path:
        (tmp_path / "runs.yaml").write_text(dedent(text), encoding="utf-8")
        return tmp_path / "runs.yaml"

    return write


RUNS = """
    - {element: Table 7, model: ./gpt2, data: birds}
    - {element: [Table 7, Figure 8], model: org/large, data: birds, download: 45.2}
    - {model: org/other, data: birds}
    - {model: their-own, data: birds, unavailable: Nobody published it.}
    - {model: ./gpt2, data: ./nowhere, protocol: sum}
"""


def estimate(nnd: Nnd, *words: object) -> dict[str, dict[str, object]]:
    ran = nnd("evaluate", "--runs", "runs.yaml", "--dry-run", "--json", *words)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)["entries"]
    return {f"{entry['model']} on {entry['data'][0]}": entry for entry in found}


def test_a_size_is_of_this_machine_of_the_list_or_unknown(
    listed: Callable[[str], Path], nnd: Nnd
) -> None:
    listed(RUNS)
    entries = list(estimate(nnd).values())
    sizes = [(entry["download_bytes"], entry["download_source"]) for entry in entries]
    assert sizes[:4] == [(0, "here"), (45_200_000_000, "list"), (None, None), (None, None)]
    assert [entry["elements"] for entry in entries[:3]] == [
        ["Table 7"],
        ["Table 7", "Figure 8"],
        [],
    ]


def test_what_is_left_out_has_its_reason(listed: Callable[[str], Path], nnd: Nnd) -> None:
    listed(RUNS)
    first, large, other, own, nowhere = (each["left_out"] for each in estimate(nnd).values())
    assert first is None
    assert "the Hub cannot be reached" in str(large)
    assert "the Hub cannot be reached" in str(other)
    assert own == "Nobody published it."
    assert "nowhere: file or folder not found" in str(nowhere)


def test_what_is_printed(listed: Callable[[str], Path], nnd: Nnd, tmp_path: Path) -> None:
    listed(RUNS)
    before = {*tmp_path.rglob("*")}
    ran = nnd("evaluate", "--runs", "runs.yaml", "--dry-run")
    assert ran.code == 0, ran.err
    headline, *_ = ran.out.splitlines()
    assert headline == (
        "1 of 5 entries would run on this machine, after a download of 0 GB; with all models, 45.2 "
        "GB and 1 model of unknown size."
    )
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "Table 7 gpt2 birds 0" in lines
    assert "Table 7, Figure 8 large birds 45.2 (1)" in lines
    assert "other birds unknown (1)" in lines
    assert "their-own birds (2)" in lines
    assert "(2) Nobody published it." in lines
    assert "Unknown sizes: neither the Hub nor the list states them." in lines
    assert {*tmp_path.rglob("*")} == before


def test_scorers_are_counted_and_not_estimated(listed: Callable[[str], Path], nnd: Nnd) -> None:
    listed("""
        - {model: ./gpt2, data: birds}
        - {scorer: length, data: birds}
        - {scorer: rouge1, data: birds}
    """)
    ran = nnd("evaluate", "--runs", "runs.yaml", "--dry-run")
    assert (ran.code, "1 of 1 entries" in ran.out) == (0, True)
    assert "Not in the table: 2 scorers of the list." in ran.out


def test_a_model_that_does_not_fit_is_named(
    listed: Callable[[str], Path], nnd: Nnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed("- {model: ./gpt2, data: birds}\n")
    monkeypatch.setattr("nnd.metric.run.cost.fitting.device_bytes", lambda _: 1_000)
    (entry,) = estimate(nnd).values()
    assert str(entry["left_out"]).startswith(f"{entry['model']}: does not fit: "), (
        "the reason names the model, and what it needs"
    )


def test_options_of_a_single_run_are_refused(listed: Callable[[str], Path], nnd: Nnd) -> None:
    listed(RUNS)
    ran = nnd("evaluate", "--runs", "runs.yaml", "--dry-run", "--model", "gpt2")
    assert ran.code == 2
    assert "--model cannot be combined with --runs" in ran.err
    assert nnd("evaluate", "--runs", "runs.yaml").code == 2  # without --out


FILES = [
    ("config.json", 700),
    ("model-00001-of-00002.safetensors", 30),
    ("model-00002-of-00002.safetensors", 12),
    ("pytorch_model.bin", 43),
    ("tf_model.h5", 99),
    ("model.Q4_K.gguf", 11),
]


@pytest.mark.parametrize(
    ("left_out", "file", "size"),
    [
        ((), None, 42),
        (("safetensors",), None, 43),
        (("safetensors", "bin"), None, None),
        ((), "model.Q4_K.gguf", 11),
        ((), "model.Q8.gguf", None),
    ],
)
def test_only_files_that_are_read_count(
    left_out: tuple[str, ...], file: str | None, size: int | None
) -> None:
    kept = [(name, n) for name, n in FILES if not name.endswith(tuple(left_out) or ("?",))]
    assert size_of_weights(kept, file) == size


def test_a_file_of_unknown_size_makes_the_size_unknown() -> None:
    assert size_of_weights([("model.safetensors", None)], None) is None


def test_the_hub_says_how_large_a_model_is(
    listed: Callable[[str], Path], saved: Saved, tmp_path: Path
) -> None:
    listed("""
        - {model: org/tiny, data: birds, download: 45.2}
        - {model: org/none, data: birds}
    """)
    with Hub() as hub:
        files = {path.name: path.read_bytes() for path in saved("gpt2").iterdir()}
        hub.commit("models", "org/tiny", files)
        run = "from nnd.metric.cli.command import main; main()"
        (tmp_path / "run.py").write_text(run, encoding="utf-8")
        words = ["evaluate", "--runs", "runs.yaml", "--dry-run", "--json"]
        done = subprocess.run(
            [sys.executable, IMPATIENT, str(tmp_path / "run.py"), *words],
            cwd=tmp_path,
            env=environment(hub.endpoint, tmp_path / "home") | {"NND_CACHE": os.devnull + "-no"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    tiny, none = json.loads(done.stdout)["entries"]
    size = len(files["model.safetensors"])
    assert (tiny["download_bytes"], tiny["download_source"]) == (size, "hub")
    assert tiny["left_out"] is None
    assert (none["download_bytes"], none["download_source"]) == (None, None)
    assert "no such model" in none["left_out"]


# --data NAME=DATA


def test_other_data_takes_the_place_of_what_a_list_names(
    listed: Callable[[str], Path], nnd: Nnd, tmp_path: Path
) -> None:
    listed("- {model: ./gpt2, data: summeval}\n")
    ran = nnd("evaluate", "--runs", "runs.yaml", "--out", "out", "--data", "summeval=birds")
    assert ran.code == 0, ran.err
    assert (tmp_path / "out/native/birds/result.json").is_file()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("sumeval=birds", 'unknown data "sumeval" (did you mean "summeval"?)'),
        ("summeval", "write NAME=DATA"),
        ("summeval=nowhere.parquet", "nowhere.parquet: file or folder not found"),
    ],
)
def test_data_that_the_list_or_the_disk_lacks_is_refused(
    data: str, message: str, listed: Callable[[str], Path], nnd: Nnd, tmp_path: Path
) -> None:
    listed("- {model: ./gpt2, data: summeval}\n")
    ran = nnd("evaluate", "--runs", "runs.yaml", "--out", "out", "--data", data)
    assert ran.code == 2
    assert message in ran.err
    assert not (tmp_path / "out").exists()


def test_a_source_that_cannot_be_fetched_says_how_to_name_its_folder(
    listed: Callable[[str], Path], nnd: Nnd
) -> None:
    listed("- {model: ./gpt2, data: summeval}\n")
    ran = nnd("evaluate", "--runs", "runs.yaml", "--out", "out")
    assert ran.code == 2
    assert "nnd convert summeval --from COPY --out FOLDER" in ran.err
    assert "then add --data summeval=FOLDER" in ran.err


# Entries without weights


def test_an_entry_without_weights_is_left_out_and_never_looked_up(
    listed: Callable[[str], Path], nnd: Nnd
) -> None:
    listed("""
        - {model: ./gpt2, data: birds}
        - {model: org/secret, data: no-such-data, unavailable: Nobody published it.}
    """)
    ran = nnd("evaluate", "--runs", "runs.yaml", "--out", "out")
    assert ran.code == 1
    assert "Nobody published it." in ran.out
    assert "no such" not in ran.out + ran.err
