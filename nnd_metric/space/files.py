"""Write the files of a Space: the modules for `evaluate.load("ORG/name")`, a card and a page.

`evaluate` downloads the script with the name of the repository, and the modules that it imports, so
the modules of the metric are flattened into one folder.
"""

import ast
import keyword
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from nnd.cards import metric_card, metric_page
from nnd.metric.space.flattening import flat_name, flatten, statements
from nnd.schemas import PublishError, nnd_version

SCRIPT = "nnd.metric.space.metric"


def write_space(repo_id: str, place: Path) -> dict[str, Path]:
    """Write the files of a Space to an empty folder; return path in the Space → file."""
    modules = flatten(SCRIPT)
    name = repo_id.rpartition("/")[2]
    script = modules.pop(flat_name(SCRIPT))
    _check_name(name, modules)
    texts = {f"{module}.py": text for module, text in modules.items()} | {
        f"{name}.py": script,
        "README.md": metric_card(repo_id, version=nnd_version()),
        "index.html": metric_page(repo_id),
    }
    for path, text in texts.items():
        (place / path).write_text(text, encoding="utf-8")
    return {path: place / path for path in sorted(texts)}


def siblings_of(text: str) -> Iterator[str]:
    """Yield the names of the modules that the source text of a module imports from its folder."""
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            yield node.module


def _check_name(name: str, taken: Collection[str]) -> None:
    """Check that the Space's script, which has its name, does not hide another module.

    Whoever works in a copy of the Space finds modules in its folder first, on some systems
    regardless of case: `json.py` in it would replace `json` for all libraries.
    """
    hidden = {*taken, *keyword.kwlist, *sys.stdlib_module_names}
    # nnd is the name of the metric; no module of a Space imports the package.
    is_taken = name.lower() in {module.lower() for module in hidden - {"nnd"}}
    if "." in name or is_taken:
        reason = "it would hide a Python module" if is_taken else "the name contains a dot"
        raise PublishError(
            "hub.name",
            f"a metric's script has the name of its Space, and cannot have this one: {reason}",
            name,
        )
