"""Standard output that takes nothing, and a working folder that is gone: one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

_NND = f"{sys.executable} -c 'from nnd.metric.cli.command import main; main()'"


def in_shell(words: str, folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", words], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_standard_output_is_told(tmp_path: Path) -> None:
    code, said = in_shell(f"{_NND} sources > /dev/full", tmp_path)
    assert code == 2
    assert said.startswith("nnd: standard output: No space left on device; free some space")
    assert said.count("\n") == 1


def test_a_closed_standard_output_is_told(tmp_path: Path) -> None:
    code, said = in_shell(f"{_NND} sources >&-", tmp_path)
    assert (code, said) == (2, "nnd: standard output is closed; send it to a file\n")


def test_a_reader_that_has_seen_enough_is_told_nothing(tmp_path: Path) -> None:
    _, said = in_shell(f"{_NND} sources | true", tmp_path)
    assert said == ""


def test_a_removed_working_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    words = f"cd gone; rmdir ../gone; {_NND} convert sample --out x"
    code, said = in_shell(words, tmp_path)
    assert code == 2
    assert "the working folder was removed" in said
    assert said.count("\n") == 1
