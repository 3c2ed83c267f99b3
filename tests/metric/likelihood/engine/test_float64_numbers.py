"""The deviation: how far rounding moves a model's numbers, as measured on a few requests."""

import copy
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from support import oracle
from support.engine.cases import REQUESTS, Fresh, Tiny, run
from support.models.families_2026 import FAMILIES
from support.tiny_models import BUILDERS, SENTENCES, Family, seeded

from nnd.metric.likelihood.engine import proof
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.engine.float64_numbers import has_float64, in_float64
from nnd.metric.likelihood.engine.store import Store
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded

WORDS = " ".join(SENTENCES).split()
IDS = torch.tensor([[3, 5, 7, 11, 13, 17]])


def wrap(family: Family) -> LoadedModel:
    return wrap_model(family.model, family.tokenizer, name=family.name)


def logits(family: Family, model: torch.nn.Module) -> torch.Tensor:
    options = {"decoder_input_ids": IDS} if family.encoder_decoder else {}
    with torch.inference_mode():
        found: torch.Tensor = model(input_ids=IDS, use_cache=False, **options).logits
    return found


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5", "bart", "mamba"])
def test_the_numbers_are_those_of_a_model_in_float64(name: str, tiny: Tiny) -> None:
    family = tiny(name)
    expected = logits(family, copy.deepcopy(family.model).double())
    with in_float64(family.model):
        found = logits(family, family.model)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("name", ["gpt2", "t5", "mamba"])
def test_the_model_is_as_before(name: str, *, fails: bool, fresh: Fresh) -> None:
    family = fresh(name)
    before = logits(family, family.model)
    tensors = [*family.model.parameters(), *family.model.buffers()]

    def break_off(*_: object) -> None:
        if fails:
            raise RuntimeError("no kernel")

    hook = [*family.model.modules()][-1].register_forward_hook(break_off)
    try:
        with in_float64(family.model):
            logits(family, family.model)
    except RuntimeError:
        assert fails
    hook.remove()
    after = [*family.model.parameters(), *family.model.buffers()]
    assert [*map(id, after)] == [*map(id, tensors)]
    assert torch.equal(logits(family, family.model), before)


def test_experts_are_multiplied_plainly_and_as_before_afterwards() -> None:
    with seeded():
        family = FAMILIES["olmoe"]()
    before = family.model.config._experts_implementation
    exact = copy.deepcopy(family.model).double()
    exact.set_experts_implementation("eager")
    with in_float64(family.model):
        found = logits(family, family.model)
    torch.testing.assert_close(found, logits(family, exact), atol=1e-12, rtol=0)
    assert family.model.config._experts_implementation == before != "eager"


def test_only_a_float32_model_with_numbers_has_float64(fresh: Fresh) -> None:
    assert has_float64(wrap(fresh("gpt2")))
    for other in (fresh("gpt2"), fresh("gpt2")):
        other.model.bfloat16()
        assert not has_float64(wrap(other))
    empty = fresh("gpt2")
    empty.model.to("meta")
    assert not has_float64(wrap(empty))


# How many requests are measured


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The lengths of the requests that are measured from now on, a list for each time."""
    seen: list[list[int]] = []
    measure = proof.measure_rounding

    def watched(loaded: LoadedModel, rows: list[Encoded]) -> list[float]:
        seen.append([row.length for row in rows])
        return measure(loaded, rows)

    monkeypatch.setattr(proof, "measure_rounding", watched)
    return seen


def test_a_model_is_measured_once(fresh: Fresh, measured: list[list[int]]) -> None:
    engine = Engine(wrap(fresh("gpt2")))
    assert engine(REQUESTS[:4]).work.deviation_requests == 4
    assert engine(REQUESTS[4:]).work.deviation_requests == 4
    engine([("the river", "in London"), ("the hill", "a cat")])
    assert [*map(len, measured)] == [4]


def test_long_requests_are_measured_within_400_positions(
    fresh: Fresh, measured: list[list[int]]
) -> None:
    family = fresh("gpt2", window=900)
    texts = [" ".join([*WORDS, *WORDS, *WORDS][start:]) for start in range(4)]
    requests = [(text, "the cat on the hill") for text in texts]
    Engine(wrap(family))(requests)
    assert [*map(len, measured)] == [1]
    assert 200 < measured[0][0] < 900
    measured.clear()
    Engine(wrap(family))([*requests, *REQUESTS])
    assert len(measured[0]) == 8
    assert sum(measured[0]) <= 400


def test_stored_numbers_cost_no_measuring(
    fresh: Fresh, tmp_path: Path, measured: list[list[int]]
) -> None:
    family = fresh("gpt2")
    with Store(tmp_path / "store", warn=pytest.fail) as store:
        first = Engine(wrap(family), store=store)(REQUESTS).work
        again = Engine(wrap(family), store=store)(REQUESTS).work
    assert again.stored == again.requests
    assert (again.deviation, again.deviation_requests) == (first.deviation, 8)
    assert len(measured) == 1


@pytest.mark.parametrize("name", ["xglm", "fsmt"])
def test_code_without_float64_is_not_measured(name: str, fresh: Fresh) -> None:
    """Their masks are made in float32 with float64's lowest number."""
    work = run(fresh(name), "native", REQUESTS).work
    assert work.deviation_requests == 0
    assert work.deviation is not None
    assert work.deviation >= 1e-6


def test_half_precision_is_not_measured(fresh: Fresh) -> None:
    family = fresh("gpt2")
    family.model.bfloat16()
    assert run(family, "native", REQUESTS).work.deviation_requests == 0


# What it promises


def some_requests(count: int, seed: int) -> list[tuple[str, str]]:
    chance = random.Random(seed)

    def text(*words: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.choice(words)))

    contexts = [text(1, 3, 8, 15, 30) for _ in range(count // 4)]
    return [(context, text(1, 2, 4, 8, 12)) for context in contexts for _ in range(4)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [name for name in BUILDERS if name not in {"xglm", "fsmt"}])
def test_200_other_requests_are_at_most_three_times_as_far_off(name: str, fresh: Fresh) -> None:
    family, others = fresh(name), some_requests(200, seed=1)
    deviation = run(family, "native", some_requests(40, seed=2)).work.deviation
    assert deviation is not None
    exact = [score.log_likelihood for score in oracle.scores(family, "native", others)]
    gap = np.abs(run(family, "native", others).log_likelihood - exact).max()
    assert gap < 3 * deviation
