"""What commands print, in little room and in much: nothing cut, and 80 x 40 is enough.

Four models on tests of three categories, as on `quiz_design`; their names are such as people type.
"""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.table import Table
from support.checked_source import make_birds
from support.judged_cases import write_judged
from support.screens.evaluations import evaluation
from support.stored_folders import write_sealed
from support.training.histories import entry, write
from support.two_models import scored, write_run

from nnd.cards import card
from nnd.converters.export.exporting import export
from nnd.converters.folder import convert, validate
from nnd.converters.hub import Publication
from nnd.converters.hub.published_dataset import PublishedFile
from nnd.converters.onboard import check_source, new_source
from nnd.converters.source import sources
from nnd.metric.app import describe, show
from nnd.metric.cli.printing import show as print_result
from nnd.metric.numbers import agree, compare, slice_runs
from nnd.metric.other_metrics.on_datasets import metrics
from nnd.metric.run import Failure, Sweep
from nnd.metric.show import report
from nnd.metric.train import curve
from nnd.schemas import Printable

MODELS = {
    "gpt2": "++-",
    "facebook/bart-large-cnn": "+-+",
    "microsoft/prophetnet-large-uncased-squad-qg": "+--",
    "models/toy-untrained": "--+-",
}
SYSTEMS = dict(zip(MODELS, ("gpt2b_sup", "bartl_sup", "prophetnet", "mixqg"), strict=True))
N = 120
WIDTHS = (60, 80, 120, 200)
SCREEN = 40

Make = Callable[[Path], Printable]


def models(columns: dict[str, Any]) -> list[pl.DataFrame]:
    return [scored(name, (verdicts * N)[:N], **columns) for name, verdicts in MODELS.items()]


def columns() -> dict[str, Any]:
    kinds = [("wrong_context", "off_target", "disfluent")[n % 7 % 3] for n in range(N)]
    return {
        "error_category": kinds,
        "aspect": "question",
        "characters_high": [n % 11 for n in range(N)],
        "characters_low": [n % 7 for n in range(N)],
        "copied_high": [n % 5 / 5 for n in range(N)],
        "copied_low": [n % 3 / 3 for n in range(N)],
        "ll_alone_high": [-1.0 - n % 2 for n in range(N)],
        "ll_alone_low": [-1.5] * N,
    }


def people(folder: Path, known: int) -> Path:
    rows = [
        (system, None, "question", category, 0.4 + 0.05 * n)
        for n, system in enumerate(SYSTEMS.values())
        for category in ("overall", "wrong_context", "off_target", "disfluent")
        if n < known
    ]
    names = ["system", "model_id", "aspect", "category", "score"]
    schema = dict(zip(names, (*[pl.String] * 4, pl.Float64), strict=True))
    file = folder / "human_scores.parquet"
    pl.DataFrame(rows, schema, orient="row").write_parquet(file)
    return file


def run(folder: Path) -> Path:
    return write_run(folder / "run", *models(columns()))


def agreed(folder: Path, known: int = 4) -> Any:
    matched = dict([*SYSTEMS.items()][:known])
    return agree(run(folder), people(folder, known), systems=matched)


def others(folder: Path) -> tuple[list[Path], list[Path]]:
    """Two runs, and their data with the human scores of four systems."""
    runs, data = [], []
    for name in ("quiz_design", "a-dataset-of-the-hub"):
        ids = [f"{name}-{n}" for n in range(N)]
        (folder / name).mkdir()
        texts = {"context": "c", "candidate_high": ids, "candidate_low": "l"}
        pairs = pl.DataFrame({"pair_id": ids, "context_id": ids, **texts})
        pairs.write_parquet(folder / name / "pairs.parquet")
        people(folder / name, 4)
        runs.append(write_run(folder / f"run-{name}", *models({**columns(), "pair_id": ids})))
        told = [{"model": model, "signature": f"nnd|data:{name}@607a30"} for model in MODELS]
        write_sealed(runs[-1] / "result.json", {"results": told})
        data.append(folder / name)
    return runs, data


def measured_with_run(folder: Path) -> Printable:
    data = write_judged(folder / "judged")
    pairs = pl.read_parquet(data / "pairs.parquet")
    ids = {name: pairs[name].to_list() for name in ("pair_id", "context_id", "high_id", "low_id")}
    frames = [scored(name, verdicts[:3], **ids) for name, verdicts in MODELS.items()]
    return metrics(write_run(folder / "run", *frames), data=data)


def agreed_on_two(folder: Path) -> Printable:
    return agree(*others(folder), systems=SYSTEMS)


def swept(_: Path) -> Sweep:
    found = evaluation(*models(columns()))
    failure = Failure("gpt2", "trees", "the longest candidate does not fit the window")
    return Sweep({"quiz_design": found, "org/a-dataset-on-the-hub": found}, {}, (failure,))


def broken(folder: Path) -> Printable:
    convert("sample", out=folder / "sample-nnd")
    manifest = folder / "sample-nnd" / "manifest.json"
    facts = json.loads(manifest.read_text())
    facts["counts"]["pairs"] = 71
    write_sealed(manifest, facts)
    return validate(folder / "sample-nnd")


def converted(folder: Path) -> Path:
    convert("sample", out=folder / "sample-nnd")
    return folder / "sample-nnd"


