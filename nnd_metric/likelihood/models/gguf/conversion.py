"""transformers' conversion of a GGUF file, with what it leaves out.

To transformers, config, tokenizer and weights are three files, and it parses the metadata of each,
with a vocabulary in it. Here it is given what was parsed when the file was opened. It drops tensors
that it has no place for, and has random numbers for biases that the file does not have.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from nnd.metric.likelihood.models.gguf.config import read_config
from nnd.metric.likelihood.models.gguf.gguf_file import GGUFFile, unread
from nnd.metric.likelihood.models.gguf.rope import FACTORS, is_turned
from nnd.metric.likelihood.models.replacement import replaced
from nnd.schemas import listed

if TYPE_CHECKING:
    from gguf import GGUFReader, GGUFValueType
    from transformers import PreTrainedModel

_OTHER_NAMES = {"mistral": "llama"}
"""Model types whose tensors llama.cpp names as those of another."""
_HEADS = ("num_attention_heads", "num_key_value_heads")
_OPTIONAL_BIASES = frozenset({"llama", "qwen2", "qwen3", "gemma2", "gemma3"})
"""Architectures that llama.cpp reads with and without biases."""


@contextmanager
def converted_whole(file: GGUFFile) -> Iterator[None]:
    """Let transformers use this file's reader, and convert all its tensors or refuse it.

    It also finds the names of tensors once, and reads the texts of a vocabulary in a tenth of the
    time.
    """
    import gguf  # noqa: PLC0415 - slow, and needed only here
    from transformers import modeling_gguf_pytorch_utils as conversion  # noqa: PLC0415 - as above

    parse, convert = gguf.GGUFReader, vars(conversion)["load_gguf_checkpoint"]
    value_of: Any = vars(conversion)["_gguf_parse_value"]

    def read(path: str) -> "GGUFReader":
        return file.reader if file.path.samefile(path) else parse(path)

    def quick_value(part: npt.NDArray[Any], types: list["GGUFValueType"]) -> Any:  # noqa: ANN401 - any value of a file
        is_text = types[-1] == gguf.GGUFValueType.STRING
        return part.tobytes().decode() if is_text else value_of(part, types)

    def whole(*args: Any, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - of transformers
        asks_config = not options.get("return_tensors")
        if asks_config and (config := read_config(file)) is not None:
            return {"config": config.to_dict()}
        found: dict[str, Any] = convert(*args, **options)
        if not asks_config and file.architecture in _OPTIONAL_BIASES:
            _add_biases(found["tensors"], options["model_to_load"])
        return found

    with ExitStack() as stack:
        for thing, members in (
            (gguf, {"GGUFReader": read, "get_tensor_name_map": cache(gguf.get_tensor_name_map)}),
            (
                conversion,
                {
                    "_gguf_parse_value": quick_value,
                    "load_gguf_checkpoint": whole,
                    "get_gguf_hf_weights_map": _checked(file, conversion.get_gguf_hf_weights_map),
                },
            ),
        ):
            stack.enter_context(replaced(thing, **members))
        yield


def _checked(file: GGUFFile, find_names: Any) -> Any:  # noqa: ANN401 - of transformers
    """Refuse a file with tensors that the model has no place for."""

    def find(
        model: "PreTrainedModel",
        processor: Any,  # noqa: ANN401 - of transformers
        model_type: str | None = None,
        num_layers: int | None = None,
        qual_name: str = "",
    ) -> dict[str, str]:
        kind = model_type or _OTHER_NAMES.get(model.config.model_type)
        names: dict[str, str] = find_names(model, processor, kind, num_layers, qual_name)
        if not qual_name:
            _check_places(file, names)
            # It orders rows by the numbers of the file, which may be absent, or one for each layer.
            own = {name: getattr(model.config, name, None) for name in _HEADS}
            processor.config.update({name: each for name, each in own.items() if each is not None})
        return names

    return find


def _check_places(file: GGUFFile, places: dict[str, str]) -> None:
    left = [
        each.name
        for each in file.reader.tensors
        # The weights of experts have places without an ending.
        if each.name not in places and each.name.removesuffix(".weight") not in places
        if each.name not in FACTORS or not is_turned(file)
    ]
    if left:
        tensors = "tensor" if len(left) == 1 else "tensors"
        raise unread(f"the model has no place for the {tensors} {listed(left, 3)}", file.path)


def _add_biases(tensors: dict[str, Any], model: "PreTrainedModel") -> None:
    """Add biases of zero of a kind that no layer of the file has: to llama.cpp there are none."""
    there = {_of_any_layer(name) for name in tensors}
    for name, own in model.named_parameters():
        if name.endswith(".bias") and _of_any_layer(name) not in there:
            weight = tensors.get(f"{name.removesuffix('bias')}weight")
            if weight is not None:
                tensors[name] = weight.new_zeros(own.shape)


def _of_any_layer(name: str) -> str:
    return re.sub(r"\.\d+\.", ".*.", name)
