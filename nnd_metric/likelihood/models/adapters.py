"""Adapters: found in a folder or on the Hub, with the base model they name, and attached to it."""

import re
import warnings
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from nnd.metric.likelihood.models.adapted_model import check_method, unwrap
from nnd.metric.likelihood.models.checkpoint_files import find_commit, find_file, reason_of
from nnd.metric.likelihood.models.fitness import is_masked_kind
from nnd.metric.likelihood.models.loading import Loading
from nnd.metric.likelihood.models.model_places import (
    ADAPTER_CONFIG,
    is_hub_id,
    resolve_revision,
    split_gguf,
)
from nnd.schemas import ScoringError, SourceError, check_extra, read_json

_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
_VALUE_HEAD = re.compile(r"(^|\.)v_head\.")
_HEAD_LEFT_OUT = (
    "the adapter's v_head, with which TRL estimates values in training, was left out: a likelihood "
    "does not need it"
)
_LANGUAGE_TASKS = {"CAUSAL_LM", "SEQ_2_SEQ_LM"}


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter in a folder or on the Hub.

    Attributes:
        name: Hub id or folder; for a model wrapped in memory, PEFT's name.
        base: Hub id or folder of the base model: the one that it names, if any, until it is
            attached to one.
        commit: Its Hub commit, or None for a folder.
        base_revision: Revision of the base that it names, or None.
    """

    name: str
    base: str
    commit: str | None = None
    base_revision: str | None = None


def resolve_adapter(model_id: str, loading: Loading) -> tuple[str, Loading, Adapter | None]:
    """Return which model to load, how, and the adapter to attach to it, if any.

    The revision in `loading` is that of `model_id`, the Hub id or folder of a model or of an
    adapter.
    """
    own = _find(model_id, loading.revision)
    if loading.adapter is None:
        if own is None:
            return model_id, loading, None
        if not own.base:
            raise ScoringError(
                "adapter.base",
                f"the {ADAPTER_CONFIG} of this adapter does not name a base model",
                model_id,
                f"name it with nnd evaluate --model BASE --adapter {model_id}",
            )
        if own.commit is not None and not is_hub_id(own.base):
            raise ScoringError(
                "adapter.base",
                f"its base is not on the Hub: {own.base}",
                f"{model_id}: {ADAPTER_CONFIG}",
                f"if you have it, name it with nnd evaluate --model BASE --adapter {model_id}",
            )
        check_extra("adapters", "peft", f"{model_id}: an adapter")
        if _find(own.base, own.base_revision):
            raise _not_a_base(own.base)
        return own.base, replace(loading, revision=own.base_revision), own
    if own is not None:
        raise _not_a_base(model_id)
    name, of_adapter = resolve_revision(loading.adapter, Loading())
    adapter = _find(name, of_adapter.revision)
    if adapter is None:
        raise ScoringError(
            "adapter.not-an-adapter",
            f"not an adapter, because it has no {ADAPTER_CONFIG}",
            loading.adapter,
            "name a folder that PEFT's save_pretrained wrote, or the Hub id of one "
            "(without a connection, only the cache is searched)",
        )
    check_extra("adapters", "peft", f"{name}: an adapter")
    return model_id, loading, adapter


def attach(
    model: PreTrainedModel, adapter: Adapter, tokenizer: PreTrainedTokenizerBase
) -> tuple[PreTrainedModel, list[str]]:
    """Attach an adapter to a base model, which is changed in place; return it and notes."""
    import peft  # noqa: PLC0415 - an extra

    folder, config, weights = _read(adapter)
    check_method(config, adapter.name)
    if config.task_type is None:  # PEFT's default
        config.task_type = _task_of(model)
    elif config.task_type not in _LANGUAGE_TASKS:
        raise ScoringError(
            "model.not-a-language-model",
            f"this adapter is for {config.task_type} and defines no likelihood of a text",
            adapter.name,
            f"name an adapter for {' or '.join(sorted(_LANGUAGE_TASKS))}",
        )
    _fit_vocabulary(model, adapter, tokenizer, config, weights)
    config.inference_mode = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the subject of their warnings is checked below
            wrapped = peft.get_peft_model(model, config)
            report = wrapped.load_adapter(folder, "default", torch_device=str(model.device))
    except Exception as error:
        raise _does_not_fit(adapter, model, reason_of(error)) from error
    lost = [] if config.is_prompt_learning else _lost(report.unexpected_keys, weights)
    heads = [key for key in lost if _VALUE_HEAD.search(key)]
    lost = [key for key in lost if key not in heads]
    if wrong := [*report.missing_keys, *lost]:
        raise _does_not_fit(adapter, model, f"{len(wrong)} weights differ, e.g. {wrong[0]}")
    adapted: PreTrainedModel = unwrap(wrapped.eval())
    return adapted, [_HEAD_LEFT_OUT] if heads else []


def _task_of(model: PreTrainedModel) -> str | None:
    """Return PEFT's task of a language model; None for a masked one, which needs no wrapper."""
    if is_masked_kind(type(model).__name__, model.config):
        return None
    return "SEQ_2_SEQ_LM" if model.config.is_encoder_decoder else "CAUSAL_LM"


