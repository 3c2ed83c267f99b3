"""Pairs of a Hub dataset, over real HTTP: a server on the loopback, and a client process."""

import io
import json
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.hub.loading import Ask, reader
from support.hub.server import Hub
from support.refusals import check_refusal
from support.stored_folders import reseal
from support.suites.split_source import write_letters

from nnd.schemas import NNDError

NEVER = "0" * 40


def pairs(context: str) -> bytes:
    """A Parquet file of one pair."""
    return parquet({"context": [context], "candidate_high": ["a"], "candidate_low": ["b"]})


def scores(system: str) -> bytes:
    row = {"system": system, "model_id": "", "aspect": "q", "category": "overall", "score": 1.0}
    return parquet({name: [value] for name, value in row.items()})


def parquet(columns: dict[str, list[Any]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A dataset of the test's own."""
    return f"org/{request.node.originalname}"


def fetched(hub: Hub, name: str) -> set[str]:
    """The files of a dataset that were asked for."""
    return {request.split("/")[-1] for request in hub.requests if f"/{name}/resolve/" in request}


def test_a_dataset_is_named_and_versioned_by_its_commit(hub: Hub, ask: Ask, name: str) -> None:
    files = {"pairs.parquet": pairs("one"), "README.md": b"#", "weights.bin": b"large"}
    commit = hub.commit("datasets", name, files)
    assert ask(name) == {"name": name, "version": commit, "contexts": ["one"], "systems": None}
    assert fetched(hub, name) == {"pairs.parquet"}  # only data
    refused(ask, f"scores {name}", "data.not-converted", name)


def test_human_scores_come_with_a_dataset_or_without_the_pairs(
    hub: Hub, ask: Ask, name: str
) -> None:
    files = {"pairs.parquet": pairs("one"), "human_scores.parquet": scores("t5")}
    first = hub.commit("datasets", name, files)
    assert ask(f"scores {name}") == {"systems": ["t5"]}
    assert fetched(hub, name) == {"human_scores.parquet"}
    assert ask(name)["systems"] == ["t5"]
    hub.commit("datasets", name, {**files, "human_scores.parquet": scores("bart")})
    assert ask(f"scores {name}@{first}") == {"systems": ["t5"]}
    assert ask(f"scores {name}@main") == {"systems": ["bart"]}


def test_annotations_are_fetched_for_the_human_scores_of_a_split(
    hub: Hub, ask: Ask, name: str, tmp_path: Path
) -> None:
    folder = write_letters(tmp_path / "letters", ["valid", "test"])
    files = {
        file: (folder / file).read_bytes() for file in ("manifest.json", "human_scores.parquet")
    }
    for frame in ("pairs", "annotations"):
        for (split,), rows in pl.read_parquet(folder / f"{frame}.parquet").group_by("split"):
            columns = rows.to_dict(as_series=False)
            files[f"{frame}/{split}-00000-of-00001.parquet"] = parquet(columns)
    for file, content in files.items():
        (tmp_path / "hub" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "hub" / file).write_bytes(content)
    reseal(tmp_path / "hub")
    files["manifest.json"] = (tmp_path / "hub/manifest.json").read_bytes()
    hub.commit("datasets", name, files)
    ask(name)
    assert not any(f"{name}/" in each and "/annotations/" in each for each in hub.requests)
    assert ask(f"split {name}") == {
        "title": f"{name} (split test)",
        "otter": 1.0,
        "badger": 0.25,
        "marten": 0.0,
    }


def test_a_branch_that_moved_gives_its_new_commit_and_the_old_one_stays_readable(
    hub: Hub, ask: Ask, name: str
) -> None:
    first = hub.commit("datasets", name, {"pairs.parquet": pairs("one")})
    assert ask(f"{name}@main")["version"] == first
    second = hub.commit("datasets", name, {"pairs.parquet": pairs("two")})
    for revision, expected in {
        "@main": (second, ["two"]),
        "": (second, ["two"]),
        f"@{first}": (first, ["one"]),
    }.items():
        found = ask(f"{name}{revision}")
        assert (found["version"], found["contexts"]) == expected


def test_a_branch_with_a_slash_is_a_revision(hub: Hub, ask: Ask, name: str) -> None:
    hub.commit("datasets", name, {"pairs.parquet": pairs("one")})
    fix = hub.commit("datasets", name, {"pairs.parquet": pairs("two")}, branch="fix/labels")
    found = ask(f"{name}@fix/labels")
    assert (found["version"], found["contexts"]) == (fix, ["two"])


def refused(ask: Ask, name: str, code: str, where: str) -> None:
    check_refusal(NNDError(**ask(name)["error"]), code, where)


def test_what_is_not_there_is_refused(hub: Hub, ask: Ask, name: str) -> None:
    refused(ask, "org/none", "data.on-the-hub", "org/none")
    hub.commit("datasets", name, {"notes.txt": b"no rows"})
    refused(ask, name, "data.not-converted", name)
    for revision in ("nope", NEVER):
        refused(ask, f"{name}@{revision}", "data.on-the-hub", f"{name}@{revision}")


def test_a_dataset_with_known_columns_is_read_at_its_commit(hub: Hub, ask: Ask, name: str) -> None:
    def split(*prompts: str) -> bytes:
        rows = [{"prompt": text, "chosen": "h", "rejected": "l"} for text in prompts]
        return "".join(f"{json.dumps(row)}\n" for row in rows).encode()

    files = {"data/raw.jsonl": split("one", "two"), "data/filtered.jsonl": split("one")}
    card = "configs:\n- config_name: default\n  data_files:\n" + "".join(
        f"  - split: {of}\n    path: data/{of}.jsonl\n" for of in ("raw", "filtered")
    )
    files["README.md"] = f"---\n{card}---\n".encode()
    first = hub.commit("datasets", name, files)
    hub.commit("datasets", name, {"data/raw.jsonl": split("three")})
    found = ask(f"{name}@{first}")
    assert (found["name"], found["version"]) == (name, first)
    assert found["contexts"] == ["one", "two", "one"]


def test_a_server_that_is_down_is_said_at_once_and_not_needed_for_a_known_commit(
    name: str, tmp_path: Path
) -> None:
    with Hub() as hub, reader(hub, tmp_path) as ask:
        commit = hub.commit("datasets", name, {"pairs.parquet": pairs("one")})
        found = ask(name)
        hub.stop()
        start = time.monotonic()
        refused(ask, name, "data.on-the-hub", name)
        assert time.monotonic() - start < 20  # the five retries of huggingface_hub take 23
        assert ask(f"{name}@{commit}") == found
