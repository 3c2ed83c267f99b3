"""Threads that load models: through nnd one after the other, otherwise with the true reason."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.refusals import refusal
from transformers import PreTrainedModel
from transformers.initialization import no_tie_weights

from nnd.metric.likelihood import Loading
from nnd.metric.likelihood.models.load_model import (
    load_config,
    load_model,
    load_skeleton,
    load_tokenizer,
)

Saved = Callable[[str], Path]
CPU = Loading(device="cpu")
LOADERS = (load_model, load_skeleton, load_tokenizer, load_config)


@pytest.fixture
def restored() -> Iterator[None]:
    """What a test breaks in transformers is whole again afterwards."""
    own = PreTrainedModel.tie_weights
    yield
    PreTrainedModel.tie_weights = own


@pytest.mark.usefixtures("restored")
def test_threads_load_at_the_same_time(saved: Saved) -> None:
    folder, wrong = saved("gpt2"), list[Exception]()
    start = threading.Barrier(4)

    def load(loader: Callable[[Path, Loading], object]) -> None:
        start.wait()
        try:
            for _ in range(5):
                loader(folder, CPU)
        except Exception as error:  # noqa: BLE001 - all are wrong
            wrong.append(error)

    threads = [threading.Thread(target=load, args=(loader,)) for loader in LOADERS[:2] * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    load_model(folder, CPU)


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.usefixtures("restored")
def test_while_another_thread_loads_otherwise_nothing_is_loaded(
    loader: Callable[[Path, Loading], object], saved: Saved
) -> None:
    with (
        no_tie_weights(),
        refusal("model.two-threads"),
    ):
        loader(saved("gpt2"), CPU)
    loader(saved("gpt2"), CPU)


@pytest.mark.usefixtures("restored")
def test_if_another_thread_begins_meanwhile_the_true_reason_is_said(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, real = no_tie_weights(), PreTrainedModel._finalize_model_loading

    def finalise(*arguments: object) -> object:
        other.__enter__()
        return real(*arguments)

    monkeypatch.setattr(PreTrainedModel, "_finalize_model_loading", staticmethod(finalise))
    with refusal("model.two-threads") as caught:
        load_model(saved("gpt2"), CPU)
    assert "lm_head.weight" in str(caught.value.__cause__)


@pytest.mark.usefixtures("restored")
def test_what_two_other_threads_broke_is_said(saved: Saved) -> None:
    one, other = no_tie_weights(), no_tie_weights()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    other.__exit__(None, None, None)  # restores what `one` put in place
    with refusal("model.two-threads"):
        load_model(saved("gpt2"), CPU)
