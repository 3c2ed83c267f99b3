"""From requests to what a model reads: contexts as chats, and texts as token ids."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nnd.metric.text.chats.chat_template import ChatTemplate
from nnd.metric.text.encoding.assembly import encode
from nnd.metric.text.encoding.boundary import Known
from nnd.metric.text.encoding.masked_rows import encode_masked
from nnd.metric.text.encoding.protocols import find_protocol
from nnd.metric.text.encoding.requests import Encoded, Keep, Reading, Request, TextModel
from nnd.schemas import collector_paused


@dataclass(frozen=True, slots=True)
class RequestEncoder:
    """How a model reads requests.

    Attributes:
        model: The model, of which no weights are needed.
        protocol: Name of the protocol.
        separator: Text between context and candidate, unless the model is an encoder-decoder.
        chat: The chat template that contexts are rendered by; None means plain text.
        keep: Which part of a context remains after a cut; None means the family's default.
        tokenised: Tokens of the candidates so far.
    """

    model: TextModel
    protocol: str
    separator: str
    chat: ChatTemplate | None = None
    keep: Keep | None = None
    tokenised: Known = field(default_factory=dict, repr=False, compare=False)

    @collector_paused()
    def as_read(self, requests: Sequence[Request]) -> list[Reading]:
        """Return requests with their contexts as the model reads them: as chats, if it does."""
        given: list[Reading] = [
            ("" if context is None else context, candidate) for context, candidate in requests
        ]
        if self.chat is None:
            return given
        chats = self.chat.render([context for context, _ in given])
        return [(chat, candidate) for chat, (_, candidate) in zip(chats, given, strict=True)]

    def encode(self, readings: Sequence[Reading]) -> list[tuple[Encoded, ...]]:
        """Return the rows that the model reads for each request."""
        protocol = find_protocol(self.protocol)
        if protocol.hides is not None:
            return encode_masked(self.model, protocol, readings, self.separator, self.keep)
        rows = encode(
            self.model,
            protocol,
            readings,
            separator=self.separator,
            keep=self.keep,
            known=self.tokenised,
        )
        return [(row,) for row in rows]
