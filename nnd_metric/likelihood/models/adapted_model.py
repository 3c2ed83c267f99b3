"""A model with an adapter of PEFT in memory: how to run it, and digests of both parts.

Most adapters change layers inside the base model, which remains a model of transformers: that model
is run without PEFT's wrapper. An adapter of virtual tokens (prompt tuning, prefix tuning) puts
trained vectors before the text, and needs the wrapper.
"""

import re
import sys
from typing import Any

import torch

from nnd.metric.likelihood.models.model_digests import tensors_digest
from nnd.schemas import ScoringError

_WRAPPER_DECIDES = {"ADAPTION_PROMPT", "MULTITASK_PROMPT_TUNING", "POLY", "SHADOW", "XLORA"}
"""Methods that need more than the changed layers, or more than a text, as input."""

_BASE_LAYER = re.compile(r"\.(?:base_layer|original_module)(?=\.)")

_NOT_NUMBERS = {"base_model_name_or_path", "revision", "inference_mode", "auto_mapping"}
"""Settings of an adapter that say where it comes from, and not what it computes."""


def unwrap(model: Any) -> Any:  # noqa: ANN401 - whatever is handed over
    """Return the model to run: without PEFT's wrapper, unless the method needs the wrapper."""
    peft = sys.modules.get("peft")
    if peft is None or not isinstance(model, peft.PeftModel):
        return model
    check_method(model.active_peft_config, type(model).__name__)
    return model if virtual_tokens(model) else model.get_base_model()


def check_method(config: Any, name: str) -> None:  # noqa: ANN401 - PEFT's configs
    """Check that an adapter's numbers depend only on a text and its context."""
    method = str(getattr(config.peft_type, "value", config.peft_type))
    if getattr(config, "alora_invocation_tokens", None):
        method = "aLoRA"
    elif method not in _WRAPPER_DECIDES:
        return
    raise ScoringError(
        "adapter.unsupported",
        f"adapters of the method {method} cannot be scored",
        name,
        "if PEFT can merge the adapter into its base (merge_and_unload), score the merged model",
    )


def virtual_tokens(model: Any) -> int:  # noqa: ANN401 - as above
    """Return how many trained vectors an adapter puts before every text."""
    config = getattr(model, "active_peft_config", None)
    return int(config.num_virtual_tokens) if config and config.is_prompt_learning else 0


def active_adapters(model: Any) -> list[str]:  # noqa: ANN401 - as above
    """Return PEFT's names of the active adapters of a model, in their order."""
    if virtual_tokens(model):
        return [str(model.active_adapter)]
    layer = next(iter(_layers(model).values()), None)
    if layer is None or getattr(layer, "disable_adapters", False):
        return []
    return list(layer.active_adapters)


def base_digest(model: Any) -> str:  # noqa: ANN401 - as above
    """Return the SHA-256 of the base model's weights, without adapters."""
    return tensors_digest(base_tensors(model))


def base_tensors(model: Any) -> dict[str, torch.Tensor]:  # noqa: ANN401 - as above
    """Return the base model's tensors by the names that they have without adapters."""
    if virtual_tokens(model):
        return dict(model.get_base_model().state_dict())
    return _split(model)[0]


def adapter_digest(model: Any) -> str:  # noqa: ANN401 - as above
    """Return the SHA-256 of the active adapters.

    It covers the tensors and their scaling, and depends neither on how the model is wrapped nor on
    PEFT's name for the adapter.
    """
    names = active_adapters(model)
    configs = [
        {key: value for key, value in config.to_dict().items() if key not in _NOT_NUMBERS}
        for config in map(model.peft_config.__getitem__, names)
    ]
    if virtual_tokens(model):
        encoder = model.prompt_encoder[names[0]]
        return tensors_digest(encoder.state_dict(), {"configs": configs})
    layers = {
        place: {
            "scales": [getattr(layer, "scaling", {}).get(name) for name in names],
            "merged": bool(getattr(layer, "merged_adapters", [])),
        }
        for place, layer in _layers(model).items()
    }
    return tensors_digest(_split(model)[1], {"configs": configs, "layers": layers})


def _layers(model: torch.nn.Module) -> dict[str, Any]:
    """Return the layers that adapters have changed, by name."""
    return {
        name: module
        for name, module in model.named_modules()
        if hasattr(module, "base_layer") and hasattr(module, "active_adapters")
    }


def _split(
    model: Any,  # noqa: ANN401 - as above
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Return the base model's tensors, and those of the active adapters, by number of adapter."""
    state, active, known = model.state_dict(), active_adapters(model), set(model.peft_config)
    changed = {key[: found.start()] for key in state if (found := _BASE_LAYER.search(key))}
    base, added = dict[str, torch.Tensor](), dict[str, torch.Tensor]()
    for key, tensor in state.items():
        parts = key.split(".")
        if _BASE_LAYER.search(key) or not any(
            ".".join(parts[:end]) in changed for end in range(1, len(parts))
        ):
            base[_BASE_LAYER.sub("", key)] = tensor
        elif not known.difference(active).intersection(parts):
            numbered = [str(active.index(part)) if part in active else part for part in parts]
            added[".".join(numbered)] = tensor
    return base, added
