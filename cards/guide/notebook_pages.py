"""Hooks of mkdocs: each notebook is a page, and can be downloaded from there."""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

NOTEBOOKS = Path(__file__).resolve().parent / "notebooks"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        page = f"{NOTEBOOKS.name}/{path.stem}.md"
        files.append(File.generated(config, page, content=notebook_page(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401 - as mkdocs calls it
    """Return a page whose links to notebooks lead to their pages."""
    return re.sub(r"\]\(notebooks/(\w+)\.ipynb\)", r"](notebooks/\1.md)", markdown)


def notebook_page(path: Path) -> str:
    """Return the cells as Markdown; links between notebooks lead from page to page."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    introduction, *parts = (_cell(cell["cell_type"], "".join(cell["source"])) for cell in cells)
    download = f"[Download this notebook]({path.name}){{ download }}"
    return "\n\n".join([introduction, download, *parts, ""])


def _cell(kind: str, source: str) -> str:
    if kind == "code":
        return f"```python\n{source}\n```"
    return re.sub(r"\]\((\w+)\.ipynb\)", r"](\1.md)", source)
