"""The page of the papers: no element is missing, numbers are those of the papers, every row runs.

Where a row needs no weights, its commands run on the real annotation files, and print the numbers
in bold. All other rows run on small files, with tiny models under the names of the real ones.
"""

import csv
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from support.places import ROOT
from support.screens.commands import Nnd, Ran

from nnd.converters.folder import convert
from nnd.metric.run import find_built_in
from nnd.schemas import load_yaml

PAGE = (ROOT / "cards/guide/papers.md").read_text(encoding="utf-8")
NND, EDFAITH, GEM = "Near-Negative Distinction", "ED-FAITH", "Evaluation suites for GEM"

ELEMENTS = {
    NND: {
        *(f"Figure {n}" for n in (1, "2 (a)", "2 (b)", 3, 4)),
        *(f"Table {n}" for n in (1, 2, "A1", "A2", "A3")),
        *(f"Section {n}" for n in ("2.3", "3.1", "3.2", "3.3", 4, "5.2", "7.1")),
        *("Equations 1 and 2", "section 5.1", "section 5.2", "section 5.3", "section 5.4"),
    },
    EDFAITH: {*(f"Table {n}" for n in range(1, 6)), "Section 3", "section 5.1", "section 5.3"},
    GEM: {
        *(f"Figure {n}" for n in (1, 2, "3 (b) to (d)", "4 (a)", "4 (b)")),
        *(f"Table {n}" for n in (1, 2, 3)),
    },
}
"""Paper → what of it states results, as it calls them."""

TEXTS = {NND: "001_", EDFAITH: "004_", GEM: "003_"}
"""Paper → how the name of its text begins."""

NOT_IN_THE_TEXT = {"Figure 2 (a)", "Figure 2 (b)", "Figure 3 (a) to (f)"}
"""Images, whose numbers are those of the authors' notebooks."""

OF_THE_NOTEBOOK = {"Table 2, pass rates": ["37.3"]}
"""Numbers of the notebook that stand beside those of the paper."""

TABLE = ("element", "command", "published", "nnd")


class Row(NamedTuple):
    """A row of the page.

    Attributes:
        paper: The paper that it is of.
        element: What of the paper it repeats.
        commands: The commands, without `nnd`.
        published: What was published.
        ours: What nnd gives.
    """

    paper: str
    element: str
    commands: tuple[str, ...]
    published: str
    ours: str

    @property
    def needs(self) -> bool:
        return self.ours.startswith("needs") or self.paper == GEM

    def __str__(self) -> str:
        return f"{self.paper}: {self.element}"


def rows() -> Iterator[Row]:
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        paper, _, text = part.partition("\n")
        for line in text.splitlines():
            if line.startswith("| ") and not line.startswith("| element "):
                element, command, published, ours = (
                    cell.strip() for cell in line.removesuffix("|").split("|")[1:]
                )
                commands = tuple(re.findall(r"`nnd ([^`]+)`", command))
                assert commands or command == "none", line
                yield Row(paper, element, commands, published, ours)


ROWS = [*rows()]


