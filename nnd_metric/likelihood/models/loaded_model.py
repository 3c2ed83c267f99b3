"""A model in memory with its tokenizer, and their properties."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from nnd.metric.likelihood.models.adapted_model import (
    adapter_digest,
    base_digest,
    base_tensors,
    virtual_tokens,
)
from nnd.metric.likelihood.models.adapters import Adapter
from nnd.metric.likelihood.models.checkpoint_files import find_file
from nnd.metric.likelihood.models.fitness import is_masked_kind
from nnd.metric.likelihood.models.memory_changes import (
    MemoryChanges,
    is_plain_layer,
    memory_changes,
)
from nnd.metric.likelihood.models.model_digests import (
    Mark,
    edited,
    marks_of,
    tensors_digest,
    weights_digest,
)

# Positions that the decoder of a family reserves and cannot read.
_LOST_POSITIONS = {"prophetnet": 2}

_WINDOWS = {"mpt": "max_seq_len"}
"""Architectures of transformers that do not call their window `max_position_embeddings`."""

_OTHER_WINDOWS = (
    "n_positions",
    "max_seq_len",
    "max_seq_length",
    "max_sequence_length",
    "seq_length",
    "n_ctx",
    "context_length",
    "ctx_len",
)
"""Names that custom code has for it."""

# What says in a model's name or card that it was, or was not, trained on chats.
_BASE_NAME = re.compile(r"(^|[-_.])base([-_.]|$)|^gemma.*-pt$", re.IGNORECASE)
_TUNED_NAME = re.compile(r"instruct|chat|(^|[-_.])it([-_.]|$)", re.IGNORECASE)
_BASE_CARD = re.compile(
    r"(is|are|contains) (a|the)( [^\s.]+){0,3} base( language)? models?\b"
    r"|contains the base \S+( \S+)? model\b"
    r"|not recommend using base (language )?models"
    r"|not (been )?instruction[- ]tuned",
    re.IGNORECASE,
)

_NO_LIMIT = 1_000_000  # tokenizers without a limit say 1e30


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model with its tokenizer.

    Attributes:
        model: The network.
        tokenizer: Its tokenizer.
        name: Its name in the results: Hub id, folder, or a name given by the user.
        commit: The Hub commit its weights were read from, or None.
        adapted: The adapter with its base, or None without one.
        quantised: The format of quantised weights (`format_of`), or None.
        digest: The SHA-256 of the base model's weights if they do not change any more, or that of
            the checkpoint's files if the weights in memory differ from those of the files or cannot
            be read; else None.
        files: Digest of the files that the weights were read from (`Checkpoint.digest`); None for a
            Hub commit and for a wrapped model.
        notes: What loading found that readers of its numbers must know, a sentence each.
        marks: Name → mark of the base model's tensors that the commit or the digest stands for.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    commit: str | None = None
    adapted: Adapter | None = None
    quantised: str | None = None
    digest: str | None = None
    files: str | None = None
    notes: tuple[str, ...] = ()
    marks: Mapping[str, Mark] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether a decoder reads the context through an encoder."""
        return bool(self.model.config.is_encoder_decoder)

    @property
    def is_masked(self) -> bool:
        """Whether the model predicts hidden tokens from those on both sides."""
        return is_masked_kind(type(self.model).__name__, self.model.config)

    @property
    def is_stand_in(self) -> bool:
        """Whether the checkpoint names custom code, and a class of transformers was used instead.

        A class with the same name may compute something else from the same weights.
        """
        named = getattr(self.model.config, "auto_map", None)
        return bool(named) and type(self.model).__module__.startswith("transformers.")

    @property
    def reads_images(self) -> bool:
        """Whether the model is one of images and texts."""
        return getattr(self.model.config, "vision_config", None) is not None

    @property
    def is_compressed(self) -> bool:
        """Whether weights in memory are quantised; those of GGUF files are unpacked."""
        return self.quantised is not None and not self.quantised.startswith("gguf")

    @property
    def dtype(self) -> str:
        """Precision of the weights, e.g. `float32`."""
        return str(self.model.dtype).removeprefix("torch.")

    @property
    def device(self) -> torch.device:
        """The device of inputs; weights may be elsewhere, or on several devices."""
        embeddings: Any = self.model.get_input_embeddings()
        placed = getattr(getattr(embeddings, "_hf_hook", None), "execution_device", None)
        return self.model.device if placed is None else torch.device(placed)

    @property
    def parameters(self) -> int:
        """Number of weights, embeddings included; tied ones count once."""
        return int(self.model.num_parameters())

    @property
    def weight_bytes(self) -> int:
        """Memory that the weights take; tied ones count once."""
        return sum(part.nbytes for part in self.model.parameters())

    @property
    def decoder_window(self) -> int | None:
        """Largest number of tokens that the decoder can read, or None without a limit."""
        window = self._window("max_decoder_position_embeddings")
        lost = _LOST_POSITIONS.get(self.model.config.model_type, 0)
        return window and window - lost

    @property
    def encoder_window(self) -> int | None:
        """Largest number of tokens that the encoder can read, or None without a limit."""
        return self._window("max_encoder_position_embeddings")

    def _window(self, specific: str) -> int | None:
        config = self._text_config("encoder" if "encoder" in specific else "decoder")
        named = (getattr(config, name, None) for name in (specific, *_window_names(config)))
        positions = next((each for each in named if isinstance(each, int)), None)
        limits = ((positions or 0) - self._skipped_positions, self.tokenizer.model_max_length or 0)
        window = min((int(limit) for limit in limits if 0 < limit < _NO_LIMIT), default=None)
        return window and window - self.virtual_tokens

    def _text_config(self, side: str) -> PretrainedConfig:
        """Return the configuration of the text model, or that of a side made of its own model."""
        config: PretrainedConfig = self.model.config
        try:
            return config.get_text_config()
        except ValueError:  # there are several
            return getattr(config, side, config)

    @property
    def _skipped_positions(self) -> int:
        """Number of positions before the first token: RoBERTa counts from that of padding."""
        if not self.is_masked:
            return 0
        padding = [
            getattr(module, "padding_idx", None)
            for name, module in self.model.named_modules()
            if name.endswith("position_embeddings")
        ]
        return max((place + 1 for place in padding if place is not None), default=0)

    @property
    def virtual_tokens(self) -> int:
        """Number of trained vectors that an adapter puts before every text."""
        return virtual_tokens(self.model)

    def says_base(self) -> str | None:
        """Return what says that the model was not trained on chats: "name", "card", or None."""
        last = self.name.rstrip("/").rpartition("/")[2]
        if _BASE_NAME.search(last) and not _TUNED_NAME.search(last):
            return "name"
        path = find_file(self.model.name_or_path or self.name, "README.md", self.commit)
        card = "" if path is None else path.read_text(encoding="utf-8", errors="replace")
        return "card" if _BASE_CARD.search(card) else None

    def version(self) -> str:
        """Return the Hub commit, or else the SHA-256 of the weights as they are now.

        For an adapted model it is `BASE+ADAPTER`, each a commit or a SHA-256. If the model was
        changed in memory (`changes`), or weights edited since they were loaded, the SHA-256 of the
        base covers that, too.
        """
        base = self.commit or self.digest or self.base_digest()
        if self.marks:
            tensors = self.own_tensors()
            if names := edited(self.marks, tensors):
                kept = {name: tensors[name] for name in names if name in tensors}
                base = tensors_digest(kept, {"loaded": base, "edited": names})
        if changes := self.changes():
            base = changes.digest(base)
        if self.adapted is None:
            return base
        return f"{base}+{self.adapted.commit or adapter_digest(self.model)}"

    def own_tensors(self) -> dict[str, torch.Tensor]:
        """Return the base model's tensors; of a quantised one, those of its plain layers.

        Formats repack theirs at first use, which changes their bits and not the model.
        """
        if self.adapted is not None:
            return {} if self.is_compressed else base_tensors(self.model)
        state: dict[str, torch.Tensor] = dict(self.model.state_dict())
        if not self.is_compressed:
            return state
        plain = {name for name, module in self.model.named_modules() if is_plain_layer(module)}
        return {name: tensor for name, tensor in state.items() if name.rpartition(".")[0] in plain}

    def marked(self) -> "LoadedModel":
        """Return the model with the marks of its weights as they are, if others name them."""
        named = self.commit or self.digest
        return replace(self, marks=marks_of(self.own_tensors())) if named else self

    def changes(self) -> MemoryChanges:
        """Return how the model differs now from that of its files, beside its weights."""
        return memory_changes(self.model, self.device.type)

    def base_digest(self) -> str:
        """Return the SHA-256 of the weights as they are now, without those of adapters."""
        return weights_digest(self.model) if self.adapted is None else base_digest(self.model)

    def signed(self, version: str) -> str:
        """Return a short `NAME@VERSION` for a signature; for an adapted model, of both parts.

        The version is the result of `version`, or the caller's name for this state of the weights.
        """
        parts = version.split("+")
        names = [self.adapted.base, self.adapted.name] if self.adapted else [self.name]
        if len(parts) != len(names):
            return f"{'+'.join(names)}@{version[:7]}"
        return "+".join(f"{name}@{part[:7]}" for name, part in zip(names, parts, strict=True))


@dataclass(frozen=True, slots=True)
class Skeleton(LoadedModel):
    """A model whose weights have shapes but no numbers, for estimates before loading.

    `place` is the device that the model would be loaded on.
    """

    place: str = "cpu"

    @property
    def device(self) -> torch.device:
        """The device of inputs."""
        return torch.device(self.place)


def _window_names(config: PretrainedConfig) -> tuple[str, ...]:
    """Return the names that a config's largest number of tokens may have."""
    usual, own = "max_position_embeddings", _WINDOWS.get(config.model_type)
    if type(config).__module__.startswith("transformers."):
        return (own,) if own else (usual,)  # other fields may be left over, as T5's n_positions
    return (usual, *_OTHER_WINDOWS)