def _read(adapter: Adapter) -> tuple[str, Any, dict[str, Any]]:
    """Return the local folder of an adapter, its settings, and its weights by name."""
    import peft  # noqa: PLC0415 - an extra

    files = (find_file(adapter.name, file, adapter.commit) for file in _WEIGHTS)
    path = next(filter(None, files), None)
    if path is None:
        raise ScoringError(
            "adapter.damaged", f"the adapter has no weights: {_WEIGHTS[0]} is missing", adapter.name
        )
    folder = str(path.parent)  # from one commit in the Hub cache, if it comes from the Hub
    try:
        config = peft.PeftConfig.from_pretrained(folder)
        weights = peft.load_peft_weights(folder, device="cpu")
    except Exception as error:  # damaged files may raise anything
        raise ScoringError(
            "adapter.damaged", f"the adapter cannot be read: {reason_of(error)}", adapter.name
        ) from error
    return folder, config, weights


def _find(name: str, revision: str | None) -> Adapter | None:
    _, gguf = split_gguf(name)
    path = None if gguf else find_file(name, ADAPTER_CONFIG, revision)
    if path is None:
        return None
    try:
        config = read_json(path)
        base, base_revision = config["base_model_name_or_path"], config.get("revision")
    except (SourceError, KeyError, TypeError) as error:
        raise ScoringError(
            "adapter.damaged",
            f"the adapter cannot be read: its {ADAPTER_CONFIG} is damaged ({error!r})",
            name,
        ) from error
    commit = find_commit(name, revision, ADAPTER_CONFIG)
    return Adapter(name, base or "", commit, base_revision or None)


def _fit_vocabulary(
    model: PreTrainedModel,
    adapter: Adapter,
    tokenizer: PreTrainedTokenizerBase,
    config: Any,  # noqa: ANN401 - PEFT's configs
    weights: dict[str, Any],
) -> None:
    """Give the model the number of embeddings that the adapter was trained with.

    PEFT saves the embeddings with the adapter if tokens were added, and expects a base model of
    that size.
    """
    embeddings: Any = model.get_input_embeddings()
    place = next(name for name, module in model.named_modules() if module is embeddings)
    rows = int(embeddings.num_embeddings)
    saved = [weight for name, weight in weights.items() if name.endswith(f".{place}.weight")]
    trained = getattr(config, "trainable_token_indices", None) or []
    listed = trained if isinstance(trained, list) else [*chain.from_iterable(trained.values())]
    wanted = len(saved[0]) if saved else rows
    if len(tokenizer) > rows and set(range(rows, len(tokenizer))) <= {*listed}:
        wanted = len(tokenizer)
    if len(tokenizer) > wanted:
        raise ScoringError(
            "model.tokenizer",
            f"the adapter's tokenizer has {len(tokenizer)} tokens, but there are embeddings "
            f"for {wanted} only",
            adapter.name,
            "save the adapter with its embeddings (save_embedding_layers=True), or score "
            "the merged model",
        )
    if wanted != rows:
        model.resize_token_embeddings(wanted, mean_resizing=False)


def _lost(unexpected: list[str], weights: dict[str, Any]) -> list[str]:
    """Return the weights that fit nowhere; PEFT saves embeddings under two names."""
    twins = ((name, name.replace(".modules_to_save", "")) for name in unexpected)
    return [name for name, twin in twins if twin == name or twin not in weights]


def _not_a_base(name: str) -> ScoringError:
    return ScoringError(
        "adapter.base",
        "the base is an adapter itself, but an adapter needs a whole base model",
        name,
        "merge the two first (PEFT's merge_and_unload), or name another base",
    )


def _does_not_fit(adapter: Adapter, model: PreTrainedModel, reason: str) -> ScoringError:
    return ScoringError(
        "adapter.base",
        f"the adapter does not fit {type(model).__name__} {model.name_or_path}: {reason}",
        adapter.name,
        "name the base that it was trained on with nnd evaluate --model BASE "
        f"--adapter {adapter.name}",
    )
