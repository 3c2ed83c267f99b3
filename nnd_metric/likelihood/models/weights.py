"""The weights of a checkpoint: read whole, or refused; what another task left over is said."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from transformers import PretrainedConfig, PreTrainedModel, modeling_utils

from nnd.metric.likelihood.models.checkpoint import Checkpoint
from nnd.metric.likelihood.models.replacement import replaced
from nnd.schemas import ScoringError, counted, excerpt, listed

_PROBLEM = "the weights cannot be loaded"

_COMPUTED = re.compile(
    r"(^|[._])(inv_freq|position_ids|token_type_ids|masked_bias|causal_mask|attn\.bias"
    r"|attention\.bias|embed_positions\.weights|cos_cached|sin_cached|relative_position_index"
    r"|num_batches_tracked|_extra_state|version)$"
)
"""Tensors of old checkpoints that follow from a formula, and records of the code that wrote them.

`attn.bias` and `attention.bias` are masks of GPT-2 and its kin: biases belong to a layer within.
"""

_OTHER_TASKS = re.compile(r"(^|[._])(mtp|nextn|vision|visual|image|audio|speech|video)([._]|$)")
"""Parts that predict several tokens at once, or read something other than text."""

_OF_FURTHER_TOKENS = re.compile(r"\.(eh_proj|enorm|hnorm|shared_head)\.")
"""Tensors that only a layer for predicting several tokens at once has."""

_AROUND_LAYERS = re.compile(
    r"wpe|wte|ln_f|(embed|embed_|word_|token_|position_|final_|emb_)?"
    r"(norm|layer_?norm|positions|embeddings?|tokens)|project_in|project_out"
)
"""Embeddings and norms around the layers of a text model."""

_LAYER = re.compile(r"^(?P<layers>.*?)\.(?P<number>\d+)\.")
_SHOWN = 3


class _Report(NamedTuple):
    """What transformers found; shapes are those of the checkpoint and of the model."""

    missing: Collection[str]
    unexpected: Collection[str]
    mismatched: Collection[tuple[str, tuple[int, ...], tuple[int, ...]]]
    errors: Collection[str]


def read_weights(
    checkpoint: Checkpoint,
    kind: Any,  # noqa: ANN401 - transformers' Auto classes share no type
    config: PretrainedConfig,
    name: str,
    options: dict[str, Any],
) -> tuple[Any, list[str]]:
    """Return the model of a checkpoint, and sentences about weights that were left out.

    `kind` is an Auto class, `options` are those of `from_pretrained`.

    Raises:
        ScoringError: If weights are missing, have other shapes, or belong to the model and are not
            used by it.
    """
    reports: list[Any] = []

    def keep(*_: object, loading_info: Any, **__: object) -> None:  # noqa: ANN401 - of transformers
        reports.append(loading_info)

    # It logs the report, and its errors point to the log.
    with replaced(modeling_utils, log_state_dict_report=keep):
        model, found = checkpoint.read(
            kind, "model.damaged", _PROBLEM, config=config, output_loading_info=True, **options
        )
    conversions = reports[-1].conversion_errors.values() if reports else ()
    report = _Report(
        found["missing_keys"],
        found["unexpected_keys"],
        found["mismatched_keys"],
        [*found["error_msgs"], *conversions],
    )
    _check(model, report, name)
    left = [key for key in report.unexpected if not _COMPUTED.search(key)]
    return model, [_left_out(model, left)] if left else []


def _check(model: PreTrainedModel, report: _Report, name: str) -> None:
    kind = type(model).__name__
    if report.errors:
        reason = excerpt(" ".join(next(iter(report.errors)).split()), 200)
        raise ScoringError("model.damaged", f"{_PROBLEM}: {reason}", name)
    if report.mismatched:
        (key, here, there), *others = sorted(report.mismatched)
        raise ScoringError(
            "model.damaged",
            f"{_PROBLEM}: {key} is {_shape(here)}, but {_shape(there)} by config.json"
            f"{_and_others(others)}",
            name,
            "give the config.json that belongs to these weights",
        )
    # The Sinusoidal ones follow from a formula, and many checkpoints leave them out.
    parameters = dict(model.named_parameters())
    random = [
        key
        for key in sorted(report.missing)
        if key in parameters
        and "Sinusoidal" not in type(model.get_submodule(key.rpartition(".")[0])).__name__
    ]
    if random:
        raise ScoringError(
            "model.damaged",
            f"{_PROBLEM}: {random[0]} is missing{_and_others(random[1:])}",
            name,
            f"name a complete {kind}",
        )
    if own := sorted(_own(model, report.unexpected)):
        raise ScoringError(
            "model.damaged",
            f"{kind}, as config.json describes it, has no {own[0]}, which the checkpoint has"
            f"{_and_others(own[1:])}; without it the numbers would be those of another model",
            name,
            "give the config.json that belongs to these weights (number of layers, biases, class)",
        )


def _own(model: PreTrainedModel, unexpected: Iterable[str]) -> Iterator[str]:
    """Yield the unused tensors that seem to belong to the text model: of a layer, or a layer."""
    modules = {name: any(module.children()) for name, module in model.named_modules()}
    keys = [key for key in unexpected if not _COMPUTED.search(key)]
    further = {_layer(key) for key in keys if _OF_FURTHER_TOKENS.search(key)} - {None}
    further |= _further_layers(model.config.get_text_config())
    is_quantised = getattr(model.config, "quantization_config", None) is not None
    for key in keys:
        if _OTHER_TASKS.search(key) or _layer(key) in further:
            continue
        within, rest = _place(key, modules, model.base_model_prefix)
        in_layer = bool(_LAYER.match(f"{within}.")) or rest[:1].isdigit()
        # Formats have scales of activations and caches, which their code uses or not.
        of_format = is_quantised and not rest.endswith(("weight", "bias"))
        is_leaf = bool(within) and not modules[within]
        is_around = bool(within and _AROUND_LAYERS.fullmatch(rest.partition(".")[0]))
        if (in_layer or is_leaf or is_around) and not of_format:
            yield key


def _place(key: str, modules: Collection[str], prefix: str) -> tuple[str, str]:
    """Split a tensor's name into the innermost module of the model that it is in, and the rest.

    Checkpoints of a model without a head lack the prefix.
    """
    parts = key.split(".")
    if prefix and prefix in modules and parts[0] not in modules:
        parts = [prefix, *parts]
    ends = range(len(parts) - 1, 0, -1)
    end = next((end for end in ends if ".".join(parts[:end]) in modules), 0)
    return ".".join(parts[:end]), ".".join(parts[end:])


def _layer(key: str) -> int | None:
    """Return the number of the layer that a tensor is in."""
    found = _LAYER.match(key)
    return int(found["number"]) if found else None


def _further_layers(config: PretrainedConfig) -> set[int | None]:
    """Return the numbers of the layers that predict several tokens at once; they come last."""
    names = ("num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers")
    further = next((int(n) for name in names if (n := getattr(config, name, None))), 0)
    layers = int(getattr(config, "num_hidden_layers", None) or 0)
    return {*range(layers, layers + further)}


def _left_out(model: PreTrainedModel, keys: Collection[str]) -> str:
    modules = {name for name, _ in model.named_modules()}
    parts = Counter[str]()
    for key in keys:
        within, rest = _place(key, modules, model.base_model_prefix)
        parts[".".join(filter(None, (within, rest.partition(".")[0])))] += 1
    return (
        f"{counted(len(keys), 'tensor')} of the checkpoint that {type(model).__name__} does not "
        f"have were left out: {listed(sorted(parts), _SHOWN)}"
    )


def _shape(size: Iterable[int]) -> str:
    return "x".join(map(str, size)) or "a single number"


def _and_others(others: Collection[object]) -> str:
    return f" (and {counted(len(others), 'other')})" if others else ""
