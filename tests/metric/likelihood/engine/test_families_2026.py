"""Families of 2026: the engine's numbers are those of a plain loop in float64."""

import copy

import numpy as np
import pytest
import torch
from support import oracle
from support.engine.cases import run
from support.models.encoder_decoders_2026 import ENCODER_DECODERS
from support.models.families_2026 import FAMILIES
from support.models.text_parts_2026 import REFUSED, TEXT_PARTS
from support.refusals import refusal
from support.tiny_models import SENTENCES, seeded

WORDS = " ".join(SENTENCES).split()
REQUESTS = [
    (" ".join([*WORDS, *WORDS][start : start + words]), " ".join(candidate))
    for start, words in enumerate((1, 3, 6, 9, 13, 18, 34, 50))
    for candidate in (WORDS[2:3], WORDS[5:8], WORDS[8:12], WORDS[20:29])
]
BUILDERS = FAMILIES | ENCODER_DECODERS | TEXT_PARTS
NATS = dict.fromkeys(BUILDERS, 1e-4) | {"zamba2": 3e-4, "recurrent_gemma": 3e-4}
"""Float32 rounds the last two by 1.7e-4 and 1.9e-4 where one request is read at a time, too."""


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", BUILDERS)
def test_the_numbers_are_those_of_one_by_one(name: str) -> None:
    with seeded():
        family = BUILDERS[name]()
    exact = copy.deepcopy(family.model).to(torch.float64)
    if hasattr(exact.config, "_experts_implementation"):
        exact.set_experts_implementation("eager")  # the others have no float64
    fed = oracle.feed(family, "native", REQUESTS)
    expected = [
        oracle.score(copy.deepcopy(exact), each, "native", candidate).log_likelihood
        for each, (_, candidate) in zip(fed, REQUESTS, strict=True)
    ]
    found = run(family, "native", REQUESTS)
    gap = np.abs(found.log_likelihood - expected).max()
    assert gap < NATS[name]
    assert gap < 3 * (found.work.deviation or 0)


@pytest.mark.parametrize("name", REFUSED)
def test_a_model_without_likelihoods_of_texts_is_refused_in_words(name: str) -> None:
    build, code, said = REFUSED[name]
    with seeded():
        family = build()
    with refusal(code) as refused:
        run(family, "native", REQUESTS)
    assert said in refused.value.what
