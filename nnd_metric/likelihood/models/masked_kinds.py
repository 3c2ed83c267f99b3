"""Which models are masked language models: by their class, as transformers lists them."""

from transformers import PretrainedConfig
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)


def is_masked_kind(kind: str, config: PretrainedConfig) -> bool:
    """Whether a class of models predicts hidden tokens, and is not also one that predicts the next.

    The encoder-decoders in the list, such as BART, are scored as encoder-decoders.
    """
    if config.is_encoder_decoder:
        return False
    masked, causal = _kinds(config)
    return kind in masked and kind not in causal


def loads_as_masked(config: PretrainedConfig) -> bool:
    """Whether a checkpoint is loaded as a masked language model: by the class that it names.

    If it names none, it is one if its family has no causal class.
    """
    if config.architectures:
        return any(is_masked_kind(kind, config) for kind in config.architectures)
    masked, causal = _kinds(config)
    return bool(masked) and not causal and not config.is_encoder_decoder


def is_bare_encoder(kind: str, config: PretrainedConfig) -> bool:
    """Whether a class of models is an encoder alone, which predicts no token.

    Decoders and encoder-decoders without a head, such as GPT2Model or BartModel, are not: their
    heads are their embeddings.
    """
    if kind.endswith(("EncoderModel", "Encoder")):
        return True
    masked, causal = _kinds(config)
    is_alone = kind.endswith("Model") and not config.is_encoder_decoder
    return is_alone and bool(masked) and kind not in masked | causal


def _kinds(config: PretrainedConfig) -> tuple[set[str], set[str]]:
    """Return the masked and the causal classes of a family, those of custom code included."""
    own = getattr(config, "auto_map", None) or {}
    listed = (MODEL_FOR_MASKED_LM_MAPPING_NAMES, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
    masked, causal = (
        {
            str(name).rpartition(".")[2]
            for name in (names.get(config.model_type), own.get(auto))
            if name
        }
        for names, auto in zip(
            listed, ("AutoModelForMaskedLM", "AutoModelForCausalLM"), strict=True
        )
    )
    return masked, causal
