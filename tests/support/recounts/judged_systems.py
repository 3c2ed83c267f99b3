"""What the real files of sources of 2022 to 2025 hold, read with nothing of ours.

Their judged systems are mostly public models.
"""

import csv
import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any
from xml.etree import ElementTree as ET

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


QUESTION_ASPECTS = (
    *("fluency", "clarity", "conciseness", "relevance", "consistency"),
    *("answerability", "answer_consistency"),
)


def qgeval(prefix: str = "", *, single: bool = False) -> Callable[[Path], list[Text]]:
    """Read the questions of a prefix with their means, or with the ratings of single annotators."""

    def read(folder: Path) -> list[Text]:
        raters = [
            {(row["id"], row["source"]): row for row in read_sheet(path)}
            for path in sorted((folder / "annotation_result").iterdir())
        ]
        contexts = json.loads((folder / "instances.json").read_text("utf-8"), parse_float=Decimal)
        return [
            Text(
                context["id"],
                question["source"],
                question["prediction"],
                {
                    aspect: [
                        float(one[context["id"], question["source"]][aspect]) for one in raters
                    ]
                    if single
                    else question[aspect]
                    for aspect in QUESTION_ASPECTS
                },
                {"passage": context["passage"], "answer": context["answer"]},
                references=(context["reference"],),
            )
            for context in contexts
            for question in context["questions"]
            if question["source"].startswith(prefix)
        ]

    return read


HALLUCINATIONS = {"Unwanted", "Unwanted.Intrinsic", "Unwanted.Extrinsic", "Questionable"}


def faithbench(*, binary: bool) -> Callable[[Path], list[Text]]:
    """Read which kinds of statement people marked; those that are benign only have no label."""

    def read(folder: Path) -> list[Text]:
        found = []
        for path in sorted((folder / "data_for_release").iterdir()):
            for sample in json.loads(path.read_text("utf-8"))["samples"]:
                kinds: set[str] = set()
                for statement in sample["annotations"]:
                    labels = HALLUCINATIONS & set(statement["label"])
                    kinds |= labels - {"Unwanted"} if any("." in one for one in labels) else labels
                unclear = bool(sample["annotations"]) and not kinds and not binary
                found.append(
                    Text(
                        _digest_of_text(sample["source"]),
                        sample["metadata"]["summarizer"],
                        sample["summary"].strip(),
                        {"faithfulness": None if unclear else tuple(sorted(kinds))},
                        {"passage": sample["source"]},
                    )
                )
        return found

    return read


def _digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


DATA_ERRORS = (
    *("Contradictory", "Not checkable", "Misleading"),
    *("Incoherent", "Repetitive", "Other"),
)


def d2t_eval(folder: Path) -> list[Text]:
    inputs, outputs, kinds = {}, {}, dict[tuple[str, int, str], set[str]]()
    for path in (folder / "inputs/d2t-eval").glob("*/test.json"):
        page = json.loads(path.read_text("utf-8"))
        inputs[path.parent.name] = page if isinstance(page, list) else page["forecasts"]
    for path in (folder / "outputs/d2t-eval").glob("*/*-test.jsonl"):
        for row in _json_lines(path):
            outputs[row["dataset"], row["example_idx"], path.parent.name] = row["output"]
    for row in _json_lines(folder / "annotations/human/d2t-eval/test/annotations.jsonl"):
        if row["split"] == "test":
            key = row["dataset"], row["example_idx"], row["setup_id"]
            marked = {DATA_ERRORS[span["type"]] for span in row["annotations"]}
            kinds[key] = kinds.get(key, set()) | marked
    return [
        Text(
            f"{domain[4:]}/{number}",
            system,
            outputs[domain, number, system],
            {"accuracy": tuple(sorted(marked))},
            {"data": json.dumps(inputs[domain][number], ensure_ascii=False)},
            category=domain[4:],
        )
        for (domain, number, system), marked in kinds.items()
    ]


