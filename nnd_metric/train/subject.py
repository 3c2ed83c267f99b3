"""The model that is trained, with its adapters if it has some."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import PreTrainedTokenizerBase

from nnd.metric.likelihood import (
    Adapter,
    LoadedModel,
    Loading,
    load_model,
    pin_version,
    place_of,
    split_revision,
    unwrap,
    virtual_tokens,
    wrap_model,
)
from nnd.metric.train.objective import Lora
from nnd.schemas import ScoringError, check_extra

_ALL_LINEAR = "all-linear"


class Subject(NamedTuple):
    """The model that is trained.

    Attributes:
        model: The model for Trainer, with PEFT's wrapper if any.
        loaded: The model itself, for scoring before training.
    """

    model: Any
    loaded: LoadedModel

    def trained(self, name: str) -> LoadedModel:
        """Return the model for scoring after training, which is not that of its files any more."""
        loaded = self.loaded
        if loaded.adapted is None and self.model is loaded.model:
            return LoadedModel(loaded.model, loaded.tokenizer, name)
        base = loaded.adapted.base if loaded.adapted else loaded.name
        return replace(loaded, name=name, adapted=Adapter(name, base))

    def save(self, folder: Path) -> None:
        """Write the model, or its adapters, and the tokenizer for `from_pretrained`."""
        self.model.save_pretrained(folder)
        self.loaded.tokenizer.save_pretrained(folder)


def find_subject(
    model: Any,  # noqa: ANN401 - a model of transformers or of PEFT, which share no type
    tokenizer: PreTrainedTokenizerBase | None,
    loading: Loading,
    device: torch.device,
) -> Subject:
    """Return the model for a name, or for a loaded model with its tokenizer, on a device."""
    if isinstance(model, str | Path):
        if tokenizer is not None:
            raise ScoringError(
                "option.conflict",
                "a named model has its own tokenizer",
                remedy="leave out tokenizer",
            )
        loaded = load_model(model, replace(loading, device=str(device)))
        if loaded.adapted is not None:
            raise ScoringError(
                "adapter.unsupported",
                "a stored adapter cannot be trained on",
                loaded.name,
                f"train a new one with the base {loaded.adapted.base} and --lora-rank, or "
                "name a merged model",
            )
        return Subject(loaded.model, loaded)
    if tokenizer is None:
        raise ScoringError(
            "option.needs-another",
            "a loaded model needs its tokenizer",
            remedy="pass it with tokenizer=",
        )
    inner = unwrap(model)
    if virtual_tokens(inner):
        raise ScoringError(
            "adapter.unsupported",
            f"the adapter ({inner.active_peft_config.peft_type.value}) puts prompts before "
            "the text instead of changing layers, and such models cannot be trained",
            remedy="use LoRA",
        )
    return Subject(model, wrap_model(inner.to(device), tokenizer))


def add_lora(subject: Subject, lora: Lora, seed: int, model: object) -> tuple[Subject, Lora]:
    """Add adapters to a model, whose own weights are frozen.

    Returns the model, and the adapters with the layers that PEFT found. The subject is changed in
    place; until training, its likelihoods are the same. `seed` is that of the adapters' first
    weights; `model` is the model as it was named, or a loaded one.
    """
    loaded = subject.loaded
    check_extra("adapters", "peft", "LoRA")
    import peft  # noqa: PLC0415 - an extra

    if loaded.adapted is not None:
        raise ScoringError(
            "option.conflict", "the loaded model has adapters already", remedy="leave out lora"
        )
    loaded = pin_version(loaded, remember=True)  # without the adapters, which are not its own
    config = peft.LoraConfig(
        task_type="SEQ_2_SEQ_LM" if loaded.is_encoder_decoder else "CAUSAL_LM",
        r=lora.rank,  # type: ignore[arg-type] # checked by the caller
        lora_alpha=lora.scale,  # type: ignore[arg-type] # PEFT takes any number
        lora_dropout=lora.dropout,
        target_modules=_ALL_LINEAR if lora.targets == (_ALL_LINEAR,) else [*lora.targets] or None,
        revision=loaded.commit,
    )
    torch.manual_seed(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a Conv1D is stored transposed
            wrapped = peft.get_peft_model(loaded.model, config)
    except ValueError as error:
        raise ScoringError(
            "adapter.unsupported",
            f"PEFT finds no layers for LoRA: {' '.join(str(error).split())}",
            loaded.name,
            f"name some with --lora-target, or take {_ALL_LINEAR}",
        ) from error
    if isinstance(model, str | Path):
        config.base_model_name_or_path = place_of(split_revision(model)[0])
    found = config.target_modules
    targets = (found,) if isinstance(found, str) else tuple(sorted(found or ()))
    return Subject(wrapped, loaded), replace(lora, targets=targets)
