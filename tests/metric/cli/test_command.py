"""The command: quick help, plain output, and one line with exit code 2 for what a user can mend."""

import json
import logging
import os
import re
import resource
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from support.hub.server import Hub
from support.judged_cases import write_judged, write_references
from support.recounts.built_in_sources import SOURCES
from support.screens.commands import Nnd, Ran, run_apart
from support.table_2 import SYSTEMS, TABLE_2, write_table
from support.tiny_models import Family
from transformers.utils import logging as hf_logging

from nnd.metric.cli.command import app
from nnd.metric.run import VERSION
from nnd.schemas import check_rows

Saved = Callable[[str], Path]

COMMAND = Path(sys.executable).with_name("nnd")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _verbosity() -> Iterator[None]:
    """The command makes libraries say less."""
    verbosity, hub = hf_logging.get_verbosity(), logging.getLogger("huggingface_hub").level
    yield
    hf_logging.set_verbosity(verbosity)  # type: ignore[no-untyped-call]
    hf_logging.enable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("huggingface_hub").setLevel(hub)


def installed(*arguments: object, **options: Any) -> Ran:
    """The installed command, in a process of its own."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment | options.pop("env", {}),
        **options,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def listing(folder: Path) -> list[str]:
    """Everything in a folder, hidden or not."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# Help


