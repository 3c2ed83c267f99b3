"""README, CONTRIBUTING and the guide name what there is, and their code blocks do what they say.

Each block is a case, which reads its page up to there. Models are tiny ones under the names that
these pages use, on a Hub of the test's own; with NND_TEST_FULL=1 that of the demo is itself. Every
other page of the guide begins where `first-run.md` ends. Commands are forks of a process that has
imported the libraries.
"""

import functools
import os
import re
import runpy
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from support.hub.answers import Answer, Request
from support.hub.clients import environment
from support.hub.faults import Fault
from support.hub.server import Hub
from support.metric_runs import save_model
from support.models.real_name import write_tiny
from support.recounts.built_in_sources import SOURCES
from support.screens.doc_blocks import (
    DOCUMENTS,
    FIRST_RUN,
    GUIDE,
    ROOT,
    RUN,
    Block,
    Reading,
    blocks,
    commands,
    follow,
    fresh_clone,
    reader,
    to_follow,
)
from support.screens.guide import OF_HUB, RUN as KEPT_RUN, working_folder
from support.screens.warm_commands import warm_commands

from nnd.converters.source.source import Source
from nnd.metric.cli.command import app

FULL = bool(os.environ.get("NND_TEST_FULL"))
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}
BLOCKS = [block for name in DOCUMENTS for block in blocks(name)]
TOKEN = "hf_loopback_readme"  # noqa: S105 - accepted by the loopback Hub alone
OURS = ("my-org/",)
NOT_CODE = {"", "bibtex", "pycon"}  # pycon: run by tests/metric/statistics/test_guide.py
PUBLISH = "cards/guide/publish.md"
TABLES = "cards/guide/tables.md"
REASONS = {
    "sets up an environment",
    "installs packages",
    "downloads annotation files, and scores for hours",
    "needs a cluster",
    "needs a GPU",
    "needs a server",
    "needs a model of the Hub",
    "needs the authors' files",
}
"""Why a block may go without a run."""


COMMANDS: dict[str, Any] = dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
every_command = pytest.mark.parametrize("name", COMMANDS)


def _parse(words: list[str]) -> None:
    """Read a command line as the command does, and run nothing."""
    name, *arguments = words
    COMMANDS[name].make_context(name, arguments)


# What there is.


@every_command
def test_every_command_is_in_a_document(name: str) -> None:
    assert any(re.search(rf"nnd {name}(?![\w-])", text) for text in TEXTS.values())


@every_command
def test_every_command_says_what_it_does_with_an_example_that_it_takes(name: str) -> None:
    command = COMMANDS[name]
    examples = [line for line in command.epilog.splitlines() if line.startswith("nnd ")]

    assert command.epilog.startswith("Examples:\n") or not examples
    assert "Example" not in command.help
    assert all(getattr(option, "help", None) for option in command.params)
    if any(option.required for option in command.params):
        assert examples, "a command that wants arguments shows them"
    for example in examples:
        nnd, *words = shlex.split(example)
        assert (nnd, words[0]) == ("nnd", name)
        assert len(example) < 79, "it is a line of its own, which is not folded"
        _parse(words)


def test_examples_pair_models_with_the_systems_that_they_are() -> None:
    systems = {
        system: model.model_id for source in SOURCES for system, model in source.systems.items()
    }
    files = [*(ROOT / "nnd_metric").rglob("*.py"), *(ROOT / "cards").rglob("*.jinja")]
    texts = "\n".join([*TEXTS.values(), *(path.read_text(encoding="utf-8") for path in files)])
    pairs = re.findall(r"--system ([\w./-]+)=(\w+)", texts)
    for literal in re.findall(r"\bsystems`?[^\n]*?(\{\"[^}]*\})", texts):
        pairs += re.findall(r'"([\w./-]+)": "(\w+)"', literal)
    pairs = [pair for pair in pairs if pair not in (("MODEL", "SYSTEM"), ("model", "system"))]

    assert len({*pairs}) >= 2
    for model, system in pairs:
        assert system in systems
        own = model.startswith(OURS) and systems[system] is None
        assert own or systems[system] == model, f"{model} is not {system}"
    for listed in re.findall(r"model_id=\[([^\]]+)\]", texts):
        for model in re.findall(r'"([^"]+)"', listed):
            assert model.startswith(OURS) or model in systems.values(), model


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_every_source_is_in_the_table_of_the_guide(source: Source) -> None:
    (row,) = re.findall(
        rf"^\| `{source.name}` \|.*$", TEXTS["cards/guide/datasets.md"], re.MULTILINE
    )
    expected = source.facts["expected"]

    assert source.facts["licence"] in row or (
        source.facts["licence"] == "unknown" and "none stated" in row
    )
    assert expected is None or f"{expected['pairs']:,}" in row


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_to_files_lead_somewhere(document: str) -> None:
    targets = re.findall(r"(?:\]\(|src=\")(?!https?://)([^)\s\"]*)", TEXTS[document])

    assert [target for target in targets if not leads_somewhere(document, target)] == []