def numbers(text: str) -> list[str]:
    return [found.replace(",", "") for found in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


@pytest.mark.parametrize("paper", ELEMENTS)
def test_no_element_is_missing(paper: str) -> None:
    named = "; ".join(row.element for row in ROWS if row.paper == paper)
    missing = {name for name in ELEMENTS[paper] if not re.search(rf"\b{re.escape(name)}", named)}
    assert missing == set()


def test_the_page_has_every_element_of_the_list() -> None:
    document = load_yaml(find_built_in("laban2022").read_text(encoding="utf-8"))
    listed = set()
    for entry in document:
        element = entry["element"]
        listed |= {element} if isinstance(element, str) else {*element}
    assert listed - {"not in the paper"} == {
        "Table 1",
        "Table 2",
        "Figure 2 (a)",
        "Figure 2 (b)",
        "Figure 3",
    }


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_what_was_published_is_in_the_text_of_the_paper(row: Row, nnd_data: Path) -> None:
    folder = nnd_data.parent / "papers"
    if not folder.is_dir():
        pytest.skip("the texts of the papers are not beside the annotation files")
    if row.element.partition(";")[0] in NOT_IN_THE_TEXT:
        return
    (text,) = folder.glob(f"{TEXTS[row.paper]}*")
    known = {*numbers(text.read_text(encoding="utf-8"))}
    measured = [number for number in numbers(row.published) if "." in number or len(number) > 2]
    unknown = [number for number in measured if number not in known]
    assert unknown == OF_THE_NOTEBOOK.get(row.element.partition(";")[0], [])


# On the real files

CONVERTED = ("quiz_design", "challenge300", "confit_samsum", "summeval")


@pytest.fixture(scope="module")
def real(nnd_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`real(command)`: a working folder with the data that a command names."""
    place = tmp_path_factory.mktemp("real")
    (place / "elsewhere").mkdir()
    for name in ("SUMMEVAL", "FRANK"):
        (place / "elsewhere" / name).symlink_to(nnd_data / name.lower())
    for name in ("quiz_design", "challenge300", "confit_samsum"):
        shutil.copytree(nnd_data / name, place / "cache" / name)  # as if downloaded
    write_published_rates(place)

    def with_data(command: str) -> Path:
        for name in CONVERTED:
            is_named = re.search(rf"(--data|show) {name}( |$)", command)
            if is_named and not (place / name).exists():
                convert(name, origin=nnd_data / name, out=place / name)
        return place

    return with_data


def write_published_rates(place: Path) -> None:
    """Write paper.csv as the page on agreement does."""
    page = (ROOT / "cards/guide/agreement.md").read_text(encoding="utf-8")
    table = re.search(r"cat > paper.csv <<'END'\n(.*?)END\n", page, re.DOTALL)
    assert table is not None
    (place / "paper.csv").write_text(table[1], encoding="utf-8")


def cases() -> Iterator[object]:
    for row in ROWS:
        if row.commands and not row.needs:
            takes_long = "summeval" in " ".join(row.commands)
            yield pytest.param(row, marks=[pytest.mark.full] if takes_long else [], id=str(row))


def prints(out: str, number: str) -> bool:
    """Whether a number is printed, perhaps with more digits."""
    digits = len(number.partition(".")[2])
    printed = re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", out)
    values = (float(found.replace(",", "")) for found in printed)
    return any(f"{value:.{digits}f}" == number for value in values)


@pytest.mark.parametrize("row", [*cases()])
def test_a_row_without_weights_prints_what_the_page_says(
    row: Row, real: Callable[[str], Path], nnd: Nnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    out = []
    for command in row.commands:
        place = real(command)
        # Converted elsewhere: a folder with the name of a source would be taken for its files.
        monkeypatch.chdir(place / "elsewhere" if command.startswith("convert") else place)
        monkeypatch.setenv("NND_CACHE", str(place / "cache"))
        ran = nnd(*shlex.split(command))
        assert ran.code == 0, ran.err
        out.append(ran.out)
    expected = [each.replace(",", "") for each in re.findall(r"\*\*([\d.,]+)\*\*", row.ours)]
    assert [number for number in expected if not prints("\n".join(out), number)] == []


# On small files, with tiny models

STAND_INS = {
    "gpt2": ("gpt2",),
    "prophetnet": ("microsoft/prophetnet-large-uncased-squad-qg",),
    "t5": (
        *("Salesforce/mixqg-large", "Salesforce/mixqg-3b", "bigscience/T0_3B"),
        *(f"allenai/macaw-{size}" for size in ("large", "3b", "11b", "answer-11b")),
        *(f"google/t5-{size}-ssm-nq" for size in ("small", "large", "xl", "xxl")),
        *(f"allenai/unifiedqa-t5-{size}" for size in ("small", "base", "large", "3b", "11b")),
    ),
    "bart": (
        *("facebook/bart-base", "facebook/bart-large", "facebook/bart-large-cnn"),
        "Yale-LILY/brio-cnndm-cased",
    ),
    "pegasus": ("google/pegasus-cnn_dailymail",),
}
SOURCES = ("quiz_design", "challenge300", "summeval", "frank", "confit_samsum")
GEM_SUITE = """
source: sample
sets:
  - {sample: 5, name: five}
  - {keywords: [octopus, canal], name: of-a-topic}
"""


def small_files(name: str, place: Path) -> Path:
    """Return the small annotation files of a source, with what rows of the page need besides."""
    fixture, made = ROOT / "converters/sources" / name / "fixture", place / name.upper()
    shutil.copytree(fixture, made)
    if name == "summeval":  # of whose systems the paper takes others
        path = made / "model_annotations.aligned.paired.jsonl"
        text = path.read_text(encoding="utf-8")
        for system, other in {"M0": "M9", "M2": "M17", "M11": "M23"}.items():
            text = text.replace(f'"{system}"', f'"{other}"')
        path.write_text(text, encoding="utf-8")
    if name == "confit_samsum":  # two dialogues are too few to train on some
        path = made / "samsum_annotation.csv"
        with path.open(encoding="utf-8", newline="") as file:
            rows_of = [*csv.reader(file)]
        more = [
            [str(100 * n + int(number)), *(each.replace("Ada", f"Ada{n}") for each in others)]
            for n in range(1, 6)
            for number, *others in rows_of[1:]
        ]
        with path.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(more)
    return made


@pytest.fixture(scope="module")
def small(saved: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with all that the page names, small."""
    tmp_path = tmp_path_factory.mktemp("small")
    for family, names in STAND_INS.items():
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).symlink_to(saved(family))
    for name in SOURCES:
        convert(
            name, origin=small_files(name, tmp_path), out=tmp_path / name, accept_changed="small"
        )
    convert("sample", out=tmp_path / "sample-nnd")
    write_published_rates(tmp_path)
    corpus = [{"context": f"Article {n} is long.", "reference": f"It is {n}."} for n in range(4)]
    dialogues = [
        {"context": f"Ann: Shall I come at {n}?\nBob: Yes.", "reference": "Ann will visit Bob."}
        for n in range(4)
    ]
    corpora = {"cnn_dailymail": corpus, "samsum": dialogues, "reddit-references": dialogues}
    for name, rows_of in corpora.items():
        text = "".join(f"{json.dumps(row)}\n" for row in rows_of)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "gem.yaml").write_text(GEM_SUITE, encoding="utf-8")
    (tmp_path / "training.txt").write_text("Who painted the ceiling?\n", encoding="utf-8")
    back = "def translate(text):\n    return text + ' indeed'\n"
    (tmp_path / "back.py").write_text(back, encoding="utf-8")
    return tmp_path


