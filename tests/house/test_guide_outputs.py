"""What README and the guide show of the run that is kept: its tables, its picture, its commands.

What their code blocks show is compared by `test_docs.py`.
"""

import re
from pathlib import Path

from support.places import ROOT
from support.screens.doc_blocks import FIRST_RUN, blocks, commands
from support.screens.guide import FILE, PICTURE, RUN, regions, run_digest, run_of

from nnd.converters.folder import convert


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
        for block in blocks(FIRST_RUN)
        if block.language == "sh"
        for words in commands(block)
    ]

    assert [command for command in told if not command.startswith("show")] == made
