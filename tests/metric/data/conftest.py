"""Fixtures that the tests of datasets on the Hub share."""

from collections.abc import Iterator

import pytest
from support.hub.loading import Ask, reader
from support.hub.server import Hub


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


@pytest.fixture(scope="module")
def ask(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """One process for all tests of a module, each of which has a dataset of its own."""
    with reader(hub, tmp_path_factory.mktemp("home")) as ask:
        yield ask
