"""The options for loading models."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loading:
    """How a model is loaded.

    Attributes:
        revision: Branch, tag or commit on the Hub; None means main.
        dtype: A torch dtype by name; None means float32 on CPU, the checkpoint's elsewhere.
        device: A torch device; None means the first available of cuda, mps, cpu.
        trust_remote_code: Whether custom code shipped with the checkpoint may run.
        adapter: Hub id or folder of a PEFT adapter, NAME or NAME@REVISION, to attach to the model;
            None attaches none. A model id may also be that of an adapter, which is attached to the
            base that it names.
        quantise: `bnb-int8` or `bnb-nf4`: quantise the weights as they are loaded, with
            bitsandbytes; None loads them unchanged.
        device_map: `auto`: spread the weights over all devices and the machine's memory, with
            accelerate; None puts them all on `device`.
    """

    revision: str | None = None
    dtype: str | None = None
    device: str | None = None
    trust_remote_code: bool = False
    adapter: str | None = None
    quantise: str | None = None
    device_map: str | None = None

    def called(self, name: str) -> str:
        """Return the name in the results of a model that is loaded in this way."""
        return "+".join(filter(None, (name, self.adapter, self.quantise)))
