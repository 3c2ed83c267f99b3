"""How a GGUF file turns queries and keys: transformers' `rope_parameters` for its keys.

llama.cpp turns the pair i of position p by p · s · m(i) / f(i) · base^(-2i/d), with the scale s of
`rope.scaling.factor`, the mixture m of YaRN, and the factors f of a tensor. transformers'
`longrope` divides by any factors: those of Llama 3, of which a file has only the tensor, are its
short and its long ones.
"""

from collections.abc import Mapping
from math import log, nextafter
from typing import Any

import numpy as np

from nnd.metric.likelihood.models.gguf.gguf_file import GGUFFile
from nnd.metric.likelihood.models.gguf.keys import ARCHITECTURES, Read

_SCALE, _FACTORS = "rope.scaling", "rope_freqs.weight"
_SHORT, _LONG = "rope_factors_short.weight", "rope_factors_long.weight"
FACTORS = frozenset({_FACTORS, _SHORT, _LONG})


def rope_parameters(file: GGUFFile, head: int) -> dict[str, Any]:
    """Return transformers' parameters; `head` is the size of a head.

    Raises ScoringError for a scaling that transformers cannot compute.
    """
    scaled = _scaled(file)
    theta = {"rope_theta": file.key("rope.freq_base", 10000.0)}
    if file.architecture != "gemma3":
        return theta | scaled | _partial(file, head)
    # llama.cpp scales only the layers that read everything.
    local = {"rope_type": "default", "rope_theta": file.key("rope.freq_base_swa", 10000.0)}
    _partial(file, head)
    return {"sliding_attention": local, "full_attention": {"rope_type": "default"} | theta | scaled}


def is_turned(file: GGUFFile) -> bool:
    """Whether `rope_parameters` are those of the file, so that its factors are used."""
    _, rules = ARCHITECTURES.get(file.architecture, ("", {}))
    return isinstance(rules.get("rope.freq_base"), Read)


def _partial(file: GGUFFile, head: int) -> dict[str, float]:
    """Return which part of a head is turned; only phi3 turns less than all."""
    turned = file.key("rope.dimension_count", head)
    if turned == head:
        return {}
    if file.architecture != "phi3" or turned > head:
        raise file.refusal("rope.dimension_count", f"a head of {head} numbers is turned whole")
    part = turned / head
    return {"partial_rotary_factor": part if int(head * part) == turned else nextafter(part, 1)}


def _scaled(file: GGUFFile) -> dict[str, Any]:
    kind = file.key(f"{_SCALE}.type", "linear")
    if kind not in {"none", "linear", "yarn", "longrope"}:
        raise file.refusal(f"{_SCALE}.type", "none, linear, yarn and longrope are read")
    factor = file.key(f"{_SCALE}.factor", 0.0) or file.key("rope.scale_linear", 0.0) or 1.0
    factors = _factors(file)
    if file.architecture == "phi3" and (kind == "yarn" or (kind == "linear" and factor != 1)):
        raise file.refusal(f"{_SCALE}.factor", "phi3 is scaled by its tensors of factors")
    if kind == "yarn":
        if factors:
            raise file.refusal(f"{_SCALE}.type", f"the file also scales by {_FACTORS}")
        return _yarn(file, factor)
    if kind == "longrope" and not factors:
        raise file.refusal(f"{_SCALE}.type", f"the file has neither {_SHORT} nor {_FACTORS}")
    if factors:
        return _by_tensors(file, factors, factor if kind == "linear" else 1.0)
    linear = kind == "linear" and factor != 1
    return {"rope_type": "linear", "factor": factor} if linear else {}


def _yarn(file: GGUFFile, factor: float) -> dict[str, Any]:
    if file.key(f"{_SCALE}.yarn_ext_factor", 1.0) != 1:
        raise file.refusal(f"{_SCALE}.yarn_ext_factor", "transformers knows only 1")
    if file.key(f"{_SCALE}.yarn_log_multiplier", 0.0) != 0:
        raise file.refusal(f"{_SCALE}.yarn_log_multiplier", "transformers knows only 0")
    attention = file.key(f"{_SCALE}.attn_factor", 1.0) * file.key(f"{_SCALE}.yarn_attn_factor", 1.0)
    more: dict[str, Any] = {
        "beta_fast": file.key(f"{_SCALE}.yarn_beta_fast", 32.0),
        "beta_slow": file.key(f"{_SCALE}.yarn_beta_slow", 1.0),
    }
    if attention != 1:
        more["attention_factor"] = attention * (1 + 0.1 * log(factor) if factor > 1 else 1)
    return {"rope_type": "yarn", "factor": factor, **_trained(file), **more}


def _by_tensors(
    file: GGUFFile, factors: Mapping[str, list[float]], factor: float
) -> dict[str, Any]:
    return {
        "rope_type": "longrope",
        "factor": 1.0,
        "attention_factor": file.key(f"{_SCALE}.attn_factor", 1.0),
        **_trained(file),
        "short_factor": [each * factor for each in factors[_SHORT]],
        "long_factor": [each * factor for each in factors[_LONG]],
    }


def _trained(file: GGUFFile) -> dict[str, int]:
    length = file.key(f"{_SCALE}.original_context_length", None) or file.key("context_length", None)
    return {"original_max_position_embeddings": length}


def _factors(file: GGUFFile) -> dict[str, list[float]]:
    """Return the short and the long factors of the file's tensors; those of Llama 3 are both."""
    found = {
        each.name: np.asarray(each.data, np.float32).tolist()
        for each in file.reader.tensors
        if each.name in FACTORS
    }
    if _FACTORS in found:
        return {_SHORT: found[_FACTORS], _LONG: found[_FACTORS]}
    one: list[float] = next(iter(found.values()), [])
    return {_SHORT: found.get(_SHORT, one), _LONG: found.get(_LONG, one)} if found else {}
