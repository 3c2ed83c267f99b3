"""What is asked of a model, as text and as token ids."""

from typing import Literal, NamedTuple, TypeAlias

Ids: TypeAlias = tuple[int, ...]

Context: TypeAlias = str | tuple[str, ...]
"""Text, all of it data; or the pieces of a rendered template: literal, data, literal, and so on."""

Request: TypeAlias = tuple[Context, str]
"""A context and a candidate."""

Keep: TypeAlias = Literal["beginning", "end"]
"""Which part of a context survives a cut."""


class Encoded(NamedTuple):
    """One request in token ids.

    Attributes:
        context: What the encoder reads; for decoder-only models, what stands before `inputs`.
        inputs: What the decoder reads at the positions that predict `targets`.
        targets: The ids to predict, one per input.
        scored: Which targets count.
        truncated: Whether the context was cut to fit the window.
    """

    context: Ids
    inputs: Ids
    targets: Ids
    scored: tuple[bool, ...]
    truncated: bool
