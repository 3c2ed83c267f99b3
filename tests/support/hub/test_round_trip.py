"""From an annotation file to numbers of a model, by way of the Hub, with the real clients.

Each built-in source that may be redistributed is converted, published, loaded by `load_dataset` in
both of its ways, and scored by the published metric where nnd is not installed.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.card_folders import convert_case
from support.hub.asking import Ask
from support.hub.clients import environment
from support.hub.publishing import TOKEN, Client
from support.hub.server import Hub
from support.metric_runs import LOADER, load_plan, save_model
from support.recounts.built_in_sources import SOURCES, fixture_cases

from nnd.converters.folder.conversion import convert
from nnd.converters.hub.preferences import preferences
from nnd.metric.data import contexts_of, load_pairs
from nnd.metric.run import evaluate
from nnd.metric.text import find_template, render
from nnd.schemas.files.folder import FrameName, find_frame, read_manifest

FULL = bool(os.environ.get("NND_TEST_FULL"))
ALLOWED = [source.name for source in SOURCES if source.facts["redistribution"] == "allowed"]
TRIED_ALWAYS = {"challenge300", "demetr", "llmbar", "wmt23_mqm_sxs", "wmt_mqm"}
"""Scores, references, pairs, groups and spans; the others are like one of them."""
CASES = {case.source: case for case in reversed([*fixture_cases()]) if case.source in ALLOWED}


def test_every_source_that_may_be_redistributed_is_tried() -> None:
    assert sorted(CASES) == sorted(ALLOWED)
    assert len(ALLOWED) >= 7


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in TRIED_ALWAYS else [pytest.mark.full])
        for name in ALLOWED
    ],
)
def test_what_is_loaded_is_what_was_published(
    name: str, publisher: Client, ask: Ask, tmp_path: Path
) -> None:
    folder = convert_case(CASES[name], tmp_path / f"{name}-nnd")
    _publish(publisher, folder, f"org/{name}", unverified="a fixture")
    _assert_loads(ask, folder, f"org/{name}", tmp_path)


@pytest.mark.parametrize("name", ["goyal_gpt3_news", "sample"])
def test_the_same_is_asked_of_what_was_published(
    name: str, publisher: Client, ask: Ask, tmp_path: Path
) -> None:
    """With nnd, which reads the manifest, and in words for who has `datasets` alone."""
    folder = convert_case(CASES[name], tmp_path / f"{name}-nnd")
    _publish(publisher, folder, f"org/asked-{name}", unverified="a fixture")

    found = ask(_requests(f"org/asked-{name}"))

    pairs = load_pairs(folder)
    template = find_template("instruction", pairs.instruction)
    assert found == [list(prompt.context) for prompt in render(template, contexts_of(pairs.pairs))]
    assert len(found) == pairs.pairs.height
    builder = f"load('datasets').load_dataset_builder('org/asked-{name}', 'pairs')"
    assert pairs.instruction is not None
    described = ask(f"{builder}.config.description")
    assert all(text in described for text in pairs.instruction.wordings[0].values())


def _requests(name: str) -> str:
    """What asks for the pieces of every request of a dataset on the Hub, as nnd reads it."""
    data, encoding = "load('nnd.metric.data')", "load('nnd.metric.text')"
    return (
        f"(lambda pairs: [list(prompt.context) for prompt in {encoding}.render("
        f"{encoding}.find_template('instruction', pairs.instruction), "
        f"{data}.contexts_of(pairs.pairs))])({data}.load_pairs({name!r}))"
    )


AT_HAND = [name for name in ALLOWED if name != "ragtruth"]  # its own files are not in shared/data
REAL = {name: [None] for name in AT_HAND} | {
    "frank": ["typed"],
    "wmt_mqm": ["ted/ende", "ted/zhen"],
    "wmt23_mqm_sxs": ["ende", "zhen"],
}
TRIED = REAL if FULL else {"challenge300": [None]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen", [(name, each) for name in TRIED for each in TRIED[name]], ids=str
)
def test_what_is_loaded_is_what_was_published_of_the_real_files(
    chosen: tuple[str, str | None],
    publisher: Client,
    ask: Ask,
    tmp_path: Path,
    nnd_data: Path,
) -> None:
    name, set_name = chosen
    folder = tmp_path / f"{name}-nnd"
    origin = None if name == "sample" else nnd_data / name
    convert(name, origin=origin, set_name=set_name, out=folder)
    repo_id = f"org/{folder.name}-{str(set_name).replace('/', '-')}"
    # As its maintainers publish it: only of FRANK's texts no digest is known, and nobody read them.
    options = {"unverified": "no digest is known", "redact": True} if name == "frank" else {}
    published = _publish(publisher, folder, repo_id, **options)
    contacts = json.loads(_fetch(ask, published, "manifest.json")).get("contacts", {})
    reviewed = {"goyal_gpt3_news", "bump", "summedits", "llmbar", "fib"}
    assert ("kept" in contacts) is (name in reviewed)
    if "redacted" in contacts:  # what is published is not what was converted
        folder = Path(ask(f"api.snapshot_download({repo_id!r}, repo_type='dataset')"))
    _assert_loads(ask, folder, repo_id, tmp_path)


@pytest.mark.full
def test_a_published_metric_scores_a_published_dataset(
    hub: Hub, publisher: Client, tmp_path: Path
) -> None:
    folder = convert_case(CASES["sample"], tmp_path / "sample-nnd")
    _publish(publisher, folder, "org/scored", unverified="a fixture")
    ours = [str(Path(sys.executable).with_name("nnd")), "publish-metric", "org/nnd"]
    here = environment(hub.endpoint, tmp_path / "home", token=TOKEN)
    subprocess.run(ours, env=here, check=True, capture_output=True)
    model = save_model("gpt2", tmp_path / "model")
    call = {"dataset": "org/scored", "model_id": str(model)}
    plan = load_plan("org/nnd", [call], folder=tmp_path, without_package=True)
    done = subprocess.run(
        [sys.executable, str(LOADER)],
        input=json.dumps([plan]),
        env=here,
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    (told,) = json.loads(done.stdout)
    assert told["package"] is False
    assert "error" not in told, told
    (found,) = told["answers"]
    (expected,) = evaluate(str(model), folder).to_dict()["results"]
    for name in ("pass_rate", "n", "by_error_category", "interval"):
        assert found[name] == expected[name]


def _publish(publisher: Client, folder: Path, name: str, **options: Any) -> dict[str, Any]:
    published = publisher.ask("publish", folder=folder, repo_id=name, **options)
    assert published.get("error") is None
    assert published["changed"]
    return published


def _fetch(ask: Ask, published: dict[str, Any], path: str) -> bytes:
    asked = f"fetch({published['repo_id']!r}, {path!r}, revision={published['commit']!r})"
    return bytes.fromhex(ask(asked))


def _assert_loads(ask: Ask, folder: Path, name: str, place: Path) -> None:
    """Every row of every part, by plain loading and by streaming, as it is in the folder."""
    parts: tuple[FrameName, ...] = ("pairs", "human_scores", "annotations", "references")
    found = ((part, find_frame(folder, part)) for part in parts)
    frames = {str(part): rows for part, rows in found if rows is not None}
    frames["preferences"] = preferences(frames["pairs"], read_manifest(folder)["source"])
    filled = {part: frame for part, frame in frames.items() if not frame.is_empty()}
    configs = f"load('datasets').get_dataset_config_names({name!r})"
    assert sorted(ask(configs)) == sorted(filled)
    for part, frame in filled.items():
        wanted = (
            {"systems": frame}
            if part == "human_scores"
            else {str(split): rows for (split,), rows in frame.group_by("split")}
        )
        load = f"load('datasets').load_dataset({name!r}, {part!r}"
        assert sorted(ask(f"list({load}))")) == sorted(wanted)
        for split, rows in wanted.items():
            for streaming in (False, True):
                path = str(place / f"{part}-{split}-{streaming}.json")
                rows_of = f"list({load}, split={split!r}, streaming={streaming}))"
                ask(f"load('pathlib').Path({path!r}).write_text(load('json').dumps({rows_of}))")
                assert json.loads(Path(path).read_text()) == rows.to_dicts()
