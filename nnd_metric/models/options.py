"""How models are loaded: the options that travel together."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loading:
    """How a model is loaded.

    Attributes:
        revision: Branch, tag or commit on the Hub; None means main.
        dtype: A torch dtype by name; None means float32 on CPU, the checkpoint's elsewhere.
        device: A torch device; None means the first available of cuda, mps, cpu.
        trust_remote_code: Whether custom code shipped with the checkpoint may run.
    """

    revision: str | None = None
    dtype: str | None = None
    device: str | None = None
    trust_remote_code: bool = False
