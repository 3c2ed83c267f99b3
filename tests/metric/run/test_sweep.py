"""Several models on several datasets: all that can be done is done, once, and the rest is told."""

import gc
import json
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.flat_options import gathered
from support.metric_runs import human_scores, pair_rows, write_pairs
from support.refusals import refusal
from support.screens.commands import Nnd
from support.stored_folders import read_facts

from nnd.metric.data import load_pairs, name_datasets
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import load_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.run import Evaluation, Failure, evaluate, sweep as sweep_module
from nnd.metric.run.launchers import here
from nnd.schemas import ScoringWarning, check_rows

PLAIN = Scoring(cache=False)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Other pairs than of `birds`, and human scores of the systems oak and elm."""
    folder = write_pairs(tmp_path_factory.mktemp("data") / "trees", pair_rows().head(5))
    judged = human_scores().with_columns(pl.col("system").replace({"left": "oak", "right": "elm"}))
    judged.write_parquet(folder / "human_scores.parquet")
    return folder


@pytest.fixture(scope="module")
def alone(saved: Callable[[str], Path]) -> Callable[[Path], Evaluation]:
    """`alone(birds)`: what evaluating two models on that dataset alone gives."""
    both = [str(saved("gpt2")), str(saved("bart"))]
    return cache(lambda data: evaluate(both, data, scoring=PLAIN))


def written(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert list(check_rows("result", [found])) == []
    assert list(found["outputs"]) == ["log_likelihoods.parquet"]
    return read_facts(folder / "result.json")


# What is done


def test_each_dataset_gets_what_evaluating_it_alone_gives(
    models: list[str], birds: Path, trees: Path, alone: Callable[[Path], Evaluation]
) -> None:
    found = evaluate(models, [birds, trees], scoring=PLAIN)
    assert found.failures == ()
    assert list(found.evaluations) == list(found.pairs) == ["birds", "trees"]
    for data, evaluation in zip((birds, trees), found.evaluations.values(), strict=True):
        assert evaluation.to_dict() == alone(data).to_dict()
        assert evaluation.scored.equals(alone(data).scored)


def test_each_model_is_loaded_once_and_let_go(
    models: list[str], birds: Path, trees: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[weakref.ref[Any]] = []

    def load(name: str, loading: Loading) -> LoadedModel:
        gc.collect()
        assert [each() for each in seen] == [None] * len(seen)
        loaded = load_model(name, loading)
        seen.append(weakref.ref(loaded.model))
        return loaded

    monkeypatch.setattr(here, "load_model", load)
    evaluate(models, [birds, trees])
    assert len(seen) == 2


def test_systems_hold_for_the_datasets_that_have_them(
    models: list[str], birds: Path, trees: Path
) -> None:
    chosen = dict(zip(models, ("left", "right"), strict=True))
    found = evaluate(models, [birds, trees], systems=chosen).evaluations
    alone = evaluate(models, birds, systems=chosen, scoring=PLAIN)
    assert found["birds"].to_dict() == alone.to_dict()
    assert found["birds"].agreement is not None
    assert found["trees"].agreement is None


def test_a_second_sweep_takes_what_the_first_has_computed(
    models: list[str], birds: Path, trees: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate(models, [birds])
    asked: list[int] = []
    call = Engine.__call__

    def counting(self: Engine, requests: Any) -> Any:
        found = call(self, requests)
        asked.append(found.work.requests - found.work.stored)
        return found

    monkeypatch.setattr(Engine, "__call__", counting)
    second = evaluate(models, [birds, trees])
    assert set(asked) == {0}  # the pairs of trees are among those of birds
    assert second.evaluations["birds"].to_dict() == first.evaluations["birds"].to_dict()


# Templates of single models


def test_a_model_may_have_a_template_of_its_own(models: list[str], birds: Path) -> None:
    gpt2, bart = models
    found = evaluate(models, birds, templates={bart: "Q: {context}"})
    assert [each.template for each in found.results] == ["default", "Q: {context}"]
    for model, template in ((gpt2, "default"), (bart, "Q: {context}")):
        alone = evaluate(model, birds, scoring=Scoring(template=template, cache=False))
        assert found.scored.filter(pl.col("model") == model).equals(alone.scored)


@pytest.mark.parametrize(
    ("templates", "code", "where"),
    [
        ({"gpt3": "mixqg"}, "name.unknown", "templates"),
        ({"nobody/nothing": "nope"}, "template.unknown", ""),
    ],
)
def test_templates_are_checked_before_a_model_is_loaded(
    templates: dict[str, str], code: str, where: str, birds: Path
) -> None:
    with refusal(code, where):
        evaluate("nobody/nothing", birds, templates=templates)


def test_a_kept_model_is_replaced_only_with_the_template_it_had(
    models: list[str], birds: Path, tmp_path: Path
) -> None:
    gpt2, bart = models
    own = {bart: "Q: {context}"}
    evaluate(models, birds, templates=own, out=tmp_path / "run")
    again = evaluate(bart, birds, templates=own, out=tmp_path / "run")
    assert [each.model for each in again.results] == [gpt2, bart]
    with refusal("place.holds-a-run", "run"):
        evaluate(bart, birds, out=tmp_path / "run")


# What fails


def test_what_fails_is_told_and_the_rest_is_done(
    *,
    models: list[str],
    birds: Path,
    trees: Path,
    alone: Callable[[Path], Evaluation],
    tmp_path: Path,
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    nowhere = str(tmp_path / "nowhere")
    with pytest.warns(ScoringWarning, match="continuing without it") as told:
        found = evaluate(
            [models[0], nowhere, str(broken), models[1]],
            [birds, nowhere, trees],
            out=tmp_path / "run",
            scoring=PLAIN,
        )
    assert [(each.model, each.dataset) for each in found.failures] == [
        (None, "nowhere"),
        (nowhere, None),
        (str(broken), None),
    ]
    reasons = [each.reason for each in found.failures]
    messages = [str(each.message) for each in told if each.category is ScoringWarning]
    # A reason that begins with the name is not told with the name before it again.
    nowhere_data, nowhere_model, no_tokenizer = reasons
    assert nowhere_model.startswith(f"{nowhere}: ")
    assert messages == [
        f"nowhere: {nowhere_data}; continuing without it",
        f"{nowhere_model}; continuing without it",
        f"{no_tokenizer}; continuing without it",
    ]
    for data in (birds, trees):
        assert found.evaluations[data.name].to_dict() == alone(data).to_dict()
        assert written(tmp_path / "run" / data.name) == alone(data).to_dict()


def test_a_model_that_cannot_score_one_dataset_scores_the_others(
    models: list[str], birds: Path, tmp_path: Path
) -> None:
    long = pair_rows().with_columns(candidate_high=pl.lit("the cat " * 400))
    long.write_parquet(tmp_path / "long.parquet")
    with pytest.warns(ScoringWarning, match="gpt2 on long: pair 0000000000000000: "):
        found = evaluate(models[:1], [str(tmp_path / "long.parquet"), birds])
    assert list(found.evaluations) == ["birds"]
    (failure,) = found.failures
    assert (failure.model, failure.dataset) == (models[0], "long")


def test_a_failure_of_any_kind_is_survived(
    models: list[str], birds: Path, trees: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Engine.__call__

    def failing(self: Engine, requests: Any) -> Any:
        if self.loaded.name == models[0]:
            raise KeyError("past_key_values")
        return call(self, requests)

    monkeypatch.setattr(Engine, "__call__", failing)
    with pytest.warns(ScoringWarning):
        found = evaluate(models, [birds, trees])
    reason = "KeyError('past_key_values')"
    assert found.failures == (
        Failure(models[0], "birds", reason),
        Failure(models[0], "trees", reason),
    )
    assert [each.results[0].model for each in found.evaluations.values()] == [models[1]] * 2


def test_agreement_is_that_of_the_models_that_are_left(
    models: list[str], birds: Path, tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "nowhere")
    chosen = {models[0]: "left", nowhere: "right"}
    with pytest.warns(ScoringWarning):
        found = evaluate([models[0], nowhere], [birds], systems=chosen, scoring=PLAIN)
    evaluation = found.evaluations["birds"]
    alone = evaluate(models[:1], birds, systems={models[0]: "left"}, scoring=PLAIN)
    assert evaluation.to_dict() == alone.to_dict()


def test_an_interrupted_sweep_keeps_what_was_done(
    models: list[str],
    birds: Path,
    trees: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = Engine.__call__

    def interrupted(self: Engine, requests: Any) -> Any:
        if self.loaded.name == models[1]:
            raise KeyboardInterrupt
        return call(self, requests)

    monkeypatch.setattr(Engine, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        evaluate(models, [birds, trees], out=tmp_path / "run")
    for name in ("birds", "trees"):
        results = written(tmp_path / "run" / name)["results"]
        assert [each["model"] for each in results] == [models[0]]


def test_an_interrupted_command_says_how_to_go_on(
    birds: Path, nnd: Nnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep_module, "evaluate", interrupted)
    said = "nnd: interrupted; run the same command to resume\n"
    assert nnd("evaluate", "--model", "x", "--data", birds) == (130, "", said)


def test_one_model_on_one_dataset_fails_as_it_always_did(models: list[str], tmp_path: Path) -> None:
    with refusal("file.not-found", "nowhere"):
        evaluate(models[:1], [str(tmp_path / "nowhere")])


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"protocol": "nativ"}, "option.unknown-value"),
        ({"template": "mixgq"}, "template.unknown"),
        ({"systems": {"x": "left"}}, "name.unknown"),
        ({"systems": {"x": "ash"}}, "name.unknown"),
        ({"human_scores": "birds"}, "option.conflict"),
    ],
    ids=str,
)
def test_an_option_that_cannot_be_is_an_error_at_once(
    options: dict[str, Any], code: str, models: list[str], birds: Path, trees: Path
) -> None:
    with refusal(code):
        evaluate(models, [birds, trees], **gathered(**options))


def test_human_scores_of_the_one_dataset(models: list[str], birds: Path, trees: Path) -> None:
    chosen = dict(zip(models, ("oak", "elm"), strict=True))
    found = evaluate(models, [birds], human_scores=trees, systems=chosen)
    alone = evaluate(models, birds, human_scores=trees, systems=chosen, scoring=PLAIN)
    assert found.evaluations["birds"].to_dict() == alone.to_dict()


# Names


def test_names_of_datasets_are_names_of_folders(
    birds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair_rows().write_parquet(tmp_path / "rows.v2.parquet")
    monkeypatch.chdir(birds)
    datasets = [
        ".",
        tmp_path / "rows.v2.parquet",
        "org/name@main",
        "/far/away/pairs",
        "./a.parquet",
        pair_rows(),
        load_pairs(tmp_path / "rows.v2.parquet"),
    ]
    assert name_datasets(datasets[:6]) == [
        *("birds", "rows.v2", "org--name", "pairs", "a.parquet", "frame")
    ]
    with refusal("name.twice"):
        name_datasets(datasets)
    with refusal("input.missing"):
        name_datasets([])


# The command


def options(name: str, *values: str) -> list[str]:
    return [part for value in values for part in (f"--{name}", value)]


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_command_writes_a_folder_for_each_dataset(
    nnd: Nnd, models: list[str], birds: Path, trees: Path, tmp_path: Path
) -> None:
    both = options("data", birds, trees)
    code, out, err = nnd("evaluate", *options("model", *models), *both, "--out", "run", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["failures"] == []
    assert listing(tmp_path / "run") == [
        f"{name}/{file}"
        for name in ("birds", "trees")
        for file in ("cost.json", "log_likelihoods.parquet", "result.json")
    ]
    for name in ("birds", "trees"):
        assert written(tmp_path / "run" / name) == told["datasets"][name]
    shown = nnd("evaluate", *options("model", *models), *both, "--out", "run")[1].splitlines()
    assert shown[0] == "Results of 2 models on 2 datasets."
    assert shown[-3:] == ["written to run/birds", "written to run/trees", "For more, use --details"]


def test_the_command_reports_failures_at_the_end_and_exits_with_1(
    nnd: Nnd, models: list[str], birds: Path, tmp_path: Path
) -> None:
    arguments = [*options("model", models[0], "nowhere", models[1]), *options("data", birds)]
    code, out, err = nnd("evaluate", *arguments, "--out", "run")
    assert code == 1
    assert err.startswith("nnd: nowhere: ")
    assert err.endswith("; continuing without it\n")
    assert "nowhere" in out[out.index("failed: model") :]
    result = written(tmp_path / "run")
    assert [each["model"] for each in result["results"]] == models
    code, out, _ = nnd("evaluate", *arguments, "--json")
    assert code == 1
    assert json.loads(out) == result


def test_nothing_is_written_where_nothing_could_be_done(
    nnd: Nnd, models: list[str], tmp_path: Path
) -> None:
    arguments = [*options("model", *models), *options("data", "a/b", "a/c")]
    code, out, _ = nnd("evaluate", *arguments, "--out", "run", "--json")
    assert code == 1
    told = json.loads(out)
    assert told["datasets"] == {}
    assert [(each["model"], each["dataset"]) for each in told["failures"]] == [
        *((None, "a--b"), (None, "a--c"))
    ]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("taken", ["run", "run/birds"])
def test_a_place_that_is_taken_is_seen_before_the_work(
    taken: str, nnd: Nnd, birds: Path, trees: Path, tmp_path: Path
) -> None:
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("mine", encoding="utf-8")
    both = options("data", birds, trees)
    code, out, _ = nnd("evaluate", "--model", "nobody/nothing", *both, "--out", "run", "--json")
    assert code == 2
    error = json.loads(out)["error"]
    assert (error["code"], error["where"]) == ("place.wrong-kind", taken)
    assert (tmp_path / taken).read_text(encoding="utf-8") == "mine"


def test_other_things_in_the_folder_stay(
    nnd: Nnd, models: list[str], birds: Path, trees: Path, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine", encoding="utf-8")
    arguments = [*options("model", models[0]), *options("data", birds, trees)]
    assert nnd("evaluate", *arguments, "--out", "run")[0] == 0
    assert "notes.txt" in listing(tmp_path / "run")
    assert len(listing(tmp_path / "run")) == 7


def test_the_command_takes_a_template_for_one_model(
    nnd: Nnd, models: list[str], birds: Path
) -> None:
    own = options("template", f"{models[0]}=Q: {{context}} A=", "Say: {context}=")
    code, out, _ = nnd("evaluate", *options("model", *models), "--data", birds, *own, "--json")
    assert code == 0
    assert [each["template"] for each in json.loads(out)["results"]] == [
        *("Q: {context} A=", "Say: {context}=")
    ]
