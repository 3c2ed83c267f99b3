"""Decoder inputs of the encoder-decoders that do not say how they shift their labels."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as hf
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text.encoding.protocols import PROTOCOLS
from nnd.metric.text.encoding.targets import make_targets

Tiny = Callable[[str], Family]

SHAPE: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 60,
    "pad_token_id": 1,
}
CANDIDATE = "the cat"


def seeded(make: Callable[[], Any]) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return make().eval()


@pytest.fixture(params=["m2m_100", "blenderbot"])
def silent(request: pytest.FixtureRequest, tiny: Tiny) -> LoadedModel:
    """A model that shifts labels in its loss only, with BART's tokenizer; it starts with 3."""
    tokenizer = tiny("bart").tokenizer
    shape = SHAPE | {"vocab_size": len(tokenizer), "decoder_start_token_id": 3}
    made = {
        "m2m_100": lambda: hf.M2M100ForConditionalGeneration(hf.M2M100Config(**shape)),
        "blenderbot": lambda: hf.BlenderbotForConditionalGeneration(hf.BlenderbotConfig(**shape)),
    }[request.param]
    loaded = wrap_model(seeded(made), tokenizer, name=request.param)
    assert not hasattr(loaded.model, "prepare_decoder_input_ids_from_labels")
    return loaded


def test_labels_are_shifted_behind_the_start_token(silent: LoadedModel, tiny: Tiny) -> None:
    cand = tuple(tiny("bart").text_ids(CANDIDATE))
    (target,) = make_targets(silent, PROTOCOLS["native"], [CANDIDATE], " ")
    # BART's labels are <s> cand </s>, 0 and 2; the last is not fed.
    assert (target.fed, target.targets) == ((3, 0, *cand), (0, *cand, 2))
    assert target.scored == (False, *(True for _ in cand), True)


def test_that_is_the_shift_of_the_models_own_loss(silent: LoadedModel) -> None:
    source = silent.tokenizer("the river", return_tensors="pt")["input_ids"]
    labels = silent.tokenizer(text_target=CANDIDATE, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        loss = float(silent.model(input_ids=source, labels=labels).loss)  # mean over all labels
    (found,) = Engine(silent, "bartscore")([("the river", CANDIDATE)]).log_likelihood
    assert found == pytest.approx(-loss, abs=1e-5)


def joined(tokenizer: Any, **special: int) -> LoadedModel:
    """Two masked language models put together; their common config says little."""
    config = hf.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=48,
    )
    both = hf.EncoderDecoderConfig.from_encoder_decoder_configs(config, config)
    for name, token in special.items():
        setattr(both, name, token)
    model = seeded(lambda: hf.EncoderDecoderModel(config=both))
    return wrap_model(model, tokenizer, name="joined")


def test_a_config_without_end_token_leaves_it_to_the_tokenizer(tiny: Tiny) -> None:
    loaded = joined(tiny("bart").tokenizer, decoder_start_token_id=0, pad_token_id=1)
    (target,) = make_targets(loaded, PROTOCOLS["native"], [CANDIDATE], " ")
    assert (target.fed[0], target.targets[-1], target.scored[-1]) == (0, 2, True)


def test_a_model_without_start_token_is_an_error_with_the_remedy(tiny: Tiny) -> None:
    with refusal("model.tokenizer", "joined"):
        make_targets(joined(tiny("bart").tokenizer), PROTOCOLS["native"], [CANDIDATE], " ")
