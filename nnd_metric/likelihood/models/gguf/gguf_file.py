"""An open GGUF file: its keys, its tensors, and how it is refused."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nnd.metric.likelihood.models.checkpoint_files import find_file
from nnd.metric.likelihood.models.gguf.parts import find_parts, join_parts
from nnd.metric.likelihood.models.gguf.reading import parse
from nnd.schemas import ScoringError, excerpt

if TYPE_CHECKING:
    from gguf import GGUFReader

_LONGEST_VALUE = 60
_WIDTHS = ("embedding_length", "feed_forward_length", "expert_feed_forward_length")
"""Keys with a size that a tensor has."""


@dataclass(frozen=True)
class GGUFFile:
    """An open file; `format` is how its weights are quantised, e.g. `gguf-Q4_K_M`.

    `reader` has the metadata of the first of `parts`, and the tensors of all.
    """

    parts: tuple[Path, ...]
    reader: "GGUFReader"
    format: str

    @property
    def path(self) -> Path:
        """The file, or the first part of it."""
        return self.parts[0]

    @cached_property
    def architecture(self) -> str:
        """What llama.cpp calls the kind of model."""
        return str(self.field("general.architecture", ""))

    @cached_property
    def keys(self) -> list[str]:
        """The keys of the architecture, without its name."""
        space = f"{self.architecture}."
        return [key.removeprefix(space) for key in self.reader.fields if key.startswith(space)]

    @cached_property
    def tensor_names(self) -> frozenset[str]:
        """The names of its tensors."""
        return frozenset(each.name for each in self.reader.tensors)

    def field(self, name: str, default: Any) -> Any:  # noqa: ANN401 - any value of a file
        """Return the value of a key by its whole name."""
        found = self.reader.get_field(name)
        return default if found is None else found.contents()

    def key(self, name: str, default: Any) -> Any:  # noqa: ANN401 - as above
        """Return the value of a key of the architecture; of equal numbers for each layer, one.

        Raises ScoringError if the numbers differ.
        """
        value = self.field(f"{self.architecture}.{name}", default)
        if not isinstance(value, list):
            return value
        if len({*value}) != 1:
            raise self.refusal(name, "transformers has one for all layers")
        return value[0]

    def listed(self, name: str) -> list[Any] | None:
        """Return the value of a key of the architecture if it is a list."""
        value = self.field(f"{self.architecture}.{name}", None)
        return value if isinstance(value, list) else None

    def rows(self, tensor: str) -> int:
        """Return the number of rows of a tensor.

        Raises ScoringError if the file lacks it.
        """
        for each in self.reader.tensors:
            if each.name == tensor:
                return int(each.shape[-1])
        raise self.damaged(f"it lacks the tensor {tensor}")

    def refusal(self, key: str, why: str, *, whole: bool = False) -> ScoringError:
        """Return the error for a key of the architecture, or for one by its `whole` name."""
        name = key if whole else f"{self.architecture}.{key}"
        value = excerpt(str(self.field(name, "absent")), _LONGEST_VALUE)
        return unread(f"{name} = {value} ({why})", self.path)

    def damaged(self, why: str) -> ScoringError:
        """Return the error for a file that is not as llama.cpp writes it."""
        return ScoringError("model.damaged", f"the GGUF file cannot be loaded: {why}", self.path)


def unread(what: str, path: Path) -> ScoringError:
    """Return the error for a part of a file that would change the numbers, and cannot be used."""
    return ScoringError("model.gguf", f"the GGUF file cannot be read whole: {what}", path)


def open_gguf(folder: str, file: str, revision: str | None) -> GGUFFile:
    """Open a GGUF file and its other parts, downloaded if needed.

    Raises:
        ScoringError: If it is not found, or is damaged, or a part is missing.
    """
    paths, readers = list[Path](), list["GGUFReader"]()
    for part in find_parts(folder, file):
        name = f"{folder}/{part}"
        path = find_file(folder, part, revision)
        if path is None:
            raise _not_found(name, file, part)
        paths.append(path)
        readers.append(parse(path, name))
    reader = join_parts(paths, readers)
    opened = GGUFFile(tuple(paths), reader, _format(reader))
    _check_sizes(opened)
    return opened


def _check_sizes(file: GGUFFile) -> None:
    """Refuse sizes that no tensor of the file has, before a model of these sizes is built."""
    widest = max((int(size) for each in file.reader.tensors for size in each.shape), default=0)
    limits = {"block_count": len(file.tensor_names), **dict.fromkeys(_WIDTHS, widest)}
    for key, most in limits.items():
        value = file.field(f"{file.architecture}.{key}", 0)
        values = value if isinstance(value, list) else [value]
        if any(isinstance(each, int) and each > most for each in values):
            stated = excerpt(str(value), _LONGEST_VALUE)
            raise file.damaged(f"{key} is {stated}, and its tensors allow {most:,} at most")


def _not_found(name: str, file: str, part: str) -> ScoringError:
    if part == file:
        remedy = "name a file here, or ORG/NAME/FILE.gguf on the Hub"
        return ScoringError("file.not-found", "file not found", name, remedy)
    remedy = "put all parts into one folder, or join them with llama-gguf-split --merge"
    return ScoringError("file.not-found", f"this part of {file} is not found", name, remedy)


def _format(reader: "GGUFReader") -> str:
    import gguf  # noqa: PLC0415 - slow, and needed only here

    kind = reader.get_field("general.file_type")
    known = {each.value: each.name for each in gguf.LlamaFileType}
    name = known.get(int(kind.contents()), "unknown") if kind else "unknown"
    return f"gguf-{name.removeprefix('MOSTLY_').removeprefix('ALL_')}"
