"""A list of runs: what its entries mean, what is wrong with them, and where results go."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from rich.table import Table
from support.metric_runs import human_scores, pair_rows, write_pairs
from support.refusals import refusal
from support.screens.commands import Nnd

from nnd.metric.app import evaluate_runs
from nnd.metric.likelihood import LoadedModel, Loading, Scoring, load_model
from nnd.metric.numbers import agree, percent
from nnd.metric.run import evaluate

Saved = Callable[[str], Path]
Place = Callable[[str], Path]


@pytest.fixture
def place(tmp_path: Path, saved: Saved) -> Path:
    """A folder with data/birds, data/trees, and the models gpt2 and bart."""
    for name in ("birds", "trees"):
        (tmp_path / "data" / name).mkdir(parents=True)
        write_pairs(tmp_path / "data" / name)
    pair_rows().head(5).write_parquet(tmp_path / "data/trees/pairs.parquet")
    human_scores().write_parquet(tmp_path / "data/trees/human_scores.parquet")
    for name in ("gpt2", "bart"):
        (tmp_path / name).symlink_to(saved(name))
    return tmp_path


@pytest.fixture
def listed(place: Path) -> Place:
    """`listed(text)`: a list of runs beside its models."""

    def write(text: str) -> Path:
        (place / "runs.yaml").write_text(dedent(text), encoding="utf-8")
        return place / "runs.yaml"

    return write


BOTH = """
    - model: ./gpt2
      data: data/birds
      system: left
    - {model: bart, data: data/birds, system: right}
    # Scored in another way: not in one table with the others.
    - model: gpt2
      data: [data/birds, data/trees]
      protocol: sum
      template: "Q: {context}"
