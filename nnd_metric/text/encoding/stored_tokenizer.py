"""A tokenizer that needs only the library of fast tokenizers, not transformers.

It answers as the tokenizer of transformers does from which it was stored, in what the encoding of
texts asks of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import AddedToken, Tokenizer


@dataclass(frozen=True, slots=True)
class StoredTokenizer:
    """A tokenizer as it was stored.

    Attributes:
        backend_tokenizer: The tokenizer itself.
        special_tokens_map: Its named special tokens: bos_token and so on.
        chat_template: Its chat template, or None.
        name_or_path: Its name in messages.
    """

    backend_tokenizer: Tokenizer
    special_tokens_map: Mapping[str, str]
    chat_template: str | None
    name_or_path: str
    is_fast: bool = True

    def __call__(
        self,
        text: Sequence[str] = (),
        *,
        text_target: Sequence[str] = (),
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
        **_: object,
    ) -> dict[str, list[list[int]]]:
        """Return the `input_ids` of each text; those to generate are read as all others are."""
        self.backend_tokenizer.encode_special_tokens = split_special_tokens
        encoded = self.backend_tokenizer.encode_batch(
            [*(text or text_target)], add_special_tokens=add_special_tokens
        )
        return {"input_ids": [each.ids for each in encoded]}

    @property
    def bos_token(self) -> str | None:
        """The token that begins a text."""
        return self.special_tokens_map.get("bos_token")

    @property
    def bos_token_id(self) -> int | None:
        """The id of the token that begins a text."""
        return self._id("bos_token")

    @property
    def eos_token_id(self) -> int | None:
        """The id of the token that ends a text."""
        return self._id("eos_token")

    @property
    def unk_token_id(self) -> int | None:
        """The id that represents what has none."""
        return self._id("unk_token")

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Id → token that is not one of the model's own."""
        tokens: dict[int, AddedToken] = self.backend_tokenizer.get_added_tokens_decoder()
        return tokens

    def get_chat_template(self) -> str | None:
        """Return the chat template."""
        return self.chat_template

    def apply_chat_template(
        self,
        conversation: Sequence[Mapping[str, Any]],
        *,
        chat_template: str,
        tokenize: bool,  # noqa: ARG002 - no texts are tokenised here
        **arguments: Any,  # noqa: ANN401 - whatever the template takes
    ) -> str:
        """Return what a template writes."""
        from transformers.utils.chat_template_utils import (  # noqa: PLC0415 - slow
            render_jinja_template,
        )

        given: dict[str, Any] = {**self.special_tokens_map, **arguments}
        answer: Any = render_jinja_template(
            [[dict(message) for message in conversation]], chat_template=chat_template, **given
        )
        return str(answer[0][0])  # of the first conversation; behind it, places in the text

    def _id(self, name: str) -> int | None:
        token = self.special_tokens_map.get(name)
        return None if token is None else self.backend_tokenizer.token_to_id(token)