def quintd(folder: Path) -> list[Text]:
    data, kinds = folder / "data/quintd-1", ("Incorrect", "Not checkable", "Misleading", "Other")
    outputs = {
        (path.parts[-3], path.stem): json.loads(path.read_text("utf-8"))["generated"]
        for path in (data / "outputs/test").glob("*/default/*.json")
    }
    found = []
    for path in (data / "annotations/human").iterdir():
        for row in _json_lines(path):
            text = outputs[row["dataset"], row["model"]][row["table_idx"]]
            marked = {kinds[span["type"]] for span in row["annotations"]}
            found.append(
                Text(
                    f"{row['dataset']}/{row['table_idx']}",
                    row["model"],
                    text["out"],
                    {"accuracy": tuple(sorted(marked))},
                    {"prompt": text["in"]},
                    category=row["dataset"],
                )
            )
    return found


def faithjudge(folder: Path) -> list[Text]:
    found = []
    for part, task in (("qa", "QA"), ("summary", "Summary"), ("data2txt", "Data2txt")):
        for row in _json_lines(folder / f"ragtruth_{part}.jsonl"):
            source, parts = row["source"], dict[str, str]()
            if part == "qa":
                parts = {"question": source["question"], "passages": source["passages"]}
            elif part == "summary":
                parts = {"source": source}
            else:
                parts = {"data": json.dumps(source, ensure_ascii=False)}
            found += [
                Text(
                    str(row["source_id"]),
                    response["model"],
                    response["response"],
                    {"groundedness": tuple({mark["label_type"] for mark in response["labels"]})},
                    parts,
                    category=task,
                )
                for response in row["responses"]
            ]
    return found


def wmt24_esa(pair: str) -> Callable[[Path], list[Text]]:
    """Read the mean score of each translation of a pair of languages, such as en-cs."""
    target = {"cs": "ces", "hi": "hin", "ja": "jpn", "zh": "zho"}[pair[3:]]

    def read(folder: Path) -> list[Text]:
        def lines(name: str) -> list[str]:
            return (folder / "txt" / name).read_bytes().decode().split("\n")

        sources, documents = lines(f"sources/{pair}.txt"), lines(f"documents/{pair}.docs")
        scores: dict[tuple[int, str], list[int]] = {}
        for path in sorted((folder / "humeval").iterdir()):
            with path.open(encoding="utf-8", newline="") as opened:
                for row in csv.reader(opened):
                    is_control = "tutorial" in row[1] or "#" in row[7]
                    if row[3] == "TGT" and row[5] == target and not is_control:
                        scores.setdefault((int(row[2]), row[1]), []).append(int(row[6]))
        texts = {
            system: lines(
                f"references/{pair}.refA.txt"
                if system == "refA"
                else f"system-outputs/{pair}/{system}.txt"
            )
            for system in {name for _, name in scores}
        }
        return [
            Text(
                f"{documents[line].split(chr(9))[1]}/{line}",
                system,
                texts[system][line],
                {"translation": fmean(given)},
                {"source": sources[line]},
                category=documents[line].split("\t")[0],
            )
            for (line, system), given in scores.items()
        ]

    return read


@cache
def read_sheet(path: Path) -> list[dict[str, str]]:
    """Return the rows of the first sheet of a workbook with shared strings."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as archive:
        shared = [
            "".join(part.text or "" for part in item.iter(f"{space}t"))
            for item in ET.fromstring(archive.read("xl/sharedStrings.xml"))  # noqa: S314
        ]
        sheet = ET.fromstring(archive.read("xl/worksheets/sheet1.xml"))  # noqa: S314
    header, *rows = (
        {
            re.sub(r"\d", "", cell.attrib["r"]): shared[int(value)]
            if cell.get("t") == "s"
            else value
            for cell in row
            if (value := cell.findtext(f"{space}v")) is not None
        }
        for row in sheet.iter(f"{space}row")
    )
    return [{header[column]: value for column, value in row.items()} for row in rows]


def _digest(*texts: str) -> str:
    parts = [text.encode() for text in texts]
    return hashlib.sha256(b"".join(b"%d:%b" % (len(raw), raw) for raw in parts)).hexdigest()[:16]


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
