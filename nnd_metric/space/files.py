"""Write the files of a Space: the modules for `evaluate.load("ORG/name")`, a card and a page.

`evaluate` downloads the script with the name of the repository, and the modules that it imports, so
the modules of the metric are flattened into one folder.
"""

import ast
import keyword
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from nnd.cards import metric_card, metric_page
from nnd.converters.folder import convert
from nnd.metric.space.flattening import flat_name, flatten, statements
from nnd.schemas import DISTRIBUTION, PublishError, nnd_version

Sdk: TypeAlias = Literal["static", "gradio"]

SCRIPT = "nnd.metric.space.metric"
APP = ("app.py", "app.css", "trials.py", "trial_html.py", "example.json")
"""Files of the page; its modules import each other as files of one folder."""
SAMPLE = ("pairs.parquet", "human_scores.parquet")

UNNAMED = ("pyarrow", "sentencepiece")
"""Requirements that no module imports itself: for Parquet files, and for the tokenizers of T5."""


def write_space(repo_id: str, place: Path, *, sdk: Sdk = "static") -> dict[str, Path]:
    """Write the files of a Space to an empty folder; return path in the Space → file.

    Args:
        repo_id: ORG/name of the Space.
        place: The empty folder.
        sdk: The Space's SDK: a static page, or Gradio.

    Raises:
        PublishError: If a metric cannot have the name, or a requirement of the Space is not
            installed on this machine.
    """
    modules = flatten(SCRIPT)
    name = repo_id.rpartition("/")[2]
    script = modules.pop(flat_name(SCRIPT))
    files = {path: Path(__file__).with_name(path).read_text(encoding="utf-8") for path in APP}
    app = {path: text.replace("from nnd.metric.space.", "from ") for path, text in files.items()}
    of_app = {path.removesuffix(".py"): app[path] for path in APP if path.endswith(".py")}
    libraries = imported([*modules.values(), script, *of_app.values()])
    _check_name(name, {*modules, *libraries, *of_app})
    gradio = _gradio() if sdk == "gradio" else None
    card = metric_card(repo_id, sdk=sdk, sdk_version=gradio, version=nnd_version())
    texts = {f"{module}.py": text for module, text in modules.items()} | {
        f"{name}.py": script,
        **app,
        "README.md": card,
        "requirements.txt": "".join(f"{line}\n" for line in requirements(libraries)),
    }
    if sdk == "static":
        texts["index.html"] = metric_page(card)
    for path, text in texts.items():
        (place / path).write_text(text, encoding="utf-8")
    sample = place / "sample"
    convert("sample", out=sample)
    return {path: place / path for path in sorted(texts)} | {
        f"sample/{path}": sample / path for path in SAMPLE
    }


def requirements(libraries: Iterable[str]) -> list[str]:
    """Return lines of requirements.txt for imported libraries, with the lower bounds of nnd.

    Args:
        libraries: Names as imported; libraries that nnd does not require are left out.

    Raises:
        PublishError: If nnd is not installed.
    """
    try:
        lines = [line for line in requires(DISTRIBUTION) or [] if "extra ==" not in line]
    except PackageNotFoundError as error:
        raise PublishError(
            f"the requirements of nnd are unknown, because {DISTRIBUTION} is not installed; "
            f"pip install {DISTRIBUTION} (from a clone: pip install .)"
        ) from error
    known = {_normal(re.split(r"[^\w.-]", line, maxsplit=1)[0]): line for line in lines}
    named = (name for library in libraries for name in _distributions().get(library, ()))
    wanted = {*UNNAMED, *(known.keys() & map(_normal, named))}
    return sorted(known[name] for name in wanted)


def imported(modules: Iterable[str]) -> set[str]:
    """Return the top-level names of the libraries that modules import.

    Args:
        modules: Source texts of the modules.
    """
    names: set[str] = set()
    for node in chain.from_iterable(statements(ast.parse(module)) for module in modules):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def siblings_of(text: str) -> Iterator[str]:
    """Yield the names of the modules that the source text of a module imports from its folder."""
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            yield node.module


@cache
def _distributions() -> Mapping[str, list[str]]:
    """Return top-level package → distributions; reading all those installed takes a second."""
    return packages_distributions()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _check_name(name: str, taken: Collection[str]) -> None:
    """Check that the Space's script, which has its name, does not hide another module.

    The page of a Space finds modules in its own folder first, on some systems regardless of case:
    `json.py` in it would replace `json` for all libraries.
    """
    hidden = {*taken, *keyword.kwlist, *sys.stdlib_module_names, *_distributions()}
    # nnd is the name of the metric; no module of a Space imports the package.
    is_taken = name.lower() in {module.lower() for module in hidden - {"nnd"}}
    if "." in name or is_taken:
        reason = "it would hide a Python module" if is_taken else "the name contains a dot"
        raise PublishError(
            f"{name}: a metric's script has the name of its Space, and cannot have this one: "
            f"{reason}; name the Space ORG/nnd"
        )


def _gradio() -> str:
    try:
        return version("gradio")
    except PackageNotFoundError as error:
        raise PublishError(
            "the Space uses the version of Gradio on this machine, but Gradio is not installed; "
            "pip install gradio, or use --sdk static"
        ) from error
