"""The folder of a training: its states before, during and after training.

During training, `checkpoints/` holds Trainer's checkpoints and settings.json: the settings of the
training, and the files that it wrote, with their digests. At the end, the model, its tokenizer and
training.json replace that folder.

A file is listed before it is moved to its place, so that everything a kill leaves behind is known.
Only listed files that are unchanged are ever removed or replaced.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from nnd.metric.train.history import HISTORY
from nnd.schemas import (
    NNDError,
    fingerprint,
    has_locks,
    listed,
    put_in_place,
    read_document,
    replace_file,
    workplace,
    write_document,
)

TRAINING = "training.json"
CHECKPOINTS = "checkpoints"
_SETTINGS = f"{CHECKPOINTS}/settings.json"
_LOCK = f"{CHECKPOINTS}/.lock"
_STEP = re.compile(rf"{CHECKPOINTS}/checkpoint-(\d+)/.+")
_CHECKED_ELSEWHERE = ("before", "after", HISTORY)
_WORKPLACE = re.compile(r"\..+\.[0-9a-f]{8}")  # removed by the next run that needs the same place
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class TrainingPlace:
    """The folder of a training while it runs.

    `staging` is a folder in it for files that are being written; `files` gives the name of each
    file that this training wrote → its size and digest.
    """

    out: Path
    staging: Path
    settings: Mapping[str, Any]
    files: dict[str, dict[str, Any]]

    def checkpoint(self) -> str | None:
        """Return the last whole checkpoint; remove what else an interrupted training left."""
        gone = {_step(name) for name in self.files if not (self.out / name).is_file()}
        last = max({*map(_step, self.files)} - gone, default=-1)
        self._remove([name for name in self.files if _step(name) != last or last < 0])
        return None if last < 0 else str(self.out / CHECKPOINTS / f"checkpoint-{last}")

    def keep_checkpoint(self, step: int) -> None:
        """Move a checkpoint from the staging folder to its place, and remove the one before."""
        before = [*self.files]
        name = f"checkpoint-{step}"
        self._add(self.staging / name, f"{CHECKPOINTS}/{name}/")
        self._remove(before)

    def finish(self, fresh: Path, document: Mapping[str, Any]) -> None:
        """Move the model to its place, then the document that marks the training as finished."""
        before = [*self.files]
        write_document(fresh, document, document=TRAINING)
        self._add(fresh, "")
        self._remove(before)
        (self.out / _SETTINGS).unlink()

    def store(self) -> None:
        """Write the settings and the list of files."""
        with replace_file(self.out / _SETTINGS) as fresh:
            facts = {"settings": self.settings, "files": self.files}
            write_document(fresh.parent, facts, document=fresh.name)

    def _add(self, fresh: Path, prefix: str) -> None:
        """Move the files of a folder to their places, training.json last."""
        paths = sorted(
            (path for path in fresh.rglob("*") if path.is_file()),
            key=lambda path: (path.name == TRAINING, path),
        )
        names = {path: f"{prefix}{path.relative_to(fresh).as_posix()}" for path in paths}
        held = [name for name in names.values() if os.path.lexists(self.out / name)]
        if held:
            raise NNDError(
                "place.foreign-files",
                f"contains files that nnd did not write: {listed(held, _SHOWN)}",
                self.out,
                "move them away, and continue with --resume",
            )
        self.files.update((name, fingerprint(path)) for path, name in names.items())
        self.store()
        for path, name in names.items():
            (self.out / name).parent.mkdir(parents=True, exist_ok=True)
            put_in_place(path, self.out / name)

    def _remove(self, names: Iterable[str]) -> None:
        """Remove files that are unchanged, and folders that are then empty."""
        for name in names:
            path = self.out / name
            if _is_ours(path, self.files.pop(name)):
                path.unlink()
            with contextlib.suppress(OSError):  # not empty, or missing
                for folder in [*Path(name).parents][:-1]:
                    (self.out / folder).rmdir()


def is_interrupted(out: Path) -> bool:
    """Whether a folder holds a training that began and did not end, which can be resumed."""
    return (out / _SETTINGS).is_file()


def check_place(out: Path, *, resume: bool) -> None:
    """Check that a training can begin or resume in a folder.

    Raises:
        NNDError: If it is a file, or holds a finished training or something else; if another
            training is running in it; if it holds an interrupted training and `resume` is false,
            or none and `resume` is true; if files of an interrupted training have changed.
    """
    if (out / _LOCK).is_file():
        with _locked(out):
            pass
    _check(out, resume=resume)


@contextlib.contextmanager
def training_place(
    out: Path, settings: Mapping[str, Any], *, resume: bool
) -> Iterator[TrainingPlace]:
    """Yield the folder of a training, which no other training can use at the same time.

    Raises NNDError as `check_place` does, and if a resumed training has other settings than at its
    start.
    """
    (out / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
    with _locked(out):
        stored = _check(out, resume=resume)
        text = json.dumps(settings, sort_keys=True)
        if resume:
            _check_same(out, stored["settings"], json.loads(text))
        with workplace(out / CHECKPOINTS / "staging") as staging:
            place = TrainingPlace(out, staging, json.loads(text), stored["files"])
            place.store()
            yield place
        if (out / TRAINING).is_file():
            (out / _LOCK).unlink()
            with contextlib.suppress(OSError):  # it holds files of others
                (out / CHECKPOINTS).rmdir()


@contextlib.contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Hold the lock of a training, which the system releases if the process is killed."""
    lock = FileLock(out / _LOCK, timeout=0)
    try:
        if has_locks(out / _LOCK):  # else as in `workplace`: without
            lock.acquire()
    except Timeout as error:
        raise NNDError(
            "place.holds-training",
            "another training is running in this folder",
            out,
            "wait until it ends, or name another folder with --out",
        ) from error
    try:
        yield
    finally:
        lock.release()


