"""Converted folders for the tests of cards: fixtures of every source, and an invented one."""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import yaml
from support.stored_folders import read_manifest, reseal, write_manifest

from nnd.converters.folder.conversion import convert

if TYPE_CHECKING:
    from support.recounts.built_in_sources import Case

PLAIN: dict[str, Any] = {
    "task": "question-answering",
    "languages": ["en"],
    "licence": "CC0-1.0",
    "redistribution": "allowed",
    "aspects": {"answer": "Is it right?"},
    "quality": {"rule": "no_error", "no_error": "good"},
    "taxonomy": {
        "wrong": {"name": "Wrong", "group": "content", "description": "It is not so."},
        "rude": {"name": "Rude", "group": None, "description": "Nobody would say that."},
    },
    "systems": {"heron": "birds/heron", "wren": None, "plover": None},
    "split": "one split",
}
"""Facts of invented sources, of whatever name."""

FACTS: dict[str, Any] = PLAIN | {
    "name": "birds",
    "pretty_name": "Birds",
    "citation": "@misc{birds,\n  title = {Birds},\n  year = {2021}\n}",
    "homepage": "https://example.org/birds",
    "files": [{"name": "birds.jsonl", "url": None, "sha256": None, "bytes": None}],
    "task_categories": ["question-answering"],
    "source_datasets": ["original"],
    "texts": "Questions, and answers of three birds.",
    "annotators": ["expert-generated"],
    "annotation_process": "An ornithologist listened.",
    "limitations": ["Birds are few."],
    "personal_information": "None is known of.",
    "expected": None,
}

CODE = """\
from nnd.converters import Annotation

def annotations(files):
    for row in files.jsonl("birds.jsonl"):
        yield Annotation(where=row.where, **row.fields)
"""


def convert_case(case: "Case", out: Path) -> Path:
    convert(case.source, origin=case.place, set_name=case.set_name, variant=case.variant, out=out)
    return out


def row(candidate_id: str, system: str, label: str | None, **fields: Any) -> dict[str, Any]:
    """One line of the birds' file."""
    return {
        "context_id": "c1",
        "context": "Who sings?",
        "inputs": {"question": "Who sings?"},
        "candidate_id": candidate_id,
        "candidate": f"text of {candidate_id}",
        "system": system,
        "aspect": "answer",
        "label": label,
    } | fields


ROWS = (row("a", "heron", "good"), row("b", "wren", "wrong"), row("c", "plover", "rude"))


def rows_of_paragraphs(n: int, *, questions: int) -> list[dict[str, Any]]:
    """A good and a wrong candidate for each of some questions about each of `n` paragraphs."""
    return [
        row(
            f"{bird}{number}.{question}",
            bird,
            label,
            context_id=f"c{number}.{question}",
            context=f"The cat {number} {question}",
            inputs={"paragraph": f"The cat {number}", "question": f"{question}"},
        )
        for number in range(n)
        for question in range(questions)
        for bird, label in (("heron", "good"), ("wren", "wrong"))
    ]


def make_folder(place: Path, rows: Sequence[Mapping[str, Any]] = ROWS, **facts: Any) -> Path:
    """Convert invented rows; by default three, which make two pairs."""
    source = place / "source"
    source.mkdir(parents=True)
    kept = {name: value for name, value in (FACTS | facts).items() if value is not ...}
    (source / "source.yaml").write_text(yaml.safe_dump(kept), encoding="utf-8")
    (source / "convert.py").write_text(CODE, encoding="utf-8")
    lines = "".join(json.dumps(each) + "\n" for each in rows)
    (source / "birds.jsonl").write_text(lines, encoding="utf-8")
    convert(source, out=place / "birds-nnd")
    return place / "birds-nnd"


def change_manifest(folder: Path, **changes: Any) -> None:
    write_manifest(folder, read_manifest(folder) | changes)


def as_published(folder: Path, place: Path) -> Path:
    """The same rows in the layout of the Hub."""
    place.mkdir()
    for name in ("pairs", "annotations", "preferences"):
        (place / name).mkdir()
        stored = "pairs" if name == "preferences" else name  # whose splits alone are read
        frame = pl.read_parquet(folder / f"{stored}.parquet")
        for (split,), rows in frame.group_by("split", maintain_order=True):
            rows.write_parquet(place / name / f"{split}-00000-of-00001.parquet")
    for name in ("human_scores.parquet", "manifest.json"):
        shutil.copy(folder / name, place / name)
    reseal(place)
    return place


def section(card: str, title: str) -> str:
    """The text under a heading, found by other means than the linter's."""
    return card.split(f"\n## {title}\n")[1].split("\n## ", maxsplit=1)[0]


def table(text: str, *header: str) -> list[list[str]]:
    """The rows of the table with this header, cells as they are written."""
    lines = text.splitlines()
    at = lines.index(f"| {' | '.join(header)} |") + 2
    rows = []
    while at < len(lines) and lines[at].startswith("|"):
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", lines[at])[1:-1]])
        at += 1
    return rows


def number(cell: str) -> int:
    return int(cell.replace(",", ""))
