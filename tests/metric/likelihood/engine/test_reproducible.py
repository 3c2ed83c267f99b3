"""The same pairs give the same bits, in whatever order they come and however often a run is killed.

What decides rounding is which requests share a batch; so the plan must not depend on either.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from support.engine.cases import LONG
from support.engine.passes import watching
from support.engine.processes import BUDGET
from support.flat_options import gathered
from support.tiny_models import SENTENCES

from nnd.metric.likelihood import Loading
from nnd.metric.likelihood.models.load_model import load_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.run import Evaluation, evaluate as evaluate_models

Saved = Callable[[str], Path]

WORDS = " ".join(SENTENCES).split()
PAIRS = pl.DataFrame(
    [
        {
            "context": f"{number // 3} {LONG[: 10 + number // 3 % 60]}",
            "candidate_high": " ".join(WORDS[number % 30 :][: 1 + number % 7]),
            "candidate_low": " ".join(WORDS[number % 40 :][: 1 + number % 4]) + f" {number}",
        }
        for number in range(400)
    ]
)
"""Three pairs to a context, of many lengths."""


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def evaluate(model: LoadedModel, pairs: pl.DataFrame = PAIRS, **options: Any) -> Evaluation:
    return evaluate_models(model, pairs, **gathered(token_budget=BUDGET, **options))


def rows(found: Evaluation) -> pl.DataFrame:
    """What log_likelihoods.parquet holds, in the order of pair_id."""
    return found.scored.sort("pair_id")


@contextmanager
def interrupted(number: int) -> Iterator[list[int]]:
    """Interrupt before that batch, or none where it is 0; count those begun."""
    begun: list[int] = []

    def stop(*_: object) -> None:
        begun.append(1)
        if len(begun) == number:
            raise KeyboardInterrupt

    with watching(stop):
        yield begun


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_the_order_of_rows_changes_no_bit(name: str, saved: Saved) -> None:
    loaded = load_model(saved(name), Loading(device="cpu"))
    found = evaluate(loaded, cache=False)
    shuffled = evaluate(loaded, PAIRS.sample(fraction=1, shuffle=True, seed=1), cache=False)
    assert not shuffled.scored["pair_id"].equals(found.scored["pair_id"])
    assert rows(shuffled).equals(rows(found))
    (one,), (other,) = found.results, shuffled.results
    assert one.work == other.work


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_a_run_that_goes_on_gives_the_bits_of_one_that_was_not_killed(
    name: str, saved: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_model(saved(name), Loading(device="cpu"))
    with interrupted(0) as passes:
        undisturbed = evaluate(loaded, cache=False)
    monkeypatch.setenv("NND_CACHE", str(tmp_path))
    for number in (len(passes) // 4, len(passes) // 8):
        with interrupted(number), pytest.raises(KeyboardInterrupt):
            evaluate(loaded)
    found = evaluate(loaded)
    (work,) = (result.work for result in found.results)
    assert 0 < work.stored < work.requests
    assert found.scored.equals(undisturbed.scored)
    assert found.to_dict() == undisturbed.to_dict()


def test_what_runs_of_other_pairs_stored_stays(saved: Saved) -> None:
    """Up to rounding: half of each batch is there, so the other half is scored by itself."""
    loaded = load_model(saved("gpt2"), Loading(device="cpu"))
    half = evaluate(loaded, PAIRS[::2])
    found = evaluate(loaded)
    (work,) = (result.work for result in found.results)
    assert 0 < work.stored < work.requests
    same = found.scored.join(half.scored, on="pair_id", suffix="_half")
    assert same.height == half.scored.height
    assert same["ll_high"].equals(same["ll_high_half"])
    whole = evaluate(loaded, cache=False).scored
    assert found.scored["ll_low"].to_list() == pytest.approx(whole["ll_low"].to_list(), abs=1e-6)
