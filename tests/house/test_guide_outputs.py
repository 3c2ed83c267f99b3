"""README and the guide show what the run that is kept shows, rendered without its model."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from support.models.real_name import write_tiny
from support.places import ROOT
from support.screens.doc_blocks import Block, blocks, commands, reader
from support.screens.guide import (
    FILE,
    PAGE,
    PICTURE,
    RUN,
    regions,
    run_digest,
    run_of,
    shown_by_running,
    working_folder,
)

from nnd.converters.folder import convert

NND = """#!{python}
import os, subprocess, sys
if sys.argv[1:3] == ["evaluate", "--runs"]:
    sys.exit(subprocess.call([sys.executable, "-m", "support.screens.stored_screen"]))
program = "from near_negative import main; main()"
os.execv(sys.executable, [sys.executable, "-c", program, *sys.argv[1:]])
"""
"""A command that prints what the evaluation of the demo printed, and otherwise is `nnd`."""

SCORES = re.compile(
    r"--model|nnd\.evaluate|nnd train|nnd merge|^nnd evaluate --runs runs", re.MULTILINE
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[Block, str]:
    """What the blocks that need no model should show."""
    folder = tmp_path_factory.mktemp("shown")
    (folder / "bin").mkdir()
    (folder / "bin/nnd").write_text(NND.format(python=sys.executable), encoding="utf-8")
    (folder / "bin/nnd").chmod(0o755)
    place = working_folder(folder / "first", write_tiny(folder))
    shutil.copytree(RUN, place / "demo/result")
    variables = reader(PYTHONPATH=str(ROOT / "tests"), HF_HUB_OFFLINE="1")
    variables["PATH"] = f"{folder / 'bin'}{os.pathsep}{variables['PATH']}"
    return dict(shown_by_running(place, variables, skip=SCORES))


def test_what_needs_no_model_is_shown_as_it_is_printed(shown: dict[Block, str]) -> None:
    documents = {block.document for block in shown}

    assert {"README.md", PAGE, "cards/guide/results.md", "cards/guide/comparing.md"} <= documents
    assert len(shown) > 15
    assert {block: text for block, text in shown.items() if block.text != text} == {}


def test_the_tables_of_the_readme_are_of_the_run(tmp_path: Path) -> None:
    convert("quiz_design", out=tmp_path)
    found = regions(RUN, tmp_path)

    for page, names in (("README.md", ("pair", "box")), ("cards/guide/index.md", ("pair",))):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert all(f"<!-- {name} -->\n{found[name]}<!-- /{name} -->\n" in text for name in names)


def test_the_picture_is_of_the_run() -> None:
    assert run_of(PICTURE) == run_digest(RUN)


def test_the_run_is_small_and_of_the_model_of_the_demo() -> None:
    files = [path for path in RUN.rglob("*") if path.is_file()]
    signatures = [path.read_text(encoding="utf-8") for path in files if path.name == "result.json"]

    assert sum(path.stat().st_size for path in files) < 200_000
    assert len(signatures) == 3
    assert all(f"|model:demo/{FILE}@" in text for text in signatures)


def test_the_first_run_follows_the_demo() -> None:
    recipe = (
        (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo:")[2].split("\n\n")[0]
    )
    made = re.findall(r"^\t\$\(BIN\)/nnd (.+)$", recipe, re.MULTILINE)
    told = [
        " ".join(words)
        for block in blocks(PAGE)
        if block.language == "sh"
        for words in commands(block)
    ]

    assert [command for command in told if not command.startswith("show")] == made
