"""What keeps a machine from scoring a model."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.metric.likelihood import Loading
from nnd.metric.run import check_scorable
from nnd.metric.run.cost import fitting

Saved = Callable[[str], Path]
CPU = Loading(device="cpu")


def test_a_model_that_fits_has_none(saved: Saved) -> None:
    check_scorable(str(saved("gpt2")), CPU)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    place = str(tmp_path / "nowhere")
    with refusal("model.unknown", place):
        check_scorable(place, CPU)


@pytest.mark.parametrize(("quantise", "bytes_each"), [(None, 4), ("bnb-int8", 1), ("bnb-nf4", 0.5)])
def test_weights_and_the_tokens_at_once_must_fit(
    quantise: str | None, bytes_each: float, saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, loading = str(saved("gpt2")), Loading(device="cpu", quantise=quantise)
    loaded = fitting.load_skeleton(model, loading)
    monkeypatch.setattr(fitting, "choose_budget", lambda _: 10)
    needed = loaded.parameters * bytes_each + 10 * fitting.bytes_per_position(loaded)

    monkeypatch.setattr(fitting, "device_bytes", lambda _: needed)
    check_scorable(model, loading)
    monkeypatch.setattr(fitting, "device_bytes", lambda _: needed - 1)
    with refusal("model.no-memory", model):
        check_scorable(model, loading)
    check_scorable(model, loading, any_size=True)
