"""Files of llama.cpp (`.gguf`): config, tokenizer and weights in one, unpacked by transformers.

To transformers, config, tokenizer and weights are three files, and it parses the metadata of each,
with a vocabulary in it. Here it is given the metadata that were parsed when the file was opened.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

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
        """Let transformers use this reader for the file, and find the names of tensors once."""
        import gguf  # noqa: PLC0415 - slow, and needed only here

        parse, names = gguf.GGUFReader, cache(gguf.get_tensor_name_map)

        def read(path: str) -> "GGUFReader":
            return self.reader if self.path.samefile(path) else parse(path)

        with replaced(gguf, GGUFReader=read, get_tensor_name_map=names):
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


def _parse(path: Path) -> GGUFFile:
    import gguf  # noqa: PLC0415 - slow, and needed only here

    class PlainReader(gguf.GGUFReader):
        """Reads the file as a plain array: slices of numpy's memory maps take 3 times as long."""

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, np.asarray(value) if name == "data" else value)

    try:
        reader = PlainReader(path)
        kind = reader.get_field("general.file_type")
        name = gguf.LlamaFileType(int(kind.contents())).name if kind else "unknown"
    except Exception as error:  # damaged files may raise anything
        raise ScoringError(
            "model.damaged",
            "the GGUF file is cut or damaged, or of an unknown version of the format",
            path,
        ) from error
    return GGUFFile(path, reader, f"gguf-{name.removeprefix('MOSTLY_').removeprefix('ALL_')}")
