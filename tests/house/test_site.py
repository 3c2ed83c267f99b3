"""The guide as a site: built once, strictly, and it needs no network."""

import html
import json
import re
import runpy
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from support.places import ROOT

from nnd.metric.cli.command import app
from nnd.schemas.lazy import exports_in

EXPORTS = exports_in((ROOT / "nnd_metric/api/__init__.py").read_text(encoding="utf-8"), "nnd")
SCHEMAS = sorted(
    path.name.split(".")[0] for path in (ROOT / "schemas/contract").glob("*.schema.json")
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; a dead link, or a page that the navigation lacks, fails the build."""
    subprocess.run(["make", "-s", ".links"], cwd=ROOT, check=True)
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as environment:  # test_notebooks.py runs them
        environment.setenv("NND_RUN_NOTEBOOKS", "false")
        build(load_config(str(ROOT / "cards/mkdocs.yml"), site_dir=str(folder)))
    return folder


def pages(site: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the HTML of each page, but for the page that says that one is missing."""
    for path in sorted(site.rglob("*.html")):
        if path.name != "404.html":
            yield path.relative_to(site).as_posix(), path.read_text(encoding="utf-8")


def test_llms_txt_has_a_sentence_for_each_page(site: Path) -> None:
    heading, *lines = (site / "llms.txt").read_text(encoding="utf-8").split("\n- ")
    found = [re.fullmatch(r"\[([^]]+)\]\((\S+)\): ([A-Z`n].+[.:?])\n?", line) for line in lines]

    assert heading.startswith("# nnd\n\n> ")
    assert None not in found, lines
    assert len({match[2] for match in found if match}) == len(dict(pages(site)))
    assert "first-run.html" in {m[2] for m in found if m}


@pytest.mark.parametrize("address", ["", "https://git.example/org/nnd"])
def test_a_file_of_the_repository_is_a_link_only_if_that_has_an_address(address: str) -> None:
    hooks = runpy.run_path(str(ROOT / "cards/guide/build.py"))
    config = MkDocsConfig()
    config.load_dict({"site_name": "nnd", "repo_url": address})
    text = "See [Adding](../../CONTRIBUTING.md#adding) and [here](faq.md)."
    told = f"[Adding]({address}/blob/main/CONTRIBUTING.md#adding)" if address else "Adding"

    assert hooks["on_page_markdown"](text, config) == f"See {told} and [here](faq.md)."


def test_the_reference_has_every_command_function_and_file(site: Path) -> None:
    texts = dict(pages(site))
    commands = re.findall(r"<h2[^>]*><code>nnd ([\w-]+)", texts["reference/commands.html"])
    names = set(re.findall(r'id="nnd\.(\w+)"', texts["reference/python.html"]))
    files = re.findall(r'<h2 id="(\w+)">', texts["reference/files.html"])

    assert len(commands) > 20
    assert sorted(commands) == sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert EXPORTS.keys() - {"DISTRIBUTION"} <= names
    assert files == SCHEMAS


@pytest.mark.parametrize(
    ("target", "page"),
    [
        ("converters/sources/frank/source.yaml", "datasets.md#frank"),
        ("converters/sources", "datasets.md"),
        ("schemas/contract/pair.schema.json", "files.md#pair"),
        ("schemas/contract", "files.md"),
        ("nnd_metric/api/__init__.py", "python.md"),
    ],
)
def test_what_the_reference_is_made_from_is_there_and_leads_to_it(target: str, page: str) -> None:
    hooks = runpy.run_path(str(ROOT / "cards/guide/build.py"))
    config = MkDocsConfig()
    config.load_dict({"site_name": "nnd", "repo_url": "https://git.example/org/nnd"})

    assert (ROOT / target).exists()
    assert hooks["on_page_markdown"](f"[x](../../{target})", config) == f"[x](reference/{page})"


def test_the_reference_has_the_fields_of_every_rule(site: Path) -> None:
    text = dict(pages(site))["reference/files.html"]
    source = json.loads((ROOT / "schemas/contract/source.schema.json").read_text(encoding="utf-8"))
    cases = [case["then"]["properties"] for case in source["$defs"]["rule"]["allOf"]]
    (part,) = re.findall(r'<h3 id="source-rule">(.*?)<h3', text, re.DOTALL)
    tables = part.split("<h4")[1:]

    assert len(tables) == len(cases) == 5
    for fields, table in zip(cases, tables, strict=True):
        shown = re.findall(r"<tr>\s*<td><code>(\w+)</code>", table)
        assert shown == [name for name in fields if name != "rule"]


def test_the_sidebar_has_five_groups_that_hold_every_page(site: Path) -> None:
    config = load_config(str(ROOT / "cards/mkdocs.yml"))
    groups = [(name, pages) for group in config["nav"] for name, pages in group.items()]

    assert len(groups) == 5
    assert {name: len(pages) for name, pages in groups if not 3 <= len(pages) <= 7} == {}
    assert sum(len(pages) for _, pages in groups) == len(dict(pages(site)))


def test_a_cell_that_does_not_break_is_short(site: Path) -> None:
    """A longer one would push the columns out of sight."""
    cells = [
        html.unescape(re.sub(r"<[^>]+>", "", cell))
        for _, text in pages(site)
        for cell in re.findall(r'<td style="text-align: right;">(.*?)</td>', text)
    ]

    assert len(cells) > 50
    assert [cell for cell in cells if len(cell) > 30] == []


def test_arguments_are_explained_and_examples_are_code(site: Path) -> None:
    texts = dict(pages(site))
    shown = html.unescape(re.sub(r"<[^>]+>", "", texts["reference/commands.html"]))

    assert "Folders that" in texts["reference/python.html"]
    assert "nnd compare run --model gpt2 --model gpt2-large" in shown
    assert r"\[" not in shown


def test_the_reference_has_whole_sentences_and_no_empty_table(site: Path) -> None:
    texts = dict(pages(site))
    summaries = re.findall(
        r'<li><a href="#nnd-[\w-]+"><code>[\w-]+</code></a>: (.+)</li>',
        texts["reference/commands.html"],
    )

    assert len(summaries) > 20
    assert [text for text in summaries if not re.search(r"[^.][.?]$", text)] == []
    assert [
        name for name, text in texts.items() if re.search(r"<tr>\s*(<td></td>\s*)+</tr>", text)
    ] == []
    assert r"<code>\|</code>" not in texts["reference/files.html"]


def test_links_open_pages_where_the_site_is_read_from_disk(site: Path) -> None:
    """A browser shows the list of files where a link ends in a folder."""
    found = [
        (name, target)
        for name, text in pages(site)
        for target in re.findall(r'<a\b[^>]* href="(?!https?://|#)([^"#]*)', text)
        if not (site / name).parent.joinpath(target).is_file()
    ]

    assert found == []


def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = {
        address
        for _, text in pages(site)
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", text)
        if 'rel="canonical"' not in tag and 'rel="next"' not in tag and 'rel="prev"' not in tag
        for address in re.findall(r'(?:src|href)="([^"]+)"', tag)
    }

    assert len(loaded) > 5
    assert [address for address in loaded if re.match(r"(https?:)?//", address)] == []
