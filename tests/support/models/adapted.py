"""Adapters for tiny models, with random weights that show, and the formula in float64 for both."""

import copy
from pathlib import Path
from typing import Any

import peft
import torch
import transformers as hf
from support import oracle
from support.tiny_models import Family

Request = tuple[str, str]


def load_base(folder: Path) -> Any:
    return hf.AutoModelForCausalLM.from_pretrained(folder)


def lora(**options: Any) -> peft.PeftConfig:
    return peft.LoraConfig(
        **{"task_type": "CAUSAL_LM", "target_modules": ["q_proj", "down_proj"]} | options
    )


def adapted(model: Any, config: peft.PeftConfig) -> Any:
    """Attach an adapter that moves log-likelihoods by nats."""
    wrapped = peft.get_peft_model(model, config)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(8)
        for weight in wrapped.parameters():
            if weight.requires_grad:
                weight.normal_(0.0, 0.3)
    return wrapped.eval()


def formula(family: Family, model: Any, requests: list[Request]) -> list[float]:
    """Return the log-likelihoods in float64, one plain forward pass for each.

    Args:
        family: Whose tokenizer says which ids are fed and scored.
        model: The model that computes, in place of the family's.
        requests: What to score.
    """
    exact, found = copy.deepcopy(model).double(), []
    for fed in oracle.feed(family, "native", requests):
        ids, inputs = torch.tensor([fed.context + fed.inputs]), {}
        if family.encoder_decoder:
            ids = torch.tensor([fed.context])
            inputs = {"decoder_input_ids": torch.tensor([fed.inputs])}
        with torch.no_grad():
            logits = exact(input_ids=ids, **inputs).logits[0, -len(fed.inputs) :]
        chosen = logits.log_softmax(-1)[range(len(fed.targets)), fed.targets]
        found.append(float(chosen[list(fed.scored)].mean()))
    return found
