"""The folder of a training: its states before, during and after training.

During training, `checkpoints/` holds Trainer's checkpoints and settings.json with the settings of
the training. At the end, the model, its tokenizer and training.json replace that folder.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nnd.schemas import NNDError, write_whole

TRAINING = "training.json"
CHECKPOINTS = "checkpoints"
_SETTINGS = "settings.json"
_SHOWN = 3


def check_place(out: Path, *, resume: bool) -> None:
    """Check that a training can begin or resume in a folder.

    Raises:
        NNDError: If it is a file, or holds a finished training or something else; if it holds an
            interrupted training and `resume` is false, or none and `resume` is true.
    """
    if out.exists() and not out.is_dir():
        raise NNDError(f"{out}: is a file; name a folder with --out")
    names = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    if TRAINING in names:
        raise NNDError(
            f"{out}: this folder holds a finished training; name another folder with --out"
        )
    interrupted = (out / CHECKPOINTS / _SETTINGS).is_file()
    if resume and not interrupted:
        raise NNDError(f"{out}: no interrupted training found; leave out --resume")
    if interrupted and not resume:
        raise NNDError(
            f"{out}: this folder holds an interrupted training; continue it with --resume, or "
            "remove the folder"
        )
    if names and not interrupted:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        raise NNDError(
            f"{out}: contains files that nnd did not write: "
            f"{', '.join(names[:_SHOWN])}{more}; name another folder with --out"
        )


def begin(out: Path, settings: Mapping[str, Any], *, resume: bool) -> str | None:
    """Store the settings of a training; return the checkpoint to resume from, if any.

    Raises:
        NNDError: If a resumed training has other settings than at its start.
    """
    file = out / CHECKPOINTS / _SETTINGS
    text = json.dumps(settings, indent=2, sort_keys=True)
    if not resume:
        write_whole(file, text)
        return None
    started, now = json.loads(file.read_text(encoding="utf-8")), json.loads(text)
    for name in sorted({*started, *now}):
        if started.get(name) != now.get(name):
            raise NNDError(
                f"{out}: the training was started with {name} {_brief(started.get(name))}, not "
                f"{_brief(now.get(name))}; resume it with the same settings, or train into "
                "another folder"
            )
    whole = file.parent.glob("checkpoint-*/trainer_state.json")  # the last file of a checkpoint
    checkpoints = {int(path.parent.name.partition("-")[2]): path.parent for path in whole}
    return str(checkpoints[max(checkpoints)]) if checkpoints else None


def finish(out: Path, save: Callable[[Path], None], document: Mapping[str, Any]) -> None:
    """Move the model to its place, then write the document that marks the training as finished.

    Args:
        out: The folder of the training.
        save: Writes model and tokenizer into a folder.
        document: Content of training.json.
    """
    fresh = out / CHECKPOINTS / "final"
    save(fresh)
    for path in sorted(fresh.iterdir()):
        path.replace(out / path.name)
    text = json.dumps(document, indent=2, ensure_ascii=False)
    write_whole(out / TRAINING, f"{text}\n")
    shutil.rmtree(out / CHECKPOINTS)


def _brief(value: object) -> str:
    return "nothing" if value is None else json.dumps(value)
