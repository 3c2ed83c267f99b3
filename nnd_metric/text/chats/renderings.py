"""How contexts were rendered, as results store it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from nnd.metric.text.chats.chat_options import ChatOptions
from nnd.schemas import SPARSE, Count, Limit, Name, Record


@dataclass(frozen=True, slots=True)
class RequestEnds(Record):
    """Both ends of a context as it was read.

    Attributes:
        begin: The first characters.
        end: The last, right before the candidate.
    """

    begin: str
    end: str


@dataclass(frozen=True, slots=True)
class Rendering(Record):
    """How contexts were rendered: as the turns of a chat, or as plain text.

    Attributes:
        template: The first 8 digits of the SHA-256 of template, arguments and system text; or
            `none` for plain text, where the fields after `reason` are absent.
        asked: What the user asked for.
        reason: What the model reads, and why.
        source: `tokenizer`, or the name of the file that the template is from.
        system: Text of the system turn, whether given or brought by the template; None if the
            template writes none.
        arguments: What the template was given beside the turns, chosen by nnd or by the user.
        date: The day that the template was given as today's; None if it does not ask.
        bos: Whether a chat begins with the tokenizer's token for that; never twice.
        end: What the template writes behind the candidate, such as the end of the turn.
        end_scored: Whether that is scored with the candidate.
        example: In older results: the first context.
        neutralised: Contexts whose text spells a token that only the template may write; it was
            read as text.
    """

    template: Annotated[str, Limit("pattern", "^(none|[0-9a-f]{8})$")]
    asked: ChatOptions
    reason: Name
    source: Annotated[Name | None, SPARSE] = None
    system: str | None = None
    arguments: Annotated[Mapping[str, Any] | None, SPARSE] = None
    date: str | None = None
    bos: Annotated[bool | None, SPARSE] = None
    end: Annotated[str | None, SPARSE] = None
    end_scored: Annotated[bool | None, SPARSE] = None
    example: Annotated[RequestEnds | None, SPARSE] = None
    neutralised: Annotated[Count | None, SPARSE] = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        stored = Record.to_dict(self)
        if self.source is None:
            del stored["system"], stored["date"]
        return stored
