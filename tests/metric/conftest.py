"""Session fixtures: every tiny model is built once and handed to the engine once.

They load torch, which most tests of numbers and of what is shown do without.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
from support.report.museum import on_display

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.tiny_models import Family

    from nnd.metric.likelihood.models.loaded_model import LoadedModel


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Family]:
    """`tiny(name)`: the family called `name`, shared by all tests, so leave it as it is."""
    from support.tiny_models import build  # noqa: PLC0415 - loads torch

    return functools.cache(lambda name: build(name, tmp_path_factory.mktemp(name)))


@pytest.fixture(scope="session")
def loaded(tiny: Callable[[str], Family]) -> Callable[[str], LoadedModel]:
    """`loaded(name)`: the same family as the engine sees it."""
    from nnd.metric.likelihood.models.load_model import wrap_model  # noqa: PLC0415 - loads torch

    @functools.cache
    def wrap(name: str) -> LoadedModel:
        family = tiny(name)
        return wrap_model(family.model, family.tokenizer, name=name)

    return wrap


@pytest.fixture(scope="session")
def saved(
    tiny: Callable[[str], Family], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """`saved(name)`: the folder that `save_pretrained` makes of a family; leave it as it is."""

    @functools.cache
    def save(name: str) -> Path:
        folder = tmp_path_factory.mktemp("saved") / f"tiny-{name}"
        tiny(name).model.save_pretrained(folder)
        tiny(name).tokenizer.save_pretrained(folder)
        return folder

    return save


@pytest.fixture(scope="session")
def models(saved: Callable[[str], Path]) -> list[str]:
    """Two models, a decoder-only and an encoder-decoder, as they are named."""
    return [str(saved("gpt2")), str(saved("bart"))]


@pytest.fixture(scope="session")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Eight pairs and the human scores of two systems: leave them as they are."""
    from support.metric_runs import write_pairs  # noqa: PLC0415 - most tests do without

    folder = tmp_path_factory.mktemp("museum") / "birds"
    folder.mkdir()
    with on_display(write_pairs(folder)):
        yield folder


@pytest.fixture(scope="session")
def quiz(nnd_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Quiz Design, converted: leave it as it is."""
    from nnd.converters.folder import convert  # noqa: PLC0415 - most tests do without

    folder = tmp_path_factory.mktemp("museum") / "quiz_design-nnd"
    convert("quiz_design", origin=nnd_data / "quiz_design", out=folder)
    with on_display(folder):
        yield folder


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[..., Family]:
    """`fresh(name, window=40)`: a family of this test's own, to shrink or to change."""
    from support.tiny_models import build  # noqa: PLC0415 - loads torch

    return lambda name, window=160: build(name, tmp_path, window=window)
