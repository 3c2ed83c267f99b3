"""Models: loaded from the Hub or a folder, or wrapped if already loaded."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
)

from nnd.metric.likelihood.models.adapted_model import active_adapters, unwrap
from nnd.metric.likelihood.models.adapters import Adapter, attach, resolve_adapter
from nnd.metric.likelihood.models.checkpoint import Checkpoint, find_checkpoint, read_tokenizer
from nnd.metric.likelihood.models.fitness import (
    check_architecture,
    check_class,
    check_kinds,
    check_reads_text,
    check_vocabulary,
    loads_as_masked,
)
from nnd.metric.likelihood.models.library_warnings import listening
from nnd.metric.likelihood.models.loaded_model import LoadedModel, Skeleton
from nnd.metric.likelihood.models.loading import Loading
from nnd.metric.likelihood.models.loading_alone import loading_alone
from nnd.metric.likelihood.models.model_digests import is_offloaded, weights_digest
from nnd.metric.likelihood.models.model_places import resolve_revision, split_revision
from nnd.metric.likelihood.models.other_formats import check_folder
from nnd.metric.likelihood.models.quantised_formats import (
    check_format,
    format_of,
    quantisation_config,
)
from nnd.metric.likelihood.models.weights import read_weights
from nnd.schemas import ScoringError

_KERNEL_FIELDS = ("_attn_implementation", "_experts_implementation")
_OF_TORCH = (None, "eager", "sdpa", "batched_mm", "grouped_mm")


@loading_alone()
def load_model(model_id: str | Path, loading: Loading = Loading()) -> LoadedModel:
    """Load a causal, encoder-decoder or masked language model and its tokenizer.

    `model_id` is the Hub id, or the folder written by `save_pretrained`, of a model or of an
    adapter, which is attached to the base that it names. `NAME@REVISION` names a revision, which
    takes precedence over that of `loading`.

    Raises:
        ScoringError: If the model is not found or is a classifier, its tokenizer or weights are
            missing, or an adapter does not fit; or if another thread loads models in another way.
    """
    with listening() as heard:
        fit = _find_fit(model_id, loading)
        loaded = _load(model_id, loading, fit, _checked_kind(fit.config, fit.base, loading))
    return replace(loaded, notes=(*loaded.notes, *heard))


@loading_alone()
def load_classifier(model_id: str | Path, loading: Loading = Loading()) -> LoadedModel:
    """Load a sequence classifier, such as a reward model, as `load_model` does a language model.

    Raises:
        ScoringError: As for `load_model`; the weights of a language model lack those of a
            classifier.
    """
    with listening() as heard:
        fit = _find_fit(model_id, loading)
        loaded = _load(model_id, loading, fit, AutoModelForSequenceClassification)
    return replace(loaded, notes=(*loaded.notes, *heard))


def _load(model_id: str | Path, loading: Loading, fit: "_Fit", kind: Any) -> LoadedModel:  # noqa: ANN401 - transformers' Auto classes share no type
    base, checkpoint, adapter, config = fit
    device = _find_device(loading)
    how = _weight_options(loading, device)
    tokenizer, changed = read_tokenizer(checkpoint, adapter)
    quantised = loading.quantise or checkpoint.format or format_of(config)
    stays = quantised is not None or loading.device_map is not None
    if stays:
        how.setdefault("device_map", {"": device})
    files = checkpoint.digest()
    model, notes = read_weights(checkpoint, kind, config, base, how)
    _check_unchanged(checkpoint, files)
    if kind is AutoModelForImageTextToText:
        check_reads_text(model, base)
    loaded = LoadedModel(
        model if stays else model.to(device),
        tokenizer,
        loading.called(split_revision(model_id)[0]),
        checkpoint.commit,
        quantised=quantised,
        digest=files if quantised or is_offloaded(model) else None,
        files=files,
        notes=(*changed, *notes),
    )
    if adapter is None:
        return loaded.marked()
    if adapter.commit is None:  # what it writes into the base is in no digest of its own
        loaded = loaded.marked()
    adapted = replace(adapter, base=base)
    model, left_out = attach(loaded.model, adapter, tokenizer)
    notes = [*loaded.notes, *left_out]
    loaded = replace(loaded, model=model, adapted=adapted, notes=tuple(notes))
    return loaded if adapter.commit is None else loaded.marked()


def _check_unchanged(checkpoint: Checkpoint, files: str | None) -> None:
    """Check that the weights are those of the files as they were when loading began."""
    if checkpoint.digest() != files:
        raise ScoringError(
            "model.damaged",
            "the files of the model changed while they were read",
            checkpoint.name,
            "wait until they are written, and run this again",
        )


@loading_alone()
def load_skeleton(model_id: str | Path, loading: Loading = Loading()) -> Skeleton:
    """Return a model as `load_model` does, but without weights and without reading their files.

    Quantised weights have their unquantised shapes, and adapters are omitted.
    """
    device = _find_device(loading)
    dtype = _weight_options(loading, device)["dtype"]
    base, checkpoint, adapter, config = _find_fit(model_id, loading)
    kind = _checked_kind(config, base, loading)
    with torch.device("meta"):
        model = kind.from_config(
            config,
            dtype=config.dtype or "float32" if dtype == "auto" else dtype,
            trust_remote_code=loading.trust_remote_code,
        )
    return Skeleton(
        model.eval(),
        read_tokenizer(checkpoint, adapter).tokenizer,
        loading.called(split_revision(model_id)[0]),
        adapted=adapter and replace(adapter, base=base),
        quantised=loading.quantise or checkpoint.format or format_of(config),
        place=device,
    )


@loading_alone()
def load_tokenizer(model_id: str | Path, loading: Loading = Loading()) -> PreTrainedTokenizerBase:
    """Load a model's tokenizer alone, or that of an adapter."""
    _, checkpoint, adapter = _find_base(model_id, loading)
    return read_tokenizer(checkpoint, adapter).tokenizer


