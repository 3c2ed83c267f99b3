"""Weights in formats that are not read: recognised by the names of files, and said in words."""

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from nnd.schemas import ScoringError

_READ: Final = re.compile(
    r"(?!consolidated)[^/]*\.safetensors(\.index\.json)?|pytorch_model[^/]*\.bin(\.index\.json)?"
    r"|adapter_model\.bin"
)
"""Names of weights that transformers reads, in the folder itself."""

_PATIENCE_S: Final = 10.0
_DEEPEST: Final = 2

_OLD: Final = (
    "convert it with transformers 4: from_pretrained(FOLDER, {}=True), then save_pretrained"
)
ORIGINAL: Final = "name the model that it was made from, with weights in *.safetensors"


class _Format(NamedTuple):
    """What is said of weights, names of their files, and what to do instead."""

    problem: str
    files: re.Pattern[str]
    remedy: str


_FORMATS: Final = (
    _Format(
        "weights of TensorFlow are not read",
        re.compile(r".*tf_model\.h5(\.index\.json)?"),
        _OLD.format("from_tf"),
    ),
    _Format(
        "weights of Flax are not read",
        re.compile(r".*flax_model[^/]*\.msgpack(\.index\.json)?"),
        _OLD.format("from_flax"),
    ),
    _Format(
        "a GGUF file has to be named itself",
        re.compile(r".*\.gguf"),
        "name {place}/{file}, or another one there",
    ),
    _Format("weights of ONNX are not read", re.compile(r".*\.onnx"), ORIGINAL),
    _Format("weights of MLX are not read", re.compile(r"weights(\.\d+)?\.npz"), ORIGINAL),
    _Format(
        "weights in Mistral's or Meta's own form are not read",
        re.compile(r"(original/)?consolidated[^/]*\.(safetensors|pth)"),
        "name the model in the form of transformers, with config.json and model*.safetensors",
    ),
    _Format(
        "weights of OpenVINO are not read", re.compile(r".*openvino_[^/]*\.(bin|xml)"), ORIGINAL
    ),
    _Format("weights of CTranslate2 are not read", re.compile(r"model\.bin"), ORIGINAL),
)


def check_folder(folder: Path) -> None:
    """Raise ScoringError if a folder has weights, and none of them in a format that is read."""
    _check(_names(folder), str(folder))


def check_repository(name: str, revision: str | None) -> None:
    """Raise the error of `check_folder` for a folder, or for a repository if the Hub answers."""
    if Path(name).is_dir():
        check_folder(Path(name))
        return
    from huggingface_hub import HfApi, constants  # noqa: PLC0415 - slow to import
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]  # noqa: PLC0415

    if constants.is_offline_mode():
        return
    names: list[str] = []
    with suppress(HTTPError, OSError, ValueError):  # what failed before is said
        info = HfApi().model_info(name, revision=revision, timeout=_PATIENCE_S)
        names = [each.rfilename for each in info.siblings or ()]
    _check(names, name)


def _names(folder: Path) -> list[str]:
    paths = [path for depth in range(_DEEPEST) for path in folder.glob("*/" * depth + "*")]
    return sorted(path.relative_to(folder).as_posix() for path in paths if path.is_file())


def _check(names: Collection[str], place: str) -> None:
    if any(_READ.fullmatch(each) for each in names):
        return
    for known in _FORMATS:
        for file in names:
            if known.files.fullmatch(file):
                raise ScoringError(
                    "model.other-format",
                    f"{known.problem} ({file})",
                    place,
                    known.remedy.format(place=place, file=file),
                )