def write_values(place: Path, command: str) -> None:
    """Write the values that another program gave to the candidates of a command's data."""
    data = command.split("--data ")[1].split(maxsplit=1)[0]
    candidates = pl.read_parquet(place / data / "annotations.parquet")
    values = candidates.select("candidate_id", questeval=pl.col("candidate").str.len_chars())
    values.unique("candidate_id").write_csv(place / "metrics.csv")


def run_small(command: str, nnd: Nnd, place: Path) -> Ran:
    if "metrics.csv" in command:
        write_values(place, command)
    words = shlex.split(command)
    if words[0] == "evaluate":
        words += ["--limit", "3"]
    return nnd(*words)


def rows_with_weights() -> Iterator[object]:
    for row in ROWS:
        if row.commands and row.needs:
            # The entries of the list are also checked by `test_built_in_lists`.
            takes_long = re.search("--runs laban2022|laban2022/", " ".join(row.commands))
            yield pytest.param(row, marks=[pytest.mark.full] if takes_long else [], id=str(row))


def made_by() -> dict[str, str]:
    """Folder or file that a command of a row writes → the command."""
    commands = [command for row in ROWS if row.needs for command in row.commands]
    return {
        words[words.index("--out") + 1]: command
        for command in commands
        if "--out" in (words := shlex.split(command))
    }


def run_after_what_it_reads(command: str, nnd: Nnd, place: Path) -> None:
    """Run a command behind those of other rows that write what it reads."""
    for out, maker in made_by().items():
        is_read = any(f"{word}/".startswith(f"{out}/") for word in shlex.split(command))
        if is_read and maker != command and not (place / out).exists():
            run_after_what_it_reads(maker, nnd, place)
    ran = run_small(command, nnd, place)
    # A list leaves out unpublished models, and says so by its exit code.
    assert ran.code == (1 if "--runs laban2022" in command else 0), (command, ran.err)


@pytest.mark.parametrize("row", [*rows_with_weights()])
def test_every_row_that_needs_weights_runs_with_tiny_models(
    row: Row, small: Path, nnd: Nnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small)
    for command in row.commands:
        run_after_what_it_reads(command, nnd, small)
