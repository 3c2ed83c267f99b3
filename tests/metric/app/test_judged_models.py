"""`--judged`: the models behind the judged systems of a dataset, with stand-ins of their names."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import constants
from support.models.stand_ins import FIB, QGEVAL, write_stand_ins
from support.refusals import refusal
from support.screens.commands import Nnd

from nnd.converters.folder.conversion import convert
from nnd.converters.source import load_source
from nnd.metric.app import JudgedModels, find_data, judged_models
from nnd.metric.likelihood.engine import memory
from nnd.metric.run.cost import fitting
from nnd.schemas import ScoringError, cache_folder


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of the Hub with FIB's seven models, and the six small ones of QGEval.

    The tokenizers of these are in a subfolder, as on the Hub.
    """
    cache = tmp_path_factory.mktemp("hub")
    write_stand_ins(cache, FIB)
    write_stand_ins(cache, QGEVAL, subfolder="tokenizer")
    return cache


@pytest.fixture
def hub(stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, where models are looked for."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(stand_ins))
    return stand_ins


@pytest.fixture(scope="module")
def fib(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FIB's fixture, converted: 18 pairs of the seven systems and the reference."""
    source = load_source("fib").folder
    out = tmp_path_factory.mktemp("data") / "fib"
    convert(source, origin=source / "fixture", out=out)
    return out


def reasons(found: JudgedModels) -> dict[str, str]:
    """System → why it is skipped."""
    return {each.system: each.reason for each in found.skipped}


def with_systems(folder: Path, systems: dict[str, Any], tmp_path: Path) -> Path:
    """FIB's fixture with other models behind some systems."""
    source = load_source("fib").folder
    facts = yaml.safe_load((source / "source.yaml").read_text(encoding="utf-8"))
    facts["systems"] |= systems
    place = tmp_path / "source"
    place.mkdir()
    (place / "source.yaml").write_text(yaml.safe_dump(facts, sort_keys=False), encoding="utf-8")
    out = tmp_path / folder.name
    convert(place, origin=source / "fixture", out=out, accept_changed="other systems")
    return out


@pytest.mark.usefixtures("hub")
def test_every_model_that_loads_is_named_with_its_system_and_template(fib: Path) -> None:
    found = judged_models(fib)

    assert found.data == str(fib)
    assert {*found.models} == {*found.systems} == {*found.templates} == {*FIB}
    assert found.systems["google/pegasus-xsum"] == "pegasus"
    assert {*found.templates.values()} == {"{article}"}
    assert (found.skipped, found.without_model) == ((), ("reference",))
    assert found.headline() == "7 of 8 judged systems can be scored here."


@pytest.mark.usefixtures("hub")
def test_what_cannot_be_scored_is_listed_with_the_reason(fib: Path, tmp_path: Path) -> None:
    base = {"id": "facebook/bart-large-xsum", "certainty": "exact", "evidence": "the paper"}
    systems = {
        "bart-base": "org/nowhere",
        "bart-large": base,
        "bloom-560m": base | {"evidence": "another paper"},
        "distil-bart": base | {"certainty": "likely"},
        "distil-pegasus": base | {"template": None, "evidence": "its eight examples are lost"},
    }
    data = with_systems(fib, systems, tmp_path)

    found = judged_models(data)

    assert [*found.systems.values()] == ["bart-large", "pegasus", "t5-large"]
    assert found.templates.keys() == {*found.models} - {"facebook/bart-large-xsum"}
    why = reasons(found)
    assert why.pop("bart-base").startswith("not found in the local Hub cache")
    assert why == {
        "bloom-560m": "its model also stands for bart-large",
        "distil-bart": "that this model was judged is only likely: the paper",
        "distil-pegasus": "its template is not known: its eight examples are lost",
    }
    likely = judged_models(data, certainty="likely")
    assert reasons(likely)["distil-bart"] == "its model also stands for bart-large"


@pytest.mark.usefixtures("hub")
def test_a_model_larger_than_the_memory_is_skipped_unless_asked_for(
    fib: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Bloom's stand-in has 30,000 weights of 4 bytes, and needs some room for tokens.
    monkeypatch.setattr(fitting, "device_bytes", lambda _: 100_000)
    monkeypatch.setattr(fitting, "choose_budget", lambda _: 1)

    with refusal("judged.none-loads"):
        judged_models(fib)

    assert len(judged_models(fib, any_size=True).models) == len(FIB)
    assert memory.device_bytes(fitting.load_skeleton(next(iter(FIB)), fitting.Loading()).device)


def test_without_any_model_the_reasons_are_said_once(fib: Path) -> None:
    with pytest.raises(ScoringError) as caught:
        judged_models(fib)

    assert str(caught.value).count("not found in the local Hub cache") == 1
    assert "and 4 more: not found" in str(caught.value)


def test_data_that_does_not_say_what_was_judged_is_refused(tmp_path: Path, fib: Path) -> None:
    shutil.copytree(fib, tmp_path / "data")
    (tmp_path / "data" / "manifest.json").unlink()

    with refusal("judged.none-loads"):
        judged_models(tmp_path / "data")


def test_a_set_of_a_built_in_source_is_converted_into_the_cache(
    monkeypatch: pytest.MonkeyPatch, fib: Path
) -> None:
    asked: list[tuple[object, ...]] = []

    def converted(name: str, *, out: Path, set_name: str | None) -> None:
        asked.append((name, out.name, set_name))

    monkeypatch.setattr("nnd.converters.folder.convert", converted)
    assert find_data("qgeval", "hotpotqa") == str(cache_folder() / "converted/qgeval-hotpotqa")
    assert asked == [("qgeval", "qgeval-hotpotqa", "hotpotqa")]
    with refusal("option.conflict"):
        find_data(str(fib), "x")


@pytest.mark.usefixtures("hub")
def test_a_run_ends_with_agreement_and_what_is_beside_it(
    fib: Path, tmp_path: Path, nnd: Nnd
) -> None:
    code, out, err = nnd("evaluate", "--judged", fib, "--out", "out")

    assert code == 0
    assert err.count("nnd: 7 of 8 judged systems can be scored here.") == 1
    assert "No public model: reference." in out
    said = "People's own scores differ significantly for none of the 21 pairs of these systems"
    assert said in out  # in two contexts nothing is significant
    stored = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert stored["systems"] == judged_models(fib).systems
    assert {*stored["templates"].values()} == {"{article}"}
    agreement = stored["agreement"]["by_category"]["overall"]
    assert agreement["n"] == 7
    assert agreement["human_noise"]["pairs"] == 21
    assert agreement["without_own"]["n"].keys() == {*FIB}
    assert all(0 < n < 18 for n in agreement["without_own"]["n"].values())


@pytest.mark.usefixtures("hub")
def test_a_template_of_ones_own_goes_before_that_of_the_record(fib: Path, nnd: Nnd) -> None:
    own = "google/pegasus-xsum=News: {article}"
    options = ["--out", "out", "--template", own, "--limit", 2]
    assert nnd("evaluate", "--judged", fib, *options).code == 0
    stored = json.loads(Path("out", "result.json").read_text(encoding="utf-8"))
    templates = {each["model"]: each["template"] for each in stored["results"]}
    assert templates == dict.fromkeys(FIB, "{article}") | {"google/pegasus-xsum": "News: {article}"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judged", "x", "--data", "y"], "--data"),
        (["--set", "x", "--data", "y", "--model", "z"], "--set goes with"),
        (["--any-size", "--data", "y", "--model", "z"], "--any-size goes with"),
        (["--judged", "x", "--runs", "y", "--out", "z"], "--judged"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], message: str, nnd: Nnd) -> None:
    ran = nnd("evaluate", *options)
    assert ran.code == 2
    assert message in ran.err
