"""What the real files hold where people made the errors on purpose, read with nothing of ours.

A row is mostly a pair: a group of its own, of two texts without a system.
"""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from support.recounts.raw_files import Text


class Row(NamedTuple):
    """A row that is a pair: its own key, the aspect, the two texts, and what the worse one has."""

    key: str
    aspect: str
    high: str
    low: str
    category: str


def bump(folder: Path) -> list[Text]:
    found = []
    for task, column in ((1, "corrected_error_type"), (2, "error_type")):
        for row in json.loads((folder / f"data/task{task}_dataset.json").read_text("utf-8")):
            kind = row[column].removesuffix(" Error")
            texts = row["reference_summary"], row["edited_summary"]
            pair = Row(f"task{task}/{row['id']}", "faithfulness", *texts, kind)
            found += _texts(pair, {"article": row["article"]}, str(row["article_id"]))
    return found


def summedits(folder: Path) -> list[Text]:
    return [
        Text(
            _digest(row["doc"]),
            None,
            row["summary"],
            {"consistency": () if row["label"] else tuple(row["edit_types"] or ["none"])},
            {"document": row["doc"]},
            row["id"],
            split=row["split"],
            category=path.stem.removeprefix("summedits_"),
            group=row["id"].rpartition("_")[0],
        )
        for path in sorted((folder / "data/summedits").glob("*.json"))
        for row in json.loads(path.read_text("utf-8"))
    ]


def llmbar(folder: Path) -> list[Text]:
    found = []
    for path in sorted((folder / "Dataset/LLMBar").rglob("dataset.json")):
        part = path.parent.name
        for number, row in enumerate(json.loads(path.read_text("utf-8")), start=1):
            first, second = row["output_1"], row["output_2"]
            texts = (first, second) if row["label"] == 1 else (second, first)
            pair = Row(f"{part}/{number}", "instruction_following", *texts, part)
            sides = ("first", "second") if row["label"] == 1 else ("second", "first")
            found += _texts(pair, {"instruction": row["input"]}, _digest(row["input"]), sides)
    return found


def demetr(folder: Path) -> list[Text]:
    found = []
    with zipfile.ZipFile(folder / "demetr.zip") as archive:
        for member in archive.namelist():
            for row in json.loads(archive.read(member)):
                name = row["pert_name"]
                texts = row["mt_sent"], row["pert_sent"]
                if name != "base_id35_reference" and row["pert_check"] and texts[0] != texts[1]:
                    pair = Row(f"{name}/{row['id']}", "translation", *texts, name)
                    source = row["src_sent"]
                    sides = _texts(pair, {"source": source}, _digest(source))
                    found += [side._replace(references=(row["eng_sent"],)) for side in sides]
    return found


def _texts(
    pair: Row, inputs: Mapping[str, str], context: str, sides: tuple[str, str] = ("high", "low")
) -> list[Text]:
    """The better text and the worse one; `sides` ends their keys."""
    marks: list[tuple[str, tuple[str, ...]]] = [(pair.high, ()), (pair.low, (pair.category,))]
    return [
        Text(
            context,
            None,
            text,
            {pair.aspect: mark},
            inputs,
            f"{pair.key}/{side}",
            group=pair.key,
        )
        for side, (text, mark) in zip(sides, marks, strict=True)
    ]


def _digest(text: str) -> str:
    raw = text.encode()
    return hashlib.sha256(b"%d:%b" % (len(raw), raw)).hexdigest()[:16]
