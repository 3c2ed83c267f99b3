"""The log-likelihood of each token: the engine's sums, taken apart, with places in the text."""

import numpy as np
import pytest
from support.engine.cases import CASES, REQUESTS, Loaded
from support.models.masked_models import build_masked

from nnd.metric.likelihood import Engine, token_likelihoods, wrap_model

TEXT = "The dog sat, naïve 東 1884."


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("family", "protocol"), [case for case in CASES if case[0] != "mamba"])
def test_tokens_add_up_to_what_the_engine_says(family: str, protocol: str, loaded: Loaded) -> None:
    engine = Engine(loaded(family), protocol=protocol)
    whole, parts = engine(REQUESTS), token_likelihoods(engine, REQUESTS)
    assert [len(each.log_likelihood) for each in parts] == whole.tokens.tolist()
    assert [len(each.places) for each in parts] == whole.tokens.tolist()
    means = [each.log_likelihood.mean() if len(each.places) else np.nan for each in parts]
    assert means == pytest.approx(whole.log_likelihood, abs=1e-5, nan_ok=True)


def test_each_token_of_a_masked_model_is_hidden_once() -> None:
    engine = Engine(wrap_model(*build_masked("bert")), protocol="pll")
    whole, parts = engine(REQUESTS), token_likelihoods(engine, REQUESTS)
    means = [each.log_likelihood.mean() if len(each.places) else np.nan for each in parts]
    assert means == pytest.approx(whole.log_likelihood, abs=1e-5, nan_ok=True)


def words(family: str, protocol: str, loaded: Loaded) -> list[str | None]:
    (found,) = token_likelihoods(Engine(loaded(family), protocol=protocol), [("the", TEXT)])
    return [None if place is None else TEXT[slice(*place)] for place in found.places]


def test_places_are_characters_of_the_candidate(loaded: Loaded) -> None:
    # A byte of "ï" or "東" has the place of the character, and a space before a word has none.
    gpt2 = words("gpt2", "native", loaded)
    assert "".join(word for word in dict.fromkeys(gpt2) if word).startswith("Thedogs")
    assert gpt2.count("ï") == 2
    assert gpt2.count("東") == 3
    assert None in gpt2
    # The end token is scored, and is not in the text; so are both ends of a label of BARTScore.
    assert [words("bart", protocol, loaded)[-1] for protocol in ("native", "laban2022")] == [
        None
    ] * 2
    both_ends = words("bart", "bartscore", loaded)
    assert (both_ends[0], both_ends[1], both_ends[-1]) == (None, "The", None)


def test_a_tokenizer_that_tells_no_places_gives_none(loaded: Loaded) -> None:
    assert {*words("marian", "native", loaded)} == {None}  # written in Python