def cpu_seconds(*command: object) -> float:
    """What a process takes of the CPU, whatever else the machine does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*map(str, command)], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_costs_little_more_than_what_prints_it() -> None:
    printing = [sys.executable, "-c", "import typer.rich_utils"]
    ratios = [cpu_seconds(COMMAND, "--help") / cpu_seconds(*printing) for _ in range(3)]
    assert min(ratios) < 2.5  # NumPy and Polars alone would take twice as long as the printing


MODELS = {"torch", "transformers", "evaluate"}
HEAVY = MODELS | {"datasets", "polars", "numpy", "scipy"}


def test_help_loads_nothing_heavy_and_converting_and_metrics_no_torch(
    sample: Path, tmp_path: Path
) -> None:
    convert = ["convert", "sample", "--out", "out"]
    references = write_references(tmp_path / "references.jsonl")
    metrics = ["metrics", "--data", write_judged(tmp_path / "data"), "--references", references]
    commands = ["--help"], ["evaluate", "--help"], convert, ["validate", sample], ["sources"]
    ran = run_apart(*commands, metrics, folder=tmp_path)
    assert [(each.code, each.err) for each in ran] == [(0, "")] * 6
    assert HEAVY.isdisjoint(ran[1].loaded)
    assert MODELS.isdisjoint(ran[-2].loaded)
    assert {"torch", "transformers"}.isdisjoint(ran[-1].loaded)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name: str) -> None:
    assert COMMANDS[name].help
    options = [p for p in COMMANDS[name].params if p.name != "help"]
    assert [option.name for option in options if not getattr(option, "help", None)] == []


def test_the_first_screen_starts_somewhere_and_groups_what_there_is(
    nnd: Nnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = nnd("--help").out
    start = "Start here: nnd evaluate --model gpt2 --data quiz_design --limit 200"
    panels = re.findall(r"^╭─ (\w+) ─", shown, re.MULTILINE)

    assert start in shown
    assert panels == ["Options", "Data", "Score", "Read", "Hub", "Contribute"]
    assert re.findall(r"^│ ([a-z][a-z-]+) +[A-Z]", shown, re.MULTILINE) == [*COMMANDS]
    assert len(shown.splitlines()) <= 51


@pytest.mark.sampled(2)
@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_word_and_bracket(
    name: str, width: int, nnd: Nnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = nnd(name, "--help").out
    command = COMMANDS[name]
    written = command.help.replace("\\[", "[")
    for parameter in command.params:
        options = parameter.opts if parameter.opts[0].startswith("-") else []
        written += " " + " ".join([*options, parameter.help.replace("\\[", "[")])
    written += " " + command.epilog.replace("\\[", "[")
    words = Counter(re.sub("[│─╭╮╰╯]", " ", shown).split())

    assert Counter(written.split()) - words == Counter()


@pytest.mark.parametrize("name", COMMANDS)
def test_runs_come_first_and_data_next(name: str) -> None:
    names = [parameter.name for parameter in COMMANDS[name].params]
    first = [each for each in names if each in ("runs", "results", "data", "human_scores")]

    if name != "evaluate":  # it takes a list of runs instead of data, too
        assert first == sorted(first, key=["results", "runs", "data", "human_scores"].index)


# Usage


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["convert"],
        ["convert", "sample", "--frobnicate"],
        ["evaluate", "--data", "x"],
        ["evaluate", "--model", "x"],
        ["evaluate", "--model", "x", "--data", "y", "--batch-size", "0"],
        ["agree", "--data", "x"],
        ["metrics", "x"],
        ["compare"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2_and_prints_nothing(arguments: list[str], nnd: Nnd) -> None:
    ran = nnd(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: ")


@pytest.mark.parametrize(
    ("arguments", "code", "where"),
    [
        (["show", "SAMPLE", "-n", "0"], "option.bad-value", "-n 0"),
        (["describe", "SAMPLE", "--window", "0"], "option.bad-value", "--window 0"),
        (["slice", "SAMPLE", "--find", "--contexts", "1"], "option.bad-value", "--contexts 1"),
        (["compare", "SAMPLE", "--by", "length"], "run.not-a-run", "sample-nnd"),
        (["derive", "SAMPLE", "--op", "typos", "--on", "both sides"], "option.unknown-value", ""),
        (["derive", "SAMPLE", "--op", "typos", "--negatives", "worst"], "option.conflict", ""),
        (["export", "SAMPLE", "--to", "xml", "--out", "x"], "option.unknown-value", ""),
        (["metrics", "--data", "SAMPLE", "--several", "most"], "option.unknown-value", ""),
        (["suite", "make", "quiz_design"], "option.unknown-value", ""),
        (["compare", "nowhere"], "run.not-a-run", "nowhere"),
        (["agree", "rates.csv"], "option.needs-another", ""),
    ],
)
def test_a_value_that_cannot_be_is_one_line(
    *, arguments: list[str], code: str, where: str, nnd: Nnd, sample: Path
) -> None:
    words = [str(sample) if each == "SAMPLE" else each for each in arguments]
    nnd.refuses(*words, code=code, where=where)


# What it prints


def test_sources_prints_every_source(nnd: Nnd) -> None:
    ran = nnd("sources")
    assert (ran.code, ran.err) == (0, "")
    assert all(source.name in ran.out for source in SOURCES)
    found = json.loads(nnd("sources", "--json").out)["sources"]
    assert [(facts["name"], facts.get("set")) for facts in found] == [
        (source.name, name)
        for source in sorted(SOURCES, key=lambda source: source.name == "sample")
        for name in (None, *source.facts.get("sets", {}))
    ]


def test_convert_prints_counts_and_where(nnd: Nnd) -> None:
    ran = nnd("convert", "sample")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1] == "written to sample-nnd"
    assert "manifest.json" in listing(Path("sample-nnd"))
    ran = nnd("convert", "sample", "--out", "x", "--json")
    stored = json.loads(Path("x/manifest.json").read_text(encoding="utf-8"))
    assert json.loads(ran.out).items() <= stored.items()
    assert stored["counts"]["pairs"] == 72


def test_validate_lists_problems_and_exits_with_1(nnd: Nnd, sample: Path) -> None:
    ran = nnd("validate", sample)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{sample} has no problems.\n"
    assert json.loads(nnd("validate", sample, "--json").out)["problems"] == []
    shutil.copytree(sample, "x")
    pairs = pl.read_parquet("x/pairs.parquet")
    pairs.drop("margin").write_parquet("x/pairs.parquet")
    ran = nnd("validate", "x")
    assert (ran.code, ran.err) == (1, "")
    assert "margin" in ran.out
    assert nnd("validate", "x", "--json").code == 1


def test_evaluate_prints_a_table_and_a_signature(nnd: Nnd, sample: Path, saved: Saved) -> None:
    model = saved("bart")
    ran = nnd("evaluate", "--model", model, "--data", sample, "--device", "cpu")
    assert (ran.code, ran.err) == (0, "")
    assert "overall" in ran.out
    assert "agreement" not in ran.out  # people did not judge this model
    assert ran.out.splitlines()[-1] == "For more, use --details"
    assert "nnd|" not in ran.out
    ran = nnd("evaluate", "--model", model, "--data", sample, "--device", "cpu", "--details")
    assert ran.out.splitlines()[-1].startswith(f"nnd|v:{VERSION}|model:{model}@")
    assert listing(Path()) == []  # nothing is written unless it is asked for


def test_evaluate_as_json_keeps_the_schema_and_equals_the_file(
    nnd: Nnd, sample: Path, saved: Saved
) -> None:
    one, other = saved("gpt2"), saved("bart")
    pairs = ["--system", f"{one}=heron", "--system", f"{other}=wren"]
    models = ["--model", one, "--model", other]
    ran = nnd("evaluate", *models, *pairs, "--data", sample, "--out", "run", "--json")
    found = json.loads(ran.out)
    assert list(check_rows("result", [found])) == []
    stored = json.loads(Path("run/result.json").read_text(encoding="utf-8"))
    assert {key: stored[key] for key in found} == found
    assert found["agreement"]["systems"] == {str(one): "heron", str(other): "wren"}

    # `agree` finds the same in the folder, without a model.
    again = nnd("agree", "run", "--data", sample, *pairs, "--json")
    assert json.loads(again.out) == found["agreement"]
    table = nnd("agree", "run", "--data", sample, *pairs, "--details")
    assert (table.code, table.err) == (0, "")
    assert f"{one} stands for heron" in table.out
    assert "unscored tests, counted as failures: none" in table.out


def test_evaluate_takes_every_option(nnd: Nnd, sample: Path, saved: Saved) -> None:
    ran = nnd(
        *("evaluate", "--model", saved("gpt2"), "--data", sample / "pairs.parquet"),
        *("--protocol", "laban2022", "--template", "Read: {context}", "--keep", "beginning"),
        *("--human-scores", sample, "--token-budget", "500", "--no-cache", "--dtype", "bfloat16"),
        *("--device", "cpu", "--trust-remote-code", "--revision", "main", "--json"),
    )
    (found,) = json.loads(ran.out)["results"]
    assert (found["protocol"], found["template"]) == ("laban2022", "Read: {context}")
    assert (found["dtype"], found["device"], found["n"]) == ("bfloat16", "cpu", 72)
    assert "|keep:beginning|" in found["signature"]


STAND_FOR = [part for model, name in SYSTEMS.items() for part in ("--system", f"{model}={name}")]


def test_agree_gives_table_1_of_the_paper(
    nnd: Nnd, quiz: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The numbers and their source: numbers/agreement/test_from_results.py.
    write_table(Path("rates.csv"), list(TABLE_2))
    monkeypatch.setenv("COLUMNS", "200")
    people = quiz / "human_scores.parquet"
    agree = ("agree", "rates.csv", "--human-scores", people, *STAND_FOR)
    brief = nnd(*agree).out
    (row,) = [line for line in brief.splitlines() if "mean over categories" in line]
    assert row.split()[3:5] == ["0.791", "0.818"]  # tau-b and gap r
    assert "p by permutation" not in brief
    shown = nnd(*agree, "--details").out.partition("agreement with people")[2]
    (row,) = [line for line in shown.splitlines() if "mean over categories" in line]
    # tau-b, tau-a, Spearman (no published value), gap r, gap r in the notebook's order.
    assert [row.split()[n] for n in (3, 4, 6, 7)] == ["0.791", "0.778", "0.818", "0.799"]
    assert shown.count("p by permutation") == 5
    assert shown.count("95 % over systems") == 5
    assert "95 % over contexts" not in shown  # a table of rates has no contexts
    assert "p is two-sided, from all 5,040 permutations of the human scores" in shown


def test_agree_predicts_the_score_of_a_model_nobody_judged(
    nnd: Nnd, quiz: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, people = write_table(Path("rates.csv"), list(TABLE_2)), quiz / "human_scores.parquet"
    with path.open("a") as file:
        file.write("MixQG-3B,overall,0.729\nMacaw-3B,overall,0.692\n")
    order = [part for name in reversed(SYSTEMS.values()) for part in ("--order", name)]
    arguments = ("agree", path, "--human-scores", people, *STAND_FOR, *order)
    found = json.loads(nnd(*arguments, "--json").out)
    assert found["unmatched"] == ["MixQG-3B", "Macaw-3B"]
    assert list(found["systems"].values()) == list(SYSTEMS.values())[::-1]
    extrapolation = found["by_category"]["overall"]["extrapolation"]
    above, within = extrapolation["predictions"]
    assert (above["position"], within["position"]) == ("above", "within")
    monkeypatch.setenv("COLUMNS", "250")
    assert "Without a human score: MixQG-3B, Macaw-3B." in nnd(*arguments).out.splitlines()
    shown = nnd(*arguments, "--details").out
    (row,) = [line for line in shown.splitlines() if "MixQG-3B" in line and "72.9" in line]
    assert f"{above['score']:.3g} [" in row
    assert "extrapolates above the rates of judged models, 44.9-70.9" in row
    assert (
        f"order of the systems for gap r (laban2022): {', '.join(found['systems'].values())}"
        in shown
    )
    # No line without people: the one category here is overall, and with two systems there is none.
    few = nnd("agree", path, "--human-scores", people, *STAND_FOR[:4], "--details")
    assert "a line needs at least 4 judged models, not 2" in few.out


def test_evaluate_says_what_the_surface_may_explain(nnd: Nnd, sample: Path, saved: Saved) -> None:
    arguments = ("evaluate", "--model", saved("gpt2"), "--data", sample)
    found = json.loads(nnd(*arguments, "--json").out)["results"][0]
    assert found["notes"]  # an untrained model knows no more than length
    brief = nnd(*arguments).out.splitlines()
    assert len([line for line in brief if line.startswith("tiny-gpt2: ")]) == 1
    shown = nnd(*arguments, "--details").out.splitlines()
    assert all(f"{saved('gpt2')}: {note}" in shown for note in found["notes"])
    assert found["baselines"]["unconditional"] is not None
    without = json.loads(nnd(*arguments, "--no-unconditional", "--json").out)["results"][0]
    assert without["baselines"]["unconditional"] is None
    assert without["pass_rate"] == found["pass_rate"]


def test_compare_prints_verdicts_and_on_request_sentences_and_signatures(
    nnd: Nnd, sample: Path, saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    names = [str(saved(name)) for name in ("gpt2", "bart", "t5")]
    models = [part for name in names for part in ("--model", name)]
    stored = json.loads(nnd("evaluate", *models, "--data", sample, "--out", "r", "--json").out)
    signatures = {result["model"]: result["signature"] for result in stored["results"]}
    ran = nnd("compare", "r", *models[:4])
    assert (ran.code, ran.err) == (0, "")
    assert "of 72 shared tests; the difference is" in ran.out.splitlines()[0]
    assert "p (Holm)" not in ran.out
    ran = nnd("compare", "r", *models[:4], "--details")
    assert "p (Holm)" in ran.out
    assert ran.out.splitlines()[-2:] == [signatures[name] for name in names[:2]]
    (found,) = json.loads(nnd("compare", "r", *models[:4], "--json").out)["comparisons"]
    assert (found["first"], found["second"], found["n_pairs"]) == (*names[:2], 72)
    one, other = (result["pass_rate"] for result in stored["results"][:2])
    assert found["overall"]["difference"] == pytest.approx(one - other)
    if found["overall"]["verdict"] == "undecided":
        assert found["sentences"][0] in ran.out.splitlines()
    every = nnd("compare", "r", "--details")
    assert every.out.count("p (Holm)") == 3 + 1
    assert every.out.splitlines()[-1] == (
        "p (Holm) is adjusted within each comparison, not over all 3 comparisons"
    )


# Whole runs of the installed command


def test_a_run_without_a_terminal_says_nothing_on_stderr(
    sample: Path, saved: Saved, tmp_path: Path
) -> None:
    ran = installed("evaluate", "--model", saved("t5"), "--data", sample, "--out", tmp_path / "run")
    assert (ran.code, ran.err) == (0, "")
    assert listing(tmp_path) == [
        *("run", "run/cost.json", "run/log_likelihoods.parquet", "run/result.json")
    ]


@pytest.mark.full
@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({}, "model.unknown"),
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "model.out-of-reach"),
    ],
    ids=["no such model", "no connection"],
)
def test_a_model_id_that_does_not_exist(
    variables: dict[str, str], code: str, sample: Path, tmp_path: Path
) -> None:
    with Hub() as hub:
        online = {"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"}
        ran = installed(
            *("evaluate", "--model", "nobody/nothing", "--data", sample, "--out", tmp_path / "run"),
            "--json",
            env=online | {"HF_ENDPOINT": hub.endpoint} | variables,
        )
    error = json.loads(ran.out)["error"]
    assert (ran.code, error["code"], error["where"]) == (2, code, "nobody/nothing")
    assert not (tmp_path / "run").exists()


def test_a_model_id_that_is_not_there_offline(nnd: Nnd, sample: Path, tmp_path: Path) -> None:
    asked = ["--model", "nobody/nothing", "--data", sample, "--out", "run"]
    said = nnd.refuses("evaluate", *asked, code="model.out-of-reach", where="nobody/nothing")
    assert "HF_HUB_OFFLINE" in said
    assert listing(tmp_path) == []


def test_an_interrupt_while_libraries_load_is_one_line(sample: Path, tmp_path: Path) -> None:
    interrupts = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    (tmp_path / "torch.py").write_text(interrupts, encoding="utf-8")
    arguments = ("evaluate", "--model", "nobody/nothing", "--data", sample)
    ran = installed(*arguments, env={"PYTHONPATH": str(tmp_path)})
    said = "nnd: interrupted; run the same command to resume\n"
    assert (ran.code, ran.out, ran.err) == (130, "", said)


@pytest.mark.full
def test_what_transformers_reports_is_not_passed_on(
    sample: Path, tiny: Callable[[str], Family], tmp_path: Path
) -> None:
    tiny("llama").model.base_model.save_pretrained(tmp_path / "model")
    tiny("llama").tokenizer.save_pretrained(tmp_path / "model")
    ran = installed("evaluate", "--model", tmp_path / "model", "--data", sample)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "lm_head.weight" in ran.err  # it prints a table of such weights


@contextmanager
def no_room() -> Iterator[None]:
    """No file may become larger than a thousand bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("before", [False, True], ids=["new folder", "over an older result"])
