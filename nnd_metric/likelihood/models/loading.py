"""The options for loading models."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loading:
    """How a model is loaded.

    Attributes:
        revision: Branch, tag or commit, for models that are named without one. None means main.
        dtype: float32, bfloat16 or float16. None means float32 on CPU, the checkpoint's elsewhere.
        device: cpu, cuda, cuda:1 or mps. None means the first available of cuda, mps, cpu.
        trust_remote_code: Whether to run custom code shipped with the checkpoint.
        adapter: Hub id, NAME or NAME@REVISION, or folder of a PEFT adapter to attach; an adapter
            given as a model is attached to the base that it names.
        quantise: bnb-int8 or bnb-nf4: quantise the weights as they are loaded.
        device_map: auto: spread the weights over all devices and the machine's memory.
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
