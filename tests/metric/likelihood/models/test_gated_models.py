"""A model of the Hub that is handed out only to those who say who they are."""

from pathlib import Path

from support.hub.asking import console, refused
from support.hub.server import Hub


def test_a_gated_model_needs_a_token(hub: Hub, tmp_path: Path) -> None:
    hub.commit("models", "org/gated", {"config.json": b"{}"})
    hub.repository("models", "org/gated").gated = "auto"
    with console(hub.endpoint, tmp_path, "") as ask:
        error = refused(
            ask,
            "load('nnd.metric.run').check_scorable("
            "'org/gated', load('nnd.metric.likelihood').Loading(device='cpu'))",
        )
    assert "needs a token, because it is gated" in str(error)
