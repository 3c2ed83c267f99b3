"""A source that has all that `check-source` asks for, to be broken by its tests."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from support import card_folders

from nnd.converters.check.check_report import Check, CheckReport
from nnd.converters.onboard import check_source
from nnd.converters.onboard.check import separate_run as run
from nnd.converters.onboard.check.process_limits import Sandbox
from nnd.converters.onboard.check.source_readings import Reading
from nnd.converters.source import load_source

CODE = '''\
"""Birds."""

from collections.abc import Iterator

from nnd.converters import Annotation, Files


def annotations(files: Files) -> Iterator[Annotation]:
    for number, row in enumerate(files.jsonl("birds.jsonl")):
        question, system = row.text("question"), row.text("system")
        yield Annotation(
            where=row.where,
            context_id=row.text("key"),
            context=question,
            inputs={"question": question},
            candidate_id=f"{row.text('key')}/{system}",
            candidate=row.text("answer"),
            system=system,
            aspect="answer",
            label=row.optional_text("label"),
        )
'''

FIXTURE = (
    ("c1", "Which bird of the marsh sings a lot?", "heron", "The heron, at dusk it does.", "good"),
    ("c1", "Which bird of the marsh sings a lot?", "wren", "A boat, as nobody said.", "wrong"),
    ("c1", "Which bird of the marsh sings a lot?", "plover", "Go home to your marsh.", "rude"),
)  # fmt: skip
# All answers are of one length, which so gives nothing away.
REAL = (
    ("k1", "Who nests in the reeds of the pond?", "heron", "They say that it is a crane.", "good"),
    ("k1", "Who nests in the reeds of the pond?", "wren", "They say that it is a spoon.", "wrong"),
    ("k1", "Who nests in the reeds of the pond?", "plover", "They say that you are fools!", "rude"),
    ("k2", "Who leaves the vale before winter?", "heron", "They say that you are bores!", "rude"),
    ("k2", "Who leaves the vale before winter?", "wren", "They say that it is a stork.", "good"),
    ("k2", "Who leaves the vale before winter?", "plover", "They say that it is a chair.", "wrong"),
    ("k3", "Who calls at night from the wood?", "heron", "They say that it is a raven.", "good"),
    ("k3", "Who calls at night from the wood?", "wren", "They say that it is a table.", "wrong"),
)  # fmt: skip
"""Five pairs: 1 wrong + 1 rude, 1 rude + 1 wrong, 1 wrong."""

FACTS: dict[str, Any] = card_folders.FACTS | {
    "instruction": "none",
    "instruction_from": "The context is a question.",
    "split": "one split, `test`",
    "expected": {
        "counted_by": "hand, from the rows below",
        "annotations": 8,
        "contexts": 3,
        "systems": 3,
        "pairs": 5,
        "by_error_category": {"rude": 2, "wrong": 3},
    },
}
EXPECTED: dict[str, Any] = {
    "set": None,
    "variant": None,
    "annotations": 3,
    "contexts": 1,
    "systems": 3,
    "pairs": 2,
    "by_error_category": {"rude": 1, "wrong": 1},
    "dropped": {},
}

Row = Sequence[str | None]


def lines(rows: Iterable[Row]) -> str:
    names = ("key", "question", "system", "answer", "label")
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


@dataclass(frozen=True)
class Birds:
    """The source, and its real file, which lies elsewhere."""

    folder: Path
    real: Path

    def set_facts(self, **changes: Any) -> None:
        """Change fields of source.yaml; `...` takes one out."""
        path = self.folder / "source.yaml"
        facts = yaml.safe_load(path.read_text()) | changes
        kept = {name: value for name, value in facts.items() if value is not ...}
        path.write_text(yaml.safe_dump(kept, sort_keys=False))

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = yaml.safe_load((self.folder / "source.yaml").read_text())
        return facts

    def set_code(self, old: str, new: str) -> None:
        path = self.folder / "convert.py"
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))

    def set_fixture(self, rows: Iterable[Row], **expected: Any) -> None:
        (self.folder / "fixture" / "birds.jsonl").write_text(lines(rows))
        (self.folder / "fixture" / "expected.yaml").write_text(
            yaml.safe_dump([EXPECTED | expected])
        )

    def set_real(self, rows: Iterable[Row], **expected: Any) -> None:
        """Write another real file, and declare it."""
        self.real.write_text(lines(rows))
        raw = self.real.read_bytes()
        file = {
            "name": "birds.jsonl",
            "url": "https://example.org/birds.jsonl",
            "sha256": hashlib.sha256(raw).hexdigest(),
            "bytes": len(raw),
        }
        self.set_facts(files=[file], expected=FACTS["expected"] | expected)

    def check(self) -> CheckReport:
        return check_source(self.folder, self.real)


def make_birds(place: Path) -> Birds:
    made = Birds(place / "birds", place / "birds.jsonl")
    (made.folder / "fixture").mkdir(parents=True)
    (made.folder / "source.yaml").write_text(yaml.safe_dump(FACTS, sort_keys=False))
    (made.folder / "convert.py").write_text(CODE)
    made.set_fixture(FIXTURE)
    made.set_real(REAL)
    return made


def outcomes(checks: Iterable[Check]) -> dict[str, list[str]]:
    """Outcome → names of checks, without passes, and without the review of `sandbox` where this
    machine has none that holds a convert.py."""
    found: dict[str, list[str]] = {}
    for check in checks:
        if check.outcome != "pass" and (check.outcome, check.name) != ("review", "sandbox"):
            found.setdefault(check.outcome, []).append(check.name)
    return found


def run_here(place: Path) -> Any:
    """Return a `run_readings` that stays in this process, which is quicker."""

    def run_readings(readings: Sequence[Reading]) -> list[run.ReadingRun]:
        place.mkdir(exist_ok=True)
        reports: Iterable[Mapping[str, Any]] = run.reports(readings, place)
        return [
            run.read_report(reading, place, number, dict(report), Sandbox((), "here", holds=True))
            for number, (reading, report) in enumerate(zip(readings, reports, strict=True))
        ]

    return run_readings


def run_with(birds: Birds, *lines: str) -> run.ReadingRun:
    """Convert the real file with more lines at the start of annotations()."""
    more = "".join(f"    {line}\n" for line in lines)
    birds.set_code("    for number", f"{more}    for number")
    (done,) = run.run_readings([Reading("real files", load_source(birds.folder), birds.real)])
    return done
