"""Pairs of a Hub dataset, over real HTTP: a server on the loopback, a client process each."""

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.hub.server import Hub
from support.places import SUPPORT
from support.refusals import check_refusal
from support.stored_folders import reseal
from support.suites.split_source import write_letters

from nnd.schemas import NNDError

Ask = Callable[[str], dict[str, Any]]
NEVER = "0" * 40
READER = SUPPORT / "hub" / "reader.py"


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
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


@pytest.fixture
def ask(hub: Hub, tmp_path: Path) -> Iterator[Ask]:
    """`ask(name)`: what `load_pairs` makes of it in a process with an empty cache."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(tmp_path),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    with subprocess.Popen(
        [sys.executable, str(READER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def ask(name: str) -> dict[str, Any]:
            stdin.write(f"{name}\n")
            stdin.flush()
            answer: dict[str, Any] = json.loads(stdout.readline())
            return answer

        yield ask
        stdin.close()


def test_a_dataset_is_named_and_versioned_by_its_commit(hub: Hub, ask: Ask) -> None:
    commit = hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("one"), "README.md": b"#"})
    assert ask("org/quiz") == {
        "name": "org/quiz",
        "version": commit,
        "contexts": ["one"],
        "systems": None,
    }


def test_human_scores_come_with_a_dataset(hub: Hub, ask: Ask) -> None:
    files = {"pairs.parquet": pairs("one"), "human_scores.parquet": scores("t5")}
    hub.commit("datasets", "org/quiz", files)
    assert ask("org/quiz")["systems"] == ["t5"]


def test_human_scores_are_read_without_the_pairs(hub: Hub, ask: Ask) -> None:
    files = {"pairs.parquet": pairs("one"), "human_scores.parquet": scores("t5")}
    first = hub.commit("datasets", "org/quiz", files)
    assert ask("scores org/quiz") == {"systems": ["t5"]}
    fetched = [request.split("/")[-1] for request in hub.requests if "/resolve/" in request]
    assert set(fetched) == {"human_scores.parquet"}
    hub.commit("datasets", "org/quiz", {**files, "human_scores.parquet": scores("bart")})
    assert ask(f"scores org/quiz@{first}") == {"systems": ["t5"]}
    assert ask("scores org/quiz@main") == {"systems": ["bart"]}


def test_annotations_are_fetched_for_the_human_scores_of_a_split(
    hub: Hub, ask: Ask, tmp_path: Path
) -> None:
    folder = write_letters(tmp_path / "letters", ["valid", "test"])
    files = {
        name: (folder / name).read_bytes() for name in ("manifest.json", "human_scores.parquet")
    }
    for name in ("pairs", "annotations"):
        for (split,), rows in pl.read_parquet(folder / f"{name}.parquet").group_by("split"):
            columns = rows.to_dict(as_series=False)
            files[f"{name}/{split}-00000-of-00001.parquet"] = parquet(columns)
    for name, content in files.items():
        (tmp_path / "hub" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "hub" / name).write_bytes(content)
    reseal(tmp_path / "hub")
    files["manifest.json"] = (tmp_path / "hub/manifest.json").read_bytes()
    hub.commit("datasets", "org/letters", files)
    ask("org/letters")
    assert not any("/annotations/" in request for request in hub.requests)
    assert ask("split org/letters") == {
        "title": "org/letters (split test)",
        "otter": 1.0,
        "badger": 0.25,
        "marten": 0.0,
    }


def test_a_dataset_without_human_scores_says_so(hub: Hub, ask: Ask) -> None:
    hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("one")})
    refused(ask, "scores org/quiz", "data.not-converted", "org/quiz")


def test_only_data_is_fetched(hub: Hub, ask: Ask) -> None:
    files = {"pairs.parquet": pairs("one"), "README.md": b"#", "weights.bin": b"large"}
    hub.commit("datasets", "org/quiz", files)
    ask("org/quiz")
    fetched = [request.split("/")[-1] for request in hub.requests if "/resolve/" in request]
    assert set(fetched) == {"pairs.parquet"}


def test_a_branch_that_moved_gives_its_new_commit(hub: Hub, ask: Ask) -> None:
    first = hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("one")})
    assert ask("org/quiz@main")["version"] == first
    second = hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("two")})
    found = ask("org/quiz@main")
    assert (found["version"], found["contexts"]) == (second, ["two"])


def test_an_old_commit_stays_readable(hub: Hub, ask: Ask) -> None:
    first = hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("one")})
    hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("two")})
    assert ask("org/quiz")["contexts"] == ["two"]
    found = ask(f"org/quiz@{first}")
    assert (found["version"], found["contexts"]) == (first, ["one"])


def test_a_branch_with_a_slash_is_a_revision(hub: Hub, ask: Ask) -> None:
    hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("one")})
    fix = hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("two")}, branch="fix/labels")
    found = ask("org/quiz@fix/labels")
    assert (found["version"], found["contexts"]) == (fix, ["two"])


def refused(ask: Ask, name: str, code: str, where: str) -> None:
    check_refusal(NNDError(**ask(name)["error"]), code, where)


def test_an_unknown_dataset_is_refused(ask: Ask) -> None:
    refused(ask, "org/none", "data.on-the-hub", "org/none")


@pytest.mark.parametrize("revision", ["nope", NEVER])
def test_an_unknown_revision_is_refused(hub: Hub, ask: Ask, revision: str) -> None:
    hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("one")})
    refused(ask, f"org/quiz@{revision}", "data.on-the-hub", f"org/quiz@{revision}")


def test_a_dataset_without_pairs_is_refused(hub: Hub, ask: Ask) -> None:
    hub.commit("datasets", "org/other", {"notes.txt": b"no rows"})
    refused(ask, "org/other", "data.not-converted", "org/other")


def test_a_dataset_with_known_columns_is_read_at_its_commit(hub: Hub, ask: Ask) -> None:
    def split(*prompts: str) -> bytes:
        rows = [{"prompt": text, "chosen": "h", "rejected": "l"} for text in prompts]
        return "".join(f"{json.dumps(row)}\n" for row in rows).encode()

    files = {"data/raw.jsonl": split("one", "two"), "data/filtered.jsonl": split("one")}
    card = "configs:\n- config_name: default\n  data_files:\n" + "".join(
        f"  - split: {name}\n    path: data/{name}.jsonl\n" for name in ("raw", "filtered")
    )
    files["README.md"] = f"---\n{card}---\n".encode()
    first = hub.commit("datasets", "org/rewards", files)
    hub.commit("datasets", "org/rewards", {"data/raw.jsonl": split("three")})
    found = ask(f"org/rewards@{first}")
    assert (found["name"], found["version"]) == ("org/rewards", first)
    assert found["contexts"] == ["one", "two", "one"]


def test_a_server_that_is_down_is_said_at_once(hub: Hub, ask: Ask) -> None:
    hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("one")})
    ask("org/quiz")
    hub.stop()
    start = time.monotonic()
    refused(ask, "org/quiz", "data.on-the-hub", "org/quiz")
    assert time.monotonic() - start < 20  # the five retries of huggingface_hub take 23


def test_a_commit_fetched_before_needs_no_server(hub: Hub, ask: Ask) -> None:
    commit = hub.commit("datasets", "org/quiz", {"pairs.parquet": pairs("one")})
    found = ask("org/quiz")
    hub.stop()
    assert ask(f"org/quiz@{commit}") == found
