"""A GGUF file in parts, as `llama-gguf-split` writes them: NAME-00001-of-00003.gguf.

The first part has the metadata, and each has some of the tensors.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from nnd.schemas import ScoringError

if TYPE_CHECKING:
    from gguf import GGUFReader

_PART = re.compile(r"(?P<name>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
MERGE = "join the parts with llama-gguf-split --merge, and name the result"


def find_parts(folder: str, file: str) -> list[str]:
    """Return the names of all parts of a file; of a file that is not in parts, its own.

    Raises ScoringError if the file is a part, but not the first.
    """
    match = _PART.fullmatch(file)
    if match is None:
        return [file]
    count, end = int(match["count"]), Path(file).suffix
    names = [f"{match['name']}-{n:05d}-of-{count:05d}{end}" for n in range(1, count + 1)]
    if file != next(iter(names), file):
        raise ScoringError(
            "model.damaged",
            "a part of a GGUF file, and not the first, which says what the model is",
            f"{folder}/{file}",
            f"name {folder}/{names[0]}",
        )
    return names or [file]


def join_parts(paths: list[Path], readers: list["GGUFReader"]) -> "GGUFReader":
    """Return the first reader with the tensors of all.

    Raises ScoringError if a file is not the part that its name says, or tensors are missing.
    """
    first, count = readers[0], len(readers)
    said = _number(first, "split.count", 1)
    if said != count and (said > 1 or count > 1):
        problem = f"it is the first of {said} parts, but its name says {count}"
        raise ScoringError("model.damaged", problem, paths[0], MERGE)
    for number, (path, reader) in enumerate(zip(paths, readers, strict=True)):
        if _number(reader, "split.no", 0) != number:
            problem = f"it is not part {number + 1} of {count}, which its name says"
            raise ScoringError("model.damaged", problem, path, MERGE)
    first.tensors = [each for reader in readers for each in reader.tensors]
    tensors = _number(first, "split.tensors.count", len(first.tensors))
    if tensors != len(first.tensors):
        problem = f"its parts have {len(first.tensors)} tensors, and not {tensors}"
        raise ScoringError("model.damaged", problem, paths[0], MERGE)
    return first


def _number(reader: "GGUFReader", key: str, default: int) -> int:
    field = reader.get_field(key)
    return default if field is None else int(field.contents())