@loading_alone()
def load_config(model_id: str | Path, loading: Loading = Loading()) -> PretrainedConfig:
    """Load a model's configuration: a cheap way to find out whether the model exists."""
    _, checkpoint, adapter = _find_base(model_id, loading)
    return _load_config(checkpoint, adapter)


def wrap_model(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str | None = None
) -> LoadedModel:
    """Wrap a loaded model with its tokenizer; its device and dtype are not changed.

    Args:
        model: A causal, encoder-decoder or masked language model, also with an adapter of PEFT.
        tokenizer: Its tokenizer.
        name: Its name in the results; None means the Hub id or folder it was loaded from, else its
            class, and the names of its adapters.

    Raises:
        ScoringError: If the model is not a language model, or the tokenizer has no vocabulary.
    """
    model = unwrap(model)
    check_kinds(model, tokenizer)
    base = model.name_or_path or type(model).__name__
    adapters = "+".join(active_adapters(model))
    called = name or "+".join(filter(None, (base, adapters)))
    check_vocabulary(tokenizer, called)
    quantised = format_of(model.config)
    return LoadedModel(
        model,
        tokenizer,
        called,
        adapted=Adapter(adapters, base) if adapters else None,
        quantised=quantised,
        # Some weights are repacked by bitsandbytes at first use, which would change their digest.
        digest=weights_digest(model) if quantised and not adapters else None,
    ).marked()


def best_device() -> str:
    """Return the fastest available device: cuda, mps or cpu."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def evaluation_mode(model: PreTrainedModel) -> Iterator[None]:
    """Switch dropout off, and restore the mode of every module at the end."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()  # type: ignore[no-untyped-call]
    try:
        with torch.inference_mode():
            yield
    finally:
        for module, training in modes:
            module.training = training


def _find_device(loading: Loading) -> str:
    """Return the device to load on; with a device map, the fastest device."""
    device = loading.device or best_device()
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ScoringError(
            "model.device", f"cannot be used: {reason}", f'device "{device}"'
        ) from error
    if loading.device_map not in {None, "auto"}:
        raise ScoringError(
            "option.unknown-value",
            f'--device-map "{loading.device_map}" is unknown',
            remedy="choose auto, or name one --device",
        )
    if loading.device_map is not None and loading.device is not None:
        raise ScoringError(
            "option.conflict",
            "--device-map auto uses all devices",
            remedy=f"leave out --device {device}",
        )
    return device