def checked_card(folder: Path) -> Printable:
    data = converted(folder)
    card(data, out=folder / "card.md")
    text = (folder / "card.md").read_text()
    (folder / "card.md").write_text(text.replace("72", "71"))
    return card(data, folder / "card.md", check=True)


def published(_: Path) -> Publication:
    return Publication(
        repo_id="my-org/quiz_design",
        url="https://huggingface.co/datasets/my-org/quiz_design",
        commit="0" * 40,
        changed=True,
        pull_request="https://huggingface.co/datasets/my-org/quiz_design/discussions/1",
        tag="v1",
        files=(PublishedFile("pairs/test.parquet", 1_234_567, "added"),),
        usage=('load_dataset("my-org/quiz_design", "pairs")',),
    )


def newly_made(folder: Path) -> Printable:
    return new_source("new_birds", make_birds(folder / "birds").real, folder / "new_birds")


READ_OR_WRITE_RUNS: dict[str, Make] = {
    "evaluate": lambda folder: evaluation(*models(columns()), agreement=agreed(folder)),
    "evaluate, few people": lambda f: evaluation(*models(columns()), agreement=agreed(f, 2)),
    "sweep": swept,
    "agree": agreed,
    "agree, few people": lambda folder: agreed(folder, 3),
    "agree, two datasets": agreed_on_two,
    "compare": lambda folder: compare(run(folder)),
    "compare two": lambda folder: compare(run(folder), models=[*MODELS][:2]),
    "slice": lambda folder: slice_runs(run(folder), by="error_category"),
    "report": lambda folder: report(run(folder), folder / "report.html"),
    "report, two datasets": lambda folder: report(others(folder)[0], folder / "report.html"),
    "metrics": lambda folder: metrics(data=write_judged(folder / "judged")),
    "metrics, a run": measured_with_run,
    "metrics, two datasets": lambda folder: metrics(
        data=[write_judged(folder / name) for name in ("judged", "others")]
    ),
}
OTHERS: dict[str, Make] = {
    "compare, two datasets": lambda folder: compare(others(folder)[0]),
    "curve": lambda folder: curve(
        write(folder / "h.jsonl", [entry(0, 0.5, wrong=0.4), entry(500, 0.6, wrong=0.5)])
    ),
    "convert": lambda _: convert("sample"),
    "show": lambda folder: show(converted(folder)),
    "describe": lambda folder: describe(write_judged(folder / "judged")),
    "validate": broken,
    "card": checked_card,
    "sources": lambda _: sources(),
    "new-source": newly_made,
    "check-source": lambda folder: check_source(make_birds(folder).folder),
    "export": lambda folder: export(converted(folder), folder / "trl", to="trl"),
    "publish": published,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Printable]:
    kept: dict[str, Printable] = {}

    def make(name: str) -> Printable:
        if name not in kept:
            kept[name] = (READ_OR_WRITE_RUNS | OTHERS)[name](tmp_path_factory.mktemp("screen"))
        return kept[name]

    return make


@pytest.fixture
def printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """What a result prints in some columns."""

    def show(found: Printable, width: int, *, details: bool = False) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        capsys.readouterr()
        print_result(found, details=details)
        return capsys.readouterr().out

    return show


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*READ_OR_WRITE_RUNS, *OTHERS])
def test_no_number_and_no_name_is_cut(
    name: str, made: Callable[[str], Printable], printed: Callable[..., str]
) -> None:
    found = made(name)
    tables = [each for each in (found.table(), *found.details()) if isinstance(each, Table)]
    screens = {width: printed(found, width, details=True) for width in WIDTHS}
    for width, shown in screens.items():
        for table in tables:
            check_whole(table, shown)
        for line in shown.splitlines():
            folds = not line.startswith((" ", "nnd|", "@@", "+", "-"))
            assert len(line) <= width or not folds or " " not in line.strip(), line
    # What is shortened is shortened the same in every width: texts of data, not numbers or names.
    assert len({shown.count("…") for shown in screens.values()}) == 1


def check_whole(table: Table, shown: str) -> None:
    """Check that all cells of a table are printed: in one piece, or between words."""
    for column in table.columns:
        for cell in column.cells:
            for line in str(cell).splitlines():
                for piece in line.split() if not column.no_wrap else [line]:
                    assert piece in shown
        for word in str(column.header).split():
            assert word in shown


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", READ_OR_WRITE_RUNS)
def test_a_run_fits_the_first_screen(
    name: str, made: Callable[[str], Printable], printed: Callable[..., str]
) -> None:
    lines = printed(made(name), 80).splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 80


def test_a_terminal_without_colour_and_a_poor_encoding(
    made: Callable[[str], Printable], monkeypatch: pytest.MonkeyPatch
) -> None:
    poor = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", poor)
    monkeypatch.setenv("NO_COLOR", "1")
    print_result(made("describe"))
    poor.seek(0)
    shown = poor.read()
    assert "\x1b" not in shown
    assert re.search(r"^\+-{20,}\+$", shown, re.MULTILINE)


def test_machines_get_the_same_in_any_width(
    made: Callable[[str], Printable],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = made("agree")
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        print_result(found, as_json=True)
        assert json.loads(capsys.readouterr().out) == found.to_dict()
