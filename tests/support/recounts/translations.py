"""What the real files of judged translations hold, read with nothing of ours."""

import csv
import io
import re
import tarfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from support.recounts.raw_files import Text


def wmt_qe(folder: Path) -> list[Text]:
    with (folder / "en-de-mqm.2021.csv").open(encoding="utf-8", newline="") as opened:
        return [
            Text(
                row["seg_id"],
                row["system"],
                row["mt"],
                {"translation": Decimal(row["score"])},
                {"source": row["src"]},
                references=(row["ref"],),
            )
            for row in csv.DictReader(opened)
        ]


def wmt_mqm(name: str, column: int) -> Callable[[Path], list[Text]]:
    """Read the categories (column 7) or the severities (column 8) of errors."""

    def read(folder: Path) -> list[Text]:
        path = folder / "ted" / name / f"mqm_ted_{name}.tsv"
        labels: dict[tuple[str, str], dict[str, None]] = {}
        texts: dict[tuple[str, str], tuple[str, str]] = {}
        for line in path.read_text(encoding="utf-8").split("\n")[1:]:
            if line:
                row = line.split("\t")
                key = "/".join(row[1:4]), row[0]
                source, target = (cell.replace("<v>", "").replace("</v>", "") for cell in row[5:7])
                texts[key] = source, target
                labels.setdefault(key, {})[row[column]] = None
        return [
            Text(*key, texts[key][1], {"translation": tuple(found)}, {"source": texts[key][0]})
            for key, found in labels.items()
        ]

    return read


def wmt_mqm_scores(name: str) -> Callable[[Path], list[Text]]:
    """Read minus the weights of the errors (Freitag et al. 2021); one rater read each text."""
    weights = {"no-error": 0.0, "neutral": 0.0, "minor": 1.0, "major": 5.0}

    def read(folder: Path) -> list[Text]:
        path = folder / "ted" / name / f"mqm_ted_{name}.tsv"
        found: dict[tuple[str, str], float] = {}
        texts: dict[tuple[str, str], tuple[str, str]] = {}
        for line in path.read_text(encoding="utf-8").split("\n")[1:]:
            if line:
                system, *segment, _, source, target, kind, severity = line.split("\t")[:9]
                weight = weights[severity.lower()]
                weight = 0.1 if (kind, severity) == ("Fluency/Punctuation", "Minor") else weight
                key = "/".join(segment), system
                found[key] = found.get(key, 0.0) - (25 if kind[:4] == "Non-" else weight)
                texts[key] = re.sub("</?v>", "", source), re.sub("</?v>", "", target)
        return [
            Text(*key, texts[key][1], {"translation": score}, {"source": texts[key][0]})
            for key, score in found.items()
        ]

    return read


def wmt23_mqm_sxs(name: str) -> Callable[[Path], list[Text]]:
    """Read the errors that each rater marked; those who saw an attention check marked it there."""

    def read(folder: Path) -> list[Text]:
        file = f"sxs_mqm_generalMT2023_{name}.3ratingsPerSegment.tsv"
        sources, targets = dict[str, str](), dict[str, str]()
        labels: dict[tuple[str, str, str], dict[str, None]] = {}
        with tarfile.open(folder / "generalMT2023" / name / f"{file}.tar.gz") as archive:
            lines = io.TextIOWrapper(archive.extractfile(file) or io.BytesIO(), "utf-8")
            next(lines)
            for system, *segment, rater, source, target, category, severity, _ in (
                line.split("\t") for line in lines
            ):
                if severity == "HOTW-test":
                    continue
                key = "/".join(segment)
                kind = category.removesuffix(" (Translation)").removesuffix(" (Translation 2)")
                labels.setdefault((key, system, rater), {})[kind] = None
                for texts, name_, text in (
                    (sources, key, source),
                    (targets, f"{key}/{system}", target),
                ):
                    plain = re.sub("</?v>", "", text)
                    texts[name_] = min(texts.get(name_, plain), plain, key=len)
        return [
            Text(
                key,
                system,
                targets[f"{key}/{system}"],
                {"translation": tuple(found)},
                {"source": sources[key]},
                group=rater,
            )
            for (key, system, rater), found in labels.items()
        ]

    return read
