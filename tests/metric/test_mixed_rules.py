"""Runs of different protocols: refused, or shown side by side without p-values and agreement."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.stored_folders import write_sealed
from support.suites.split_source import write_letters
from support.two_models import scored, write_run

from nnd.metric.likelihood import Scoring
from nnd.metric.numbers import Manner, agree, compare, manner_of, slice_runs
from nnd.metric.numbers.manners.manner import describe_others
from nnd.metric.other_metrics.on_datasets import metrics
from nnd.metric.run import evaluate
from nnd.metric.show.reports.page.report import report
from nnd.schemas import check_rows

Runs = Callable[..., list[Path]]

BETTER, WORSE = "+" * 30 + "-" * 10, "+" * 10 + "-" * 30
SENTENCE = (
    "The models were scored by different protocols (native, sum), whose numbers cannot be "
    "compared: there are no p-values and no agreement across them."
)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """`runs((model, verdicts, facts), …)`: a folder for each model, of the given facts."""

    def write(*models: tuple[str, str, dict[str, Any]]) -> list[Path]:
        folders = []
        for number, (model, verdicts, facts) in enumerate(models):
            rows = scored(model, verdicts, error_category="bad")
            folder = write_run(tmp_path / f"run{number}", rows)
            result = {"model": model, "version": "1", "signature": "nnd", "protocol": "native"}
            result["clusters"] = 1
            document = {"results": [result | facts]}
            write_sealed(folder / "result.json", document)
            folders.append(folder)
        return folders

    return write


@pytest.fixture
def two(runs: Runs) -> list[Path]:
    return runs(("x", BETTER, {}), ("y", WORSE, {"protocol": "sum"}))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_letters(tmp_path_factory.mktemp("letters"), ["valid", "test"])


@pytest.fixture(scope="module")
def real(
    data: Path, saved: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """Two native runs, of which one is of gpt2, and one of llama by `sum`."""
    place, folders = tmp_path_factory.mktemp("real"), []
    for family, system in {"gpt2": "otter", "bart": "badger", "llama": "marten"}.items():
        model, folder = str(saved(family)), place / f"run-{family}"
        protocol = "sum" if family == "llama" else "native"
        scoring = Scoring(protocol, cache=False, unconditional=False)
        evaluate(model, data, out=folder, systems={model: system}, scoring=scoring)
        folders.append(folder)
    return folders


# Refused


def commands(data: Path, out: Path) -> dict[str, Callable[..., Any]]:
    return {
        "compare": compare,
        "agree": lambda folders, **more: agree(folders, data, **more),
        "slice": lambda folders, **more: slice_runs(folders, by="error_category", **more),
        "report": lambda folders, **more: report(folders, out / "page.html", **more),
        "metrics": lambda folders, **more: metrics(folders, data=data, scorers="length", **more),
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["compare", "agree", "slice", "report", "metrics"])
def test_every_command_refuses_them_by_one_error(
    name: str, real: list[Path], data: Path, tmp_path: Path
) -> None:
    with refusal("run.different-rules") as caught:
        commands(data, tmp_path)[name](real)
    gpt2, bart, llama = (
        json.loads((run / "result.json").read_text())["results"][0]["model"] for run in real
    )
    assert f"(native: {gpt2}, {bart}; sum: {llama})" in caught.value.what
    assert not (tmp_path / "page.html").exists()
    commands(data, tmp_path)[name](real[:2])


def test_a_model_in_two_runs_is_named_with_its_run(runs: Runs) -> None:
    folders = runs(("x", BETTER, {}), ("x", WORSE, {"protocol": "sum"}))
    with refusal("run.different-rules"):
        compare(folders)


def test_only_the_models_that_are_compared_must_follow_one_protocol(runs: Runs) -> None:
    folders = runs(("x", BETTER, {}), ("y", WORSE, {"protocol": "sum"}), ("z", WORSE, {}))
    (found,) = compare(folders, models=["x", "z"])
    assert (found.first, found.second, found.overall.verdict) == ("x", "z", "first")


def test_runs_on_several_datasets_must_follow_one_protocol(
    real: list[Path], data: Path, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    other = write_letters(tmp_path / "other", ["bbc"])
    folder, model = tmp_path / "run-other", str(saved("gpt2"))
    sum_, systems = Scoring("sum", cache=False, unconditional=False), {model: "otter"}
    evaluate(model, other, out=folder, scoring=sum_, systems=systems)
    other = other.rename(other.with_name("others"))
    folders, both = [*real[:2], folder], [data, other]
    with refusal("run.different-rules"):
        report(folders, tmp_path / "page.html", data=both)
    with refusal("run.different-rules"):
        agree(folders, both)
    with refusal("run.different-rules"):
        metrics(folders, data=both, scorers="length", mixed_rules=True)
    page = report(folders, tmp_path / "page.html", data=both, mixed_rules=True).page.read_text()
    assert "tiny-gpt2 (sum)" in page
    assert "tiny-gpt2 (native)" in page


# Side by side


def test_a_difference_across_protocols_is_not_tested(two: list[Path]) -> None:
    (found,) = compare(two, mixed_rules=True)
    assert (found.first, found.second) == ("x (native)", "y (sum)")
    assert found.headline() == (
        "x (native) 75.0 %, y (sum) 25.0 % of 40 shared tests; differences across protocols are "
        "not tested."
    )
    assert found.sentences == (
        SENTENCE,
        "x (native) passes 75.0 % and y (sum) 25.0 % of 40 tests; the difference is not tested.",
    )
    for each in (found.overall, *found.by["error_category"].values()):
        assert (each.p, each.p_holm, each.interval, each.needed) == (None, None, None, None)
        assert (each.verdict, each.difference) == ("untested", 0.5)
    value = found.to_dict()
    assert list(check_rows("comparison", [value])) == []
    assert found.to_frame()["p"].null_count() == found.to_frame().height
    assert found.drawing() is not None
    printed = str(found)
    assert "not tested" in printed
    assert "p =" not in printed


def test_differences_within_a_protocol_are_tested_as_ever(runs: Runs) -> None:
    folders = runs(("x", BETTER, {}), ("y", WORSE, {"protocol": "sum"}), ("z", WORSE, {}))
    found = compare(folders, mixed_rules=True)
    verdicts = {(each.first, each.second): each.overall.verdict for each in found}
    assert verdicts == {
        ("x (native)", "y (sum)"): "untested",
        ("x (native)", "z (native)"): "first",
        ("y (sum)", "z (native)"): "untested",
    }
    assert found.headline().endswith(
        "1 of 1 tested difference is significant, and differences across protocols are not tested."
    )
    assert found.remarks() == [SENTENCE]
    assert found.drawing() is not None


def test_one_and_the_same_model_is_tested_across_protocols(runs: Runs) -> None:
    folders = runs(("x", BETTER, {}), ("x", WORSE, {"protocol": "sum"}))
    (found,) = compare(folders, mixed_rules=True)
    assert (found.first, found.second) == ("x (native)", "x (sum)")
    overall = found.overall
    assert overall.verdict == "first"
    assert overall.p is not None
    assert found.sentences[0].startswith("x (native) is better than x (sum) overall: 75.0 %")
    other = runs_of_versions(folders)
    (found,) = compare(other, mixed_rules=True)  # other weights of the same name
    assert found.overall.verdict == "untested"


def runs_of_versions(folders: list[Path]) -> list[Path]:
    path = folders[1] / "result.json"
    found = json.loads(path.read_text())
    found["results"][0]["version"] = "2"
    write_sealed(path, found)
    return folders


def test_there_is_no_agreement_across_protocols(real: list[Path], data: Path) -> None:
    found = agree(real, data, mixed_rules=True)
    assert found.headline() == SENTENCE
    values = found.to_dict()
    assert list(check_rows("agreement", [values])) == []
    for each in (*values["by_category"].values(), values["mean"]):
        for name in ("tau_b", "tau_a", "spearman", "pearson", "gap_r", "gap_r_laban2022"):
            assert each[name] is None
    assert all(p is None for p in values["mean_p_values"].values())
    assert {*found.systems.values()} == {"otter", "badger", "marten"}
    printed = str(found)
    for name in ("tiny-gpt2 (native)", "tiny-bart (native)", "tiny-llama (sum)"):
        assert name in printed
    alone = agree(real[:2], data, mixed_rules=True)
    assert alone.mixture is None
    assert alone.to_dict() == agree(real[:2], data).to_dict()


def test_a_report_names_both_protocols(real: list[Path], data: Path, tmp_path: Path) -> None:
    made = report(real, tmp_path / "page.html", data=data, mixed_rules=True, by="error_category")
    page = made.page.read_text(encoding="utf-8")
    assert "(split test, protocols native and sum)</bdi> <small>" in page
    assert SENTENCE in page
    for name in ("tiny-gpt2 (native)", "tiny-bart (native)", "tiny-llama (sum)"):
        assert name in page
    assert page.count("the difference is not tested.") == 2  # of three comparisons
    assert "tau" not in page.split('id="agreement"')[1].split("</section>")[0]


def test_slices_and_metrics_name_protocols(real: list[Path], data: Path) -> None:
    found = slice_runs(real, by="error_category", mixed_rules=True)
    assert [name.rpartition(" ")[2] for name in found.overall] == ["(native)", "(native)", "(sum)"]
    assert found.remarks()[0] == SENTENCE
    assert list(check_rows("slices", [found.to_dict()])) == []
    table = metrics(real, data=data, scorers="length", over="all", mixed_rules=True)
    assert table.remarks()[0] == SENTENCE
    assert table.remarks().count(SENTENCE) == 1
    rows = {row.name.rpartition("/")[2]: row for row in table.rows}
    assert [*rows] == [
        *("length", "tiny-gpt2 (native)", "tiny-bart (native)", "tiny-llama (sum)"),
        "NND pass rate",
    ]
    assert rows["NND pass rate"].systems is None
    assert rows["NND pass rate"].systems_reason == SENTENCE
    shared = metrics(real, data=data, scorers="length", mixed_rules=True)
    kinds = {
        tuple(
            sorted(
                {
                    "sum" if "(sum)" in m else "native" if "(native)" in m else ""
                    for m in (each.metric, each.other_metric)
                }
            )
        )
        for each in shared.differences
    }
    assert ("native", "sum") not in kinds
    assert ("", "sum") in kinds
    assert list(check_rows("metrics", [shared.to_dict()])) == []


def test_made_pairs_are_not_ranked_across_protocols(tmp_path: Path) -> None:
    folders = []
    for number, protocol in enumerate(("native", "sum")):
        human = scored(f"m{number}", BETTER, origin="human")
        made = scored(
            f"m{number}",
            WORSE,
            origin="synthetic:numbers",
            error_category="numbers",
            pair_id=[f"n{n}" for n in range(40)],
        )
        folder = write_run(tmp_path / f"run{number}", pl.concat([human, made]))
        result = {"model": f"m{number}", "version": "1", "signature": "", "protocol": protocol}
        write_sealed(folder / "result.json", {"results": [result]})
        folders.append(folder)
    with refusal("run.different-rules"):
        compare(folders, by="origin")
    found = compare(folders, by="origin", mixed_rules=True)
    (operation,) = found.to_dict()["operations"]
    assert [*operation["models"]] == ["m0 (native)", "m1 (sum)"]
    assert {*operation["tau_b"].values()} == {None}
    assert SENTENCE in found.remarks()


# Other differences


def test_other_differences_are_named_in_one_sentence(runs: Runs) -> None:
    chat = {"template": "abc", "asked": {"template": "auto", "system": None, "arguments": {}}}
    folders = runs(
        ("x", BETTER, {"dtype": "float32", "template": "default", "chat": chat}),
        ("y", WORSE, {"dtype": "bfloat16", "template": "mixqg", "chat": None}),
        ("z", WORSE, {"dtype": "bfloat16", "template": "mixqg", "chat": {"template": "none"}}),
    )
    sentence = (
        "Contexts were read as chats without an instruction by x, as plain text with the template "
        '"mixqg" by 2 models (y, z). Not all models were scored alike: dtype float32 (x) and '
        "bfloat16 (y, z)."
    )
    found = compare(folders)
    assert found.remarks() == [sentence]
    assert [sentence in each.sentences for each in found] == [True, True, False]
    assert found[0].overall.p is not None
    assert slice_runs(folders, by="error_category").remarks()[0] == sentence


def test_chat_options_are_named() -> None:
    asked = {"template": "auto", "system": "Be brief.", "arguments": {"think": False}}
    manners = {
        name: manner_of({"model": name, "chat": {"template": "abc", "asked": own}})
        for name, own in (("x", asked), ("y", asked | {"system": None, "arguments": {}}))
    }
    assert describe_others(manners) == (
        "Not all models were scored alike: chat options --chat-template auto "
        '--system-prompt "Be brief." --template-arg think=False (x) and the default (y).'
    )


def test_unknown_manners_contradict_none() -> None:
    known = manner_of({"model": "x", "protocol": "sum", "dtype": "float32"})
    unknown = manner_of({})
    assert unknown == Manner(("None", "None"), None, None, None, {})
    assert describe_others({"x": known, "y": unknown}) is None
