"""README and the guide show what the run that is kept shows, rendered without its model."""

import functools
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.places import ROOT
from support.screens.doc_blocks import DOCUMENTS, Block, blocks, commands, reader
from support.screens.guide import (
    FILE,
    PAGE,
    PICTURE,
    RUN,
    regions,
    run_digest,
    run_of,
    shown_by,
    working_folder,
)
from support.screens.warm_commands import warm_commands

from nnd.converters.folder import convert

NND = """#!/bin/sh
if [ "$1 $2" = "evaluate --runs" ]; then exec python -m support.screens.stored_screen; fi
exec {nnd} "$@"
"""
"""A command that prints what the evaluation of the demo printed, and otherwise is `nnd`."""

SCORES = re.compile(
    r"--model|nnd\.evaluate|nnd train|nnd merge|^nnd evaluate --runs runs", re.MULTILINE
)


SHOWING = [
    document for document in DOCUMENTS if any(block.language == "" for block in blocks(document))
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], dict[Block, str]]]:
    """`shown(document)`: what its blocks that need no model should show."""
    folder = tmp_path_factory.mktemp("shown")
    with warm_commands(folder / "bin", reader(HF_HUB_OFFLINE="1")) as found:
        stub = folder / "stub/nnd"
        stub.parent.mkdir()
        stub.write_text(NND.format(nnd=folder / "bin/nnd"), encoding="utf-8")
        stub.chmod(0o755)
        variables = found | {"PATH": f"{stub.parent}{os.pathsep}{found['PATH']}"}
        (folder / "model").touch()  # nothing that is shown asks for it
        place = working_folder(folder / "first", folder / "model")
        shutil.copytree(RUN, place / "demo/result")
        kept = folder / "kept"
        kept.mkdir()

        @functools.cache
        def shown(document: str) -> dict[Block, str]:
            here = place
            if document != PAGE:
                shown(PAGE)
                here = folder / Path(document).stem
                shutil.copytree(place, here, symlinks=True)
            return dict(shown_by(document, here, kept, variables, skip=SCORES))

        yield shown


@pytest.mark.parametrize("document", [PAGE, *(name for name in SHOWING if name != PAGE)])
def test_what_needs_no_model_is_shown_as_it_is_printed(
    document: str, shown: Callable[[str], dict[Block, str]]
) -> None:
    found = shown(document)

    assert {block: text for block, text in found.items() if block.text != text} == {}


def test_most_pages_show_what_needs_no_model(shown: Callable[[str], dict[Block, str]]) -> None:
    found = [block for document in SHOWING for block in shown(document)]
    documents = {block.document for block in found}

    assert {"README.md", PAGE, "cards/guide/results.md", "cards/guide/comparing.md"} <= documents
    assert len(found) > 15


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
