"""The notebooks of the guide: short, without outputs, and their cells run one after the other.

By default the cells run in this process, with a tiny model in place of the one that they download;
with NND_TEST_FULL=1 a kernel runs them with the real one, as a reader's would.
"""

import ast
import os
import re
import runpy
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from support.models.real_name import write_index, write_tiny
from support.places import ROOT

FOLDER = ROOT / "cards/guide/notebooks"
SHOWN = {
    "first_run": ["2,686 pairs", "Instruct.Q4_1.gguf passes", "points ahead", "report.html"],
    "your_own_pairs": ["of 12 tests", "length:low=[0,30)", "626", "candidate_low is missing"],
    "watch_a_training": ["seen passes", "held-out passes", "overall"],
    "add_a_source": ["10 pairs of 2 contexts", "gap", "checks pass"],
}
"""Notebook → some of what its cells show."""

FULL = bool(os.environ.get("NND_TEST_FULL"))
every_notebook = pytest.mark.parametrize("name", SHOWN)


def cells(name: str, kind: str) -> list[str]:
    """Return the sources of the cells of one kind."""
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    return [cell.source for cell in book.cells if cell.cell_type == kind]


def shown_by(source: str, names: dict[str, Any]) -> object:
    """Run a cell as a notebook does; return the value of its last line, if it is an expression."""
    lines = ast.parse(source).body
    last = lines.pop() if isinstance(lines[-1], ast.Expr) else None
    exec(compile(ast.Module(lines, []), "<cell>", "exec"), names)  # noqa: S102 - our own code
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307 - ours


def test_every_notebook_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == SHOWN.keys()


@every_notebook
def test_a_notebook_is_short_and_has_no_outputs(name: str) -> None:
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(book)

    assert 8 <= len(book.cells) <= 15
    assert book.cells[0].source.startswith("# ")
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [(cell.outputs, cell.execution_count) for cell in code] == [([], None)] * len(code)


@every_notebook
def test_links_of_a_notebook_lead_somewhere(name: str) -> None:
    # reference/ is written by the build of the site, which fails where such a link is dead.
    text = "\n".join(cells(name, "markdown"))
    targets = re.findall(r"\]\((?!\.\./reference/)([^)#\s]+)", text)

    assert len(targets) >= 1
    assert [target for target in targets if not (FOLDER / target).exists()] == []


@pytest.fixture(scope="module", autouse=True)
def _index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A package index whose model is tiny."""
    folder = tmp_path_factory.mktemp("index")
    with pytest.MonkeyPatch.context() as environment:
        if not FULL:
            content = write_tiny(folder).read_bytes()
            for name, value in write_index(folder / "packages", content).items():
                environment.setenv(name, value)
        yield


@pytest.mark.sampled(2)
@every_notebook
def test_the_cells_run_and_show_results(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # put back at the end; cells change it
    names: dict[str, Any] = {"__name__": "__main__"}
    values = [shown_by(source, names) for source in cells(name, "code")]
    shown = "\n".join([capsys.readouterr().out, *map(repr, values)])

    assert [text for text in SHOWN[name] if text not in shown] == []


@pytest.mark.parametrize(
    "name",
    [
        name if name == "add_a_source" else pytest.param(name, marks=pytest.mark.full)
        for name in SHOWN
    ],
)
def test_its_page_shows_what_a_kernel_shows(name: str) -> None:
    page = runpy.run_path(str(FOLDER.parent / "notebook_pages.py"))["notebook_page"]
    path = FOLDER / f"{name}.ipynb"
    without, shown = page(path, run=False), page(path, run=True)

    cells = {*without.splitlines()}
    assert cells <= {*shown.splitlines()}
    outputs = "\n".join(line for line in shown.splitlines() if line not in cells)
    assert [text for text in SHOWN[name] if text not in outputs] == []
    assert "Writing model shards" not in outputs
    assert shown.count('<div class="output">') + outputs.count("```text") >= 3