def _check(out: Path, *, resume: bool) -> dict[str, Any]:
    """Check a folder as `check_place` does; return the content of settings.json, if any."""
    if out.exists() and not out.is_dir():
        raise NNDError("place.wrong-kind", "is a file", out)
    if (out / TRAINING).exists():
        raise NNDError("place.holds-a-run", "this folder holds a finished training", out)
    interrupted = is_interrupted(out)
    if resume and not interrupted:
        raise NNDError(
            "place.holds-training", "no interrupted training found", out, "leave out --resume"
        )
    if interrupted and not resume:
        raise NNDError("place.holds-training", "this folder holds an interrupted training", out)
    stored = read_document(out / _SETTINGS) if interrupted else {"files": {}}
    held = _foreign(out, stored["files"], _CHECKED_ELSEWHERE if interrupted else ())
    if held:
        changed = ", or that were changed since" if interrupted else ""
        raise NNDError(
            "place.foreign-files",
            f"contains files that nnd did not write{changed}: {listed(held, _SHOWN)}",
            out,
        )
    return stored


def _foreign(out: Path, files: Mapping[str, Any], others: Iterable[str]) -> list[str]:
    """Return the names of all files but those that this training wrote."""
    foreign = []
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out)
        if name.parts[0] in others or any(map(_WORKPLACE.fullmatch, name.parts)):
            continue
        if path.is_dir() and not path.is_symlink():
            continue
        own = name.as_posix() in (_SETTINGS, _LOCK)
        if not own and not _is_ours(path, files.get(name.as_posix())):
            foreign.append(name.as_posix())
    return foreign


def _is_ours(path: Path, known: Mapping[str, Any] | None) -> bool:
    return not path.is_symlink() and path.is_file() and fingerprint(path) == known


def _check_same(out: Path, started: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for name in sorted({*started, *now}):
        if started.get(name) != now.get(name):
            before, wanted = (
                json.dumps(of[name]) if of.get(name) is not None else "nothing"
                for of in (started, now)
            )
            raise NNDError(
                "place.holds-training",
                f"the training was started with {name} {before}, not {wanted}",
                out,
                "resume it with the same settings, or train into another folder",
            )


def _step(name: str) -> int:
    """Return the step of the checkpoint that a file belongs to, or -1."""
    found = _STEP.fullmatch(name)
    return int(found[1]) if found else -1
