"""The outlines of models that runs scored, for estimates without torch and transformers.

An outline is a fact in the cache folder, under a digest of the model's files and of how it was
loaded; its tokenizer is a file there, as the library of fast tokenizers writes it.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from nnd.metric.likelihood import Loading, plan_begun, plan_packed
from nnd.metric.run.cost.measured_speeds import ENOUGH_S
from nnd.metric.run.cost.model_outline import ModelOutline, OutlinedModel
from nnd.metric.run.result_keys import state_key
from nnd.metric.text import (
    Encoded,
    Reading,
    RequestEncoder,
    StoredTokenizer,
    TextModel,
    language_tokens,
)
from nnd.schemas import (
    NNDError,
    Record,
    add_fact,
    cache_folder,
    forget_oldest,
    read_facts,
    write_whole,
)

if TYPE_CHECKING:
    from nnd.metric.likelihood import LoadedModel

_FILE: Final = "model_outlines.json"
_MOST_BYTES: Final = 2**28
"""Most bytes of all stored tokenizers; the newest are kept."""

_TEXTS: Final[Sequence[Reading]] = (
    ("", "A b."),
    ("The cat sat.", "on the mat"),
    ("Où ?\n2 <s>", " 10 % </s>x"),
)
"""Requests that must have the same tokens from a stored tokenizer as from the model's own."""


@dataclass(frozen=True, slots=True)
class StoredModel(Record):
    """What is stored of a model that a run scored.

    Attributes:
        outline: What the cost of its work depends on.
        model_type: Its kind, as its configuration says.
        end_tokens: The ids with which its texts end.
        start_token: The id with which its decoder begins; None without an encoder.
        encoder_window: Most tokens that its encoder reads.
        decoder_window: Most tokens that its decoder reads.
        base: What says that it was not trained on chats.
        tokenizer: SHA-256 of the file of its tokenizer.
        special_tokens: Its named special tokens.
        chat_template: Its chat template.
    """

    outline: ModelOutline
    model_type: str
    end_tokens: tuple[int, ...]
    start_token: int | None
    encoder_window: int | None
    decoder_window: int | None
    base: str | None
    tokenizer: str
    special_tokens: Mapping[str, str]
    chat_template: str | None


@dataclass(frozen=True, slots=True)
class _StoredText:
    """A stored model that reads texts (`TextModel`)."""

    name: str
    stored: StoredModel
    tokenizer: Any  # a `StoredTokenizer`, typed as those of transformers
    is_masked: bool = False

    @property
    def model(self) -> SimpleNamespace:
        """The part of its network that reading texts depends on: some of its configuration."""
        config = SimpleNamespace(
            model_type=self.stored.model_type,
            eos_token_id=[*self.stored.end_tokens],
            decoder_start_token_id=self.stored.start_token,
        )
        return SimpleNamespace(config=config)

    @property
    def is_encoder_decoder(self) -> bool:
        return self.stored.outline.flops.kind == "encoder-decoder"

    @property
    def encoder_window(self) -> int | None:
        return self.stored.encoder_window

    @property
    def decoder_window(self) -> int | None:
        return self.stored.decoder_window

    def says_base(self) -> str | None:
        return self.stored.base


def stored_outline(name: str, model: object, loading: Loading) -> OutlinedModel | None:
    """Return the outline of a model whose files a run has scored, or None."""
    key = _key(model, loading)
    fact = None if key is None else read_facts(_FILE).get(key)
    if fact is None:
        return None
    with suppress(OSError, NNDError, ValueError):  # at worst, it is made again
        stored = StoredModel.from_dict(fact)
        text = _StoredText(name, stored, _read_tokenizer(stored, name))
        plan = plan_packed if text.is_encoder_decoder else plan_begun
        return OutlinedModel(text, stored.outline, plan)
    return None


def keep_outline(model: object, loading: Loading, loaded: "LoadedModel", seconds: float) -> None:
    """Store the outline of a model that has worked for some seconds.

    Models with an adapter, compressed weights or custom code are left out, and so are masked ones,
    those that are given languages, and those whose tokenizer gives other tokens without
    transformers.
    """
    key = _key(model, loading) if seconds >= ENOUGH_S and _is_plain(loaded) else None
    known = None if key is None else read_facts(_FILE).get(key)
    if key is None or (known is not None and _place(known["tokenizer"]).is_file()):
        return
    stored, content = _stored(loaded)
    text = _StoredText(loaded.name, stored, _tokenizer(stored, content, loaded.name))
    if not _read_alike(loaded, text):
        return
    with suppress(OSError):  # at worst, nothing is stored
        place = _place(stored.tokenizer)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(place, content)
        forget_oldest(place.parent, _MOST_BYTES)
        add_fact(_FILE, key, stored.to_dict())


def _key(model: object, loading: Loading) -> str | None:
    """Return a digest of a model's state, and the number of threads, on which its speed depends."""
    state = state_key(model, loading)
    return None if state is None else f"{state} {os.environ.get('OMP_NUM_THREADS', '')}"


def _is_plain(loaded: "LoadedModel") -> bool:
    template = getattr(loaded.tokenizer, "chat_template", None)
    return (
        not loaded.is_compressed
        and loaded.adapted is None
        and not loaded.is_masked
        and loaded.tokenizer.is_fast
        and isinstance(template, str | None)
        and (not loaded.is_encoder_decoder or language_tokens(loaded.tokenizer) is None)
    )


def _stored(loaded: "LoadedModel") -> tuple[StoredModel, str]:
    """Return what is stored of a model, and the content of its tokenizer's file."""
    from nnd.metric.run.cost.outlining import outline_of  # noqa: PLC0415 - imports torch

    tokenizer, config = loaded.tokenizer, loaded.model.config
    content = tokenizer.backend_tokenizer.to_str()
    ends = getattr(config, "eos_token_id", None)
    several = ends if isinstance(ends, list) else [ends]
    stored = StoredModel(
        outline=outline_of(loaded).outline,
        model_type=config.model_type,
        end_tokens=tuple(end for end in several if end is not None),
        start_token=getattr(config, "decoder_start_token_id", None),
        encoder_window=loaded.encoder_window,
        decoder_window=loaded.decoder_window,
        base=loaded.says_base(),
        tokenizer=hashlib.sha256(content.encode()).hexdigest(),
        special_tokens=tokenizer.special_tokens_map,
        chat_template=tokenizer.chat_template,
    )
    return stored, content


def _read_alike(one: TextModel, other: TextModel) -> bool:
    """Whether two models read some texts alike, under protocols that differ in tokens."""

    def read(model: TextModel, protocol: str) -> list[tuple[Encoded, ...]]:
        return RequestEncoder(model, protocol, " ").encode(_TEXTS)

    with suppress(NNDError):  # raised by one of them, perhaps
        return all(read(one, name) == read(other, name) for name in ("native", "laban2022"))
    return False


def _read_tokenizer(stored: StoredModel, name: str) -> StoredTokenizer:
    content = _place(stored.tokenizer).read_text(encoding="utf-8")
    if hashlib.sha256(content.encode()).hexdigest() != stored.tokenizer:
        raise ValueError
    return _tokenizer(stored, content, name)


def _tokenizer(stored: StoredModel, content: str, name: str) -> StoredTokenizer:
    from tokenizers import Tokenizer  # noqa: PLC0415 - not needed where nothing is stored

    backend = Tokenizer.from_str(content)
    backend.no_truncation()
    backend.no_padding()
    return StoredTokenizer(backend, stored.special_tokens, stored.chat_template, name)


def _place(digest: str) -> Path:
    return cache_folder() / "tokenizers" / f"{digest}.json"
