"""The metric as the files of a Space: what `evaluate.load("ORG/name")` needs, a card and a page.

`evaluate` looks for a script called like the repository, and fetches it with the modules that it
names: the metric's class and all that it needs, flat.
"""

import ast
import keyword
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path
from typing import Literal, TypeAlias

from nnd.cards import metric_card, metric_page
from nnd.converters.folder import convert
from nnd.metric.space.flattening import flat_name, flatten
from nnd.schemas import DISTRIBUTION, PublishError, nnd_version

Sdk: TypeAlias = Literal["static", "gradio"]

SCRIPT = "nnd.metric.space.metric"
APP = ("app.py", "app.css", "trials.py", "trial_html.py", "example.json")
"""The page; its modules import each other as files of one folder."""
SAMPLE = ("pairs.parquet", "human_scores.parquet")

UNNAMED = ("pyarrow", "sentencepiece")
"""Needed by what the modules import, without being imported: Parquet files, tokenizers of T5."""


def write_space(repo_id: str, place: Path, *, sdk: Sdk = "static") -> dict[str, Path]:
    """Write the files of the Space into an empty folder; return path in the Space → file.

    Args:
        repo_id: ORG/name of the Space.
        place: The empty folder.
        sdk: What runs the Space.

    Raises:
        PublishError: If the name cannot be that of a metric, or what the Space needs is not
            installed here.
    """
    modules = flatten(SCRIPT)
    name = repo_id.rpartition("/")[2]
    script = modules.pop(flat_name(SCRIPT))
    app = {path: _app_file(path) for path in APP}
    of_app = {path.removesuffix(".py"): app[path] for path in APP if path.endswith(".py")}
    libraries = imported([*modules.values(), script, *of_app.values()])
    _check_name(name, {*modules, *libraries, *of_app})
    card = metric_card(repo_id, sdk=sdk, sdk_version=_gradio(sdk), version=nnd_version())
    needed = "".join(f"{line}\n" for line in requirements(libraries))
    texts = {f"{module}.py": text for module, text in modules.items()} | {
        f"{name}.py": script,
        **app,
        "README.md": card,
        "requirements.txt": needed,
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


def _app_file(path: str) -> str:
    text = Path(__file__).with_name(path).read_text(encoding="utf-8")
    return text.replace("from nnd.metric.space.", "from ")


def requirements(libraries: Iterable[str]) -> list[str]:
    """Return what imported libraries are for pip, as nnd itself requires them: with lower bounds.

    Args:
        libraries: Their names in imports; those that nnd does not require are left out.

    Raises:
        PublishError: If nnd is not installed.
    """
    try:
        lines = [line for line in requires(DISTRIBUTION) or [] if "extra ==" not in line]
    except PackageNotFoundError as error:
        raise PublishError(
            f"what nnd requires is not known, because {DISTRIBUTION} is not installed here; "
            f"pip install {DISTRIBUTION} (from a clone: pip install .)"
        ) from error
    known = {_normal(re.split(r"[^\w.-]", line, maxsplit=1)[0]): line for line in lines}
    distributions = packages_distributions()
    wanted = {_normal(name) for name in UNNAMED}
    for library in libraries:
        wanted |= {_normal(name) for name in distributions.get(library, ())} & known.keys()
    return sorted(known[name] for name in wanted)


def imported(modules: Iterable[str]) -> set[str]:
    """Return the libraries that modules import, by their top-level names.

    Args:
        modules: The texts of the modules.
    """
    found: set[str] = set()
    for module in modules:
        for node in ast.walk(ast.parse(module)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found


def siblings_of(text: str) -> Iterator[str]:
    """Yield the modules beside it that a module names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            yield node.module


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _check_name(name: str, taken: Collection[str]) -> None:
    """Check that the script can be called like the Space: it must not hide another module.

    The folder of a Space comes first where its page looks for modules, on some systems whatever the
    case of their letters: `json.py` there would be `json` for all libraries, too.
    """
    hidden = {*taken, *keyword.kwlist, *sys.stdlib_module_names, *packages_distributions()}
    hidden -= {"nnd"}  # the name of the metric; no module of a Space imports the package
    is_taken = name.lower() in {module.lower() for module in hidden}
    if "." in name or is_taken:
        reason = "it would hide what Python needs under that name" if is_taken else "it has a dot"
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
