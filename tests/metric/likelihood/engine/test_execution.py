"""The run: less at once where memory runs out, and a progress bar for people only."""

import io
import itertools
import json
import os
import pty
import re
import subprocess
import sys
import termios
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from support import oracle
from support.engine.cases import LONG, PATHS, REQUESTS, Fresh, Loaded, assert_same, ids
from support.places import SUPPORT
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.likelihood.engine import execution, memory
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.engine.execution import run
from nnd.metric.likelihood.engine.memory import choose_budget, is_out_of_memory
from nnd.metric.likelihood.engine.paths import paths_of
from nnd.metric.likelihood.engine.proof import Alone, Checks, Evidence, Proof
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.schemas import ScoringWarning

SCRIPT = SUPPORT / "engine" / "processes.py"

FULL = [  # how devices and machines say that their memory is full
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GB)"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory"),
    MemoryError(),
]
EACH_PATH = [
    (name, path) for name in ("gpt2", "gemma2", "mamba", "bart", "fsmt") for path in PATHS[name]
]


def fill_memory(family: Family, beyond: int, error: BaseException) -> None:
    """Let every forward pass of more than `beyond` positions fail."""
    tried: list[int] = []

    def check(_module: object, args: tuple[torch.Tensor, ...]) -> None:
        tried.append(args[0].numel())
        assert len(tried) < 1_000, "it tries for ever"
        if tried[-1] > beyond:
            raise type(error)(*error.args)

    words = family.model.get_input_embeddings().num_embeddings
    for module in family.model.modules():
        if isinstance(module, torch.nn.Embedding) and module.num_embeddings == words:
            module.register_forward_pre_hook(check)


def proven(family: Family, **options: Any) -> Engine:
    """An engine that has made its proof, with memory enough for it."""
    engine = Engine(wrap_model(family.model, family.tokenizer, name=family.name), **options)
    engine(REQUESTS)
    return engine


def longest(family: Family) -> int:
    rows = [row for row in ids(family, "native", REQUESTS) if any(row.scored)]
    return max(len(row.context) + len(row.inputs) for row in rows)


# Ahead


@pytest.mark.parametrize("beyond", [10_000, 100])
def test_a_gpu_has_its_next_batch_before_the_last_is_read(
    beyond: int, fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, steps = fresh("gpt2"), list[str]()
    engine = proven(family, token_budget=150)

    def fetch(sums: torch.Tensor) -> Callable[[], list[float]]:
        steps.append("launched")

        def read() -> list[float]:
            steps.append("read")
            return list(sums.tolist())

        return read

    monkeypatch.setattr(execution, "_ahead", lambda _loaded: 1)
    monkeypatch.setattr(execution, "_fetch", fetch)
    fill_memory(family, beyond, torch.OutOfMemoryError())
    with warnings.catch_warnings(action="ignore", category=ScoringWarning):
        found = engine(REQUESTS)
    assert_same(found, oracle.scores(family, "native", REQUESTS))
    batches = len(steps) // 2
    assert batches > 1
    assert steps == ["launched", *["launched", "read"] * (batches - 1), "read"]


# Memory


@pytest.mark.parametrize("error", FULL, ids=repr)
def test_half_as_much_is_tried_where_memory_is_full(error: BaseException, fresh: Fresh) -> None:
    family = fresh("gpt2")
    engine, room = proven(family), longest(family) + 5
    whole = engine(REQUESTS).work.tokens
    fill_memory(family, room, error)
    with pytest.warns(ScoringWarning) as warned:
        found = engine(REQUESTS)
    assert_same(found, oracle.scores(family, "native", REQUESTS))
    said = r"gpt2: out of memory; continuing with (\d+) tokens at once"
    tried = [re.fullmatch(said, str(warning.message)) for warning in warned]
    # All went into one batch before; half of that is too much still.
    budgets = [whole, *(int(match[1]) for match in tried if match)]
    assert all(after <= before // 2 for before, after in itertools.pairwise(budgets))
    assert len(budgets) == 1 + len(warned) > 2
    assert found.work.token_budget == budgets[-1] <= room


@pytest.mark.sampled(3)
@pytest.mark.parametrize("known", [True, False], ids=["after its proof", "in its proof"])
@pytest.mark.parametrize(("name", "path"), EACH_PATH)
def test_every_path_goes_on_with_less_memory(
    name: str, path: str, fresh: Fresh, *, known: bool
) -> None:
    """What fits one by one is no reason to switch a path off, let alone to give up."""
    family = fresh(name)
    expected = oracle.scores(family, "native", REQUESTS)
    engine = Engine(wrap_model(family.model, family.tokenizer), path=path)
    if known:
        engine(REQUESTS)
    fill_memory(family, longest(family) + 5, FULL[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoringWarning)
        assert_same(engine(REQUESTS), expected)


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_what_is_scored_is_not_scored_again(name: str, fresh: Fresh) -> None:
    """Memory is full at the third batch, for once; the first two stay done."""
    family = fresh(name)
    loaded = wrap_model(family.model, family.tokenizer)
    rows = [row for row in ids(family, "native", REQUESTS) if any(row.scored)]
    rows = list(dict.fromkeys(rows))
    path, scored, calls = paths_of(loaded)[0], list[int](), list[int]()
    covers_all = Proof(path.name, 0.0, 10_000, 10_000, measured=100)
    checks = Checks(Alone(loaded, rows), covers_all, Evidence(), covered=True)

    def once(*_: object) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise torch.OutOfMemoryError

    family.model.get_decoder().register_forward_pre_hook(once)
    with torch.inference_mode(), pytest.warns(ScoringWarning, match="out of memory"):
        ran = run(path, checks, lambda _, sums: scored.extend(sums), missing=None, budget=90)
    assert sorted(scored) == list(range(len(rows)))
    assert ran.budget <= 45
    assert len(calls) > 3


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "path"), EACH_PATH)
def test_one_request_too_long_for_memory_is_one_error(name: str, path: str, fresh: Fresh) -> None:
    family = fresh(name)
    engine = proven(family, path=path)
    fill_memory(family, 20, FULL[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoringWarning)
        with refusal("model.no-memory"):
            engine(REQUESTS)


@pytest.mark.parametrize("name", ["gpt2", "mamba", "bart"])
def test_one_request_too_long_for_the_proof_is_the_same_error(name: str, fresh: Fresh) -> None:
    family = fresh(name)
    fill_memory(family, 40, FULL[0])
    with refusal("model.no-memory"):
        Engine(wrap_model(family.model, family.tokenizer))(REQUESTS)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("CUDA error: device-side assert"), ValueError("out of memory"), OSError("disk")],
)
def test_other_errors_are_told(error: Exception, fresh: Fresh) -> None:
    family = fresh("gpt2")
    engine = proven(family)
    fill_memory(family, 0, error)
    with refusal("model.damaged") as refused:
        engine(REQUESTS)
    assert str(error) in refused.value.what