def leads_somewhere(document: str, target: str) -> bool:
    """Whether the file of a link exists, and has the heading that the link names, if any."""
    name, _, anchor = target.partition("#")
    path = (ROOT / document).parent / name if name else ROOT / document
    if not path.exists() or not anchor:
        return path.exists()
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return anchor in slugs


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("cards/guide/faq.md", True),
        ("cards/guide/numbers.md#comparing-two-models", True),
        ("cards/guide/nowhere.md", False),
        ("cards/guide/faq.md#nowhere", False),
    ],
)
def test_a_dead_link_is_found(target: str, *, leads: bool) -> None:
    assert leads_somewhere("README.md", target) is leads


@pytest.mark.parametrize("document", DOCUMENTS)
def test_functions_and_files_that_are_named_are_there(document: str) -> None:
    for dotted in re.findall(r"`(nnd(?:\.\w+){2,})`", TEXTS[document]):
        module, _, name = dotted.rpartition(".")
        assert hasattr(__import__(module, fromlist=[name]), name), dotted
    rooms = r"`((?:converters|schemas|cards|tests|nnd_metric)/[\w./-]+)`"
    for path in re.findall(rooms, TEXTS[document]):
        assert (ROOT / path).exists(), path


# What the blocks say.


def test_every_block_is_one_that_is_run_or_says_why_not() -> None:
    assert {block.language for block in BLOCKS} <= RUN | NOT_CODE
    assert {block.why_not for block in BLOCKS} - {None} <= REASONS
    assert all(block.why_not for block in BLOCKS if "pip " in block.text or "make " in block.text)
    assert sum(text.count("\n```") for text in TEXTS.values()) == 2 * len(BLOCKS)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "sh"], ids=str)
def test_every_command_line_is_one_that_the_command_takes(block: Block) -> None:
    for words in commands(block):
        _parse(words)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "toml"], ids=str)
def test_toml_is_toml(block: Block) -> None:
    assert tomllib.loads(block.text)


def test_a_source_is_added_in_under_ten_commands() -> None:
    in_all = [block for block in BLOCKS if block.document == TABLES]
    texts = ["ratings.csv", "ratings-nnd", "replies.jsonl"]
    table, nested = (
        sum(len(list(commands(block))) for block in in_all if any(n in block.text for n in names))
        for names in (texts[:2], texts[2:])
    )

    assert 0 < table < 8  # beside `make demo` and the activation
    assert 0 < nested < 8


# What the blocks do, with models and a Hub of their own.


class HubWithGpt2(Hub):
    """A Hub on which a model may have a name without an owner, as gpt2 has."""

    def answer(self, request: Request, fault: Fault | None = None) -> Answer:
        target = re.sub(r"^(/api/models)?/gpt2(?=[/?]|$)", r"\1/openai/gpt2", request.target)
        return super().answer(replace(request, target=target), fault)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    place = tmp_path_factory.mktemp("models")
    with HubWithGpt2() as hub:
        for name, family in (("openai/gpt2", "gpt2"), ("my-org/my-model", "llama")):
            folder = Path(save_model(family, place))
            hub.commit("models", name, {path.name: path.read_bytes() for path in folder.iterdir()})
        yield hub


