"""A model of the Hub that is handed out only to those who say who they are."""

from pathlib import Path

from support.hub.asking import console
from support.hub.server import Hub


def test_a_gated_model_needs_a_token(hub: Hub, tmp_path: Path) -> None:
    hub.commit("models", "org/gated", {"config.json": b"{}"})
    hub.repository("models", "org/gated").gated = "auto"
    with console(hub.endpoint, tmp_path, "") as ask:
        found = ask(
            "load('nnd.metric.run').find_obstacle("
            "'org/gated', load('nnd.metric.likelihood').Loading(device='cpu'))"
        )
    assert found.startswith("needs a token, because it is gated")
