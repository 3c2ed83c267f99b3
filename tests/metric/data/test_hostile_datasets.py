"""A stranger's dataset does not choose what is read: only tables inside its own folder."""

import json
import time
from pathlib import Path
from typing import Any

import datasets
import pytest
from support.hub.loading import Ask
from support.hub.server import Hub
from support.refusals import check_refusal, refusal

from nnd.metric.data import load_pairs
from nnd.metric.data.dataset_files import hub_files, saved_files
from nnd.metric.data.own_tables import read_hub_dataset
from nnd.schemas import NNDError, is_inside

ROW = {"prompt": "p", "chosen": "h", "rejected": "l"}
NAME = "o/abs"


def lines(*prompts: str) -> bytes:
    return "".join(f"{json.dumps(ROW | {'prompt': text})}\n" for text in prompts).encode()


def card(**config: Any) -> bytes:
    """A README whose only configuration has some keys, written as JSON, which is YAML."""
    return head(f"configs: {json.dumps([{'config_name': 'default', **config}])}")


def head(text: str) -> bytes:
    return f"---\n{text}\n---\n".encode()


def folder_of(tmp_path: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = tmp_path / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "repository"


OUTSIDE = [
    "{secret}",
    "file://{secret}",
    "../../../../../../../../{secret}",
    "data/../../../{name}",
    "{endpoint}/private/{name}",
    "zip://x.jsonl::{endpoint}/private/x.zip",
    "simplecache::{endpoint}/private/{name}",
    "hf://datasets/o/private/{name}",
    "s3://bucket/{name}",
    "~/{name}",
    "C:\\Users\\me\\{name}",
    "..\\{name}",
    "\\\\server\\share\\{name}",
]


@pytest.mark.parametrize("n", range(len(OUTSIDE)))
@pytest.mark.parametrize("form", ["text", "list", "split", "paths", "folder"])
def test_a_card_names_no_file_outside_of_its_folder(
    n: int, form: str, hub: Hub, ask: Ask, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(lines("my secret"))
    named = OUTSIDE[n].format(secret=secret, endpoint=hub.endpoint, name=secret.name)
    keys: dict[str, Any] = {
        "text": {"data_files": named},
        "list": {"data_files": ["a.jsonl", named]},
        "split": {"data_files": [{"split": "test", "path": named}]},
        "paths": {"data_files": [{"split": "test", "path": ["a.jsonl", named]}]},
        "folder": {"data_dir": named},
    }
    name = f"o/abs-{n}-{form}"
    hub.commit("datasets", name, {"README.md": card(**keys[form]), "a.jsonl": lines("a")})
    answer = ask(name)
    check_refusal(NNDError(**answer["error"]), "file.leads-outside", f"{name}: README.md")
    assert named.replace("\\", "")[:5] in answer["error"]["what"].replace("\\", "")
    assert not any("/private/" in request for request in hub.requests)


BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghijkl", "bcdefghijklm", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        f"{BOMB}configs: *m",
        f"a: {'[' * 3_000}",
        f"a: {'{a: ' * 20_000}",
        "configs: [",
        "- a",
    ],
    ids=["bomb", "used bomb", "deep list", "deep mapping", "half", "no mapping"],
)
def test_metadata_that_explodes_is_refused_at_once(
    text: str, hub: Hub, ask: Ask, request: pytest.FixtureRequest
) -> None:
    name = f"o/{request.node.callspec.id.replace(' ', '-')}"
    hub.commit("datasets", name, {"README.md": head(text), "a.jsonl": lines("a")})
    start = time.monotonic()
    check_refusal(NNDError(**ask(name)["error"]), "file.not-yaml", f"{name}: README.md")
    assert time.monotonic() - start < 2


@pytest.mark.parametrize(
    "keys",
    [
        {"data_files": "b.jsonl"},
        {"data_files": {"train": "a.jsonl"}},
        {"data_files": 7},
        {"data_files": "a.jsonl", "sep": ";"},
        {"data_files": "a.jsonl", "field": "rows"},
    ],
)
def test_a_card_that_cannot_be_followed_is_refused(keys: dict[str, Any], tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"README.md": card(**keys), "a.jsonl": lines("a")})
    with pytest.raises(NNDError) as caught:
        hub_files(folder, NAME)
    assert caught.value.code in {"file.not-a-table", "file.leads-outside"}
    assert caught.value.where == f"{NAME}: README.md"


