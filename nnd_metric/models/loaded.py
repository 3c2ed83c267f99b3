"""A model in memory, with its tokenizer, and what may be asked of it."""

from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from nnd.metric.models.adapted import adapter_digest, base_digest, virtual_tokens
from nnd.metric.models.digests import weights_digest

# Positions that the decoder of a family counts as its own and cannot read.
_LOST_POSITIONS = {"prophetnet": 2}

_NO_LIMIT = 1_000_000  # tokenizers that know no limit say 1e30


@dataclass(frozen=True, slots=True)
class AdaptedFrom:
    """Where an adapted model comes from.

    Attributes:
        base: Hub id or folder of the base model.
        adapter: Hub id or folder of the adapter; of a model that was handed over, PEFT's name.
        commit: The Hub commit of the adapter, or None.
    """

    base: str
    adapter: str
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model with its tokenizer.

    Attributes:
        model: The network.
        tokenizer: Its tokenizer.
        name: What results call it: Hub id, folder, or a name given by the user.
        commit: The Hub commit its weights were read from, or None.
        adapted: Where base and adapter come from, or None of a model without an adapter.
        quantised: The format of quantised weights (`formats.format_of`), or None.
        digest: The SHA-256 of the base model's weights where they do not change any more, or that
            of the checkpoint's files where the weights in memory are not those of the files or
            cannot be read; else None.
        stamp: What changed whenever the files did that the weights were read from
            (`Checkpoint.stamp`); None of a Hub commit, and of what was handed over.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    commit: str | None = None
    adapted: AdaptedFrom | None = None
    quantised: str | None = None
    digest: str | None = None
    stamp: str | None = None

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
    def reads_images(self) -> bool:
        """Whether the model is one of images and texts."""
        return getattr(self.model.config, "vision_config", None) is not None

    @property
    def dtype(self) -> str:
        """Precision of the weights, e.g. `float32`."""
        return str(self.model.dtype).removeprefix("torch.")

    @property
    def device(self) -> torch.device:
        """Where inputs go: weights may be elsewhere, or on several devices."""
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
        window = min((int(limit) for limit in limits if 0 < limit < _NO_LIMIT), default=None)
        return window and window - self.virtual_tokens

    @property
    def virtual_tokens(self) -> int:
        """How many trained vectors an adapter puts before every text; 0 where there are none."""
        return virtual_tokens(self.model)

    def version(self) -> str:
        """Return the Hub commit, or else the SHA-256 of the weights as they are now.

        Of an adapted model it is `BASE+ADAPTER`, each a commit or a SHA-256.
        """
        base = self.commit or self.digest or self.base_digest()
        if self.adapted is None:
            return base
        return f"{base}+{self.adapted.commit or adapter_digest(self.model)}"

    def base_digest(self) -> str:
        """Return the SHA-256 of the weights as they are now, without those of adapters."""
        return weights_digest(self.model) if self.adapted is None else base_digest(self.model)

    def signed(self, version: str) -> str:
        """Return `NAME@VERSION`, short, for a signature; of an adapted model for both its parts.

        Args:
            version: What `version` returned, or what the caller calls this state of the weights.
        """
        parts = version.split("+")
        names = [self.adapted.base, self.adapted.adapter] if self.adapted else [self.name]
        if len(parts) != len(names):
            return f"{'+'.join(names)}@{version[:7]}"
        return "+".join(f"{name}@{part[:7]}" for name, part in zip(names, parts, strict=True))


@dataclass(frozen=True, slots=True)
class Skeleton(LoadedModel):
    """A model whose weights have shapes and no numbers: for what is known before it is loaded.

    Attributes:
        place: The device that it would be loaded on.
    """

    place: str = "cpu"

    @property
    def device(self) -> torch.device:
        """Where inputs would go."""
        return torch.device(self.place)
