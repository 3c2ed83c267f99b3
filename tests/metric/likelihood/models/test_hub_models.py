"""Models of the Hub: found there with all that belongs to them; what exists is not asked for."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.hub.asking import Ask, refused
from support.hub.publishing import TOKEN
from support.hub.server import Hub
from support.screens.commands import Nnd

from nnd.metric.likelihood import Loading, load_model

LIST = "load('nnd.metric.likelihood.models.checkpoint_series').list_checkpoints"
LOAD = "load('nnd.metric.likelihood').load_model"


def test_a_gated_model_needs_a_token(hub: Hub, ask: Ask) -> None:
    hub.commit("models", "org/gated", {"config.json": b"{}"})
    hub.repository("models", "org/gated").gated = "auto"
    ask("load('os').environ.pop('HF_TOKEN')")
    error = refused(
        ask,
        "load('nnd.metric.run').check_scorable("
        "'org/gated', load('nnd.metric.likelihood').Loading(device='cpu'))",
    )
    ask(f"load('os').environ.update(HF_TOKEN={TOKEN!r})")
    assert "needs a token, because it is gated" in str(error)


def test_a_tokenizer_in_a_subfolder_is_found(
    below: Callable[[str], Path], saved: Callable[[str], Path], hub: Hub, ask: Ask
) -> None:
    mine = below("bart")
    files = {
        str(path.relative_to(mine)): path.read_bytes() for path in mine.rglob("*") if path.is_file()
    }
    hub.commit("models", "org/below", files)
    ids = ask("load('nnd.metric.likelihood').load_tokenizer('org/below').encode('The cat sat.')")
    whole = load_model(saved("bart"), Loading(device="cpu"))
    assert ids == whole.tokenizer.encode("The cat sat.")


def test_checkpoints_come_in_the_order_of_their_steps(hub: Hub, ask: Ask) -> None:
    for branch in ("main", "step2000", "step512", "step1000"):
        hub.commit("models", "org/model", {"config.json": b"{}"}, branch=branch)
    steps = [f"org/model@step{number}" for number in (512, 1000, 2000)]
    assert ask(f"{LIST}('org/model')") == steps


def test_a_model_that_the_hub_lacks_has_no_checkpoints(hub: Hub, ask: Ask) -> None:
    error = refused(ask, f"{LIST}('org/none')")
    assert (error.name, error.code) == ("ScoringError", "model.no-checkpoints")
    assert "org/none" in error.message
    assert hub.received


# What exists is not asked of the Hub


@pytest.mark.parametrize("name", ["tiny.gguf", "base", "adapter"])
@pytest.mark.parametrize("at", ["{name}", "./{name}", "{place}/{name}"])
def test_what_exists_is_not_asked_of_the_hub(
    name: str, at: str, ask: Ask, hub: Hub, place: Path
) -> None:
    before = len(hub.requests)
    ask(f"load('os').chdir({str(place)!r})")
    found = at.format(name=name, place=place)
    assert ask(f"{LOAD}({found!r}).name") == found
    assert hub.requests[before:] == []


def test_a_missing_gguf_file_is_not_asked_of_the_hub(ask: Ask, hub: Hub) -> None:
    before = len(hub.requests)
    error = refused(ask, f"{LOAD}('missing.gguf')")
    assert error.code == "file.not-found"
    assert "./missing.gguf" in error.message
    assert hub.requests[before:] == []
    refused(ask, f"{LOAD}('missing')")  # what may be the id of a model is looked up
    assert hub.requests[before:]


def test_a_file_of_the_working_folder_is_scored(
    ask: Ask, hub: Hub, place: Path, nnd: Nnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(hub.requests)
    ask(f"load('os').chdir({str(place)!r})")
    online = ask("load('nnd').evaluate('tiny.gguf', 'pairs.parquet').results[0].rates.n_pairs")
    monkeypatch.chdir(place)
    offline = nnd("evaluate", "--model", "tiny.gguf", "--data", "pairs.parquet")

    assert online > 0
    assert (offline.code, offline.err) == (0, "")
    assert hub.requests[before:] == []
