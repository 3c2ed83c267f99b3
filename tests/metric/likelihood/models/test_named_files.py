"""What a model's own files name is inside its folder, or else refused before it is opened."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.hub.asking import Ask, refused
from support.hub.server import Hub
from support.refusals import refusal

from nnd.metric.likelihood import Loading, load_model
from nnd.metric.likelihood.models.model_files import weight_files

Saved = Callable[[str], Path]

NAMES = [
    "{outside}/model.safetensors",
    "../outside/model.safetensors",
    "a/../../outside/model.safetensors",
    "~/model.safetensors",
    "https://example.org/model.safetensors",
    "zip://x::file:///model.safetensors",
    "C:\\model.safetensors",
]


@pytest.fixture
def mine(saved: Saved, tmp_path: Path) -> Path:
    """A copy of a tiny model, and beside it the folder `outside` with the same weights."""
    shutil.copytree(saved("gpt2"), tmp_path / "mine")
    shutil.copytree(saved("gpt2"), tmp_path / "outside")
    return tmp_path / "mine"


def edit(path: Path, **facts: Any) -> None:
    known = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(known | facts))


def index(*names: str) -> dict[str, Any]:
    return {"metadata": {}, "weight_map": {f"w{n}": name for n, name in enumerate(names)}}


@pytest.mark.parametrize("named", NAMES)
def test_an_index_names_shards_of_its_folder(named: str, mine: Path) -> None:
    named = named.format(outside=mine.parent / "outside")
    (mine / "model.safetensors").rename(mine / "shard.safetensors")
    edit(mine / "model.safetensors.index.json", **index("shard.safetensors", named))
    with refusal("file.leads-outside", "model.safetensors.index.json") as caught:
        load_model(mine, Loading(device="cpu"))
    assert named in caught.value.what
    assert weight_files(mine) == [mine / "shard.safetensors"]


@pytest.mark.parametrize("named", NAMES)
def test_a_configuration_names_weights_of_its_folder(named: str, mine: Path) -> None:
    named = named.format(outside=mine.parent / "outside")
    (mine / "model.safetensors").unlink()
    edit(mine / "config.json", transformers_weights=named)
    with refusal("file.leads-outside", "config.json"):
        load_model(mine, Loading(device="cpu"))
    assert weight_files(mine) == []


def test_a_tokenizer_names_files_of_its_folder(mine: Path) -> None:
    named = str(mine.parent / "outside" / "tokenizer.4.0.json")
    edit(mine / "tokenizer_config.json", fast_tokenizer_files=["tokenizer.json", named])
    with refusal("file.leads-outside", "tokenizer_config.json"):
        load_model(mine, Loading(device="cpu"))


def test_paths_of_its_author_in_a_tokenizer_are_not_opened(mine: Path) -> None:
    other = mine.parent / "outside" / "tokenizer.json"
    other.write_text("{}")
    edit(mine / "tokenizer_config.json", tokenizer_file=str(other), vocab_file=str(other))
    plain = load_model(mine.parent / "mine", Loading(device="cpu")).tokenizer
    edit(mine / "tokenizer_config.json", tokenizer_file=None, vocab_file=None)
    found = load_model(mine.parent / "mine", Loading(device="cpu")).tokenizer
    assert plain.encode("The cat sat.") == found.encode("The cat sat.")


def test_links_of_a_snapshot_lead_to_its_repository_only(mine: Path, tmp_path: Path) -> None:
    home = tmp_path / "models--o--m"
    (home / "snapshots").mkdir(parents=True)
    mine.rename(home / "blobs")
    snapshot = home / "snapshots" / ("0" * 40)
    snapshot.mkdir()
    for path in (home / "blobs").iterdir():
        (snapshot / path.name).symlink_to(f"../../blobs/{path.name}")
    assert load_model(snapshot, Loading(device="cpu")).model.num_parameters()
    (snapshot / "config.json").unlink()
    (snapshot / "config.json").symlink_to(tmp_path / "outside" / "config.json")
    with refusal("file.leads-outside", str(snapshot)):
        load_model(snapshot, Loading(device="cpu"))


@pytest.mark.parametrize("named", ["{outside}", "../outside", "https://example.org/m"])
def test_an_adapter_of_the_hub_names_no_local_base(
    named: str, mine: Path, hub: Hub, ask: Ask
) -> None:
    base = named.format(outside=mine.parent / "outside")
    settings = {"base_model_name_or_path": base, "peft_type": "LORA"}
    hub.commit("models", "org/adapter", {"adapter_config.json": json.dumps(settings).encode()})
    error = refused(
        ask,
        "load('nnd.metric.likelihood').load_model("
        "'org/adapter', load('nnd.metric.likelihood').Loading(device='cpu'))",
    )
    assert error.code == "adapter.base"
    assert base in error.message


@pytest.mark.parametrize("named", ["../../../../outside/model.safetensors", "/etc/hostname"])
def test_an_index_of_the_hub_names_files_of_its_repository(
    named: str, mine: Path, hub: Hub, ask: Ask
) -> None:
    files = {path.name: path.read_bytes() for path in mine.iterdir() if path.is_file()}
    files["model.safetensors.index.json"] = json.dumps(index(named)).encode()
    del files["model.safetensors"]
    name = f"org/index-{len(named)}"
    hub.commit("models", name, files)
    error = refused(
        ask,
        "load('nnd.metric.likelihood').load_model("
        f"{name!r}, load('nnd.metric.likelihood').Loading(device='cpu'))",
    )
    assert error.name == "ScoringError"
    assert named in error.message


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[" * 100_000, "file.another-kind"),
        ('{"a": ' * 101 + "1" + "}" * 101, "file.another-kind"),
        ('{"a": 1, "a": 2}', "row.twice"),
        ("{", "file.cut-off"),
        ("9" * 5000, "file.another-kind"),
    ],
    ids=["deep for Python", "deep", "a key twice", "cut off", "a long number"],
)
def test_settings_that_no_one_can_read_are_one_refusal(
    name: str, text: str, code: str, mine: Path
) -> None:
    (mine / name).write_text(text)
    with refusal(code, name) as caught:
        load_model(mine, Loading(device="cpu"))
    assert "\n" not in str(caught.value)
