"""What the real files of every source hold, read with nothing of ours.

Each function reads one kind of file by `csv`, `json` or `str.split`.
"""

import csv
import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple


class Text(NamedTuple):
    """A candidate, and what was said of it.

    Attributes:
        context: Key of its context.
        system: Who wrote it; `|` between several, None if the file does not say.
        text: What they wrote.
        marks: Aspect → what was said: labels of errors, a score, or ratings; None if nothing.
        inputs: The parts of its context.
        name: Its own key, where it has one.
        split: Where the source has several.
        category: Of the context, where the source has some.
        references: What the row says is a good answer to its context.
        group: What it was judged in, where only those of one group are compared.
    """

    context: str
    system: str | None
    text: str
    marks: Mapping[str, Any]
    inputs: Mapping[str, str]
    name: str | None = None
    split: str = "test"
    category: str | None = None
    references: tuple[str, ...] = ()
    group: str | None = None

    @property
    def id(self) -> str:
        return self.name or f"{self.context}/{self.system}"

    @property
    def systems(self) -> list[str]:
        return [] if self.system is None else self.system.split("|")


def quiz_design(folder: Path) -> list[Text]:
    groups = _json_lines(folder / "quiz_design_groups.jsonl")
    return [
        Text(
            str(group["group_id"]),
            question["model_name"],
            question["question"],
            {"question": () if question["reason"] == "No error" else (question["reason"],)},
            {"paragraph": group["context"], "answer": group["answer_span"]},
        )
        for group in groups
        for question in group["questions"]
    ]


def challenge300(name: str, *, quoted: bool = True) -> Callable[[Path], list[Text]]:
    def read(folder: Path) -> list[Text]:
        text = (folder / name).read_text(encoding="utf-8")
        quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=quoting)
        divider = header.index("Credits->")
        # The credits follow the answers under the same names, or as `credit-NAME`.
        credited = [column.removeprefix("credit-") for column in header[divider + 1 :]]
        found = []
        for row in rows:
            given = dict(zip(credited, row[divider + 1 :], strict=True))
            for system, answer in zip(header[3:divider], row[3:divider], strict=True):
                credit = float(given[system]) if given.get(system) else None
                system_now = "Jurassic-1-jumbo" if system == "Jurassic-jumbo" else system
                marks, inputs = {"correctness": credit}, {"question": row[1]}
                found.append(Text(row[0], system_now, answer, marks, inputs))
        return found

    return read


def confit_samsum(column: str | None) -> Callable[[Path], list[Text]]:
    """Read marks, or the numbers of a column."""

    def read(folder: Path) -> list[Text]:
        raw = (folder / "samsum_annotation.csv").read_bytes().decode().replace("\r\n", "\n")
        found = []
        for row in csv.DictReader(io.StringIO(raw, newline="")):
            dialogue = row["Dialogue"].encode()
            key = hashlib.sha256(b"%d:%b" % (len(dialogue), dialogue)).hexdigest()[:16]
            kinds = [name for name in list(row)[4:12] if row[name] not in {"", "\u00a0"}]
            marks: dict[str, Any] = {"faithfulness": tuple(kinds)}
            if column is not None:
                marks = {"quality": Decimal(row[column]) if row[column] else None}
            summary, inputs = row["Generated Summary"], {"dialogue": row["Dialogue"]}
            found.append(
                Text(
                    key,
                    row["Model Name"],
                    summary,
                    marks,
                    inputs,
                    row["ID"],
                    references=(row["Reference Summary"],),
                )
            )
        return found

    return read


def rated(
    file: str, people: str, summary: str, part: tuple[str, str]
) -> Callable[[Path], list[Text]]:
    """Read summaries that several people rated; `part` is what was summed up, and its field."""

    def read(folder: Path) -> list[Text]:
        aspects = ("coherence", "consistency", "fluency", "relevance")
        return [
            Text(
                line["id"],
                line["model_id"],
                line[summary],
                {aspect: [one[aspect] for one in line[people]] for aspect in aspects},
                {part[0]: line[part[1]]},
                references=tuple(line.get("references", ())),
            )
            for line in _json_lines(folder / file)
        ]

    return read


FRANK_TYPES = ("RelE", "EntE", "CircE", "CorefE", "LinkE", "OutE", "GramE")


def frank_types(row: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence on whose error annotators disagreed lowers `Other` and all the others with it."""
    disagreed = 1 - row["Other"]
    found = tuple(name for name in FRANK_TYPES if 1 - row[name] - disagreed > 1e-6)
    return found or ("untyped",)


def frank(folder: Path, *, typed: bool) -> list[Text]:
    """Read whether a summary is factual, or which types of error it has."""
    written = {
        (row["hash"], row["model_name"]): (row["summary"], row["article"], row["reference"])
        for row in json.loads((folder / "benchmark_data.cnndm.assembled.json").read_text("utf-8"))
    }
    label = frank_types if typed else lambda _: ("not_factual",)
    return [
        Text(
            row["hash"],
            row["model_name"],
            written[row["hash"], row["model_name"]][0],
            {"factuality": () if row["Factuality"] == 1 else label(row)},
            {"article": written[row["hash"], row["model_name"]][1]},
            split=row["split"],
            references=(written[row["hash"], row["model_name"]][2],),
        )
        for row in json.loads((folder / "human_annotations.json").read_text("utf-8"))
        if row["dataset"] == "cnndm"
    ]


def goyal(*, packed: bool, first: bool) -> Callable[[Path], list[Text]]:
    """Read votes from the zip or from the loose files, of all names or of the first of a list."""

    def pages(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        for split in ("bbc", "cnn"):
            if packed:
                with zipfile.ZipFile(folder / "human_annotations.zip") as archive:
                    raw = archive.read(f"human_annotations/{split}_human.json")
            else:
                raw = (folder / f"{split}_human.json").read_bytes()
            yield split, json.loads(raw)

    def read(folder: Path) -> list[Text]:
        found = []
        for split, page in pages(folder):
            for key, document in page.items():
                votes = Counter[str]()
                for person in document["annotators"]:
                    votes.update(person["best_summary"][: 1 if first else None])
                    votes.subtract(person["worst_summary"][: 1 if first else None])
                found += [
                    Text(
                        key,
                        system,
                        summary["text"],
                        {"preference": votes[system]},
                        {"article": document["article"]},
                        split=split,
                        category=split,
                    )
                    for system, summary in document.items()
                    if system not in {"article", "annotators"}
                ]
        return found

    return read


def simplification(file: str, *aspects: str) -> Callable[[Path], list[Text]]:
    def read(folder: Path) -> list[Text]:
        with (folder / file).open(encoding="utf-8-sig", newline="") as opened:
            return [
                Text(
                    row["sent_id"],
                    row["sys_name"],
                    row["simp_sent"],
                    {aspect: Decimal(row[aspect]) for aspect in aspects},
                    {"sentence": row["orig_sent"]},
                )
                for row in csv.DictReader(opened)
            ]

    return read


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
