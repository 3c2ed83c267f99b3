"""Hooks of mkdocs: each notebook is run and is a page with its outputs, which links to the file.

`NND_RUN_NOTEBOOKS=false make site` leaves the outputs out.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

NOTEBOOKS = Path(__file__).resolve().parent / "notebooks"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        page = f"{NOTEBOOKS.name}/{path.stem}.md"
        content = notebook_page(path, run=config.extra["run_notebooks"])
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401 - as mkdocs calls it
    """Return a page whose links to notebooks lead to their pages."""
    return re.sub(r"\]\(notebooks/(\w+)\.ipynb\)", r"](notebooks/\1.md)", markdown)


def notebook_page(path: Path, *, run: bool) -> str:
    """Return the cells as Markdown; links between notebooks lead from page to page."""
    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    if run:
        from nbclient import NotebookClient  # noqa: PLC0415 - slow

        with TemporaryDirectory(prefix="nnd-notebook-") as folder:
            NotebookClient(book, resources={"metadata": {"path": folder}}).execute()
    introduction, *parts = (part for cell in book.cells for part in _parts(cell))
    download = f"[Download this notebook]({path.name}){{ download }}"
    return "\n\n".join([introduction, download, *parts, ""])


def _parts(cell: Mapping[str, Any]) -> list[str]:
    if cell["cell_type"] != "code":
        return [re.sub(r"\]\((\w+)\.ipynb\)", r"](\1.md)", cell["source"])]
    shown = [text for output in cell["outputs"] if (text := _shown(output))]
    return [f"```python\n{cell['source']}\n```", *shown]


def _shown(output: Mapping[str, Any]) -> str:
    """Return an output as Markdown, the empty text for progress and empty lines."""
    data = output.get("data", {})
    text = output["text"] if output.get("name") == "stdout" else data.get("text/plain", "")
    if not text.strip():
        return ""
    if "text/html" in data:
        lines = [line for line in data["text/html"].splitlines() if line.strip()]
        return "\n".join(['<div class="output">', *lines, "</div>"])
    return f"```text\n{text.rstrip()}\n```"
