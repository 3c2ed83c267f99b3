"""Fixtures of the rooms that publish: a Hub, and clients that talk to it."""

from collections.abc import Iterator

import pytest
from support.hub.asking import Ask, console
from support.hub.faults import Faults
from support.hub.publishing import TOKEN, Client, client
from support.hub.server import Hub


@pytest.fixture(scope="module")
def served() -> Iterator[Hub]:
    """The Hub of a module, which in the end has told nobody the token."""
    with Hub(paid_sdks={"gradio"}) as hub:
        yield hub
        assert hub.leaks(TOKEN) == []


@pytest.fixture
def hub(served: Hub) -> Hub:
    """The Hub of a module, in fair weather."""
    served.faults = Faults()
    return served


@pytest.fixture(scope="module")
def publisher(served: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Who publishes to the Hub of a module."""
    with client(served.endpoint, tmp_path_factory.mktemp("home")) as made:
        yield made


@pytest.fixture(scope="module")
def ask(served: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """`ask(expression)`: what it is worth where the real clients talk to the Hub of a module."""
    with console(served.endpoint, tmp_path_factory.mktemp("home"), TOKEN) as ask:
        yield ask
