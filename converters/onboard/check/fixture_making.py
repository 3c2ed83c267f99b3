"""An invented fixture: the first records of the real files, in which every text is another one.

Fields, numbers, and the names that source.yaml states (labels, systems, marks) stay.
"""

import csv
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from nnd.converters.onboard.check import separate_run
from nnd.converters.onboard.check.fact_checks import texts_in
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import (
    AT_HAND,
    COUNTED,
    MADE,
    NOT_AT_HAND,
    Reading,
)
from nnd.converters.onboard.contents.level_columns import is_keyed
from nnd.converters.onboard.contents.reading_files import read_parts
from nnd.schemas import SourceError, guess_cells, make_new, spells_number

_SIZES = (8, 32, 128, 512)  # records of each file
_ENOUGH = 3  # pairs
_MOST_WORDS = 12
_LONGEST_CODE = 3
_SYLLABLES = [f"{first}{vowel}" for first in "bdfgklmnprstvz" for vowel in "aeiou"]
_PARTS = re.compile(r"</?\w+>|[^\W\d_]+|\d|[\W_]")  # tags, words, digits, others


def make_fixture(readings: Sequence[Reading]) -> None:
    """Write the fixture of a source, from the real files of its first set in every variant."""
    if not readings:
        raise SourceError(
            "source.no-fixture", f"{NOT_AT_HAND}, which a fixture is made from", remedy=AT_HAND
        )
    source, origin = readings[0].source, readings[0].origin
    chosen = source.facts.get("set")
    readings = [r for r in readings if (r.source.facts.get("set"), r.origin) == (chosen, origin)]
    (real,) = separate_run.run_readings(readings[:1])
    runs, known = [real], _names_in(source.facts)
    with make_new(source.folder / "fixture") as fresh:
        for size in _SIZES if real.error is None else ():
            invention = Invention(known)
            for name in (str(file["name"]) for file in real.files):
                _write(readings[0].files.path(name), fresh / name, size, invention)
            runs = separate_run.run_readings(
                [replace(one, origin=fresh, expected={}) for one in readings]
            )
            if all(run.error is None and _is_enough(run) for run in runs):
                break
        else:
            why = next((run.error for run in runs if run.error), "there is hardly a pair in them")
            raise SourceError(
                "source.no-fixture",
                f"no fixture can be made of the first records of its files: {why}",
                source.name,
            )
        entries = [_entry(run) for run in runs]
        text = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
        head = f"{MADE}: count by hand what is in the files, then delete this line.\n"
        (fresh / "expected.yaml").write_text(head + text, encoding="utf-8")


def _names_in(facts: Mapping[str, Any]) -> set[str]:
    """Return the texts of a source.yaml, and those that its SQL expressions quote."""
    texts = [text for _, text in texts_in(facts)]
    return {*texts, *(name for text in texts for name in re.findall(r"'([^']*)'", text))}


def _is_enough(run: ReadingRun) -> bool:
    try:
        return run.conversion.pairs.height >= _ENOUGH
    except SourceError:
        return False


def _entry(run: ReadingRun) -> dict[str, Any]:
    manifest = run.conversion.manifest
    counts = {name: manifest["counts"][name] for name in COUNTED}
    dropped = {one["reason"]: one["n"] for one in manifest["dropped"]}
    place = {"set": run.source.facts.get("set"), "variant": run.source.variant}
    return {**place, **counts, "dropped": dropped}


@dataclass(frozen=True)
class Invention:
    """Invents texts: the same for the same text, and another for every other name."""

    known: set[str]  # the texts that stay
    names: dict[str, str] = field(default_factory=dict)

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return a value of JSON with other texts; the keys of an object stay unless they vary."""
        if isinstance(value, dict):
            keys = map(self, value) if is_keyed([value]) else value
            return dict(zip(keys, map(self, value.values()), strict=True))
        if isinstance(value, list):
            return [*map(self, value)]
        if not isinstance(value, str):
            return value
        plain = value.strip()
        is_known = {*plain.split("|")} <= self.known  # systems that wrote the same text
        if len(plain) <= _LONGEST_CODE or is_known or spells_number(plain):
            return value
        parts = _PARTS.findall(plain.replace("@", " "))  # no address
        if not any(map(str.isspace, parts)):
            return "".join(map(self._name, parts))
        words = [part for part in parts if not part.isspace()][:_MOST_WORDS]
        # Texts that begin alike differ in the last word.
        return " ".join(
            [*map(_word, words), f"{_invented(zlib.crc32(value.encode(errors='replace')))}."]
        )

    def _name(self, part: str) -> str:
        if part.isdecimal():
            return str((int(part) + 3) % 10)
        return self.names.setdefault(part, _invented(len(self.names))) if part.isalpha() else part


def _word(part: str) -> str:
    """Return one of 4,900 words for a word; many share each. Tags and punctuation stay."""
    return _invented(zlib.crc32(part.encode(errors="replace"))) if part[0].isalnum() else part


def _invented(number: int) -> str:
    size = len(_SYLLABLES)
    return _SYLLABLES[number % size] + _SYLLABLES[number // size % size]


def _write(real: Path, path: Path, size: int, invention: Invention) -> None:
    """Write the first records of a file with other texts, in its format."""
    suffix, parts = real.suffix.lower(), read_parts(real)
    if suffix not in (".csv", ".tsv", ".json", ".jsonl") or len(parts) != 1:
        raise SourceError(
            "file.not-a-table",
            "a fixture is made of csv, tsv, json or jsonl",
            real.name,
            "write it by hand",
        )
    (value,) = parts.values()
    found = invention(dict([*value.items()][:size]) if isinstance(value, dict) else value[:size])
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        if suffix == ".json":
            json.dump(found, file, ensure_ascii=False, indent=1)
        elif suffix == ".jsonl":
            file.writelines(f"{json.dumps(one, ensure_ascii=False)}\n" for one in found)
        else:
            options, (header, *_) = guess_cells(real)
            writer = csv.writer(
                file,
                delimiter=options["delimiter"],
                quoting=csv.QUOTE_MINIMAL if options["quoted"] else csv.QUOTE_NONE,
                quotechar='"' if options["quoted"] else None,
            )
            writer.writerows([header.values, *(one.values() for one in found)])
