"""Files of llama.cpp (`.gguf`): config, tokenizer and weights in one, unpacked by transformers.

To transformers, config, tokenizer and weights are three files, and it parses the metadata of each,
with a vocabulary in it. Here it is given the metadata that were parsed when the file was opened.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nnd.metric.likelihood.models.checkpoint_files import find_file
from nnd.metric.likelihood.models.replacement import replaced
from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from gguf import GGUFReader

_MAGIC = b"GGUF"


@dataclass(frozen=True)
class GGUFFile:
    """An open GGUF file; `format` is how its weights are quantised, e.g. `gguf-Q4_K_M`."""

    path: Path
    reader: "GGUFReader"
    format: str

    @contextmanager
    def parsed_once(self) -> Iterator[None]:
        """Let transformers use this reader for the file, and find the names of tensors once.

        It also reads the texts of a vocabulary in a tenth of the time.
        """
        import gguf  # noqa: PLC0415 - slow, and needed only here
        from transformers import modeling_gguf_pytorch_utils as conversion  # noqa: PLC0415 - as above

        parse, names = gguf.GGUFReader, cache(gguf.get_tensor_name_map)
        value_of: Any = vars(conversion)["_gguf_parse_value"]

        def read(path: str) -> "GGUFReader":
            return self.reader if self.path.samefile(path) else parse(path)

        def quick_value(part: npt.NDArray[Any], types: list[gguf.GGUFValueType]) -> Any:  # noqa: ANN401 - any value of a file
            is_text = types[-1] == gguf.GGUFValueType.STRING
            return part.tobytes().decode() if is_text else value_of(part, types)

        with (
            replaced(gguf, GGUFReader=read, get_tensor_name_map=names),
            replaced(conversion, _gguf_parse_value=quick_value),
        ):
            yield


def open_gguf(folder: str, file: str, revision: str | None) -> GGUFFile:
    """Open a GGUF file, downloaded if needed."""
    name = f"{folder}/{file}"
    path = find_file(folder, file, revision)
    if path is None:
        raise ScoringError(
            "file.not-found",
            "file not found",
            name,
            "name a file here, or ORG/NAME/FILE.gguf on the Hub",
        )
    with path.open("rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise ScoringError(
                "model.damaged",
                "not a GGUF file, because it does not begin with the letters GGUF",
                name,
            )
    return _parse(path)


@cache
def _reader_class() -> "type[GGUFReader]":
    from gguf import GGUFReader, GGUFValueType  # noqa: PLC0415 - as above

    class PlainReader(GGUFReader):
        """Reads the file as a plain array: slices of numpy's memory maps take 3 times as long."""

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, np.asarray(value) if name == "data" else value)

        def _get_field_parts(
            self, orig_offs: int, raw_type: int
        ) -> tuple[int, list[Any], list[int], list[GGUFValueType]]:
            """Read lists, a vocabulary among them, in a fifth of the time."""
            if raw_type != GGUFValueType.ARRAY:
                return super()._get_field_parts(orig_offs, raw_type)
            parts = [self._get(orig_offs, np.uint32), self._get(orig_offs + 4, np.uint64)]
            kind, count = GGUFValueType(parts[0][0]), int(parts[1][0])
            offset = orig_offs + sum(part.nbytes for part in parts)
            types = [GGUFValueType.ARRAY, *[kind][:count]]
            if kind in self.gguf_scalar_to_np:
                values = self._get(offset, self.gguf_scalar_to_np[kind], count)
                parts.extend(values.reshape(-1, 1))
                return offset + values.nbytes - orig_offs, parts, [*range(2, len(parts))], types
            if kind != GGUFValueType.STRING:
                return super()._get_field_parts(orig_offs, raw_type)
            number = np.dtype(np.uint64).newbyteorder(self.byte_order)
            for _ in range(count):
                length = self.data[offset : offset + 8].view(number)
                end = offset + 8 + int(length[0])
                parts.extend((length, self.data[offset + 8 : end]))
                offset = end
            return offset - orig_offs, parts, [*range(3, len(parts), 2)], types

    return PlainReader


def _parse(path: Path) -> GGUFFile:
    import gguf  # noqa: PLC0415 - slow, and needed only here

    try:
        reader = _reader_class()(path)
        kind = reader.get_field("general.file_type")
        name = gguf.LlamaFileType(int(kind.contents())).name if kind else "unknown"
    except Exception as error:  # damaged files may raise anything
        raise ScoringError(
            "model.damaged",
            "the GGUF file is cut or damaged, or of an unknown version of the format",
            path,
        ) from error
    return GGUFFile(path, reader, f"gguf-{name.removeprefix('MOSTLY_').removeprefix('ALL_')}")
