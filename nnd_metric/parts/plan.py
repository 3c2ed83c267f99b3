"""The plan of a run: its parts, and all that decides their numbers.

`RUN/parts` is made in one step by the first worker; the others compare what they were asked with
what it says. It holds plan.json, spans.parquet (which rows belong to which part), the human scores,
and a folder for each model with a file for each part that is finished.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from nnd.metric.data import PairSet, PairStream, Span, SuiteSet, read_rows
from nnd.metric.parts.cutting import Cut, cut_into_parts
from nnd.metric.results import PARTS, VERSION
from nnd.schemas import ScoringError, fingerprint, one_line, workplace

PLAN, SPANS, HUMAN_SCORES = "plan.json", "spans.parquet", "human_scores.parquet"


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a run.

    Attributes:
        run: The folder of the run.
        digest: SHA-256 of plan.json, which names those of the other files.
        asked: What was asked for: what plan.json says, but for what follows from it.
        version: That of the data.
        models: Model → the template it is scored with.
        spans: Which rows belong to which part (`cutting.SPANS`).
        human_scores: Those of the data, or None.
    """

    run: Path
    digest: str
    asked: Mapping[str, Any]
    version: str
    models: Mapping[str, str]
    spans: pl.DataFrame
    human_scores: pl.DataFrame | None

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return int(self.spans["part"].max()) + 1  # type: ignore[arg-type] # of integers, not empty

    def spans_of(self, part: int) -> dict[str, list[Span]]:
        """Return table → which of its rows a part has; tables without any are left out."""
        own = self.spans.filter(pl.col("part") == part)
        found: dict[str, list[Span]] = {}
        for table, start, stop in own.select("table", "start", "stop").iter_rows():
            found.setdefault(table, []).append((start, stop))
        return found

    def digest_of(self, part: int, table: str) -> int:
        """Return the digest of a part's rows in a table (`cutting.digest_of`)."""
        own = (pl.col("part") == part) & (pl.col("table") == table)
        return int(self.spans.filter(own)["digest"].sum())

    def path(self, model: str, part: int) -> Path:
        """Return where a finished part is."""
        number = [*self.models].index(model) + 1
        last = "".join(c if c.isalnum() or c in "-_." else "-" for c in Path(model).name)
        return self.run / PARTS / f"{number}-{last[-80:]}" / f"{part:05}.parquet"

    def is_there(self) -> bool:
        """Whether the run is not merged yet."""
        return (self.run / PARTS / PLAN).is_file()

    def missing(self, model: str) -> list[int]:
        """Return the parts of a model that are not finished."""
        return [part for part in range(self.parts) if not self.path(model, part).is_file()]

    def pair_set(self) -> PairSet:
        """Return what is known of the data without its pairs."""
        data = self.asked["data"]
        nothing = pl.DataFrame()
        sets = (SuiteSet(name, kind, how, nothing) for name, kind, how in data["sets"])
        part = tuple((what, how) for what, how in data["part"])
        return PairSet(nothing, self.human_scores, data["name"], self.version, part, tuple(sets))


def describe(stream: PairStream, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - as JSON has it
    """Return what decides the numbers of a run, as plain Python values, for its plan.

    Args:
        stream: The data.
        **options: What else was asked for.
    """
    about = stream.about
    data = {
        "name": about.name,
        "version": about.version,
        "part": [list(each) for each in about.part],
        "sets": [[each.name, each.kind, each.operation] for each in about.sets],
        "rows": stream.sizes(),
    }
    facts = {"nnd": VERSION, "data": data, **options}
    found: dict[str, Any] = json.loads(json.dumps(facts, default=str))
    return found


def find_plan(
    run: Path, stream: PairStream, asked: Mapping[str, Any], templates: Mapping[str, str]
) -> Plan:
    """Return the plan of a run; it is made and written if there is none.

    Args:
        run: The folder of the run.
        stream: The data.
        asked: What `describe` returned.
        templates: Model → the template it is scored with, for a plan that is made.

    Raises:
        ScoringError: If there is a plan of something else, or it cannot be written.
    """
    if not (run / PARTS / PLAN).is_file():
        _write(run, cut_into_parts(stream), stream.about.human_scores, asked, templates)
    plan = read_plan(run)
    differs = _differences(plan.asked, asked)
    if differs:
        raise ScoringError(
            f"{run / PARTS / PLAN}: was made for another run: {differs[0]}; repeat the command of "
            "the other workers, or name another folder with --out"
        )
    return plan


def read_plan(run: Path) -> Plan:
    """Return the plan that workers have made.

    Raises:
        ScoringError: If there is none, or it cannot be read.
    """
    folder = run / PARTS
    if not (folder / PLAN).is_file():
        raise ScoringError(
            f"{run}: there are no parts of a run; name a folder that `nnd evaluate --worker` wrote"
        )
    try:
        text = (folder / PLAN).read_bytes()
        facts = json.loads(text)
        made, outputs = facts.pop("made"), facts.pop("outputs")
        changed = [name for name in outputs if fingerprint(folder / name) != outputs[name]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ScoringError(
            f"{folder / PLAN}: cannot be read: {error}; remove {folder} and start the workers again"
        ) from error
    if changed:
        raise ScoringError(
            f"{folder / changed[0]}: was changed since; remove {folder} and start the workers again"
        )
    return Plan(
        run=run,
        digest=hashlib.sha256(text).hexdigest(),
        asked=facts,
        version=made["version"],
        models=made["templates"],
        spans=read_rows(folder / SPANS),
        human_scores=read_rows(folder / HUMAN_SCORES) if HUMAN_SCORES in outputs else None,
    )


def _write(
    run: Path,
    cut: Cut,
    human_scores: pl.DataFrame | None,
    asked: Mapping[str, Any],
    templates: Mapping[str, str],
) -> None:
    try:
        run.mkdir(parents=True, exist_ok=True)
        with workplace(run) as place:
            fresh = place / PARTS
            fresh.mkdir()
            cut.spans.write_parquet(fresh / SPANS)
            if human_scores is not None:
                human_scores.write_parquet(fresh / HUMAN_SCORES)
            outputs = {path.name: fingerprint(path) for path in sorted(fresh.iterdir())}
            made = {"version": cut.version, "templates": dict(templates)}
            text = json.dumps({**asked, "made": made, "outputs": outputs}, indent=2)
            (fresh / PLAN).write_text(f"{text}\n", encoding="utf-8")
            _rename_first(fresh, run / PARTS)
    except OSError as error:
        raise ScoringError(
            f"{run}: cannot be written: {error.strerror or error}; make room, or name another "
            "folder with --out"
        ) from error


def _rename_first(fresh: Path, target: Path) -> None:
    """Rename a folder, unless another worker was quicker: its plan is the same, or is refused."""
    try:
        fresh.rename(target)
    except OSError:
        if not (target / PLAN).is_file():
            raise


def _differences(there: Any, here: Any, name: str = "") -> list[str]:  # noqa: ANN401 - JSON
    """Return in words where two JSON values differ."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        names: Sequence[str] = [*dict.fromkeys([*there, *here])]
        return [
            line
            for each in names
            for line in _differences(there.get(each), here.get(each), f"{name} {each}".strip())
        ]
    if there == here:
        return []
    said = [one_line(json.dumps(each, ensure_ascii=False)) for each in (there, here)]
    return [f"{name} is {said[0]} there and {said[1]} here"]