def test_the_real_allocator_says_it_so() -> None:
    with pytest.raises(RuntimeError) as raised:
        torch.empty(2**60, dtype=torch.uint8)
    assert is_out_of_memory(raised.value)


@pytest.mark.parametrize("name", ["gpt2", "t5", "bart", "mamba"])
def test_a_budget_chosen_is_positive_and_no_more_than_helps(name: str, loaded: Loaded) -> None:
    assert 1 <= choose_budget(loaded(name)) <= 2_048


@pytest.mark.parametrize(
    ("free", "least", "most"), [(0, 1, 1), (10**6, 1, 2_047), (None, 2_048, 2_048)]
)
def test_less_free_memory_gives_a_smaller_budget(
    free: int | None, least: int, most: int, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nnd.metric.likelihood.engine.memory._free_bytes", lambda _device: free)
    assert least <= choose_budget(loaded("gpt2")) <= most


def test_the_fullest_device_decides_about_the_budget(
    fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, free = fresh("gpt2"), {"cpu": None, "cuda:0": 10**9, "cuda:1": 10**6}
    loaded = wrap_model(family.model, family.tokenizer)
    monkeypatch.setattr(memory, "_free_bytes", lambda device: free[str(device)])
    family.model.hf_device_map = {"transformer.wte": "cuda:0", "lm_head": "disk"}
    roomy = choose_budget(loaded)
    family.model.hf_device_map["transformer.h"] = "cuda:1"
    assert choose_budget(loaded) < roomy


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def totals(shown: str) -> set[str]:
    return set(re.findall(r"/(\S+) \[", shown))


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_the_bar_counts_the_tokens_that_enter(
    name: str, fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, shown = proven(fresh(name), token_budget=150), Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    work = engine(REQUESTS).work
    assert 100 <= work.tokens < 999  # so that the bar does not round it
    assert totals(shown.getvalue()) == {str(work.tokens)}
    assert f"{name}:" in shown.getvalue()


def test_no_bar_where_nobody_looks(loaded: Loaded, capsys: pytest.CaptureFixture[str]) -> None:
    Engine(loaded("gpt2"))(REQUESTS)
    assert capsys.readouterr() == ("", "")


@pytest.mark.full
def test_a_real_terminal_shows_the_bar(saved: Callable[[str], Path], tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.parquet"
    rows = [(LONG, "the cat", "cat the"), ("the", "dog ran", "ran dog")]
    pl.DataFrame(rows, ["context", "candidate_high", "candidate_low"], orient="row").write_parquet(
        pairs
    )
    near, far = pty.openpty()
    termios.tcsetwinsize(far, (24, 100))
    process = subprocess.Popen(
        [sys.executable, SCRIPT, "quietly", saved("gpt2"), pairs],
        stdout=subprocess.PIPE,
        stderr=far,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    os.close(far)
    out, _ = process.communicate()
    shown = read(near)
    assert process.returncode == 0, shown
    assert "tok/s" in shown
    assert np.isfinite(json.loads(out)).all()  # and nothing else on standard output


def read(descriptor: int) -> str:
    """Read what a terminal has been shown."""
    found = b""
    try:
        while some := os.read(descriptor, 4096):
            found += some
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(descriptor)
    return found.decode()
