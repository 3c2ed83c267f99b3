"""How a model in memory differs from a new one of its class and configuration, beside its weights.

An attribute such as the scale of attention, a layer of another class, or a buffer that is in no
file, changes the numbers of the same weights.
"""

import copy
import hashlib
import json
import re
import types
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import torch
from transformers import PretrainedConfig

from nnd.metric.likelihood.models.library_code import changed_code, changed_libraries
from nnd.metric.likelihood.models.loading_alone import loading_alone
from nnd.metric.likelihood.models.model_digests import config_digest
from nnd.metric.likelihood.models.replacement import replaced
from nnd.schemas import excerpt

_PLAIN: Final = (bool, int, float, str, torch.dtype, type(None))
_FUNCTIONS: Final = (types.FunctionType, types.BuiltinFunctionType, type)
_SKIPPED: Final = {
    *("training", "generation_config", "name_or_path", "kernel_config", "gradient_checkpointing"),
    *("loss_type", "all_tied_weights_keys", "hf_device_map", "is_loaded_in_4bit", "vocab_size"),
    *(
        "is_loaded_in_8bit",
        "is_quantized",
        "quantization_method",
        "hf_quantizer",
        "warnings_issued",
        "peft_config",
    ),
}
"""Attributes for loading and training, which no forward pass reads."""

_INNER: Final = re.compile(r"\.(?:base_layer|original_module)(?=\.|$)")
_ROUNDING: Final = 1e-6
_LONGEST: Final = 160
_MOST_KNOWN: Final = 8

Description = dict[str, dict[str, Any]]
"""Name of a module → what is said of it: its class, plain attributes, and tensors of no file."""

_known: dict[str, Description] = {}
"""Class, dtype and configuration → the description of a new model."""


@dataclass(frozen=True, slots=True)
class MemoryChanges:
    """How a model in memory differs from that of its files, beside its weights.

    Attributes:
        code: What runs code that is no library's, so that its numbers cannot be told from others.
        state: What is different, a line each: the numbers depend on it and on nothing else.
    """

    code: tuple[str, ...] = ()
    state: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.code or self.state)

    def digest(self, version: str) -> str:
        """Return the version of the changed model, from that of its weights."""
        return hashlib.sha256("\n".join([version, *self.code, *self.state]).encode()).hexdigest()

    def sentences(self) -> list[str]:
        """Return what readers of the numbers must know."""
        told = []
        if self.code:
            told.append(
                f"the model runs code that no library has: {_shortened(self.code)}; "
                "its likelihoods are neither stored nor looked up"
            )
        if self.state:
            told.append(
                f"the model was changed in memory: {_shortened(self.state)}; "
                "its version covers this"
            )
        return told


def memory_changes(model: Any, device: str) -> MemoryChanges:  # noqa: ANN401 - a PreTrainedModel, or PEFT's wrapper
    """Return how a model on a kind of device (`cpu`, `cuda`) differs from a new one.

    A usual model does not, wherever it comes from: loaded, quantised, spread over devices, or with
    an adapter, which has a digest of its own.
    """
    code = [*changed_libraries(device), *changed_code(model)]
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    new: Description | None = None
    with suppress(Exception):  # what a class does with a configuration is its own
        new = _describe_new(inner)
    if new is None:
        return MemoryChanges((*code, f"{type(inner).__name__} makes no new one to compare it with"))
    now = _describe(inner)
    state = [line for name in sorted({*now, *new}) for line in _differences(name, now, new)]
    return MemoryChanges(tuple(code), tuple(state))


def _shortened(lines: Sequence[str]) -> str:
    more = f" (and {len(lines) - 1:,} more)" if len(lines) > 1 else ""
    return f"{excerpt(lines[0], _LONGEST)}{more}"


def _differences(name: str, now: Description, new: Description) -> Iterator[str]:
    place = name or "the model"
    if name not in now or name not in new:
        yield f"{place} is {'missing' if name in new else 'added: ' + _text(now[name])}"
        return
    one, other = now[name], new[name]
    if one["class"] != other["class"]:
        if not _is_repacked(one["class"]):
            yield f"{place} is {_text(one)}, and not a {other['class']}"
        return
    for key in sorted({*one, *other}):
        if not _is_equal(one.get(key, "missing"), other.get(key, "missing")):
            yield f"{place}.{key} is {_text(one.get(key))}, and not {_text(other.get(key))}"


def is_plain_layer(module: torch.nn.Module) -> bool:
    """Whether a layer holds its weights as they are, and not quantised."""
    return not _is_repacked(f"{type(module).__module__}.{type(module).__qualname__}")


