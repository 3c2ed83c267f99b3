"""What the real files of sources of 2022 to 2025 hold, read with nothing of ours.

Their judged systems are mostly public models.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from support.recounts.raw_files import Text


def fib(folder: Path) -> list[Text]:
    found: dict[tuple[str, str], Text] = {}
    for kind, mark in (("fib", ("inconsistent",)), ("factually_consistent-model_generated", ())):
        for path in (folder / "multiple_choice-dataset/xsum" / kind).iterdir():
            system = path.name.split("using_")[1].split("_distractors")[0]
            for row in _json_lines(path):
                other = row["list_choices"][1 - row["lbl"]]
                for name, text, marks in (
                    (system, other, mark),
                    ("reference", row["correct_choice"], ()),
                ):
                    found[row["id"], name] = Text(
                        row["id"],
                        name,
                        text.strip(),
                        {"consistency": marks},
                        {"article": row["input"]},
                    )
    return list(found.values())


def fib_edits(folder: Path) -> list[Text]:
    found = []
    (path,) = (folder / "multiple_choice-dataset/xsum/fir").iterdir()
    for row in _json_lines(path):
        texts = row["correct_choice"], row["list_choices"][1 - row["lbl"]]
        names = [f"{row['id']}/{_digest(text)}" for text in texts]
        found += [
            Text(
                row["id"],
                None,
                text,
                {"consistency": mark},
                {"article": row["input"]},
                name,
                group=_digest(*sorted(names)),
            )
            for text, name, mark in zip(texts, names, ((), ("inconsistent",)), strict=True)
        ]
    return found


def _digest(*texts: str) -> str:
    parts = [text.encode() for text in texts]
    return hashlib.sha256(b"".join(b"%d:%b" % (len(raw), raw) for raw in parts)).hexdigest()[:16]


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
