"""Two real models against float64 and lm-eval (`make selftest`, which fetches them)."""

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT

from nnd.metric.app import find_data, selftest
from nnd.metric.data import choose_part, contexts_of, load_pairs
from nnd.metric.likelihood import LoadedModel, Loading, Scoring, load_model
from nnd.metric.run import prepare, requests_of
from nnd.metric.text import ChatContext, render

MODELS: dict[str, Any] = runpy.run_path(str(ROOT / "cards/guide/real_model.py"))["MODELS"]
FOLDER = Path(os.environ.get("NND_REAL_MODELS", ROOT / "demo"))
PAIRS = 12


@pytest.fixture(scope="module", params=MODELS)
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    path = FOLDER / MODELS[request.param].file
    if not path.is_file():
        pytest.skip(f"{path} is not there: `make selftest` fetches it")
    return load_model(path, Loading(dtype="float32", device="cpu"))


@pytest.mark.full
def test_numbers_ids_and_verdicts_are_those_of_float64(loaded: LoadedModel) -> None:
    tested = selftest(loaded, pairs=PAIRS)

    sys.stdout.write(f"\n{tested}\n")
    assert [each.protocol for each in tested.protocols] == [
        *("native", "laban2022", "sum", "bytes", "pmi")
    ]
    assert all(each.requests == each.as_one == 2 * PAIRS for each in tested.protocols)
    assert tested.ok, tested
    assert (tested.difference or 1) < 5e-5


@pytest.mark.full
def test_sums_are_those_of_lm_eval(loaded: LoadedModel) -> None:
    pairs = choose_part(load_pairs(find_data("quiz_design")), limit=PAIRS)
    engine, template, _ = prepare(loaded, pairs, Scoring(protocol="sum"))
    requests = requests_of(pairs.pairs, render(template, contexts_of(pairs.pairs)))
    found = engine(requests)
    asked = [
        ("".join(context.pieces if isinstance(context, ChatContext) else context), candidate)
        for context, candidate in engine.encoder.as_read(requests)
    ]
    sums = lm_eval_sums(loaded, asked, engine.separator)
    apart = [
        abs(mine - theirs) / n
        for mine, theirs, n in zip(found.log_likelihood, sums, found.tokens, strict=True)
    ]

    name = Path(loaded.name).name
    sys.stdout.write(f"\n{name}, sum: {max(apart):.1e} nats per token from lm-eval, {len(apart)}\n")
    assert len(apart) == 2 * PAIRS
    assert max(apart) < 5e-5


def lm_eval_sums(loaded: LoadedModel, asked: list[tuple[str, str]], separator: str) -> list[float]:
    """Sums of lm-eval, which counts blanks at the end of a context to the candidate.

    By the chain rule, the sum of the blanks alone is taken off.
    """
    from lm_eval.api.instance import Instance  # noqa: PLC0415 - slow
    from lm_eval.models.huggingface import HFLM  # noqa: PLC0415

    adds_bos = loaded.tokenizer("a").input_ids[:1] == [loaded.tokenizer.bos_token_id]
    harness = HFLM(
        pretrained=loaded.model,
        tokenizer=loaded.tokenizer,
        backend="causal",
        batch_size=1,
        device="cpu",
        add_bos_token=adds_bos,
    )

    def score(both: list[tuple[str, str]]) -> list[float]:
        instances = [Instance("loglikelihood", {}, each, n) for n, each in enumerate(both)]
        return [total for total, _ in harness.loglikelihood(instances, disable_tqdm=True)]

    whole = score([(context, separator + candidate) for context, candidate in asked])
    blanks = [context[len(context.rstrip()) :] for context, _ in asked]
    stems = [context.rstrip() for context, _ in asked]
    lead = [
        score([(stem, blank)])[0] if blank else 0.0
        for stem, blank in zip(stems, blanks, strict=True)
    ]
    return [total - first for total, first in zip(whole, lead, strict=True)]
