"""Kernels that a config.json names: code that transformers would download and run."""

from transformers import PretrainedConfig

_FIELDS = ("_attn_implementation", "_experts_implementation")
_OF_TORCH = (None, "eager", "sdpa", "batched_mm", "grouped_mm")


def without_kernels(config: PretrainedConfig) -> PretrainedConfig:
    """Let transformers choose attention and experts, unless torch computes what a config names.

    Others are code of a Hub repository (`org/kernel`), or are replaced by one
    (`flash_attention_2`). nnd has no option that asks for them, and `trust_remote_code` does not
    cover them.
    """
    parts = [config]
    for part in parts:
        parts += [value for value in vars(part).values() if isinstance(value, PretrainedConfig)]
        for field in _FIELDS:
            if getattr(part, field, None) not in _OF_TORCH:
                setattr(part, field, None)
    return config
