"""What 120 steps teach a tiny model from random weights, loss by loss."""

import statistics
import sys
from pathlib import Path

import pytest
from support.training.calls import call_model, call_pairs

from nnd.metric.train.fine_tuning import train
from nnd.metric.train.objective import Objective, Schedule


def pass_rates(
    out: Path, objective: Objective, seed: int, *, steps: int = 120
) -> tuple[float, float]:
    """Pass rate on the held-out pairs before and after."""
    pairs = call_pairs(400)
    model, tokenizer = call_model(pairs, seed)
    found = train(
        model,
        pairs,
        tokenizer=tokenizer,
        out=out,
        objective=objective,
        schedule=Schedule(steps=steps, batch_size=32, learning_rate=5e-3, seed=seed),
    )
    overall = found.comparisons[0].overall
    assert overall.rate is not None
    assert overall.other is not None
    return overall.rate, overall.other


def test_50_steps_teach_a_tiny_model_to_read_the_context(tmp_path: Path) -> None:
    before, after = pass_rates(tmp_path / "out", Objective(), 0, steps=50)
    assert before < 0.7
    assert after > 0.8


@pytest.mark.full
def test_the_losses_teach_what_they_should(tmp_path: Path) -> None:
    objectives = {
        "mle": Objective("mle"),
        "unlikelihood": Objective("unlikelihood"),
        "diff": Objective("unlikelihood", negative_tokens="diff"),
        "margin": Objective("margin"),
        "unlikelihood alone": Objective("unlikelihood", alpha=1e6),  # MLE counts for nothing
    }
    rates = {
        name: [pass_rates(tmp_path / f"{name}{seed}", objective, seed) for seed in range(3)]
        for name, objective in objectives.items()
    }
    for name, found in rates.items():
        means = (f"{statistics.mean(each):.3f}" for each in zip(*found, strict=True))
        deviation = statistics.stdev(each for _, each in found)
        sys.stdout.write(f"{name}: {' -> '.join(means)} (sd {deviation:.3f})\n")
    after = {name: statistics.mean(each for _, each in found) for name, found in rates.items()}
    assert all(0.3 < before < 0.7 for found in rates.values() for before, _ in found)
    assert after["mle"] >= 0.95
    assert min(after[name] for name in ("unlikelihood", "diff", "margin")) >= after["mle"] - 0.05
    assert after["unlikelihood alone"] < after["mle"] - 0.2  # two of three seeds learn nothing
