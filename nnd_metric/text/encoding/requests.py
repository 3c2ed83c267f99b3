"""Requests to a model, as text and as token ids, and what encoding needs of the model."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:  # requests are also read where nothing is scored
    from transformers import PreTrainedTokenizerBase

Ids: TypeAlias = tuple[int, ...]

Tokenizer: TypeAlias = "PreTrainedTokenizerBase"
"""A tokenizer of transformers, which is slow to import, or one that answers as it does."""


@dataclass(frozen=True, slots=True)
class ChatContext:
    """A context as a chat template writes it, up to the candidate.

    Attributes:
        pieces: The template's own texts, the words of an instruction included, and its contents,
            in alternation; the first and the last are the template's own.
        longest_first: Whether a cut takes tokens from the longest content first, because all are
            parts of one turn; otherwise the turns at one end lose theirs first.
    """

    pieces: tuple[str, ...]
    longest_first: bool = False


PlainContext: TypeAlias = str | tuple[str, ...]
"""Text, all of it data; or the pieces of a rendered template: literal, data, literal, and so on."""


class PairContext(tuple[str, ...]):
    """The pieces of a context that is the first text of a masked model's pair.

    The candidate is the second text.
    """

    __slots__ = ()


class Languages(NamedTuple):
    """What a multilingual model is given: the codes of its tokenizer.

    Attributes:
        source: That of the context; None if the model is given the target's only.
        target: That of the candidate.
        token: What stands before the source to tell the target; "" if codes stand around texts.
    """

    source: str | None
    target: str
    token: str = ""

    def __str__(self) -> str:
        return self.target if self.source is None else f"{self.source}>{self.target}"


@dataclass(frozen=True, slots=True, order=True)
class ToldContext:
    """A context, or None, with the languages that the model is given of it and of its candidate."""

    text: PlainContext | None
    languages: Languages


Context: TypeAlias = PlainContext | ChatContext | ToldContext

Request: TypeAlias = tuple[Context | None, str]
"""A context and a candidate; None stands for no context."""

Reading: TypeAlias = tuple[Context, str]
"""A context as the model reads it, and a candidate."""

Keep: TypeAlias = Literal["beginning", "end"]
"""Which part of a context remains after a cut."""


def is_alone(context: Context | None) -> bool:
    """Whether a request has no context."""
    return context is None or (isinstance(context, ToldContext) and context.text is None)


def left_out(context: Context | None) -> ToldContext | None:
    """Return what a request has in place of its context without it: at most its languages."""
    return replace(context, text=None) if isinstance(context, ToldContext) else None


def languages_of(context: Context | None) -> Languages | None:
    """Return the languages that the model is given of a request."""
    return context.languages if isinstance(context, ToldContext) else None


class Prefix(NamedTuple):
    """A context in token ids with its special tokens, cut to fit."""

    ids: Ids
    truncated: bool


class Encoded(NamedTuple):
    """One request in token ids.

    Attributes:
        context: Input of the encoder; for decoder-only models, the tokens before `inputs`.
        inputs: Input of the decoder, or of a masked model, at the positions that predict `targets`.
        targets: The ids to predict, one per input.
        scored: Which targets count.
        truncated: Whether the context was cut to fit the window.
        segments: The segment of each token read, 0 or 1; empty if all are in segment 0.
    """

    context: Ids
    inputs: Ids
    targets: Ids
    scored: tuple[bool, ...]
    truncated: bool
    segments: Ids = ()

    @property
    def length(self) -> int:
        """How many tokens the model reads."""
        return len(self.context) + len(self.inputs)


class TextModel(Protocol):
    """A model that reads texts: `LoadedModel`, or anything like it."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def model(self) -> Any:  # noqa: ANN401 - a network of transformers; its config is read
        """The network, whose config says how it starts and ends a text."""

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer."""

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether it reads the context with an encoder."""

    @property
    def is_masked(self) -> bool:
        """Whether it predicts hidden tokens from those on both sides."""

    @property
    def encoder_window(self) -> int | None:
        """Most tokens that its encoder reads, or None if there is no limit."""

    @property
    def decoder_window(self) -> int | None:
        """Most tokens that its decoder reads, or None if there is no limit."""

    def says_base(self) -> str | None:
        """Return what says that it was not trained on chats: its "name", its "card", or None."""
