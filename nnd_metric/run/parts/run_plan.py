"""The plan of a run: its parts, and everything that decides their numbers.

The first worker makes `RUN/parts` in one step; the others compare their arguments with it. It holds
plan.json, spans.parquet (which rows belong to which part), the human scores, and a folder for each
model with a file for each finished part.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.data import PARTS, PairSet, PairStream, Span, SuiteSet, read_rows
from nnd.metric.run.parts.cutting import Cut, cut_into_parts
from nnd.metric.run.version import VERSION
from nnd.schemas import (
    ScoringError,
    list_files,
    one_line,
    parquet_bytes,
    read_document,
    read_with,
    workplace,
    write_document,
)

PLAN, SPANS, HUMAN_SCORES = "plan.json", "spans.parquet", "human_scores.parquet"


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a run.

    Attributes:
        digest: Digest of plan.json, which contains those of the other files.
        asked: The arguments of the run, as in plan.json.
        models: Model → its template; None means what it reads by itself.
        spans: The part of every row (`cutting.SPANS`).
        equal: Number of pairs with two equal texts, which are in no part.
        has_contexts: Whether any context is more than an empty text.
    """

    run: Path
    digest: str
    asked: Mapping[str, Any]
    version: str
    models: Mapping[str, str | None]
    spans: pl.DataFrame
    human_scores: pl.DataFrame | None
    equal: int
    has_contexts: bool

    @property
    def parts(self) -> int:
        """The number of parts."""
        return int(self.spans["part"].max()) + 1  # type: ignore[arg-type] # of integers, not empty

    def spans_of(self, part: int) -> dict[str, list[Span]]:
        """Return table → rows of a part; tables without rows are left out."""
        own = self.spans.filter(pl.col("part") == part)
        spans: dict[str, list[Span]] = {}
        for table, start, stop in own.select("table", "start", "stop").iter_rows():
            spans.setdefault(table, []).append((start, stop))
        return spans

    def digest_of(self, part: int, table: str) -> int:
        """Return the digest of a part's rows in a table (`cutting.digest_of`)."""
        own = (pl.col("part") == part) & (pl.col("table") == table)
        return int(self.spans.filter(own)["digest"].sum())

    def path(self, model: str, part: int) -> Path:
        """Return the path of a finished part."""
        number = [*self.models].index(model) + 1
        last = "".join(c if c.isalnum() or c in "-_." else "-" for c in Path(model).name)
        return self.run / PARTS / f"{number}-{last[-80:]}" / f"{part:05}.parquet"

    def is_there(self) -> bool:
        """Whether the run is not merged yet."""
        return (self.run / PARTS / PLAN).is_file()

    def missing(self, model: str) -> list[int]:
        """Return the parts of a model that are not finished."""
        finished = {path.name for path in self.path(model, 0).parent.glob("*.parquet")}
        return [p for p in range(self.parts) if self.path(model, p).name not in finished]

    def pair_set(self) -> PairSet:
        """Return the data without its pairs."""
        data = self.asked["data"]
        nothing = pl.DataFrame()
        sets = (SuiteSet(name, kind, by, nothing) for name, kind, by in data["sets"])
        part = tuple((option, value) for option, value in data["part"])
        splits = tuple(data.get("splits", ()))
        return PairSet(
            *(nothing, self.human_scores, data["name"], self.version, part, tuple(sets), splits),
            equal=(None,) * self.equal,  # as they are of the chosen splits
            n_whole=data["n_whole"],
            has_contexts=self.has_contexts,
        )


def describe(stream: PairStream, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - as JSON has it
    """Return everything that decides the numbers of a run, as plain values for its plan."""
    about = stream.about
    data = {
        "name": about.name,
        "version": about.version,
        "part": [list(each) for each in about.part],
        "n_whole": about.n_whole,
        **({"instruction": about.instruction.digests} if about.instruction else {}),
        "sets": [[each.name, each.kind, each.operation] for each in about.sets],
        "rows": stream.sizes(),
        **({"splits": about.splits} if about.splits else {}),
    }
    facts = {"nnd_version": VERSION, "data": data, **options}
    plain: dict[str, Any] = json.loads(json.dumps(facts, default=str))
    return plain


def find_plan(
    run: Path, stream: PairStream, asked: Mapping[str, Any], templates: Mapping[str, str | None]
) -> Plan:
    """Return the plan of a run; if there is none, make and write it."""
    if not (run / PARTS / PLAN).is_file():
        _write(run, cut_into_parts(stream), stream.about.human_scores, asked, templates)
    plan = read_plan(run)
    differs = _differences(plan.asked, asked)
    if differs:
        raise ScoringError(
            "run.another-plan",
            f"this plan was made for another run: {differs[0]}",
            run / PARTS / PLAN,
            "repeat the command of the other workers, or name another folder with --out",
        )
    return plan


def read_plan(run: Path) -> Plan:
    """Return the plan that workers have made."""
    folder = run / PARTS
    if not (folder / PLAN).is_file():
        raise ScoringError("run.no-parts", "no parts of a run found", run)
    facts = read_document(folder / PLAN)
    made, outputs = facts.pop("made"), facts.pop("outputs")
    read_with(folder / PLAN, outputs)
    return Plan(
        run=run,
        digest=facts.pop("digest"),
        asked=facts,
        version=made["version"],
        models=made["templates"],
        spans=read_rows(folder / SPANS),
        human_scores=read_rows(folder / HUMAN_SCORES) if HUMAN_SCORES in outputs else None,
        equal=made.get("equal", 0),
        has_contexts=made.get("has_contexts", True),
    )


def _write(
    run: Path,
    cut: Cut,
    human_scores: pl.DataFrame | None,
    asked: Mapping[str, Any],
    templates: Mapping[str, str | None],
) -> None:
    try:
        run.mkdir(parents=True, exist_ok=True)
        with workplace(run) as place:
            fresh = place / PARTS
            fresh.mkdir()
            (fresh / SPANS).write_bytes(parquet_bytes(cut.spans))
            if human_scores is not None:
                (fresh / HUMAN_SCORES).write_bytes(parquet_bytes(human_scores))
            outputs = list_files(fresh, sorted(path.name for path in fresh.iterdir()))
            made = {
                "version": cut.version,
                "templates": dict(templates),
                "equal": cut.equal,
                "has_contexts": cut.has_contexts,
            }
            write_document(fresh, {**asked, "made": made, "outputs": outputs}, document=PLAN)
            _rename_first(fresh, run / PARTS)
    except OSError as error:
        raise ScoringError(
            "place.cannot-write", f"cannot be written: {error.strerror or error}", run
        ) from error


def _rename_first(fresh: Path, target: Path) -> None:
    """Rename a folder, unless another worker was faster: `find_plan` then compares its plan."""
    try:
        fresh.rename(target)
    except OSError:
        if not (target / PLAN).is_file():
            raise


def _differences(there: Any, here: Any, name: str = "") -> list[str]:  # noqa: ANN401 - JSON
    """Describe the differences between two JSON values, a line each."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        names: Sequence[str] = [*dict.fromkeys([*there, *here])]
        return [
            line
            for key in names
            for line in _differences(there.get(key), here.get(key), f"{name} {key}".strip())
        ]
    if there == here:
        return []
    texts = [one_line(json.dumps(value, ensure_ascii=False)) for value in (there, here)]
    return [f"{name} is {texts[0]} there, but {texts[1]} here"]