"""


def test_entries_are_scored_as_by_evaluate(listed: Place, place: Path) -> None:
    found = evaluate_runs(listed(BOTH), out=place / "out")

    assert found.failures == ()
    digest = hashlib.sha256(b"Q: {context}").hexdigest()[:8]
    other = f"sum+template-{digest}"
    assert list(found.evaluations) == ["native/birds", f"{other}/birds", f"{other}/trees"]
    gpt2, bart = str(place / "gpt2"), str(place / "bart")
    native = evaluate(
        [gpt2, bart], place / "data/birds", systems={gpt2: "left", bart: "right"}
    ).to_dict()
    assert native["agreement"] is not None
    assert found.evaluations["native/birds"].to_dict() == native
    summed = Scoring("sum", "Q: {context}")
    for name in ("birds", "trees"):
        alone = evaluate(gpt2, place / "data" / name, scoring=summed)
        assert found.evaluations[f"{other}/{name}"].to_dict() == alone.to_dict()
    assert {*found.folders.values()} == {place / "out" / key for key in found.evaluations}
    for key, evaluation in found.evaluations.items():
        stored = json.loads((place / "out" / key / "result.json").read_text(encoding="utf-8"))
        assert stored | evaluation.to_dict() == stored
    assert agree([place / "out/native/birds"], place / "data/birds").to_dict()


def test_a_model_that_is_read_in_several_ways_is_loaded_once(
    listed: Place, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def load(model: str, loading: Loading) -> LoadedModel:
        loaded.append(Path(model).name)
        return load_model(model, loading)

    monkeypatch.setattr("nnd.metric.run.lists.scoring_lists.load_model", load)
    monkeypatch.setattr("nnd.metric.run.launchers.here.load_model", load)
    found = evaluate_runs(
        listed("""
            - {model: gpt2, data: [data/birds, data/trees]}
            - {model: gpt2, data: [data/birds, data/trees], protocol: sum}
            - {model: gpt2, data: data/birds, chat_template: none}
            - {model: bart, data: data/birds}
        """),
        out=place / "out",
    )

    assert (found.failures, loaded) == ((), ["gpt2", "bart"])
    scored = found.evaluations["sum/birds"].to_dict()
    assert (
        scored
        == evaluate(str(place / "gpt2"), place / "data/birds", scoring=Scoring("sum")).to_dict()
    )


def test_readings_of_one_model_are_rows_of_one_table(listed: Place, place: Path) -> None:
    readings = """
        - {model: gpt2, data: data/birds, template: default}
        - {model: gpt2, data: data/birds, template: "Q: {context}"}
    """
    found = evaluate_runs(listed(readings), out=place / "out")
    rows = ["plain text", 'plain text with the template "Q: {context}"']
    results = [each.results[0] for each in found.evaluations.values()]
    best = max(results, key=lambda result: result.rates.overall.pass_rate or 0.0)

    table = found.table()
    assert table is not None
    assert sorted(str(cell) for cell in [*table.columns[0].cells][-2:]) == sorted(rows)
    assert found.headline().startswith(f"gpt2 passes {percent(best.rates.overall.pass_rate)} % of ")
    assert found.headline().endswith(", the highest of 2 readings.")
    baselines = found.remarks()[0]
    assert isinstance(baselines, Table)
    assert baselines.row_count == 2
    other = evaluate_runs(
        listed(readings + "    - {model: bart, data: data/birds}\n"), out=place / "o"
    )
    assert other.headline() == "Results of 2 models on 3 datasets."


def test_the_file_is_kept_and_may_grow(listed: Place, place: Path) -> None:
    one = "- {model: gpt2, data: data/birds}\n"
    for text in (one, one + "- {model: bart, data: data/birds}\n"):
        found = evaluate_runs(listed(text), out=place / "out")
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        assert (place / "out" / f"runs-{digest}.yaml").read_text(encoding="utf-8") == text
    (evaluation,) = found.evaluations.values()
    assert [each.model for each in evaluation.results] == [
        str(place / name) for name in ("gpt2", "bart")
    ]
    assert len(list((place / "out").glob("runs-*.yaml"))) == 2


def test_an_entry_names_the_columns_and_clusters_of_a_table_of_ones_own(
    listed: Place, place: Path
) -> None:
    own = pair_rows().select(
        good="candidate_high", bad="candidate_low", text="context", topic="context_id"
    )
    own.write_csv(place / "own.csv")
    columns = {"high": "good", "low": "bad", "context": "text"}
    found = evaluate_runs(
        listed(f"- {{model: gpt2, data: own.csv, columns: {columns}, cluster: topic}}"),
        out=place / "out",
    )
    (evaluation,) = found.evaluations.values()
    alone = evaluate(str(place / "gpt2"), place / "own.csv", columns=columns, cluster="topic")
    assert evaluation.to_dict() == alone.to_dict()


PUBLISHED = """
    - model: gpt2
      data: data/birds
      published:
        source: A paper, table 1
        n: {n}
        passes: {passes}
        by: {{error_category: {{disfluent: [1, {n}]}}}}
        expected: 0
        reason: It rounds.
