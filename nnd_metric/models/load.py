"""Models: loaded from the Hub or a folder, or handed over already loaded."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from nnd.metric.models.adapted import active_adapters, unwrap
from nnd.metric.models.adapters import Adapter, attach, has_tokenizer, resolve_adapter
from nnd.metric.models.fitness import (
    check_architecture,
    check_kinds,
    check_vocabulary,
    check_weights,
)
from nnd.metric.models.loaded import AdaptedFrom, LoadedModel
from nnd.metric.models.options import Loading
from nnd.metric.models.reading import options_of, read_pretrained
from nnd.metric.models.revisions import find_commit, resolve_revision
from nnd.schemas import ScoringError


def load_model(model_id: str | Path, loading: Loading = Loading()) -> LoadedModel:
    """Load a causal or encoder-decoder language model and its tokenizer.

    Args:
        model_id: Hub id, or folder written by `save_pretrained`, of a model or of an adapter, which
            is attached to the base that it names; `NAME@REVISION` names a revision of its own,
            which goes before that of `loading`.
        loading: How to load it.

    Raises:
        ScoringError: If there is no such model, it is a classifier, it has no tokenizer, not all of
            its weights are there, or an adapter does not fit.
    """
    name, loading = resolve_revision(model_id, loading)
    device = loading.device or best_device()
    _check_device(device)
    dtype = loading.dtype or ("float32" if torch.device(device).type == "cpu" else "auto")
    _check_dtype(dtype)
    base, loading, adapter = resolve_adapter(name, loading)
    config = _load_config(base, loading, adapter)
    commit = find_commit(base, loading.revision)
    options = options_of(replace(loading, revision=commit or loading.revision))
    check_architecture(config, base)
    tokenizer = _load_tokenizer(base, options, adapter)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    options |= {"dtype": dtype, "output_loading_info": True}
    model, report = read_pretrained(kind, base, "the weights cannot be loaded", options)
    check_weights(model, report["missing_keys"], base)
    model = model.to(device)
    if adapter is None:
        return LoadedModel(model, tokenizer, name, commit)
    origin = AdaptedFrom(base, adapter.name, adapter.commit)
    called = loading.called(name)
    return LoadedModel(attach(model, adapter, tokenizer), tokenizer, called, commit, origin)


def load_config(model_id: str | Path, loading: Loading = Loading()) -> PretrainedConfig:
    """Load a model's configuration: a cheap way to learn whether there is such a model.

    Raises:
        ScoringError: If there is none.
    """
    return _load_config(*resolve_adapter(*resolve_revision(model_id, loading)))


def wrap_model(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str | None = None
) -> LoadedModel:
    """Return an already loaded model with its tokenizer, on the device and in the dtype it has.

    Args:
        model: A causal or encoder-decoder language model, also with an adapter of PEFT.
        tokenizer: Its tokenizer.
        name: What results call it; None means where it was loaded from, else its class, and the
            names of its adapters.

    Raises:
        ScoringError: If the model is not a language model, or the tokenizer has no vocabulary.
    """
    model = unwrap(model)
    check_kinds(model, tokenizer)
    base = model.name_or_path or type(model).__name__
    adapters = "+".join(active_adapters(model))
    called = name or "+".join(filter(None, (base, adapters)))
    check_vocabulary(tokenizer, called)
    origin = AdaptedFrom(base, adapters) if adapters else None
    return LoadedModel(model, tokenizer, called, adapted=origin)


def best_device() -> str:
    """Return the fastest device there is: cuda, mps or cpu."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def evaluation_mode(model: PreTrainedModel) -> Iterator[None]:
    """Switch dropout off, and hand every module back in the mode it was in."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()  # type: ignore[no-untyped-call]
    try:
        with torch.inference_mode():
            yield
    finally:
        for module, training in modes:
            module.training = training


@contextmanager
def forward_replaced(module: torch.nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    """Let a module compute something else, and hand it back as it was."""
    own = module.__dict__.get("forward")
    module.forward = forward
    try:
        yield
    finally:
        if own is None:
            del module.forward
        else:
            module.forward = own


def _check_dtype(dtype: str) -> None:
    known = getattr(torch, dtype, None)
    if dtype != "auto" and not (isinstance(known, torch.dtype) and known.is_floating_point):
        raise ScoringError(
            f'"{dtype}" is no torch dtype of weights; choose float32, bfloat16 or float16'
        )


def _check_device(device: str) -> None:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ScoringError(f'device "{device}" cannot be used: {reason}') from error


def _load_config(base: str, loading: Loading, adapter: Adapter | None) -> PretrainedConfig:
    try:
        config: PretrainedConfig = read_pretrained(
            AutoConfig, base, "no such model", options_of(loading)
        )
    except ScoringError as error:
        if adapter is None:
            raise
        raise ScoringError(
            f"{adapter.name}: the base of this adapter cannot be loaded: {error}; name another "
            f"place of it with --model BASE --adapter {adapter.name}"
        ) from error
    return config


def _load_tokenizer(
    base: str, options: dict[str, Any], adapter: Adapter | None
) -> PreTrainedTokenizerBase:
    """Return the adapter's own tokenizer, else the base's."""
    name = base
    if adapter is not None and has_tokenizer(adapter):
        name, options = adapter.name, {**options, "revision": adapter.commit}
    tokenizer: PreTrainedTokenizerBase = read_pretrained(
        AutoTokenizer, name, "the model has no usable tokenizer", options
    )
    check_vocabulary(tokenizer, name)
    return tokenizer
