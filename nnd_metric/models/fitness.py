"""Whether what was loaded can score texts: a language model, its weights and its tokenizer."""

from collections.abc import Iterable
from typing import Any

import torch
from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from nnd.metric.models.reading import reason_of
from nnd.schemas import ScoringError

_NO_LANGUAGE_MODELS = ("Classification", "QuestionAnswering", "MultipleChoice", "RewardModel")
"""How the names of architectures end that answer with something else than a next token."""

_MASKED = "ForMaskedLM"


def check_architecture(config: PretrainedConfig, name: str) -> None:
    """A classifier's trunk often loads as a language model: the head is tied to its embeddings.

    Raises:
        ScoringError: If the checkpoint is one of a classifier or the like.
    """
    named = config.architectures or []
    if named and all(each.endswith(_MASKED) for each in named):
        raise _masked_model(name, named[0])
    if named and all(each.endswith(_NO_LANGUAGE_MODELS) for each in named):
        raise _no_language_model(name, named[0])


def check_kinds(model: Any, tokenizer: Any) -> None:  # noqa: ANN401 - whatever is handed over
    """Check that what was handed over is a language model with a tokenizer.

    Raises:
        ScoringError: If it is not.
    """
    kind = type(model).__name__
    if kind.endswith(_MASKED):
        raise _masked_model(kind, kind)
    if not hasattr(model, "get_output_embeddings"):
        raise _no_language_model(kind, "it is none of transformers'")
    if model.get_output_embeddings() is None and not model.can_generate():
        raise _no_language_model(kind, "it has no language-modelling head")
    if not hasattr(tokenizer, "get_vocab"):
        raise ScoringError(
            f"{type(tokenizer).__name__} is not a tokenizer; hand over the model's own, e.g. "
            "AutoTokenizer.from_pretrained(model_id)"
        )


def check_vocabulary(tokenizer: PreTrainedTokenizerBase, name: str) -> None:
    """Where no tokenizer lies, transformers may make one up that knows its special tokens only.

    Raises:
        ScoringError: If the tokenizer knows no text.
    """
    texts = set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens)
    if len(texts) < 2:  # noqa: PLR2004 - one is the blank
        raise ScoringError(
            f"{name}: the model has no usable tokenizer: its vocabulary is empty; save the model's "
            "own beside it with save_pretrained"
        )


def check_reads_text(model: PreTrainedModel, name: str) -> None:
    """Check that a model of images and texts predicts tokens where there is no image.

    Raises:
        ScoringError: If it does not.
    """
    ids = torch.tensor([[0, 1, 2]], device=model.device)
    try:
        with torch.inference_mode():
            logits = model(input_ids=ids).logits
    except Exception as error:  # models fail in any way at what they were not written for
        raise _no_language_model(name, f"without an image it fails: {reason_of(error)}") from error
    if logits.shape[1] != ids.shape[1]:
        raise _no_language_model(name, "it reads more than the text")


def check_weights(model: PreTrainedModel, missing: Iterable[str], name: str) -> None:
    """Weights that the checkpoint lacks are random, and so is what the model says.

    Raises:
        ScoringError: If a weight is missing.
    """
    parameters = dict(model.named_parameters())
    random = [
        key
        for key in sorted(missing)
        if key in parameters
        # These follow from a formula, and many a checkpoint leaves them out.
        and "Sinusoidal" not in type(model.get_submodule(key.rpartition(".")[0])).__name__
    ]
    if random:
        raise ScoringError(
            f"{name}: the weights cannot be loaded: {random[0]} is not among them"
            + (f", nor are {len(random) - 1} others" if random[1:] else "")
            + f"; name a whole {type(model).__name__}"
        )


def _masked_model(name: str, kind: str) -> ScoringError:
    return ScoringError(
        f"{name}: is a masked language model ({kind}), which predicts hidden tokens and not the "
        "next one; name a causal or encoder-decoder language model"
    )


def _no_language_model(name: str, reason: str) -> ScoringError:
    return ScoringError(
        f"{name}: gives texts no likelihood ({reason}); name a causal or encoder-decoder language "
        "model"
    )