def test_a_full_disk_while_converting(
    before: bool,  # noqa: FBT001
    nnd: Nnd,
    tmp_path: Path,
) -> None:
    out = tmp_path / "sample-nnd"
    if before:
        assert nnd("convert", "sample", "--out", out).code == 0
    files = listing(tmp_path)
    held = {path: (tmp_path / path).read_bytes() for path in files if (tmp_path / path).is_file()}
    with no_room():
        nnd.refuses("convert", "sample", "--out", out, code="place.cannot-write", where=str(out))
    assert listing(tmp_path) == files
    assert {path: (tmp_path / path).read_bytes() for path in held} == held


def test_a_full_disk_while_evaluating(nnd: Nnd, sample: Path, saved: Saved, tmp_path: Path) -> None:
    asked = ("--model", saved("gpt2"), "--data", sample, "--out", "run", "--no-cache")
    with no_room():
        nnd.refuses("evaluate", *asked, code="place.cannot-write", where="run")
    assert listing(tmp_path) == []


def test_an_error_of_the_installed_command_has_no_traceback(tmp_path: Path) -> None:
    ran = installed("validate", "nowhere", cwd=tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("nnd: nowhere: ")


@pytest.mark.parametrize(
    "encoding",
    ["ascii", *(pytest.param(each, marks=pytest.mark.full) for each in ("cp1252", "utf-8"))],
)
def test_any_encoding_of_the_terminal_will_do(encoding: str, sample: Path, tmp_path: Path) -> None:
    rates = "model,category,pass_rate\nCigüeña 鸛,overall,0.5\nheron,overall,0.6\n"
    (tmp_path / "rates.csv").write_text(rates, encoding="utf-8")
    arguments = ["agree", tmp_path / "rates.csv", "--data", sample]
    arguments += ["--system", "Cigüeña 鸛=wren"]
    environment = {"PYTHONIOENCODING": encoding}
    table = installed(*arguments, "--details", env=environment, encoding=encoding)
    assert (table.code, table.err) == (0, "")
    assert " stands for wren" in table.out
    found = json.loads(installed(*arguments, "--json", env=environment, encoding=encoding).out)
    assert found["systems"] == {"Cigüeña 鸛": "wren", "heron": "heron"}


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"set -o pipefail; {COMMAND} sources --json | head -c 1 > /dev/null"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr


# Bad input: one line, and nothing is left. What is refused is in the tests of each room.


def test_convert_leaves_nothing_of_a_file_that_is_cut_off(nnd: Nnd, tmp_path: Path) -> None:
    (tmp_path / "quiz.jsonl").write_text('{"question": "Wh')
    asked = ["quiz_design", "--from", "quiz.jsonl", "--out", "o"]
    nnd.refuses("convert", *asked, code="file.cut-off", where="quiz.jsonl:1")
    assert listing(tmp_path) == ["quiz.jsonl"]


# Bad input: --out


@pytest.fixture(params=["convert", "evaluate"])
def writing(request: pytest.FixtureRequest, sample: Path, saved: Saved) -> list[object]:
    """A command that can be told where to write."""
    if request.param == "convert":
        return ["convert", "sample"]
    return ["evaluate", "--model", saved("gpt2"), "--data", sample]


def test_out_on_a_file(writing: list[object], nnd: Nnd, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    below = "file/below"
    nnd.refuses(*writing, "--out", "file", code="place.wrong-kind", where="file")
    nnd.refuses(*writing, "--out", below, code="place.cannot-write", where=below)
    assert listing(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_out_on_a_folder_that_holds_more_than_ours(writing: list[object], nnd: Nnd) -> None:
    again = [*writing, "--out", "out"]
    assert nnd(*again).code == 0
    foreign = {Path("out", name): name for name in ("thesis.tex", ".git/HEAD", "run/result.json")}
    for path, text in foreign.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    document = Path("out", "manifest.json" if "convert" in writing else "result.json")
    ours = document.read_bytes()

    said = nnd.refuses(*again, code="place.foreign-files", where="out")
    assert ".git/, run/, thesis.tex" in said
    document.write_text("{}")  # as any tool may call a file
    there = listing(Path("out"))
    assert ".git/, " in nnd.refuses(*again, code="place.foreign-files", where="out")
    document.write_bytes(ours)

    assert listing(Path("out")) == there
    assert {path: path.read_text() for path in foreign} == foreign


@pytest.mark.parametrize("out", [".", ".."])
def test_out_on_the_working_folder_or_above_it(
    out: str, writing: list[object], nnd: Nnd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    nnd.refuses(*writing, "--out", out, code="place.never-replaced", where=out)
    assert listing(tmp_path) == ["here"]


def test_out_is_looked_at_before_the_work(nnd: Nnd, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    nowhere = ["--model", "nobody/nothing", "--data", "org/nowhere"]
    nnd.refuses("evaluate", *nowhere, "--out", "file", code="place.wrong-kind", where="file")


@pytest.mark.parametrize(
    ("option", "value", "code", "fact"),
    [
        ("--keep", "middle", "option.unknown-value", '"middle"'),
        ("--dtype", "float31", "option.unknown-value", '"float31"'),
        ("--system", "heron", "option.bad-value", '--system "heron"'),
        ("--human-scores", "nowhere", "file.not-found", "nowhere"),
        # Once the model is there.
        ("--protocol", "bartscore", "protocol.another-model", '"bartscore"'),
    ],
)
def test_evaluate_with_an_option_that_cannot_be(
    *,
    option: str,
    value: str,
    code: str,
    fact: str,
    nnd: Nnd,
    sample: Path,
    saved: Saved,
) -> None:
    asked = ["--model", saved("gpt2"), "--data", sample, "--out", "run", option, value]
    assert fact in nnd.refuses("evaluate", *asked, code=code)
    assert listing(Path()) == []


def test_what_cannot_be_printed_is_spelled_out(nnd: Nnd, sample: Path) -> None:
    Path("rates.csv").write_text("model,category,pass_rate\nx,overall,0.5\n")
    asked = ["--data", sample, "--system", "a\x1b[2Jb=heron"]
    said = nnd.refuses("agree", "rates.csv", *asked, code="name.unknown")
    assert "\x1b" not in said
    assert '"a\\x1b[2Jb"' in said


def test_our_own_mistakes_keep_their_traceback(nnd: Nnd, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise AttributeError("ours")

    monkeypatch.setattr("nnd.metric.cli.command.app", broken)
    with pytest.raises(AttributeError, match="ours"):
        nnd("sources")


def test_python_m_nnd_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nnd", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"nnd {version('near-negative')}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_the_command(shell: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("nnd"), "--show-completion", shell],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )
    assert "_NND_COMPLETE" in done.stdout
