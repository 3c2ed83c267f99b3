"""Quantised weights: the names of their formats, the libraries they need, how to make them."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import torch
from transformers import BitsAndBytesConfig, PretrainedConfig

from nnd.metric.likelihood.models.other_formats import ORIGINAL
from nnd.schemas import DISTRIBUTION, ScoringError

QUANTISE: dict[str, dict[str, Any]] = {
    "bnb-int8": {"load_in_8bit": True},
    "bnb-nf4": {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
}
"""Values of `Loading.quantise`, and the names of bitsandbytes for them."""

_LIBRARIES = {  # method of transformers → the module it imports, and the package to install
    "bitsandbytes": ("bitsandbytes", f"'{DISTRIBUTION}[quantised]'"),
    "gptq": ("gptqmodel", "gptqmodel"),
    "awq": ("gptqmodel", "gptqmodel"),
    "compressed-tensors": ("compressed_tensors", "compressed-tensors"),
    "hqq": ("hqq", "hqq"),
    "quanto": ("optimum.quanto", "optimum-quanto"),
    "torchao": ("torchao", "torchao"),
    "aqlm": ("aqlm", "aqlm"),
    "quark": ("quark", "amd-quark"),
}


def format_of(config: PretrainedConfig) -> str | None:
    """Return the format of a model's weights, e.g. `bnb-nf4` or `gptq-4`; None for plain floats."""
    settings = _settings(config)
    if not settings:
        return None
    method = _method(settings)
    if method == "bitsandbytes":
        four_bits = settings.get("bnb_4bit_quant_type", "fp4")
        return "bnb-int8" if settings.get("load_in_8bit") else f"bnb-{four_bits}"
    detail = settings.get("bits") or settings.get("format")
    return f"{method}-{detail}" if detail else method


def check_format(config: PretrainedConfig, name: str, quantise: str | None) -> None:
    """Check that a checkpoint's weights can be loaded, and quantised if requested.

    Raises ScoringError if they are quantised already, are of MLX, or a library is missing.
    """
    settings, known = _settings(config), format_of(config)
    of_mlx = getattr(config, "quantization", None)
    if isinstance(of_mlx, Mapping) and "bits" in of_mlx and "quant_method" not in settings:
        raise ScoringError(
            "model.other-format",
            f"weights that MLX quantised to {of_mlx['bits']} bits are not read",
            name,
            ORIGINAL,
        )
    if quantise is not None and settings:
        raise ScoringError(
            "model.quantised",
            f"the weights are already quantised ({known})",
            name,
            f"leave out --quantise {quantise}",
        )
    if quantise is None and not settings:
        return
    who = f"--quantise {quantise}" if quantise else f"the format of the weights, {known},"
    module, install = _LIBRARIES.get(_method(settings), (None, None))
    if module is not None and not _is_there(module):
        raise ScoringError(
            "extra.missing", f"{who} needs the library {module}", name, f"pip install {install}"
        )


def quantisation_config(quantise: str, dtype: str) -> BitsAndBytesConfig:
    """Return the configuration with which transformers quantises weights during loading.

    `dtype` is that of products of four-bit weights; auto means bfloat16.
    """
    if quantise not in QUANTISE:
        raise ScoringError(
            "option.unknown-value",
            f'--quantise "{quantise}" is unknown',
            remedy=f"choose {' or '.join(QUANTISE)}",
        )
    compute = torch.bfloat16 if dtype == "auto" else getattr(torch, dtype)
    return BitsAndBytesConfig(  # type: ignore[no-untyped-call]
        **QUANTISE[quantise], bnb_4bit_compute_dtype=compute
    )


def _settings(config: PretrainedConfig) -> Mapping[str, Any]:
    settings = getattr(config, "quantization_config", None) or {}
    return settings if isinstance(settings, Mapping) else settings.to_dict()


def _method(settings: Mapping[str, Any]) -> str:
    method = settings.get("quant_method", "bitsandbytes")
    return str(getattr(method, "value", method))


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # a parent module is missing or hidden
        return False
