"""Hooks of mkdocs: they generate the reference, write llms.txt and link to the repository, if any.

`reference/commands.md` comes from the help of the commands, `reference/python.md` from the
docstrings of what `nnd` exports, and `reference/files.md` from the JSON Schemas.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.cli import get_docs_for_click

from nnd.metric.cli import app
from nnd.schemas.lazy import exports_in

ROOT = Path(__file__).resolve().parents[2]

_REFERENCE = {
    r"converters/sources": "datasets.md",
    r"converters/sources/(\w+)/source\.yaml": r"datasets.md#\1",
    r"schemas/contract": "files.md",
    r"schemas/contract/(\w+)\.schema\.json": r"files.md#\1",
    r"nnd_metric/api/__init__\.py": "python.md",
}
"""Files of the repository → the page of the reference that is made from them."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the reference."""
    pages = {"commands": commands_page(), "python": python_page(), "files": files_page()}
    for name, text in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, config: MkDocsConfig, **_: Any) -> str:  # noqa: ANN401 - as mkdocs calls it
    """Return a page whose links out of the guide lead to the reference, or else the repository.

    In the repository they lead to the files that the pages of the reference are made from.
    """

    def linked(link: re.Match[str]) -> str:
        text, target = link.groups()
        for pattern, page in _REFERENCE.items():
            if found := re.fullmatch(pattern, target):
                return f"[{text}](reference/{found.expand(page)})"
        return f"[{text}]({config.repo_url}/blob/main/{target})" if config.repo_url else text

    return re.sub(r"\[([^]]+)\]\(\.\./\.\./(\w[^)]*)\)", linked, markdown)


def on_page_content(html: str, **_: Any) -> str:  # noqa: ANN401 - as mkdocs calls it
    """Return a page whose options (`--data`) stay in one piece at the end of a line."""
    return re.sub(
        r"(?<!<pre>)<code>[^<]*--[^<]*</code>",
        lambda code: re.sub(r"--[\w-]+", r'<span class="option">\g<0></span>', code[0]),
        html,
    )


def on_env(env: object, config: MkDocsConfig, files: Files) -> None:  # noqa: ARG001 - as mkdocs calls it
    """Write llms.txt, once every page is read."""
    pages = [page for file in files.documentation_pages() if (page := file.page) is not None]
    place = Path(config.site_dir, "llms.txt")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(llms_text(pages, config), encoding="utf-8")


def commands_page() -> str:
    """Return the help of every command."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="nnd", title="Commands")
    for name, each in command.commands.items():  # type: ignore[attr-defined]
        summary = (
            f"* [`{name}`](#nnd-{name}): {each.get_short_help_str(limit=200)}"  # typer's is cut
        )
        text = re.sub(rf"^\* `{name}`: .*$", summary, text, flags=re.MULTILINE)
    return re.sub(
        r"^Examples?:\n((?:nnd .*\n)+)",
        lambda match: "**Examples**:\n\n```sh\n{}```\n".format(match[1].replace(r"\[", "[")),
        text,
        flags=re.MULTILINE,
    )


def python_page() -> str:
    """Return what mkdocstrings fills with the docstrings of the front door."""
    text = (ROOT / "nnd_metric" / "api" / "__init__.py").read_text(encoding="utf-8")
    names = sorted(exports_in(text, "nnd").keys() - {"DISTRIBUTION"})
    heading = "# Python"
    says = "Each command is a function of `nnd`, and the classes are what these functions take."
    return "\n\n".join([heading, says, *map("::: nnd.{}".format, names), ""])


def files_page() -> str:
    """Return the fields of every file that has a JSON Schema."""
    schemas = (
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "schemas" / "contract").glob("*.schema.json"))
    )
    heading = "# Files\n\nEvery file that nnd reads or writes has a JSON Schema in `schemas/`."
    return "\n\n".join([heading, *(part for schema in schemas for part in _schema(schema)), ""])


def _schema(schema: Mapping[str, Any]) -> Iterator[str]:
    title = schema["title"]
    yield f"## {title}\n\n{_cell(schema['description'])}"
    if "properties" in schema:
        yield _table(schema)
    for name, definition in schema.get("$defs", {}).items():
        if "properties" in definition:
            yield f"### {title}: {name}\n\n{_cell(definition.get('description', ''))}"
            yield _table(definition)
        for kind, case in _cases(definition):
            yield f"#### {title}: {name} {kind}\n\n{_cell(case.get('description', ''))}"
            yield _table(case)


def _cases(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what the fields are where one of them, such as the name of a rule, has a value."""
    for case in schema.get("allOf", []):
        ((_, condition),) = case["if"]["properties"].items()
        own = {
            name: field for name, field in case["then"]["properties"].items() if field is not True
        }
        yield condition["const"], {**case["then"], "properties": own}


def _table(schema: Mapping[str, Any]) -> str:
    lines = (f"| `{path}` | {kind} | {_cell(says)} |" for path, kind, says in _fields(schema))
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *lines])


def _fields(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield path, type and description of the fields, and of the fields inside them."""
    for name, field in schema.get("properties", {}).items():
        path = above + name
        yield path, _cell(_type(field)), field.get("description", "")
        yield from _fields(field, f"{path}.")
        yield from _fields(field.get("items", {}), f"{path}[].")


def _type(field: Mapping[str, Any]) -> str:
    for several in ("oneOf", "anyOf"):
        if several in field:
            return " or ".join(dict.fromkeys(_type(each) for each in field[several]))
    if "$ref" in field:
        return str(field["$ref"]).replace("/", ":").rpartition(":")[2]
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return " or ".join(f"`{json.dumps(value)}`" for value in field["enum"])
    kinds = field.get("type", "any")
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _cell(text: str) -> str:
    """Return a text as a cell of a table.

    Outside of code, `<` would begin an HTML tag and `|` the next cell.
    """
    parts = re.split(r"(`[^`]*`)", text.replace("\n", " "))
    return "".join(
        part if part.startswith("`") else part.replace("<", "&lt;").replace("|", r"\|")
        for part in parts
    )


def llms_text(pages: list[Page], config: MkDocsConfig) -> str:
    """Return a line per page: its title, its address (else its path) and its first sentence."""
    lines = [
        f"- [{page.title}]({page.canonical_url or page.url}): {first_sentence(page)}"
        for page in pages
    ]
    heading = f"# {config.site_name}\n\n> {config.site_description}\n\n"
    return heading + "\n".join(lines) + "\n"


def first_sentence(page: Page) -> str:
    """Return the first sentence of a page, without links and emphasis."""
    paragraphs = re.split(r"\n\s*\n", page.markdown or "")
    text = next((each for each in paragraphs if re.match(r"[\w*`\[]", each)), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(text.split())).replace("**", "")
    sentence = re.match(r".+?[.:?!](?=\s|$)", plain)
    return sentence[0] if sentence else plain