"""


def test_published_passes_are_printed_beside_ours(listed: Place, place: Path) -> None:
    rate = evaluate(str(place / "gpt2"), place / "data/birds").results[0].rates.overall
    path = listed(PUBLISHED.format(n=rate.n, passes=rate.passes + 2))
    (found,) = evaluate_runs(path, out=place / "out").evaluations.values()
    *_, table, note = found.remarks()
    assert note == "Published in A paper, table 1. It rounds."
    assert isinstance(table, Table)
    theirs, ours, difference, expected = (str(next(iter(of.cells))) for of in table.columns[2:])
    assert theirs.startswith(f"{rate.passes + 2} of {rate.n} (")
    assert ours.startswith(f"{rate.passes} of {rate.n} (")
    assert (difference, expected) == ("-2", "none")

    # Another model in the folder leaves them as they are.
    evaluate(str(place / "bart"), place / "data/birds", out=place / "out/native/birds")
    stored = json.loads((place / "out/native/birds/result.json").read_text(encoding="utf-8"))
    first, second = stored["results"]
    assert first["published"] == found.to_dict()["results"][0]["published"]
    assert "published" not in second


def test_an_entry_that_fails_does_not_end_the_others(listed: Place, place: Path) -> None:
    path = listed("- {model: gpt2, data: data/none.parquet}\n- {model: gpt2, data: data/birds}\n")
    with pytest.warns(match="continuing without it"):
        found = evaluate_runs(path, out=place / "out")
    assert list(found.evaluations) == ["native/birds"]
    assert [each.model for each in found.failures] == [str(place / "gpt2")]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("model: gpt2", "runs.not-a-list", ":1"),
        ("- model: gpt2\n", "runs.entry", ":1"),
        ("- gpt2\n", "runs.entry", ":1"),
        (
            "- {model: gpt2, data: x}\n- model: bart\n  data: x\n  protocl: sum\n",
            "key.unknown",
            ":4",
        ),
        ("- model: bart\n  data:\n  - x\n  - 3\n", "runs.entry", ":4: data/1"),
        ("- model: bart\n  data: x\n  protocol: nativ\n", "option.unknown-value", ":1"),
        ("- model: bart\n  data: x\n  keep: middle\n", "runs.entry", ":3: keep"),
        ("- model: a/b@main\n  data: x\n  revision: v1\n", "option.conflict", ":1"),
        ("- {model: gpt2, data: quiz_desing}\n", "file.not-found", ":1: quiz_desing"),
        ("- {model: ./none, data: data/birds}\n", "model.unknown", ":1: /"),
        (
            "- {model: gpt2, data: a/x}\n\n- {model: gpt2, data: a/x, dtype: bfloat16}\n",
            "runs.same-folder",
            ":3",
        ),
        (
            "- {model: gpt2, data: a/x}\n- {model: gpt2, data: a/x}\n",
            "runs.same-folder",
            ":2",
        ),
        (
            "- {model: gpt2, data: /a/x}\n- {model: bart, data: /b/x}\n",
            "runs.same-folder",
            ":2",
        ),
        ("- {model: ./gpt2, data: x, revision: v1}\n", "option.conflict", ":1"),
        (
            "- model: bart\n  data: x\n  published:\n    n: 3\n    passes: 2\n    source: P\n",
            "runs.entry",
            ":3: published",
        ),
        ("- {model: gpt2, data: [/a/x, /b/x]}\n", "name.twice", ":1"),
        ("- {model: gpt2, model: bart, data: x}\n", "file.not-yaml", ""),
        ("- {model: gpt2\n", "file.not-yaml", ""),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    *, text: str, code: str, line: str, listed: Place, place: Path
) -> None:
    path = listed(text)
    with refusal(code, f"{path}{line}"):
        evaluate_runs(path, out=place / "out")
    assert not (place / "out").exists()


def test_results_do_not_go_into_a_file(listed: Place, place: Path) -> None:
    with refusal("place.wrong-kind", "runs.yaml"):
        evaluate_runs(listed(BOTH), out=place / "runs.yaml")
    with refusal("file.not-yaml", "none.yaml"):
        evaluate_runs(place / "none.yaml", out=place / "out")


def test_the_command_takes_the_options_that_a_file_does_not_hold(
    nnd: Nnd, listed: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = listed("- {model: gpt2, data: data/birds}\n- {model: bart, data: data/birds}\n")
    place = path.parent
    monkeypatch.chdir(place)
    options = ["--out", "out", "--limit", "2", "--no-unconditional"]
    code, out, err = nnd("evaluate", "--runs", "runs.yaml", *options)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "Results of 2 models on 1 dataset."
    assert "written to out/native/birds" in out.splitlines()
    result = json.loads((place / "out/native/birds/result.json").read_text(encoding="utf-8"))
    assert len(result["results"]) == 2
    assert all("|limit:2|" in each["signature"] for each in result["results"])
    assert all(each["baselines"]["unconditional"] is None for each in result["results"])


def test_the_command_refuses_the_others_and_needs_a_folder(nnd: Nnd, listed: Place) -> None:
    runs = ["evaluate", "--runs", listed("- {model: gpt2, data: data/birds}\n")]
    nnd.refuses(*runs, "--out", "out", "--protocol", "sum", code="option.conflict")
    code, _, err = nnd(*runs)
    assert code == 2
    assert "--out" in err
