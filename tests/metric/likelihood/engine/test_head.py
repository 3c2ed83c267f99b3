"""The head: log-probabilities of targets from hidden states, the model's own way."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
import transformers as hf
from support.tiny_models import build

from nnd.metric.likelihood.engine.head import _COLUMNS, _sum_each_there, log_probabilities, sum_each
from nnd.metric.likelihood.models.load_model import wrap_model

if TYPE_CHECKING:
    from nnd.metric.likelihood.models.loaded_model import LoadedModel

VOCABULARY = 2 * _COLUMNS + 77  # the vocabulary is multiplied by part after part; the last is short
ROWS = 9


def _gpt2() -> Any:
    return hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=VOCABULARY, n_embd=16, n_layer=1, n_head=2))


def _phi() -> Any:
    """Its head has a bias."""
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    return hf.PhiForCausalLM(
        hf.PhiConfig(
            vocab_size=VOCABULARY, num_attention_heads=2, bos_token_id=0, eos_token_id=0, **sizes
        )
    )


def _bart() -> Any:
    """A bias of its own is added to the logits."""
    sides = ("encoder_layers", "decoder_layers", "encoder_ffn_dim", "decoder_ffn_dim")
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = hf.BartConfig(vocab_size=VOCABULARY, d_model=16, **dict.fromkeys(sides, 1), **heads)
    return hf.BartForConditionalGeneration(config)


@pytest.mark.parametrize("make", [_gpt2, _phi, _bart])
def test_a_large_vocabulary(make: Any, tmp_path: Any) -> None:
    torch.manual_seed(3)
    model = make().eval()
    for name, values in [*model.named_parameters(), *model.named_buffers()]:
        if name.endswith("bias"):
            torch.nn.init.normal_(values)
    loaded: LoadedModel = wrap_model(model, build("gpt2", tmp_path).tokenizer, name="large")
    head = model.get_output_embeddings()
    before = head.forward
    hidden, targets = torch.randn(ROWS, 16), torch.randint(VOCABULARY, (ROWS,))
    with torch.inference_mode():
        found = log_probabilities(loaded, model.get_decoder(), hidden, targets, most=4)
        logits = head(hidden) + getattr(model, "final_logits_bias", 0)
    expected = logits.double().log_softmax(-1)[torch.arange(ROWS), targets]
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=0)
    assert head.forward == before


@pytest.mark.parametrize("lengths", [[3, 1, 4], [1], [2, 2]])
def test_a_gpu_adds_what_a_cpu_adds(lengths: list[int]) -> None:
    values = torch.arange(sum(lengths), dtype=torch.float32) + 0.5
    there = _sum_each_there(values, np.array(lengths, dtype=np.int64))
    assert there.dtype == torch.float64
    assert there.tolist() == sum_each(values, lengths).tolist()
    assert there.tolist() == [float(part.sum()) for part in values.split(lengths)]
