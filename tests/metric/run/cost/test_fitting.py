"""What keeps a machine from scoring a model."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nnd.metric.likelihood import Loading
from nnd.metric.run import find_obstacle
from nnd.metric.run.cost import fitting

Saved = Callable[[str], Path]
CPU = Loading(device="cpu")


def test_a_model_that_fits_has_none(saved: Saved) -> None:
    assert find_obstacle(str(saved("gpt2")), CPU) is None


def test_what_is_not_there_is_said_without_the_name(tmp_path: Path) -> None:
    place = str(tmp_path / "nowhere")
    found = find_obstacle(place, CPU)
    assert found is not None
    assert found.startswith("no such model")


@pytest.mark.parametrize(("quantise", "bytes_each"), [(None, 4), ("bnb-int8", 1), ("bnb-nf4", 0.5)])
def test_weights_and_the_tokens_at_once_must_fit(
    quantise: str | None, bytes_each: float, saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, loading = str(saved("gpt2")), Loading(device="cpu", quantise=quantise)
    loaded = fitting.load_skeleton(model, loading)
    monkeypatch.setattr(fitting, "choose_budget", lambda _: 10)
    needed = loaded.parameters * bytes_each + 10 * fitting.bytes_per_position(loaded)

    monkeypatch.setattr(fitting, "device_bytes", lambda _: needed)
    assert find_obstacle(model, loading) is None
    monkeypatch.setattr(fitting, "device_bytes", lambda _: needed - 1)
    found = find_obstacle(model, loading)
    assert found is not None
    assert found.startswith("does not fit: ")
    assert find_obstacle(model, loading, any_size=True) is None