def test_several_configurations_are_named(tmp_path: Path) -> None:
    both = [{"config_name": name, "data_files": f"{name}.jsonl"} for name in ("one", "two")]
    files = {"one.jsonl": lines("1"), "two.jsonl": lines("2")}
    text = f"configs: {json.dumps(both)}"
    folder = folder_of(tmp_path, files | {"README.md": head(text)})
    with refusal("file.not-a-table", NAME) as caught:
        hub_files(folder, NAME)
    assert "one, two" in caught.value.what
    both[1]["default"] = True  # type: ignore[assignment] # as YAML has it
    folder = folder_of(tmp_path, {"README.md": head(f"configs: {json.dumps(both)}")})
    assert hub_files(folder, NAME).splits == {"train": [folder / "two.jsonl"]}


LAYOUTS: dict[str, tuple[dict[str, Any] | None, list[str]]] = {
    "one file": (None, ["a.jsonl"]),
    "names of files": (None, ["my_train.jsonl", "my-test.jsonl", "other.jsonl"]),
    "names of folders": (None, ["dev/x.jsonl", "test/y.jsonl", "test/z.jsonl", "notes.jsonl"]),
    "shards": (
        None,
        [f"data/{of}-0000{n}-of-00002.jsonl" for of in ("zoo", "train") for n in (0, 1)],
    ),
    "no words": (None, ["b.jsonl", "a.jsonl", "sub/contest.jsonl"]),
    "two kinds": (None, ["a.jsonl", "b.jsonl", "c.csv"]),
    "hidden": (None, ["a.jsonl", ".b.jsonl", ".c/d.jsonl", "__e/f.jsonl", "config.json"]),
    "a text": ({"data_files": "sub/b.jsonl"}, ["a.jsonl", "sub/b.jsonl"]),
    "a star": ({"data_files": "sub/*.jsonl"}, ["a.jsonl", "sub/b.jsonl", "sub/c/d.jsonl"]),
    "two stars": ({"data_files": "**/b*.jsonl"}, ["b.jsonl", "sub/b1.jsonl", "sub/c/b2.jsonl"]),
    "a folder": ({"data_files": "sub/**"}, ["a.jsonl", "sub/b.jsonl", "sub/c/d.jsonl"]),
    "letters": ({"data_files": "[ab]?.jsonl"}, ["a1.jsonl", "b2.jsonl", "c3.jsonl"]),
    "a list": ({"data_files": ["b.jsonl", "./a.jsonl"]}, ["a.jsonl", "b.jsonl"]),
    "splits": (
        {"data_files": [{"split": of, "path": [f"{of}/*"]} for of in ("raw", "clean")]},
        ["raw/a.jsonl", "raw/b.jsonl", "clean/a.jsonl"],
    ),
    "a home": (
        {"data_dir": "sub"},
        ["a.jsonl", "sub/b.jsonl", "sub/train.jsonl", "sub/test.jsonl"],
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_files_are_read_as_the_library_reads(layout: str, tmp_path: Path) -> None:
    keys, names = LAYOUTS[layout]
    files = {name: lines(f"of {name}", "and one more") for name in names}
    files |= {} if keys is None else {"README.md": card(**keys)}
    folder = folder_of(tmp_path, files)
    theirs: Any = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    expected = {split: {row["prompt"] for row in rows} for split, rows in theirs.items()}
    ours = {
        split: {json.loads(line)["prompt"] for path in paths for line in path.open()}
        for split, paths in hub_files(folder, NAME).splits.items()
    }
    assert ours == expected
    assert [*ours] == [*expected]


def test_a_link_of_a_snapshot_leads_to_its_repository_only(tmp_path: Path) -> None:
    snapshot = tmp_path / "datasets--o--abs" / "snapshots" / ("0" * 40)
    blobs = tmp_path / "datasets--o--abs" / "blobs"
    for folder in (snapshot, blobs):
        folder.mkdir(parents=True)
    (blobs / "1").write_bytes(lines("fine"))
    (snapshot / "a.jsonl").symlink_to("../../blobs/1")
    assert hub_files(snapshot, NAME).splits == {"train": [snapshot / "a.jsonl"]}
    (tmp_path / "secret.jsonl").write_bytes(lines("my secret"))
    (snapshot / "b.jsonl").symlink_to(tmp_path / "secret.jsonl")
    with refusal("file.leads-outside", NAME):
        hub_files(snapshot, NAME)
    (snapshot / "b.jsonl").unlink()
    (tmp_path / "card").write_bytes(card(data_files="a.jsonl"))
    (snapshot / "README.md").symlink_to(tmp_path / "card")
    with refusal("file.leads-outside", NAME):
        hub_files(snapshot, NAME)


@pytest.mark.parametrize(
    "named", ["{outside}", "../outside/data-00000-of-00001.arrow", "s3://b/x.arrow"]
)
@pytest.mark.parametrize("form", ["file", "splits"])
def test_a_saved_dataset_names_no_file_outside(named: str, form: str, tmp_path: Path) -> None:
    for name in ("saved", "outside"):
        datasets.Dataset.from_list([ROW]).save_to_disk(tmp_path / name)
    assert load_pairs(tmp_path / "saved").pairs.height == 1
    named = named.format(outside=tmp_path / "outside" / "data-00000-of-00001.arrow")
    state = tmp_path / "saved" / "state.json"
    if form == "file":
        facts = json.loads(state.read_text())
        state.write_text(json.dumps(facts | {"_data_files": [{"filename": named}]}))
    else:
        state.unlink()
        (tmp_path / "saved" / "dataset_dict.json").write_text(json.dumps({"splits": [named]}))
    with refusal("file.leads-outside", "saved"):
        load_pairs(tmp_path / "saved")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"_data_files": 1}', "[" * 100_000, "\xff"])
def test_a_state_that_cannot_be_read_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_bytes(text.encode("latin-1"))
    with refusal("file.not-a-table", "state.json"):
        saved_files(tmp_path, "saved")


def test_names_of_files_are_relative_and_go_down() -> None:
    assert all(map(is_inside, ["a", "a/b.c", "./a", "a b/ü.json", "a..b", "..a/b", "a/~b"]))
    assert not any(map(is_inside, ["", " ", "/a", "a/../b", "..", "~a", "a\0", "c:a", 7, None]))


def test_classes_are_named(tmp_path: Path) -> None:
    rows = datasets.Dataset.from_list([ROW | {"subset": n, "prompt": str(n)} for n in (1, 0, -1)])
    rows = rows.cast_column("subset", datasets.ClassLabel(names=["syntax", "meaning"]))
    rows.to_parquet(tmp_path / "a.parquet")
    infos = {
        "features": [
            {"name": "subset", "dtype": {"class_label": {"names": {"0": "syntax", "1": "meaning"}}}}
        ]
    }
    csv = b"prompt,chosen,rejected,subset\n1,h,l,1\n0,h,l,0\n-1,h,l,-1\n"
    for kind, files in {
        "parquet": {"a.parquet": (tmp_path / "a.parquet").read_bytes()},
        "csv": {"a.csv": csv, "README.md": head(f"dataset_info: {json.dumps(infos)}")},
    }.items():
        folder = folder_of(tmp_path / kind, files)
        (table,) = read_hub_dataset(folder, NAME)
        assert [*table.columns["subset"]] == ["meaning", "syntax", None]
        assert [*table.columns["split"]] == ["train"] * 3


def test_json_may_be_lines(tmp_path: Path) -> None:
    for content in (
        lines("a", "b"),
        json.dumps([ROW | {"prompt": each} for each in "ab"]).encode(),
    ):
        folder = folder_of(tmp_path, {"a.json": content})
        (table,) = read_hub_dataset(folder, NAME)
        assert [*table.columns["prompt"]] == ["a", "b"]
