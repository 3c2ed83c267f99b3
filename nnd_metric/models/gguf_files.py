"""Files of llama.cpp (`.gguf`): config, tokenizer and weights in one, unpacked by transformers."""

from pathlib import Path

from nnd.metric.models.formats import check_library
from nnd.metric.models.reading import find_file
from nnd.schemas import ScoringError

_SUFFIX, _MAGIC = ".gguf", b"GGUF"
_HUB_ID_PARTS = 2


def split_gguf(model_id: str) -> tuple[str, str | None]:
    """Return the folder or Hub id that a GGUF file is in, and its name there.

    Returns:
        The name unchanged, and None, if it is not a GGUF file.
    """
    path = Path(model_id)
    if path.suffix.lower() != _SUFFIX or path.is_dir():
        return model_id, None
    parts = model_id.split("/")
    if path.exists() or len(parts) <= _HUB_ID_PARTS or path.is_absolute():
        return str(path.parent), path.name
    return "/".join(parts[:_HUB_ID_PARTS]), "/".join(parts[_HUB_ID_PARTS:])


def check_gguf(folder: str, file: str, revision: str | None) -> Path:
    """Return the path of a GGUF file, downloaded if needed.

    Raises:
        ScoringError: If the file is missing or not a GGUF file, or the library gguf is missing.
    """
    name = f"{folder}/{file}"
    path = find_file(folder, file, revision)
    if path is None:
        raise ScoringError(
            f"{name}: file not found; name a file here, or ORG/NAME/FILE.gguf on the Hub"
        )
    with path.open("rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise ScoringError(
                f"{name}: not a GGUF file, because it does not begin with the letters GGUF; "
                "download it again, or name another file"
            )
    check_library("gguf", f"{name}: a GGUF file")
    return path


def gguf_format(path: Path) -> str:
    """Return how a file's weights are quantised, e.g. `gguf-Q4_K_M`.

    Raises:
        ScoringError: If the file is damaged.
    """
    import gguf  # noqa: PLC0415 - an extra

    try:
        kind = gguf.GGUFReader(path).get_field("general.file_type")
        name = gguf.LlamaFileType(int(kind.contents())).name if kind else "unknown"
    except Exception as error:  # damaged files may raise anything
        raise ScoringError(
            f"{path}: the GGUF file is cut or damaged, or of an unknown version of the format; "
            "download it again, or name another file"
        ) from error
    return f"gguf-{name.removeprefix('MOSTLY_').removeprefix('ALL_')}"
