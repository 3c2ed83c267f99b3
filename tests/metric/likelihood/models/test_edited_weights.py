"""Weights that are edited in memory after a commit or a digest named them: another model."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from support.tiny_models import Family

from nnd.metric.likelihood import LoadedModel, Scoring, wrap_model
from nnd.metric.likelihood.models.model_digests import edited, marks_of
from nnd.metric.run import evaluate

PAIRS = [{"context": "The cat?", "candidate_high": "It sat.", "candidate_low": "The dog ran on."}]


@pytest.fixture
def loaded(tiny: Callable[[str], Family]) -> LoadedModel:
    family = tiny("llama")
    own = wrap_model(copy.deepcopy(family.model), family.tokenizer, name="mine")
    return replace(own, commit="a" * 40).marked()


def weight(model: Any) -> torch.nn.Parameter:
    found: torch.nn.Parameter = model.model.layers[1].mlp.up_proj.weight
    return found


def in_place(model: Any) -> None:
    with torch.no_grad():
        weight(model).mul_(2)


def through_data(model: Any) -> None:
    weight(model).data[0, 0] += 1


def another_tensor(model: Any) -> None:
    model.model.layers[1].mlp.up_proj.weight = torch.nn.Parameter(weight(model).detach() * 2)


def rows_change_places(model: Any) -> None:
    weight(model).data.copy_(weight(model).detach().flip(0))


def two_entries_change_places(model: Any) -> None:
    flat = weight(model).data.view(-1)
    flat[:2] = flat[:2].flip(0).clone()


def through_the_optimizer(model: Any) -> None:
    weight(model).grad = torch.ones_like(weight(model))
    torch.optim.SGD([weight(model)], lr=0.5).step()


EDITS = [
    in_place,
    through_data,
    another_tensor,
    rows_change_places,
    two_entries_change_places,
    through_the_optimizer,
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_model_is_another_one(edit: Callable[[Any], None], loaded: LoadedModel) -> None:
    before = evaluate(loaded, PAIRS)
    assert before.results[0].version == "a" * 40
    edit(loaded.model)
    after = evaluate(loaded, PAIRS)
    alone = evaluate(loaded, PAIRS, scoring=Scoring(cache=False))
    assert after.results[0].version not in ("a" * 40, loaded.commit)
    assert after.results[0].rates == alone.results[0].rates
    assert loaded.version() == after.results[0].version


def test_two_edits_are_two_models_and_an_undone_one_is_none(loaded: LoadedModel) -> None:
    original = weight(loaded.model).detach().clone()
    versions = []
    for factor in (2, 3):
        weight(loaded.model).data.copy_(original * factor)
        versions.append(loaded.version())
    assert len({*versions, "a" * 40}) == 3
    weight(loaded.model).data.copy_(original)
    assert loaded.version() == "a" * 40


def test_scoring_and_other_precisions_leave_no_trace(loaded: LoadedModel) -> None:
    loaded.model.double().float()
    evaluate(loaded, PAIRS)
    assert loaded.version() == "a" * 40


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.uint8])
@pytest.mark.parametrize("size", [0, 1, 60, 61, 200, 61 * (1 << 16) + 5])
def test_each_place_of_a_tensor_is_read(dtype: torch.dtype, size: int) -> None:
    tensor = (torch.arange(size) % 100).to(dtype)
    marks = marks_of({"w": tensor})
    assert edited(marks, {"w": tensor.clone()}) == []
    for place in {0, size // 2, size - 1} if size else ():
        other = tensor.clone()
        other[place] += 1
        assert edited(marks, {"w": other}) == ["w"]
    assert edited(marks, {}) == ["w"]
