"""Code from outside of nnd runs with the user's rights: said before it runs, once."""

from pathlib import Path

import pytest
from support.checked_source import make_birds

from nnd.converters.folder import convert
from nnd.converters.make import derive
from nnd.converters.source import BUILT_IN


def test_the_code_of_a_folder_is_announced_before_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    birds = make_birds(tmp_path)
    birds.set_code('"""Birds."""', 'print("the code runs")')

    convert(birds.folder, origin=birds.real)

    code = birds.folder / "convert.py"
    assert capsys.readouterr().err.splitlines() == [
        f"nnd: running {code} with your rights; read it first if you did not write it",
        "the code runs",
    ]


@pytest.mark.parametrize("source", ["sample", BUILT_IN / "sample"])
def test_a_built_in_source_is_not(source: str | Path, capsys: pytest.CaptureFixture[str]) -> None:
    convert(source)

    assert capsys.readouterr().err == ""


def test_a_function_is_announced_before_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    convert("sample", out=tmp_path / "sample")
    code = tmp_path / "mine.py"
    code.write_text(
        "import sys\nsys.stderr.write('the code runs\\n')\n"
        "def loud(text, random): return text + '!'\n"
    )

    derive(tmp_path / "sample", [f"{code}:loud"], out=tmp_path / "suite")

    assert capsys.readouterr().err.splitlines()[:2] == [
        f"nnd: running {code} with your rights; read it first if you did not write it",
        "the code runs",
    ]
