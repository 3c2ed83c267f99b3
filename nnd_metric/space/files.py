"""The metric as the files of a Space: what `evaluate.load("ORG/name")` needs, a card and a page.

`evaluate` looks for a script called like the repository, and fetches it with the modules that it
names; so the metric's script is renamed, and nothing else is changed.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path
from typing import Literal, TypeAlias

from nnd.cards import metric_card, metric_page
from nnd.converters.folder import convert
from nnd.schemas import PublishError

Sdk: TypeAlias = Literal["static", "gradio"]

SCRIPT = "nnd_metric"
APP = ("app.py", "app.css")
SAMPLE = ("pairs.parquet", "human_scores.parquet")

UNNAMED = ("pyarrow", "sentencepiece")
"""Needed by what the modules import, without being imported: Parquet files, tokenizers of T5."""


def write_space(repo_id: str, folder: Path, place: Path, *, sdk: Sdk = "static") -> dict[str, Path]:
    """Write the files of the Space into an empty folder; return path in the Space → file.

    Args:
        repo_id: ORG/name of the Space.
        folder: Of the metric's modules.
        place: The empty folder.
        sdk: What runs the Space.

    Raises:
        PublishError: If the name cannot be that of a metric, or what the Space needs is not
            installed here.
    """
    modules = needed_modules(folder)
    name = repo_id.rpartition("/")[2]
    _check_name(name, modules)
    card = metric_card(repo_id, sdk=sdk, sdk_version=_gradio(sdk), version=version("nnd"))
    sources = [*(f"{module}.py" for module in modules), *APP]
    texts = {path: (folder / path).read_text(encoding="utf-8") for path in sources}
    texts[f"{name}.py"] = (folder / f"{SCRIPT}.py").read_text(encoding="utf-8")
    needed = requirements(text for path, text in texts.items() if path.endswith(".py"))
    texts |= {"README.md": card, "requirements.txt": "".join(f"{line}\n" for line in needed)}
    if sdk == "static":
        texts["index.html"] = metric_page(card)
    for path, text in texts.items():
        (place / path).write_text(text, encoding="utf-8")
    sample = place / "sample"
    convert("sample", out=sample)
    return {path: place / path for path in sorted(texts)} | {
        f"sample/{path}": sample / path for path in SAMPLE
    }


def needed_modules(folder: Path) -> list[str]:
    """Return the modules beside the metric's script that it imports, even indirectly, by name."""
    found: set[str] = set()
    waiting = {SCRIPT}
    while waiting:
        text = (folder / f"{waiting.pop()}.py").read_text(encoding="utf-8")
        siblings = set(siblings_of(text))
        waiting |= siblings - found
        found |= siblings
    return sorted(found)


def requirements(modules: Iterable[str]) -> list[str]:
    """Return what modules import, as nnd itself requires it: with its tested lower bounds.

    Args:
        modules: Their texts.

    Raises:
        PublishError: If nnd is not installed.
    """
    try:
        lines = [line for line in requires("nnd") or [] if "extra ==" not in line]
    except PackageNotFoundError as error:
        raise PublishError("what nnd requires is not known; install it: pip install .") from error
    known = {_normal(re.split(r"[^\w.-]", line, maxsplit=1)[0]): line for line in lines}
    distributions = packages_distributions()
    wanted = {_normal(name) for name in UNNAMED}
    for module in modules:
        for name in _imported(ast.parse(module)):
            wanted |= {_normal(each) for each in distributions.get(name, ())} & known.keys()
    return sorted(known[name] for name in wanted)


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield the top-level names that a module imports, its siblings left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def siblings_of(text: str) -> Iterator[str]:
    """Yield the modules beside it that a module names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            yield node.module


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _check_name(name: str, modules: Iterable[str]) -> None:
    taken = {*modules, "app"}
    if "." in name or name.lower() in taken:
        reason = "a module of the metric has it" if name.lower() in taken else "it has a dot"
        raise PublishError(
            f"{name}: the script of a metric is called like its Space, and cannot have this name "
            f"({reason}); name the Space ORG/nnd"
        )


def _gradio(sdk: str) -> str | None:
    """Return the version of Gradio that the page was tried with: the one installed here."""
    if sdk != "gradio":
        return None
    try:
        return version("gradio")
    except PackageNotFoundError as error:
        raise PublishError(
            "the Space runs on the version of Gradio that is installed here, and there is none; "
            "pip install gradio, or --sdk static"
        ) from error
