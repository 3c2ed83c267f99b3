"""TF32: by option only, only where there is any, and under a name of its own."""

from collections.abc import Iterator

import pytest
import torch
from support.engine.cases import REQUESTS, Fresh, Loaded, run
from support.refusals import refusal

from nnd.metric.likelihood.engine import faster_precision
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.engine.likelihood_cache import fingerprint
from nnd.metric.likelihood.engine.precision import PRECISIONS, multiplying, precision_of
from nnd.metric.likelihood.engine.scoring import Matmul, Scoring
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel


@pytest.fixture(autouse=True)
def before() -> Iterator[None]:
    """Begin with what scripts for training like to set."""
    torch.set_float32_matmul_precision("high")
    yield
    torch.set_float32_matmul_precision("highest")


def test_a_cpu_has_none(loaded: Loaded) -> None:
    with refusal("option.conflict", "gpt2"):
        Engine(loaded("gpt2"), matmul="high")


def test_an_unknown_name_is_an_error_before_a_model_is_loaded() -> None:
    with refusal("option.unknown-value"):
        Scoring(matmul="medium").check()  # type: ignore[arg-type]


def test_scoring_is_exact_whatever_torch_was_set_to(loaded: Loaded) -> None:
    model, seen = loaded("gpt2"), list[str]()
    layer = model.model.get_input_embeddings()
    hook = layer.register_forward_hook(lambda *_: seen.append(torch.get_float32_matmul_precision()))
    run(model, "native", REQUESTS)
    hook.remove()
    assert {*seen} == {"highest"}
    assert torch.get_float32_matmul_precision() == "high"


@pytest.mark.parametrize(("matmul", "like"), [("highest", "float32"), ("high", "float16")])
def test_paths_may_differ_by_what_tf32_rounds(
    matmul: Matmul, like: str, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoadedModel, "device", torch.device("cuda"))
    with multiplying(matmul):
        assert precision_of(loaded("gpt2")) == PRECISIONS[like]


# What is offered


@pytest.mark.parametrize(
    ("device", "gain", "dtype", "matmul", "offered"),
    [
        ("cpu", 9.0, torch.float32, "highest", "takes about a third of the time on this CPU"),
        ("cpu", 0.5, torch.float32, "highest", None),
        ("cpu", 9.0, torch.bfloat16, "highest", None),
        ("cuda", 0.5, torch.float32, "highest", "and --matmul high multiplies faster"),
        ("cuda", 0.5, torch.float32, "high", None),
        ("mps", 9.0, torch.float32, "highest", None),
    ],
)
def test_a_faster_precision_is_offered_where_there_is_one(
    *,
    device: str,
    gain: float,
    dtype: torch.dtype,
    matmul: Matmul,
    offered: str | None,
    fresh: Fresh,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(faster_precision, "bfloat16_gain", lambda: gain)
    monkeypatch.setattr(LoadedModel, "device", torch.device(device))
    family = fresh("gpt2")
    model = wrap_model(family.model.to(dtype), family.tokenizer)
    found = faster_precision.faster_precision(model, matmul)
    assert (found is None) == (offered is None)
    if found is not None:
        assert offered in found.offer
        assert found.rounding == 2e-2


def test_what_was_stored_is_not_taken_for_the_other(loaded: Loaded) -> None:
    names = {fingerprint(loaded("gpt2"), "1", *matmul) for matmul in ((), ("highest",), ("high",))}
    assert len(names) == 2
