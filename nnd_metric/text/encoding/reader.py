"""What encoding needs of a model, whatever computes its likelihoods."""

from typing import Any, Protocol

from transformers import PreTrainedTokenizerBase


class Reader(Protocol):
    """A model that reads texts: `LoadedModel`, or anything like it."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def model(self) -> Any:  # noqa: ANN401 - a network of transformers; its config is read
        """The network, whose config says how it starts and ends a text."""

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Its tokenizer."""

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether it reads the context with an encoder."""

    @property
    def encoder_window(self) -> int | None:
        """Most tokens that its encoder reads, or None if there is no limit."""

    @property
    def decoder_window(self) -> int | None:
        """Most tokens that its decoder reads, or None if there is no limit."""

    def says_base(self) -> str | None:
        """Return what says that it was not trained on chats: its "name", its "card", or None."""