def _is_repacked(kind: str) -> bool:
    """Whether a class holds quantised weights in the place of plain ones."""
    return not kind.startswith(("torch.nn.modules.", "transformers.models."))


def _is_equal(one: Any, other: Any) -> bool:  # noqa: ANN401 - any part of a description
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        return type(one) is type(other) and bool(one == other)
    if one.is_meta or other.is_meta:
        return True
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    if not one.is_floating_point():
        return torch.equal(one.cpu(), other)
    return torch.allclose(one.cpu(), other, rtol=_ROUNDING, atol=0.0, equal_nan=True)


def _text(part: Any) -> str:  # noqa: ANN401 - as above
    if isinstance(part, dict):
        return ", ".join(f"{key} {_text(value)}" for key, value in sorted(part.items()))
    if not isinstance(part, torch.Tensor):
        return str(part)
    content = part.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy()
    digest = hashlib.sha256(content.data).hexdigest()
    return f"a tensor {tuple(part.shape)} in {part.dtype} ({digest[:12]})"


def _describe(model: torch.nn.Module) -> Description:
    """Return the description of a model; what an adapter adds is left out."""
    configs: dict[int, str] = {}
    found: Description = {}
    added = tuple(
        f"{name}." for name, module in model.named_modules() if hasattr(module, "base_layer")
    )
    for name, module in model.named_modules():
        inside = [place for place in added if name.startswith(place)]
        if any(not name.startswith(f"{place}base_layer") for place in inside):
            continue
        if not hasattr(module, "base_layer"):
            found[_INNER.sub("", name)] = _describe_module(module, configs)
    return found


def _describe_module(module: torch.nn.Module, configs: dict[int, str]) -> dict[str, Any]:
    kind = type(module)
    found: dict[str, Any] = {"class": f"{kind.__module__}.{kind.__qualname__}"}
    for key, value in vars(module).items():
        is_method = callable(value) and callable(getattr(kind, key, None))  # a matter of code
        if key[0] == "_" or key in _SKIPPED or is_method:
            continue
        if isinstance(value, PretrainedConfig):
            if id(value) not in configs:
                configs[id(value)] = config_digest(value)
            found[key] = f"config {configs[id(value)][:12]}"
        elif isinstance(value, torch.Tensor):
            found[key] = value
        elif (plain := _plain(value)) is not None:
            found[key] = plain
    unsaved = module._non_persistent_buffers_set  # noqa: SLF001 - torch says it nowhere else
    found |= {key: module._buffers[key] for key in unsaved if module._buffers.get(key) is not None}  # noqa: SLF001 - as above
    return found


def _plain(value: Any) -> str | None:  # noqa: ANN401 - any attribute
    """Return a value that numbers may depend on as text; None for any other object."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, _FUNCTIONS):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = [_plain(each) for each in value]
        return (
            None
            if None in parts
            else str(sorted(map(str, parts)) if isinstance(value, (set, frozenset)) else parts)
        )
    if isinstance(value, dict):
        pairs = [(str(key), _plain(each)) for key, each in value.items()]
        return None if any(each is None for _, each in pairs) else str(sorted(pairs))
    return None


def _describe_new(model: Any) -> Description:  # noqa: ANN401 - as above
    """Return the description of a new model of the same class, dtype and configuration."""
    kind, config = type(model), model.config
    facts = json.dumps([id(kind), str(model.dtype), config.to_dict()], sort_keys=True, default=str)
    key = hashlib.sha256(facts.encode()).hexdigest()
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.pop(next(iter(_known)))
        _known[key] = _describe(_new(kind, copy.deepcopy(config), model.dtype))
    return _known[key]


@loading_alone()
def _new(kind: Any, config: PretrainedConfig, dtype: torch.dtype) -> torch.nn.Module:  # noqa: ANN401 - a class of transformers
    """Make a model whose parameters take no memory; its buffers have their values."""
    register = torch.nn.Module.register_parameter

    def without_numbers(
        module: torch.nn.Module, name: str, parameter: torch.nn.Parameter | None
    ) -> None:
        register(module, name, parameter)
        made = module._parameters[name]  # noqa: SLF001 - a module takes no other device
        if made is not None and not made.is_meta:
            empty = torch.nn.Parameter(made.detach().to("meta"), requires_grad=made.requires_grad)
            module._parameters[name] = empty  # noqa: SLF001 - as above

    with (
        torch.random.fork_rng(devices=[]),
        replaced(torch.nn.Module, register_parameter=without_numbers),
    ):
        made: torch.nn.Module = kind._from_config(config, dtype=dtype)  # noqa: SLF001 - as Auto does
        return made
