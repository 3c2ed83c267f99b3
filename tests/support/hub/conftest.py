"""A Hub for the tests of a module, and the real clients that talk to it."""

from collections.abc import Iterator

import pytest
from support.hub.asking import Ask, console
from support.hub.faults import Faults
from support.hub.server import Hub


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    """The Hub of a module; each test has repositories of its own."""
    with Hub(paid_sdks={"gradio"}) as hub:
        yield hub


@pytest.fixture(autouse=True)
def _fair_weather(hub: Hub) -> None:
    hub.faults = Faults()


@pytest.fixture(scope="module")
def token() -> str:
    """By which the clients say who they are."""
    return "hf_loopback_do_not_tell"


@pytest.fixture(scope="module")
def ask(hub: Hub, token: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with console(hub.endpoint, tmp_path_factory.mktemp("home"), token) as ask:
        yield ask
