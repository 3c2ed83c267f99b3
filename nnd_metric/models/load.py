"""Models: loaded from the Hub or a folder, or handed over already loaded."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import is_offline_mode
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    HTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
)
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from nnd.metric.models.fitness import (
    check_architecture,
    check_kinds,
    check_vocabulary,
    check_weights,
)
from nnd.metric.models.options import Loading
from nnd.metric.models.revisions import find_commit, resolve_revision
from nnd.schemas import ScoringError, excerpt

# Positions that the decoder of a family counts as its own and cannot read.
_LOST_POSITIONS = {"prophetnet": 2}

_NO_LIMIT = 1_000_000  # tokenizers that know no limit say 1e30

_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model with its tokenizer.

    Attributes:
        model: The network.
        tokenizer: Its tokenizer.
        name: What results call it: Hub id, folder, or a name given by the user.
        commit: The Hub commit its weights were read from, or None.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    commit: str | None = None

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether a decoder reads the context through an encoder."""
        return bool(self.model.config.is_encoder_decoder)

    @property
    def is_stand_in(self) -> bool:
        """Whether the checkpoint names code of its own, and a class of transformers took its place.

        A class of that name may compute something else with the same weights.
        """
        named = getattr(self.model.config, "auto_map", None)
        return bool(named) and type(self.model).__module__.startswith("transformers.")

    @property
    def dtype(self) -> str:
        """Precision of the weights, e.g. `float32`."""
        return str(self.model.dtype).removeprefix("torch.")

    @property
    def parameters(self) -> int:
        """Number of weights, embeddings included; tied ones count once."""
        return sum(weights.numel() for weights in self.model.parameters())

    @property
    def decoder_window(self) -> int | None:
        """Most tokens the decoder can read, or None where there is no limit."""
        window = self._window("max_decoder_position_embeddings")
        return window and window - _LOST_POSITIONS.get(self.model.config.model_type, 0)

    @property
    def encoder_window(self) -> int | None:
        """Most tokens the encoder can read, or None where there is no limit."""
        return self._window("max_encoder_position_embeddings")

    def _window(self, specific: str) -> int | None:
        config = self.model.config.get_text_config()
        positions = getattr(config, specific, None)
        if positions is None:
            positions = getattr(config, "max_position_embeddings", None)
        limits = (positions or 0, self.tokenizer.model_max_length or 0)
        return min((int(limit) for limit in limits if 0 < limit < _NO_LIMIT), default=None)

    def version(self) -> str:
        """Return the Hub commit, or else the SHA-256 of the weights as they are now."""
        return self.commit or weights_digest(self.model)


def load_model(model_id: str | Path, loading: Loading = Loading()) -> LoadedModel:
    """Load a causal or encoder-decoder language model and its tokenizer.

    Args:
        model_id: Hub id, or folder written by `save_pretrained`; `NAME@REVISION` names a revision
            of its own, which goes before that of `loading`.
        loading: How to load it.

    Raises:
        ScoringError: If there is no such model, it is a classifier, it has no tokenizer, or not all
            of its weights are there.
    """
    model_id, loading = resolve_revision(model_id, loading)
    device = loading.device or best_device()
    _check_device(device)
    dtype = loading.dtype or ("float32" if torch.device(device).type == "cpu" else "auto")
    _check_dtype(dtype)
    config = load_config(model_id, loading)
    commit = find_commit(model_id, loading.revision)
    options = _options(replace(loading, revision=commit or loading.revision))
    check_architecture(config, model_id)
    tokenizer = _load(AutoTokenizer, model_id, "the model has no usable tokenizer", options)
    check_vocabulary(tokenizer, model_id)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    options |= {"dtype": dtype, "output_loading_info": True}
    model, report = _load(kind, model_id, "the weights cannot be loaded", options)
    check_weights(model, report["missing_keys"], model_id)
    return LoadedModel(model.to(device), tokenizer, model_id, commit)


def load_tokenizer(model_id: str | Path, loading: Loading = Loading()) -> PreTrainedTokenizerBase:
    """Load a model's tokenizer alone.

    Raises:
        ScoringError: If there is none that can be used.
    """
    model_id, loading = resolve_revision(model_id, loading)
    problem = "the model has no usable tokenizer"
    tokenizer: PreTrainedTokenizerBase = _load(AutoTokenizer, model_id, problem, _options(loading))
    check_vocabulary(tokenizer, model_id)
    return tokenizer


def load_config(model_id: str | Path, loading: Loading = Loading()) -> PretrainedConfig:
    """Load a model's configuration: a cheap way to learn whether there is such a model.

    Raises:
        ScoringError: If there is none.
    """
    model_id, loading = resolve_revision(model_id, loading)
    config: PretrainedConfig = _load(AutoConfig, model_id, "no such model", _options(loading))
    return config


def wrap_model(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str | None = None
) -> LoadedModel:
    """Return an already loaded model with its tokenizer, on the device and in the dtype it has.

    Args:
        model: A causal or encoder-decoder language model.
        tokenizer: Its tokenizer.
        name: What results call it; None means where it was loaded from, else its class.

    Raises:
        ScoringError: If the model is not a language model, or the tokenizer has no vocabulary.
    """
    check_kinds(model, tokenizer)
    name = name or model.name_or_path or type(model).__name__
    check_vocabulary(tokenizer, name)
    return LoadedModel(model, tokenizer, name)


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


def weights_digest(model: PreTrainedModel) -> str:
    """Return the SHA-256 over names, dtypes, shapes and bytes of a model's weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        raw = tensor.detach().cpu().contiguous().view(-1).view(torch.uint8)
        digest.update(raw.numpy().data)
    return digest.hexdigest()


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


def _options(loading: Loading) -> dict[str, Any]:
    """Return what `from_pretrained` takes for weights, tokenizer and configuration alike."""
    return {"revision": loading.revision, "trust_remote_code": loading.trust_remote_code}


def _load(kind: Any, model_id: str | Path, problem: str, options: dict[str, Any]) -> Any:  # noqa: ANN401 - transformers' Auto classes share no type
    try:
        return kind.from_pretrained(str(model_id), **options)
    except Exception as error:  # what lies there may be broken in any way
        if _is_out_of_reach(error):
            raise ScoringError(
                f"{model_id}: is not in the cache of the Hub here, and the Hub cannot be asked "
                f"({'HF_HUB_OFFLINE is set' if is_offline_mode() else 'no connection'}); go online "
                "once, or name a folder written by save_pretrained"
            ) from error
        reason = excerpt(" ".join((str(error) or repr(error)).split()), _LONGEST_REASON)
        raise ScoringError(
            f"{model_id}: {problem}: {reason} "
            "(name a Hub id or a folder written by save_pretrained)"
        ) from error


def _is_out_of_reach(error: BaseException | None) -> bool:
    """Whether an error comes from a Hub that could not be asked, and not from its answer."""
    while error is not None:
        if isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled):
            return True
        if isinstance(error, HTTPError) and getattr(error, "response", None) is None:
            return True
        error = error.__cause__ or error.__context__
    return False
