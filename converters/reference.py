"""What the `references` generator of a converter yields: a text that is a good answer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A text that metrics such as ROUGE compare the candidates of a context with.

    A human text that was judged like the output of a system is a candidate, not a reference.

    Attributes:
        where: File and line that it was read from, for messages.
        context_id: Key of its context, as the annotations have it.
        reference: The text as the source has it.
        split: Split of its context.
        origin: human, or synthetic: and what wrote it.
    """

    where: str
    context_id: str
    reference: str
    split: str = "test"
    origin: str = "human"
