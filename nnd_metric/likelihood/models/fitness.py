"""Whether a model can score texts: its class, as transformers lists them, and its tokenizer."""

from typing import Any

import torch
from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto import modeling_auto

from nnd.metric.likelihood.models.checkpoint_files import reason_of
from nnd.schemas import ScoringError

_NO_LANGUAGE_MODELS = (
    *("Classification", "QuestionAnswering", "MultipleChoice", "RewardModel"),
    *("NextSentencePrediction", "ElectraForPreTraining"),
)
"""Endings of the names of architectures that predict something other than a next token."""

_OTHER_INPUTS = (
    (
        "it writes down speech",
        modeling_auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES,
        modeling_auto.MODEL_FOR_CTC_MAPPING_NAMES,
    ),
    (
        "it speaks",
        modeling_auto.MODEL_FOR_TEXT_TO_WAVEFORM_MAPPING_NAMES,
        modeling_auto.MODEL_FOR_TEXT_TO_SPECTROGRAM_MAPPING_NAMES,
    ),
    (
        "it compares images with texts",
        modeling_auto.MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES,
    ),
    ("it reads images", modeling_auto.MODEL_FOR_IMAGE_MAPPING_NAMES),
)
"""What models of families without a language model do, and lists of families of transformers."""

ADD_TOKENS = "put the tokenizer.json of the same model into the folder"
SAVE_TOKENIZER = "save the model's own tokenizer in the same folder with save_pretrained"


def check_architecture(config: PretrainedConfig, name: str) -> None:
    """Refuse checkpoints of classifiers, which often load as language models with tied heads."""
    named = config.architectures or []
    if named and all(each.endswith(_NO_LANGUAGE_MODELS) for each in named):
        raise _no_language_model(name, named[0])

    for each in named:
        if is_bare_encoder(each, config):
            raise _no_language_model(name, f"{each} is an encoder without a head")


def check_class(
    config: PretrainedConfig,
    kind: Any,  # noqa: ANN401 - transformers' Auto classes share no type
    name: str,
    *,
    trusts: bool,
) -> None:
    """Check that transformers, or the checkpoint's own code, has a language model.

    `kind` is the Auto class that is to load it; `trusts` allows the checkpoint's own code.
    """
    if type(config) in kind._model_mapping:  # noqa: SLF001 - has classes that others registered
        return
    if kind.__name__ in (getattr(config, "auto_map", None) or {}):
        if trusts:
            return
        raise custom_code(name)
    family = config.model_type
    does = [what for what, *lists in _OTHER_INPUTS if any(family in each for each in lists)]
    reason = does[0] if does else "transformers has no language model of this type"
    raise _no_language_model(name, f"{family}: {reason}")


def custom_code(name: str) -> ScoringError:
    """Return the error of a checkpoint that needs its own code, which was not allowed."""
    return ScoringError(
        "model.custom-code",
        "the model needs code of its own repository (auto_map), which was not run",
        name,
        "read that code; if you trust it, use --trust-remote-code (of nnd evaluate, nnd train and "
        "nnd selftest)",
    )


def check_kinds(model: Any, tokenizer: Any) -> None:  # noqa: ANN401 - whatever is handed over
    """Check that the objects are a language model and a tokenizer."""
    kind = type(model).__name__
    if not hasattr(model, "get_output_embeddings"):
        raise _no_language_model(kind, "it is not a model of transformers")
    if model.get_output_embeddings() is None and not model.can_generate():
        raise _no_language_model(kind, "it has no language-modelling head")
    if not hasattr(tokenizer, "get_vocab"):
        raise ScoringError(
            "model.tokenizer",
            f"{type(tokenizer).__name__} is not a tokenizer",
            remedy="pass the model's own, e.g. AutoTokenizer.from_pretrained(model_id)",
        )


def check_vocabulary(tokenizer: PreTrainedTokenizerBase, name: str) -> None:
    """Refuse a tokenizer that transformers made up because the checkpoint has none."""
    texts = set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens)
    if len(texts) < 2:  # noqa: PLR2004 - one is the blank
        raise ScoringError(
            "model.tokenizer",
            "the model has no usable tokenizer: its vocabulary is empty",
            name,
            SAVE_TOKENIZER,
        )


def check_reads_text(model: PreTrainedModel, name: str) -> None:
    """Check that a model of images and texts predicts tokens without an image."""
    ids = torch.tensor([[0, 1, 2]], device=model.device)
    try:
        with torch.inference_mode():
            logits = model(input_ids=ids).logits
    except Exception as error:  # models may raise anything on input they were not written for
        raise _no_language_model(name, f"without an image it fails: {reason_of(error)}") from error
    if logits.shape[1] != ids.shape[1]:
        raise _no_language_model(name, "it reads more than the text")


def _no_language_model(name: str, reason: str) -> ScoringError:
    return ScoringError(
        "model.not-a-language-model", f"the model defines no likelihood of a text ({reason})", name
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
    listed = (
        modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    )
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
