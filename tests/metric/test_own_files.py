"""What a person made or changed is never replaced, whichever command writes there."""

import hashlib
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from support.refusals import refusal
from support.training.histories import entry, write

from nnd.cards.dataset import write_card
from nnd.converters.folder import convert, write_slice
from nnd.converters.make import derive
from nnd.metric.app.suites import suite
from nnd.metric.data import load_pairs
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.numbers import compare
from nnd.metric.other_metrics.on_datasets import metrics
from nnd.metric.run import evaluate, vary
from nnd.metric.show import report
from nnd.metric.train import curve
from nnd.schemas import NNDError, seal

Writer = Callable[[Path], object]
"""Writes to a folder or a file."""

PLAIN = Scoring(cache=False, unconditional=False)


@pytest.fixture(scope="module")
def place(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    shutil.copytree(sample, folder / "data")
    definition = "source: sample\nsets:\n  - {name: typos, op: typos=0.5}\n"
    (folder / "suite.yaml").write_text(definition, encoding="utf-8")
    write(folder / "history.jsonl", [entry(1), entry(2)])
    return folder


@pytest.fixture(scope="module")
def writers(place: Path, loaded: Callable[[str], LoadedModel]) -> dict[str, Writer]:
    """Command → what it writes, given a folder."""
    data, model = place / "data", loaded("gpt2")
    derive(data, ["negation"], out=place / "made", negatives="preferred", aspect="answer")
    evaluate(model, place / "made", out=place / "made-run", scoring=PLAIN)
    pair = load_pairs(data).pairs["pair_id"][0]
    return {
        "convert": lambda out: convert("sample", out=out),
        "slice": lambda out: write_slice(data, out, name="one", pair_ids=[pair]),
        "derive": lambda out: derive(data, ["typos=0.5"], out=out),
        "suite": lambda out: suite(place / "suite.yaml", out=out, data=data),
        "evaluate": lambda out: evaluate(model, data, out=out, scoring=PLAIN, limit=4),
        "worker": lambda out: evaluate(model, data, out=out, worker=(1, 1), limit=4),
        "vary": lambda out: vary(model, data, ["protocol"], out=out, scoring=PLAIN, limit=4),
        "metrics": lambda out: metrics(data=data, scorers=["length"], out=out),
        "report": lambda out: report(place / "evaluate", out),
        "figures": lambda out: report(place / "evaluate", place / "a.html", figures=out.parent),
        "svg": lambda out: curve(place / "history.jsonl", out=out),
        "png": lambda out: curve(place / "history.jsonl", out=out),
        "validity": lambda out: compare(place / "made-run", by="origin", out=out.parent),
        "card": lambda out: write_card(data, "org/sample", out),
    }


@pytest.fixture(scope="module")
def ours(place: Path, writers: dict[str, Writer]) -> Callable[[str], Path]:
    """`ours(command)`: a folder that it has written; a worker's is that of a finished run."""

    @cache
    def make(command: str) -> Path:
        folder = place / command
        writers[command if command != "worker" else "evaluate"](folder)
        return folder

    return make


def document(folder: Path) -> Path:
    (found,) = (path for path in folder.glob("*.json") if path.name != "cost.json")
    return found


def a_bundle(folder: Path) -> None:
    """The example of the issue: esbuild writes such files."""
    path = document(folder)
    clear(folder)
    (folder / "src").mkdir()
    (folder / "app.js").write_text("code", encoding="utf-8")
    (folder / "src/secret.txt").write_text("s", encoding="utf-8")
    outputs = {"app.js": {"bytes": 4}, "src/secret.txt": {}}
    path.write_text(json.dumps({"inputs": {}, "outputs": outputs}), encoding="utf-8")


def another_tool(folder: Path) -> None:
    """A document that has all digests, but is not one of nnd's."""
    path = document(folder)
    clear(folder)
    (folder / "app.js").write_bytes(b"code")
    digest = {"bytes": 4, "sha256": hashlib.sha256(b"code").hexdigest()}
    facts = {"inputs": {}, "outputs": {"app.js": digest}}
    path.write_text(json.dumps(seal(facts)), encoding="utf-8")


def changed_rows(folder: Path) -> None:
    path = next(iter(sorted(folder.rglob("*.parquet"))))
    path.write_bytes(path.read_bytes() + b"\n")


def changed_document(folder: Path) -> None:
    facts = json.loads(document(folder).read_text(encoding="utf-8"))
    facts["nnd_version"] = "0.2.1"
    document(folder).write_text(json.dumps(facts, indent=2), encoding="utf-8")


def notes(folder: Path) -> None:
    (folder / "notes.md").write_text("years of work", encoding="utf-8")


def before_digests(folder: Path) -> None:
    """Versions before 0.2 listed files without digests."""
    facts = json.loads(document(folder).read_text(encoding="utf-8"))
    del facts["digest"]
    facts["outputs"] = {name: {} for name in facts["outputs"]}
    document(folder).write_text(json.dumps(facts), encoding="utf-8")


def clear(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


STATES = [a_bundle, another_tool, changed_rows, changed_document, notes, before_digests]
COMMANDS = ["convert", "slice", "derive", "suite", "evaluate", "worker", "vary", "metrics"]


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_nnd_did_not_write_as_it_is_stays(
    writers: dict[str, Writer],
    ours: Callable[[str], Path],
    tmp_path: Path,
    command: str,
    state: Callable[[Path], None],
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(ours(command), folder)
    state(folder)
    before = content(folder)

    with pytest.raises(NNDError):
        writers[command](folder)

    assert content(tmp_path) == before


@pytest.mark.parametrize("is_sealed", [True, False], ids=["0.3 dev", "0.2"])
@pytest.mark.parametrize(("command", "field"), [("vary", "choices"), ("metrics", "rows")])
def test_the_folder_of_an_earlier_version_is_refused_by_its_number(
    writers: dict[str, Writer],
    ours: Callable[[str], Path],
    tmp_path: Path,
    command: str,
    field: str,
    *,
    is_sealed: bool,
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(ours(command), folder)
    facts = json.loads(document(folder).read_text(encoding="utf-8"))
    del facts["digest"]
    facts |= {"nnd_version": "0.2.7", f"former_{field}": facts.pop(field)}
    document(folder).write_text(json.dumps(seal(facts) if is_sealed else facts), encoding="utf-8")
    before = content(folder)

    with refusal("place.foreign-files", str(folder)) as caught:
        writers[command](folder)

    assert document(folder).name in caught.value.what
    assert "0.2.7" in caught.value.what
    assert content(folder) == before


COSTS = [
    b"years of work",
    b"[1, 2]",
    b"{}",
    b'{"models": []}',
    b'{"models": [{"model": "mine", "price": 3}]}',
    json.dumps(seal({"models": []}) | {"note": "mine"}).encode(),
    b"[" * 100_000,
]


@pytest.mark.parametrize("mine", COSTS, ids=range(len(COSTS)))
def test_a_persons_file_of_a_name_that_nnd_uses_stays(
    writers: dict[str, Writer], ours: Callable[[str], Path], tmp_path: Path, mine: bytes
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(ours("evaluate"), folder)
    (folder / "cost.json").write_bytes(mine)
    before = content(folder)
    with refusal("place.foreign-files", str(folder)) as caught:
        writers["evaluate"](folder)
    assert "cost.json" in caught.value.what
    assert content(folder) == before


def test_the_costs_of_earlier_versions_are_replaced(
    writers: dict[str, Writer], ours: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(ours("evaluate"), folder)
    facts = json.loads((folder / "cost.json").read_bytes())
    older = {"models": facts["models"]}  # 0.3 wrote nothing else
    (folder / "cost.json").write_text(json.dumps(older, indent=2), encoding="utf-8")
    writers["evaluate"](folder)
    assert json.loads((folder / "cost.json").read_bytes())["digest"]


# Single files

FILES = {
    "report": "page.html",
    "figures": "heat_map.svg",
    "svg": "curve.svg",
    "png": "curve.png",
    "validity": "validity.json",
    "card": "README.md",
}


def changed(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"<!-- mine -->\n")


def other(path: Path) -> None:
    path.write_bytes(b"years of work")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("state", [changed, longer, other], ids=lambda state: state.__name__)
@pytest.mark.parametrize("command", FILES)
def test_a_file_that_nnd_did_not_write_as_it_is_stays(
    writers: dict[str, Writer],
    ours: Callable[[str], Path],
    tmp_path: Path,
    command: str,
    state: Callable[[Path], None],
) -> None:
    ours("evaluate")
    path = tmp_path / FILES[command]
    writers[command](path)
    writers[command](path)
    state(path)
    before = content(tmp_path)

    if command == "card" and state is longer:  # below the marks, people write what they like
        writers[command](path)
        assert "<!-- mine -->" in path.read_text(encoding="utf-8")
        return
    with pytest.raises(NNDError):
        writers[command](path)

    assert content(tmp_path) == before