@pytest.fixture(scope="module")
def variables(
    hub: Hub, nnd_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The environment of a reader whose Hub is the test's own."""
    home, cache = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("cache")
    shutil.copytree(nnd_data / "quiz_design", cache / "quiz_design")
    found = reader() | environment(hub.endpoint, home, token=TOKEN) | {"NND_CACHE": str(cache)}
    found["PATH"] = reader()["PATH"]
    found.pop("HF_HUB_OFFLINE", None)
    with warm_commands(tmp_path_factory.mktemp("commands") / "bin", found) as warm:
        yield warm


@pytest.fixture(scope="module")
def contributor(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Reading:
    """Somebody who adds a table and then works on nnd, in a clone."""
    folder = tmp_path_factory.mktemp("contributor")
    own = variables | {"NND_CACHE": str(folder / "cache")}
    return Reading([TABLES, "CONTRIBUTING.md"], fresh_clone(folder / "clone"), own, folder)


@pytest.mark.parametrize("block", [*to_follow(TABLES), *to_follow("CONTRIBUTING.md")], ids=str)
def test_what_contributors_are_told_can_be_done(block: Block, contributor: Reading) -> None:
    contributor.read(block)


def test_contributing_leads_from_a_file_to_the_hub(contributor: Reading) -> None:
    contributor.read()
    said = contributor.printed

    assert said.count(" of 28 checks pass") == 2
    assert re.findall(r"^ fail +(\w+)", said, re.MULTILINE) == []
    assert "ratings-nnd has no problems." in said
    assert "datasets/my-org/ratings (gone now) holds" in said
    assert not list(contributor.place.glob("r*/convert.py"))


NND = """#!/bin/sh
if [ "$1 $2 $3" = "{asked}" ]; then exec python -m support.screens.stored_screen; fi
exec {nnd} "$@"
"""
"""A command that prints what the evaluation of the demo printed, and otherwise is `nnd`."""

DIFFER = re.compile(
    rf"--model|nnd\.evaluate|nnd train|nnd merge|^nnd evaluate --runs runs|{OF_HUB.pattern}",
    re.MULTILINE,
)
"""What is in blocks that score with another model than the one of the demo."""


@pytest.fixture(scope="module")
def open_page(
    variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Reading]:
    """`open_page(document)`: its reader, who has read `first-run.md` and has the kept run."""
    folder = tmp_path_factory.mktemp("first")
    stub = folder / "stub/nnd"
    stub.parent.mkdir()
    nnd = shutil.which("nnd", path=variables["PATH"])
    stub.write_text(NND.format(nnd=nnd, asked="evaluate --runs demo/runs.yaml"), encoding="utf-8")
    stub.chmod(0o755)
    stubbed = variables | {"PATH": f"{stub.parent}{os.pathsep}{variables['PATH']}"}

    @functools.cache
    def first_run() -> Reading:
        fetch = runpy.run_path(str(ROOT / "cards/guide/real_model.py"))["fetch"]
        model = fetch(ROOT / "demo") if FULL else write_tiny(folder)
        place = working_folder(folder / "run", model)
        shutil.copytree(KEPT_RUN, place / "demo/result")
        return Reading([FIRST_RUN], place, stubbed, folder, differ=DIFFER)

    @functools.cache
    def open_page(document: str) -> Reading:
        if document == FIRST_RUN:
            return first_run()
        first_run().read()
        place = tmp_path_factory.mktemp("page") / "place"
        shutil.copytree(first_run().place, place, symlinks=True)
        return Reading([document], place, stubbed, folder, differ=DIFFER)

    return open_page


PAGES = [FIRST_RUN, "README.md", *(page for page in GUIDE if page not in (FIRST_RUN, TABLES))]


@pytest.mark.parametrize("block", [block for page in PAGES for block in to_follow(page)], ids=str)
def test_a_block_does_what_it_says(block: Block, open_page: Callable[[str], Reading]) -> None:
    open_page(block.document).read(block)


@pytest.mark.parametrize("document", PAGES)
def test_what_a_page_shows_is_what_is_printed(
    document: str, open_page: Callable[[str], Reading]
) -> None:
    page = open_page(document)
    page.read()

    assert {block: text for block, text in page.shown.items() if block.text != text} == {}


def test_most_pages_show_what_is_printed(open_page: Callable[[str], Reading]) -> None:
    pages = [open_page(document) for document in PAGES]
    for page in pages:
        page.read()
    found = [block for page in pages for block in page.shown]
    documents = {block.document for block in found}

    assert {"README.md", FIRST_RUN, "cards/guide/results.md"} <= documents
    assert "cards/guide/comparing.md" in documents
    assert len(found) > 15


def test_the_first_run_scores_the_model(
    variables: dict[str, str], open_page: Callable[[str], Reading], tmp_path: Path
) -> None:
    open_page(FIRST_RUN).read()
    place = Path(shutil.copytree(open_page(FIRST_RUN).place, tmp_path / "place", symlinks=True))
    kept = {path.relative_to(place) for path in place.glob("demo/result/*/*/result.json")}
    shutil.rmtree(place / "demo/result")
    (scores,) = (block for block in to_follow(FIRST_RUN) if block.text.startswith("nnd evaluate"))

    assert "passes" in follow(scores, place, variables)
    assert {path.relative_to(place) for path in place.glob("demo/result/*/*/result.json")} == kept


def test_publishing_as_the_guide_does_reaches_the_hub(
    hub: Hub, open_page: Callable[[str], Reading]
) -> None:
    open_page(PUBLISH).read()

    assert hub.exists("datasets", "my-org/quiz_design")
    assert hub.exists("spaces", "my-org/nnd")
    assert "refs/pr/1" in hub.refs("models", "my-org/my-model")
