"""The metric as `evaluate` sees it: loaded from a folder or a path, and what `compute` takes."""

import gc
import json
import shutil
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pytest
from evaluate.loading import get_imports
from support.flat_options import gathered
from support.metric_runs import (
    NOT_INSTALLED,
    SYSTEMS,
    human_scores,
    load_in_processes,
    load_plan,
    pair_rows,
    write_pairs,
)
from support.places import ROOT
from support.refusals import refusal

from nnd.metric.data.pair_columns import COLUMNS, FEATURES
from nnd.metric.likelihood import Loading
from nnd.metric.likelihood.models import model_holder as holder
from nnd.metric.likelihood.models.load_model import load_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.run import evaluate as evaluate_models
from nnd.metric.run.launchers import here
from nnd.metric.space.metric import NND
from nnd.schemas import load_schema

SCRIPT = ROOT / "nnd_metric" / "nnd_metric.py"
NOWHERE = "./nowhere"  # a path, so that nobody asks the Hub
Metric = Callable[..., NND]
COLUMN_LISTS: dict[str, Any] = pair_rows().select(FEATURES).to_dict(as_series=False)
TEXTS: dict[str, Any] = {
    name: values for name, values in COLUMN_LISTS.items() if name != "error_category"
}


@pytest.fixture(scope="module")
def models(saved: Callable[[str], Path]) -> tuple[str, str]:
    """Folders of two tiny models, a decoder-only and an encoder-decoder."""
    return str(saved("gpt2")), str(saved("t5"))


@pytest.fixture(scope="module")
def gpt2(models: tuple[str, str]) -> str:
    return models[0]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pairs(tmp_path_factory.mktemp("made_up"))


@pytest.fixture
def metric(tmp_path: Path) -> Metric:
    """`metric(...)`: an instance that keeps its files in this test's folder."""
    return lambda *args, **options: NND(*args, cache_dir=str(tmp_path / "store"), **options)


def expected_single(model: str, data: Any, **options: Any) -> dict[str, Any]:
    """What the flat answer must be, from the function that the command uses."""
    found = evaluate_models(model, data, **gathered(**options)).to_dict()
    (result,) = found.pop("results")
    return {**result, **found}


