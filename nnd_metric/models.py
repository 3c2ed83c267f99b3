"""Models: loaded from the Hub or a folder, or handed over already loaded."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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

from .errors import ScoringError

# Positions that the decoder of a family counts as its own and cannot read.
_LOST_POSITIONS = {"prophetnet": 2}

_NO_LIMIT = 1_000_000  # tokenizers that know no limit say 1e30


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
    def dtype(self) -> str:
        """Precision of the weights, e.g. `float32`."""
        return str(self.model.dtype).removeprefix("torch.")

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


def load_model(
    model_id: str | Path,
    *,
    revision: str | None = None,
    dtype: str | None = None,
    device: str | None = None,
    trust_remote_code: bool = False,
) -> LoadedModel:
    """Load a causal or encoder-decoder language model and its tokenizer.

    Args:
        model_id: Hub id, or folder written by `save_pretrained`.
        revision: Branch, tag or commit on the Hub; None means main.
        dtype: A torch dtype by name; None means float32 on CPU, the checkpoint's elsewhere.
        device: A torch device; None means the first of cuda, mps, cpu that there is.
        trust_remote_code: Whether code that lies beside the weights may run.

    Raises:
        ScoringError: If there is no such model, or it has no tokenizer.
    """
    device = device or best_device()
    if dtype is None:
        dtype = "float32" if torch.device(device).type == "cpu" else "auto"
    _check_choices(dtype, device)
    options: dict[str, Any] = {"revision": revision, "trust_remote_code": trust_remote_code}
    config = _load(AutoConfig, model_id, "no such model", options)
    tokenizer = _load(AutoTokenizer, model_id, "the model has no usable tokenizer", options)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    model = _load(kind, model_id, "the weights cannot be loaded", {**options, "dtype": dtype})
    return LoadedModel(model.to(device), tokenizer, str(model_id), _commit(config))


def wrap_model(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str | None = None
) -> LoadedModel:
    """Return an already loaded model with its tokenizer, on the device and in the dtype it has.

    Args:
        model: A causal or encoder-decoder language model.
        tokenizer: Its tokenizer.
        name: What results call it; None means where it was loaded from, else its class.
    """
    return LoadedModel(model, tokenizer, name or model.name_or_path or type(model).__name__)


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


def weights_digest(model: PreTrainedModel) -> str:
    """Return the SHA-256 over names, dtypes, shapes and bytes of a model's weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        raw = tensor.detach().cpu().contiguous().view(-1).view(torch.uint8)
        digest.update(raw.numpy().data)
    return digest.hexdigest()


def _check_choices(dtype: str, device: str) -> None:
    if dtype != "auto" and not isinstance(getattr(torch, dtype, None), torch.dtype):
        raise ScoringError(f'"{dtype}" is no torch dtype; choose float32, bfloat16 or float16')
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ScoringError(f'device "{device}" cannot be used: {reason}') from error


def _load(kind: Any, model_id: str | Path, problem: str, options: dict[str, Any]) -> Any:  # noqa: ANN401 - transformers' Auto classes share no type
    try:
        return kind.from_pretrained(str(model_id), **options)
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), repr(error))
        raise ScoringError(
            f"{model_id}: {problem}: {reason.strip()} "
            "(name a Hub id or a folder written by save_pretrained)"
        ) from error


def _commit(config: PretrainedConfig) -> str | None:
    commit = getattr(config, "_commit_hash", None)
    return None if commit is None else str(commit)