def _weight_options(loading: Loading, device: str) -> dict[str, Any]:
    """Return the options of `from_pretrained` that concern only weights."""
    dtype = loading.dtype or ("float32" if torch.device(device).type == "cpu" else "auto")
    known = getattr(torch, dtype, None)
    if dtype != "auto" and not (isinstance(known, torch.dtype) and known.is_floating_point):
        raise ScoringError(
            "option.unknown-value",
            f'"{dtype}" is not a torch dtype for weights',
            remedy="choose float32, bfloat16 or float16",
        )
    options: dict[str, Any] = {"dtype": dtype}
    if loading.device_map is not None:
        options["device_map"] = loading.device_map
    if loading.quantise is not None:
        options["quantization_config"] = quantisation_config(loading.quantise, dtype)
    return options


def _checked_kind(config: PretrainedConfig, name: str, loading: Loading) -> Any:  # noqa: ANN401 - as `_kind`
    """Return `_kind`, after the checks that need no weights."""
    check_architecture(config, name)
    kind = _kind(config)
    check_class(config, kind, name, trusts=loading.trust_remote_code)
    return kind


def _kind(config: PretrainedConfig) -> Any:  # noqa: ANN401 - transformers' Auto classes share no type
    """Return the class that loads a model; for models of images, that of their language model."""
    if config.is_encoder_decoder:
        return AutoModelForSeq2SeqLM
    if loads_as_masked(config):
        return AutoModelForMaskedLM
    reads_images = config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    if reads_images and config.model_type not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return AutoModelForImageTextToText
    return AutoModelForCausalLM


def _find_base(model_id: str | Path, loading: Loading) -> tuple[str, Checkpoint, Adapter | None]:
    """Return the name and the checkpoint of the base model, and the adapter to attach, if any."""
    base, loading, adapter = resolve_adapter(*resolve_revision(model_id, loading))
    with _named_by(adapter):
        return base, find_checkpoint(base, loading), adapter


class _Fit(NamedTuple):
    """What a model is loaded from."""

    base: str
    checkpoint: Checkpoint
    adapter: Adapter | None
    config: PretrainedConfig


def _find_fit(model_id: str | Path, loading: Loading) -> _Fit:
    """Return `_find_base`, its checkpoint at a commit, and the configuration, after checks."""
    base, checkpoint, adapter = _find_base(model_id, loading)
    config = _load_config(checkpoint, adapter)
    check_format(config, base, loading.quantise)
    return _Fit(base, checkpoint.pinned(), adapter, config)


def _load_config(checkpoint: Checkpoint, adapter: Adapter | None) -> PretrainedConfig:
    with _named_by(adapter):
        if checkpoint.gguf is None and Path(checkpoint.name).is_dir():
            check_folder(Path(checkpoint.name))
        config = checkpoint.config()
    _drop_kernels(config)
    return config


@contextmanager
def _named_by(adapter: Adapter | None) -> Iterator[None]:
    """Add to the error of a base that cannot be loaded that the adapter names it."""
    try:
        yield
    except ScoringError as error:
        if adapter is None:
            raise
        raise ScoringError(
            "adapter.base",
            f"the base model of this adapter, {error.where}, cannot be loaded: {error.what}",
            adapter.name,
            "if you have it elsewhere, name it with nnd evaluate --model BASE "
            f"--adapter {adapter.name}",
        ) from error


def _drop_kernels(config: PretrainedConfig) -> None:
    """Let transformers choose attention and experts, unless torch computes what a config names.

    Others are code of a Hub repository (`org/kernel`), or are replaced by one
    (`flash_attention_2`). nnd has no option that asks for them, and `trust_remote_code` does not
    cover them.
    """
    parts = [config]
    for part in parts:
        parts += [value for value in vars(part).values() if isinstance(value, PretrainedConfig)]
        for field in _KERNEL_FIELDS:
            if getattr(part, field, None) not in _OF_TORCH:
                setattr(part, field, None)