def numbers(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer without what tells the data and the model by name."""
    return {name: value for name, value in answer.items() if name not in ("signature", "model")}


# --- evaluate.load, in a process of its own --------------------------------------------------


@pytest.fixture(scope="module")
def loaded(
    models: tuple[str, str], data: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What became of loading in several ways."""
    place = tmp_path_factory.mktemp("loading")
    stranger = place / "other" / "nnd" / "__init__.py"
    stranger.parent.mkdir(parents=True)
    stranger.write_text("")
    systems = dict(zip(models, SYSTEMS, strict=True))
    calls = [{"dataset": str(data), "model_id": list(models), "systems": systems}]
    by_columns = [{**COLUMN_LISTS, "model_id": models[1]}]
    plans = {
        "clone": load_plan("./nnd_metric", calls, folder=ROOT),
        "script": load_plan(SCRIPT, by_columns, folder=place),
        "without package": load_plan("./nnd_metric", [], folder=ROOT, without_package=True),
        str(stranger): load_plan("./nnd_metric", [], folder=ROOT, first=place / "other"),
    }
    found = load_in_processes([*plans.values()], home=place / "home")
    return dict(zip(plans, found, strict=True))


def test_a_clone_without_the_package_says_how_to_install_it(
    loaded: dict[str, dict[str, Any]],
) -> None:
    assert loaded["without package"] == {"package": False, "error": f"ImportError: {NOT_INSTALLED}"}


def test_folder_loads_in_a_clone(
    models: tuple[str, str], data: Path, loaded: dict[str, dict[str, Any]]
) -> None:
    found = loaded["clone"]
    assert found["module"] == "nnd.metric.space.metric"
    (several,) = found["answers"]
    systems = dict(zip(models, SYSTEMS, strict=True))
    expected = evaluate_models(models, data, systems=systems).to_dict()
    assert several["results"] == expected["results"]
    assert several["agreement"] == expected["agreement"]


def test_path_of_the_script_loads_in_another_folder(
    models: tuple[str, str], loaded: dict[str, dict[str, Any]]
) -> None:
    expected = expected_single(models[1], pair_rows().select(FEATURES))
    assert loaded["script"]["answers"] == [expected]


def test_the_package_of_another_project_is_named(loaded: dict[str, dict[str, Any]]) -> None:
    stranger, found = list(loaded.items())[-1]
    assert found["error"].startswith(
        f"ImportError: Python imports nnd from {stranger}, which is not the package of "
        "near-negative; "
    )


def test_evaluate_does_not_check_the_imports_of_the_script() -> None:
    # It would say in its own words, and for the wrong package, what to install.
    assert get_imports(str(SCRIPT)) == []


# --- contract --------------------------------------------------------------------------------


def test_features_are_texts_of_the_contract(metric: Metric) -> None:
    described = load_schema("pair")["properties"]
    assert metric().features == datasets.Features(
        {name: datasets.Value(described[name]["type"]) for name in FEATURES}
    )
    assert set(FEATURES) == {"context", "candidate_high", "candidate_low", "error_category"}


def test_columns_are_those_of_the_contract() -> None:
    # Own tables may say the language of their contexts in a column; converted ones, in metadata.
    assert {*load_schema("pair")["properties"], "context_language"} == COLUMNS


def test_description_tells_whom_to_cite_and_how_to_call(metric: Metric) -> None:
    instance = metric()
    assert "Near-Negative Distinction: Giving a Second Life" in instance.citation
    assert "candidate_high" in instance.inputs_description
    assert str(instance.compute.__doc__).endswith(instance.inputs_description)
    assert str(NND.__doc__).startswith(instance.description)


# --- data ------------------------------------------------------------------------------------


def test_every_way_to_hand_over_a_dataset_gives_the_same(
    gpt2: str, data: Path, metric: Metric
) -> None:
    # Also by column: ids, parts and categories count, so nothing of a row is lost on the way.
    rows = datasets.Dataset.from_polars(pair_rows())
    lazy = {name: rows[name] for name in rows.column_names}
    instance = metric(model_id=gpt2)
    options: dict[str, Any] = {"template": "{paragraph} Why?"}
    expected = numbers(expected_single(gpt2, data, **options))
    expected["agreement_reason"] = (
        "the data has no human scores; pass human_scores (--human-scores)"
    )
    for arguments in ({"dataset": rows}, rows[:], lazy, {"dataset": pair_rows()}):
        assert numbers(instance.compute(**arguments, **options) or {}) == expected


def test_parts_of_a_context_may_be_objects(gpt2: str, metric: Metric) -> None:
    # The last has other parts than the rest; macaw renders both kinds.
    *first, last = COLUMN_LISTS["context"]
    inputs = [*({"question": text} for text in first), {"paragraph": last, "answer": "x"}]
    entries = [[{"key": key, "value": parts[key]} for key in parts] for parts in inputs]
    instance = metric(model_id=gpt2)
    found, expected = (
        instance.compute(**COLUMN_LISTS, inputs=parts, template="macaw")
        for parts in (inputs, entries)
    )
    assert found == expected


def test_error_categories_may_be_missing(gpt2: str, metric: Metric) -> None:
    instance = metric(model_id=gpt2)
    some = {**TEXTS, "error_category": [None, "", *COLUMN_LISTS["error_category"][2:]]}
    found, labelled, plain = (
        instance.compute(**columns) or {} for columns in (some, COLUMN_LISTS, TEXTS)
    )
    # rows 2, 4, 5 are off_target; rows 3, 6, 7 disfluent
    counts = {label: rate["n"] for label, rate in found["by_error_category"].items()}
    assert counts == {"off_target": 3, "disfluent": 3}
    assert labelled["by_error_category"].keys() == counts.keys()
    assert plain["by_error_category"] == {}
    assert plain["passes"] == labelled["passes"]


def test_baselines_come_along(gpt2: str, metric: Metric) -> None:
    instance = metric(model_id=gpt2)
    found = instance.compute(**COLUMN_LISTS) or {}
    texts = [COLUMN_LISTS[name] for name in ("candidate_high", "candidate_low")]
    longer = sum(len(high) > len(low) for high, low in zip(*texts, strict=True))
    assert found["baselines"]["longer_wins"]["pass_rate"] == longer / len(texts[0])
    assert found["baselines"]["unconditional"] is not None
    without = instance.compute(**COLUMN_LISTS, unconditional=False) or {}
    assert without["baselines"]["unconditional"] is None
    assert without["pass_rate"] == found["pass_rate"]


def test_no_pairs_have_no_pass_rate(gpt2: str, metric: Metric) -> None:
    nothing: dict[str, Any] = {name: [] for name in TEXTS}
    found = metric().compute(**nothing, model_id=gpt2) or {}
    assert (found["n"], found["pass_rate"]) == (0, None)


@pytest.mark.parametrize("labelled", [True, False])
def test_pairs_may_be_added_bit_by_bit(gpt2: str, metric: Metric, *, labelled: bool) -> None:
    columns = COLUMN_LISTS if labelled else TEXTS
    instance = metric(model_id=gpt2)
    instance.add_batch(**{name: values[:5] for name, values in columns.items()})
    instance.add(**{name: values[5] for name, values in columns.items()})
    # What compute is given comes on top, as with any metric.
    last = {name: values[6:] for name, values in columns.items()}
    assert instance.compute(**last) == instance.compute(**columns)


def test_half_a_surrogate_pair_cannot_be_added(gpt2: str, metric: Metric) -> None:
    instance = metric(model_id=gpt2)
    row = {"context": "c", "candidate_high": "h", "candidate_low": "l"}
    with refusal("cell.not-text", "row 0"):
        instance.add(**row | {"candidate_low": "\ud800"})
    lists = {name: [text, "\udfff" * (name == "context")] for name, text in row.items()}
    for take in (instance.add_batch, instance.compute):
        with refusal("cell.not-text", "row 1"):
            take(**lists)


def test_what_was_computed_is_gone(gpt2: str, metric: Metric, tmp_path: Path) -> None:
    instance = metric(model_id=gpt2)
    instance.add_batch(**COLUMN_LISTS)
    instance.compute()
    with refusal("input.missing"):
        instance.compute()
    assert list(tmp_path.rglob("*.arrow")) == []


def test_a_failure_leaves_no_lock_and_no_file(
    gpt2: str, metric: Metric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = metric(model_id=gpt2)
    instance.add_batch(**{**TEXTS, "candidate_low": ["worse", *[None] * 7]})
    with refusal("cell.null", "frame: row 1"):
        instance.compute()
    assert list(tmp_path.rglob("*.arrow")) == []
    # In other metrics the next one waits a second for the lock.
    monkeypatch.setattr("time.sleep", pytest.fail)
    instance.add_batch(**COLUMN_LISTS)


def test_of_several_processes_the_first_answers(gpt2: str, metric: Metric) -> None:
    answers: dict[int, Any] = {}

    def work(process: int) -> None:
        instance = metric(model_id=gpt2, num_process=2, process_id=process)
        half = slice(0, 4) if process == 0 else slice(4, 8)
        columns = {name: values[half] for name, values in COLUMN_LISTS.items()}
        answers[process] = instance.compute(**columns)

    threads = [threading.Thread(target=work, args=(process,)) for process in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers[1] is None
    assert answers[0] == metric().compute(**COLUMN_LISTS, model_id=gpt2)


def test_of_several_processes_the_first_reads_a_dataset(data: Path, metric: Metric) -> None:
    # There is no such model: the second process does not even look.
    second = metric(model_id=NOWHERE, num_process=2, process_id=1)
    assert second.compute(dataset=data) is None


# --- answers ---------------------------------------------------------------------------------


def test_one_model_has_no_agreement_and_a_reason(gpt2: str, data: Path, metric: Metric) -> None:
    found = metric().compute(dataset=data, model_id=Path(gpt2)) or {}
    assert found["agreement"] is None
    assert found["agreement_reason"].startswith("agreement needs two models matched")
    found = metric().compute(dataset=data, model_id=[gpt2]) or {}  # a list of one is a list
    assert [result["model"] for result in found["results"]] == [gpt2]
    assert found["agreement"] is None


def test_human_scores_may_be_handed_over_and_values_are_plain(
    models: tuple[str, str], metric: Metric
) -> None:
    systems = dict(zip(models, ["left", "right"], strict=True))
    found = metric().compute(
        **COLUMN_LISTS, model_id=list(models), human_scores=human_scores(), systems=systems
    )
    assert found is not None
    assert [result["model"] for result in found["results"]] == list(models)
    assert found["agreement"]["systems"] == systems
    assert found["agreement"]["by_category"].keys() == {"overall", "off_target", "disfluent"}
    assert found["agreement_reason"] is None
    json.dumps(found, allow_nan=False)
    # A numpy float is a float to json, so look at each type itself.
    assert {type(value) for value in _leaves(found)} <= {str, int, float, bool, type(None)}


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) in (dict, list):
        for inner in value.values() if type(value) is dict else value:
            yield from _leaves(inner)
    else:
        yield value


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options",
    [
        {"protocol": "sum"},
        {"template": "Read {context} now"},
        {"keep": "beginning"},
        {"token_budget": 100},
        {"dtype": "float64"},
        {"device": "cpu"},
    ],
)
def test_options_reach_the_engine(
    gpt2: str, data: Path, metric: Metric, options: dict[str, Any]
) -> None:
    found = metric().compute(dataset=data, model_id=gpt2, **options)
    assert found == expected_single(gpt2, data, **options)


# --- models ----------------------------------------------------------------------------------


@pytest.fixture
def own_folder(models: tuple[str, str], tmp_path: Path) -> Path:
    """A copy of the first model that the test may destroy."""
    return Path(shutil.copytree(models[0], tmp_path / "own"))


@pytest.mark.parametrize("held", [True, False])
def test_many_computations_need_one_load(
    own_folder: Path, data: Path, metric: Metric, *, held: bool
) -> None:
    instance = metric(model_id=own_folder) if held else metric()
    named: dict[str, Any] = {} if held else {"model_id": str(own_folder)}
    first = instance.compute(dataset=data, **named)
    shutil.rmtree(own_folder)  # what is not there cannot be loaded again
    assert instance.compute(dataset=data, **named) == first
    assert instance.compute(**COLUMN_LISTS, **named, protocol="sum") is not None


def test_another_way_to_load_needs_another_load(
    own_folder: Path, data: Path, metric: Metric
) -> None:
    instance = metric()
    instance.compute(dataset=data, model_id=own_folder)
    shutil.rmtree(own_folder)
    with refusal("model.unknown", str(own_folder)):
        instance.compute(dataset=data, model_id=own_folder, dtype="float64")


def test_a_folder_written_anew_is_loaded_anew(own_folder: Path, data: Path, metric: Metric) -> None:
    # As training does with its last checkpoint.
    instance = metric(model_id=own_folder)
    before = instance.compute(dataset=data) or {}
    loaded = load_model(own_folder)
    next(loaded.model.parameters()).data.mul_(-1)
    loaded.model.save_pretrained(own_folder)
    after = instance.compute(dataset=data) or {}
    assert after["version"] == loaded.version() != before["version"]


@pytest.mark.parametrize("several", [True, False])
def test_a_model_is_let_go_before_the_next_is_loaded(
    models: tuple[str, str],
    data: Path,
    metric: Metric,
    monkeypatch: pytest.MonkeyPatch,
    *,
    several: bool,
) -> None:
    instance = metric()
    instance.compute(dataset=data, model_id=models[0])
    held = instance._holder._loaded
    assert held is not None
    network = weakref.ref(held.model)
    del held
    there: list[bool] = []

    def load(*args: Any) -> LoadedModel:
        gc.collect()
        there.append(network() is not None)
        return load_model(*args)

    module = here if several else holder
    monkeypatch.setattr(module, "load_model", load)
    instance.compute(dataset=data, model_id=[models[1]] if several else models[1])
    assert there == [False]


def test_a_loaded_model_is_used_as_it_is(gpt2: str, data: Path, metric: Metric) -> None:
    loaded = load_model(gpt2, Loading(dtype="float64"))
    handed_over: dict[str, Any] = {"model": loaded.model, "tokenizer": loaded.tokenizer}
    expected = numbers(expected_single(gpt2, data, dtype="float64"))
    assert numbers(metric().compute(dataset=data, **handed_over) or {}) == expected
    assert numbers(metric(**handed_over).compute(dataset=data) or {}) == expected
    with refusal("option.conflict"):  # it is not loaded in some way
        metric().compute(**COLUMN_LISTS, **handed_over, dtype="float64")


def test_a_model_named_in_compute_goes_before_the_one_held(
    models: tuple[str, str], data: Path, metric: Metric
) -> None:
    # dtype was said of the model held.
    instance = metric(model_id=models[0], dtype="float64")
    dtypes = [
        (found["model"], found["dtype"])
        for found in (
            instance.compute(dataset=data) or {},
            instance.compute(dataset=data, model_id=models[1]) or {},
            instance.compute(dataset=data, dtype="bfloat16") or {},
        )
    ]
    assert dtypes == [(models[0], "float64"), (models[1], "float32"), (models[0], "bfloat16")]


def test_nothing_is_loaded_before_it_is_needed(metric: Metric) -> None:
    instance = metric(model_id=NOWHERE)
    with refusal("column.missing"):
        instance.compute(dataset=pair_rows().drop("candidate_low"))
    with refusal("model.unknown", NOWHERE):
        instance.compute(**COLUMN_LISTS)


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "fact"),
    [
        ({}, "input.missing", ""),
        ({"dataset": "x", **TEXTS}, "option.conflict", ""),
        ({"context": ["a"], "candidate_high": ["b"]}, "column.missing", "candidate_low"),
        ({**TEXTS, "candidate_low": ["a"]}, "data.not-a-dataset", "context 8"),
        ({**TEXTS, "context": "a text"}, "data.not-a-dataset", "context"),
        ({**TEXTS, "context": [1] * 8}, "column.wrong-type", "context"),
        ({**TEXTS, "context": ["a", 1] * 4}, "data.not-a-dataset", ""),
        ({**TEXTS, "context": ["a", None] * 4}, "cell.null", "context"),
        ({**TEXTS, "bach_size": 3}, "option.unknown-value", "bach_size"),
        ({"predictions": ["a"]}, "option.unknown-value", "predictions"),
        ({**TEXTS, "references": ["a"] * 8}, "option.unknown-value", "references"),
        ({**TEXTS, "modelid": "x"}, "option.unknown-value", '"model_id"'),
        ({**TEXTS, "protocol": "nope"}, "option.unknown-value", '"nope"'),
        ({**TEXTS, "template": "nope"}, "template.unknown", '"nope"'),
        ({**TEXTS, "model": object()}, "option.conflict", ""),
    ],
)
def test_bad_arguments_are_refused_before_a_model_is_loaded(
    metric: Metric, arguments: dict[str, Any], code: str, fact: str
) -> None:
    with refusal(code) as caught:
        metric().compute(model_id=NOWHERE, **arguments)
    assert fact in caught.value.what


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "input.missing"),
        ({"model": object()}, "option.needs-another"),
        ({"tokenizer": object()}, "option.needs-another"),
        ({"model_id": object()}, "model.unknown"),
        ({"model_id": []}, "model.unknown"),
        ({"model_id": ["a", 1]}, "model.unknown"),
        ({"model_id": ["a", "a"]}, "name.twice"),
    ],
)
def test_a_model_that_is_not_clear_is_refused(
    metric: Metric, arguments: dict[str, Any], code: str
) -> None:
    with refusal(code):
        metric().compute(**COLUMN_LISTS, **arguments)


def test_dataset_and_added_pairs_are_not_mixed(data: Path, metric: Metric) -> None:
    instance = metric(model_id=NOWHERE)
    instance.add_batch(**COLUMN_LISTS)
    with refusal("option.conflict"):
        instance.compute(dataset=data)


@pytest.mark.parametrize("how", ["add", "add_batch"])
def test_what_is_added_must_be_whole_and_of_pairs(metric: Metric, how: str) -> None:
    add = getattr(metric(), how)
    with refusal("option.unknown-value") as caught:
        add(predictions=["a"], references=["b"])
    assert "predictions" in caught.value.what
    with refusal("column.missing") as caught:
        add(context=["a"], candidate_low=["b"])
    assert "candidate_high" in caught.value.what


def test_unknown_options_of_load_are_refused(metric: Metric) -> None:
    with refusal("option.unknown-value") as caught:
        metric(modelid="gpt2")
    assert '"model_id"' in caught.value.what
    with refusal("option.unknown-value"):  # there are no configurations
        metric("quiz_design")
