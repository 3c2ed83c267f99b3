"""Logged samples of the installed lm-evaluation-harness become runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
from support.refusals import refusal
from support.tiny_models import Family, build

from nnd.converters.export import export
from nnd.metric.data import read_run
from nnd.metric.likelihood import LoadedModel, Scoring, wrap_model
from nnd.metric.numbers import compare
from nnd.metric.run import Evaluation, evaluate, import_samples

BLIMP = [
    {"sentence_good": "The cat sat.", "sentence_bad": "The cat sit.", "UID": "agree"},
    {"sentence_good": "Who wrote it?", "sentence_bad": "Who write it?", "UID": "agree"},
    {"sentence_good": "Paris is big.", "sentence_bad": "Paris are big.", "UID": "number"},
]


def logged(model: Family, tasks: Path, name: str, out: Path) -> list[Path]:
    """Run tasks as `lm_eval --log_samples --output_path` does; return the files of samples."""
    tracker = EvaluationTracker(output_path=str(out))
    found: Any = simple_evaluate(
        model=HFLM(pretrained=model.model, tokenizer=model.tokenizer, device="cpu"),
        tasks=[name],
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        bootstrap_iters=0,
        log_samples=True,
        evaluation_tracker=tracker,
    )
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    return sorted(out.rglob("samples_*.jsonl"))


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Family:
    """A tiny model whose window no context exceeds: the harness would cut it differently."""
    return build("gpt2", tmp_path_factory.mktemp("wide"), window=1024)


@pytest.fixture(scope="module")
def samples(sample: Path, wide: Family, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What the harness logs of the exported tasks of the sample."""
    place = tmp_path_factory.mktemp("harness")
    export(sample, place / "tasks", to="lm-eval")
    return logged(wide, place / "tasks", "nnd_sample", place / "logs")


def same_verdicts(found: Evaluation, wanted: Evaluation, tolerance: float) -> None:
    both = found.scored.join(wanted.scored, on="pair_id", suffix="_b")
    assert both.height == found.scored.height == wanted.scored.height
    assert both["passed"].equals(both["passed_b"], check_names=False)
    for side in ("ll_high", "ll_low"):
        assert (both[side] - both[f"{side}_b"]).abs().max() < tolerance  # type: ignore[operator]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("protocol", ["sum", "bytes"])
@pytest.mark.parametrize("with_data", [True, False])
def test_exported_tasks_come_back(
    *,
    protocol: Any,
    with_data: bool,
    sample: Path,
    samples: list[Path],
    wide: Family,
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    found = import_samples(
        samples, out=out, data=sample if with_data else None, model="gpt2", protocol=protocol
    )
    scoring = Scoring(protocol=protocol, cache=False)
    model = wrap_model(wide.model, wide.tokenizer, name="gpt2")
    wanted = evaluate(model, sample, out=tmp_path / "own", scoring=scoring)
    same_verdicts(found, wanted, 1e-3 if protocol == "sum" else 1e-4)
    (result,), (own,) = found.results, wanted.results
    assert result.rates.overall.passes == own.rates.overall.passes
    assert "|engine:lm-eval@0.4.13|model:gpt2@" in result.signature
    parts = [part for part in own.signature.split("|") if part.startswith(("data:", "n:"))]
    assert {*parts} <= {*result.signature.split("|")}
    assert read_run(out).height == 72
    both = compare([out, tmp_path / "own"])
    assert both.headline().endswith("of 72 shared tests; the difference is not significant.")


def test_a_task_of_its_own_with_two_choices(
    tiny: Callable[[str], Family], loaded: Callable[[str], LoadedModel], tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in BLIMP), "utf-8")
    (tmp_path / "tasks").mkdir()
    task = {
        "task": "my_blimp",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(rows)}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "",
        "doc_to_target": 0,
        "doc_to_choice": "{{[sentence_good, sentence_bad]}}",
        "metric_list": [{"metric": "acc"}],
    }
    (tmp_path / "tasks" / "my_blimp.yaml").write_text(yaml.safe_dump(task), "utf-8")
    files = logged(tiny("llama"), tmp_path / "tasks", "my_blimp", tmp_path / "logs")
    found = import_samples(files, out=tmp_path / "run", model="llama")
    wanted = evaluate(loaded("llama"), rows, scoring=Scoring(protocol="sum", cache=False))
    same_verdicts(found, wanted, 1e-3)
    assert [*found.results[0].rates.by["error_category"]] == ["agree", "number"]


def row(target: object = "0", *sums: str, **changed: Any) -> dict[str, Any]:
    texts = [("Ann saw", " him."), ("Ann saw", " he.")]
    return {
        "doc": {"sentence": "Ann saw _"},
        "target": target,
        "arguments": {
            f"gen_args_{n}": {"arg_0": context, "arg_1": text}
            for n, (context, text) in enumerate(texts)
        },
        "resps": [[[total, "False"]] for total in sums or ("-1.5", "-2.5")],
    } | changed


EXPORTED = {"pair_id": "p", "context": "Ann saw", "choices": ["he.", "him."]}


def answer(**changed: Any) -> dict[str, Any]:
    """A question that is answered with 1 or 0, in this order; the model prefers 1."""
    arguments = [["Is 7 prime?", f" {digit}"] for digit in "10"]
    return row(arguments=arguments, **changed)


def write(folder: Path, *rows: dict[str, Any], name: str = "samples_t.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_the_target_says_which_choice_is_right(tmp_path: Path) -> None:
    contexts = {
        f"gen_args_{n}": {"arg_0": f"{name} saw", "arg_1": " him."}
        for n, name in enumerate(["Ann", "Bo"])
    }
    rows = [row(1), row("he."), row(arguments=contexts)]
    found = import_samples(write(tmp_path, *rows), out=tmp_path / "run", model="m").scored
    # "he." is the right one of the first two, which are one test; the last differs in contexts.
    assert found.select("ll_high", "ll_low").rows() == [(-2.5, -1.5), (-1.5, -2.5)]
    assert found["error_category"].to_list() == ["samples_t", "samples_t"]
    assert found["tokens_high"].to_list() == [None, None]


def test_bytes_are_those_of_the_text_that_was_summed_over(tmp_path: Path) -> None:
    # As in Winogrande, the choices are contexts, and one text follows both: 4 bytes, "him.".
    contexts = {
        f"gen_args_{n}": {"arg_0": f"{name} saw", "arg_1": " him."}
        for n, name in enumerate(["Ann", "The woman who had just come in with Bo and his dog"])
    }
    places = [write(tmp_path, row(arguments=contexts))]
    found = import_samples(places, out=tmp_path / "run", model="m", protocol="bytes").scored
    columns = ("ll_high", "ll_low", "divisor_high", "divisor_low", "passed")
    assert found.select(columns).rows() == [(-1.5 / 4, -2.5 / 4, 4, 4, True)]
    summed = import_samples(places, out=tmp_path / "sums", model="m").scored
    assert summed.select(columns).rows() == [(-1.5, -2.5, 1, 1, True)]
    read = read_run(tmp_path / "run").select(columns)
    assert read.equals(found.select(columns))


def test_a_target_of_digits_is_told_by_the_verdict_of_the_harness(tmp_path: Path) -> None:
    # The target "1" is the second choice, 0, or the first choice, which reads 1. The likeliest
    # choice is 1, so it is the right one where acc is 1, and the wrong one where acc is 0.
    rows = [answer(target="1", acc=1.0), answer(target="0", acc=1.0), answer(target="1", acc=0.0)]
    for number, (line, passed) in enumerate(zip(rows, (True, True, False), strict=True)):
        out = tmp_path / f"run{number}"
        found = import_samples(write(tmp_path, line), out=out, model="m").scored
        assert found["passed"].to_list() == [passed]
        assert found["ll_high"].to_list() == [-1.5 if passed else -2.5]
    with refusal("samples.not-samples", "t.jsonl:1"):
        import_samples(write(tmp_path, answer(target="1")), out=tmp_path / "run", model="m")
    # A number is a place, whatever the choices are.
    scored = import_samples(write(tmp_path, answer(target=1)), out=tmp_path / "r", model="m").scored
    assert scored["ll_high"].to_list() == [-2.5]


def test_targets_that_follow_both_choices_are_told_by_the_verdict(tmp_path: Path) -> None:
    """As the harness logs Winogrande: the target is the text behind both contexts."""
    arguments = [[f"{name} saw", " him."] for name in ("Ann", "Bo")]
    rows = [row("him.", arguments=arguments, acc=acc, doc={"n": acc}) for acc in (1.0, 0.0)]
    scored = import_samples(write(tmp_path, rows[1]), out=tmp_path / "run", model="m").scored
    assert scored.select("ll_high", "passed").rows() == [(-2.5, False)]
    scored = import_samples(write(tmp_path, rows[0]), out=tmp_path / "run1", model="m").scored
    assert scored.select("ll_high", "passed").rows() == [(-1.5, True)]


# " him." and " he.": 4 and 3 characters without the delimiter, so -1.5 / 4 > -2.5 / 3.
CONTRADICTIONS: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("0", ("-1.5", "-2.5"), {"acc": 0.0}),
    ("1", ("-1.5", "-2.5"), {"acc": 1.0}),
    ("he.", ("-1.5", "-2.5"), {"acc": 1}),
    ("0", ("-2.5", "-1.5"), {"acc": True}),
    ("0", ("-2", "-2"), {"acc": 0.0}),  # of equals the harness takes the first
    ("1", ("-2", "-2"), {"acc": 1.0}),
    ("0", ("-1.5", "-2.5"), {"acc": 1.0, "acc_norm": 0.0}),
    ("0", ("-1.5", "-2.5"), {"acc": 1.0, "acc_bytes": 0.0}),
    ("0", ("-2.4", "-2"), {"acc": 0.0, "acc_bytes": 0.0}),  # -0.6 > -0.67
    ("0", ("-2.4", "-2"), {"acc": 1.0, "acc_norm": 1.0}),
]


@pytest.mark.parametrize(("target", "sums", "verdicts"), CONTRADICTIONS)
def test_a_verdict_that_the_numbers_contradict_is_refused_with_both(
    target: str, sums: tuple[str, ...], verdicts: dict[str, Any], tmp_path: Path
) -> None:
    fine = row("0", "-2.4", "-2", acc=0.0, acc_norm=1.0, acc_bytes=1.0, doc={"n": 1})
    lines = write(tmp_path, fine, row(target, *sums, **verdicts))
    with refusal("samples.contradiction", "t.jsonl:2") as refused:
        import_samples(lines, out=tmp_path / "run", model="m")
    for value in map(float, sums):
        assert f"{value:g}" in str(refused.value)


def test_verdicts_of_one_document_that_agree_are_taken(tmp_path: Path) -> None:
    # A tie passes for the harness where the right choice is the first; here it is a failure.
    rows = [
        row("0", "-2", "-2", acc=1.0, doc={"n": 1}, arguments=[["a", " x"], ["a", " y"]]),
        row("1", "-2", "-2", acc=0.0, doc={"n": 2}, arguments=[["b", " x"], ["b", " y"]]),
        row("0", acc=0.5, arguments=[["c", " x"], ["c", " y"]]),  # a share is not a verdict
        row("0", acc=None, arguments=[["d", " x"], ["d", " y"]]),
    ]
    found = import_samples(write(tmp_path, *rows), out=tmp_path / "run", model="m").scored
    assert found.select("tie", "passed").rows() == [(True, False)] * 2 + [(False, True)] * 2


def test_a_choice_without_its_context_is_left_out(tmp_path: Path) -> None:
    """As the harness logs tasks with the metric acc_mutual_info."""
    texts = [["Ann saw", " him."], ["Ann saw", " he."], ["", " him."], ["", " he."]]
    line = row("0", "-1.5", "-2.5", "-3", "-4", arguments=texts, acc=1.0)
    found = import_samples(write(tmp_path, line), out=tmp_path / "run", model="m").scored
    assert found.select("ll_high", "ll_low").rows() == [(-1.5, -2.5)]


def with_results(folder: Path, *rows: dict[str, Any], **facts: Any) -> Path:
    date = "2026-11-28T03-47-21.691901"
    (folder / f"results_{date}.json").write_text(json.dumps({"model_name": "m"} | facts))
    return write(folder, *rows, name=f"samples_t_{date}.jsonl")


def test_documents_that_are_missing_or_disagree_are_refused(tmp_path: Path) -> None:
    counts = {"n-samples": {"t": {"original": 9, "effective": 2}}}
    both = [row(doc_id=0), row(doc_id=1, doc={"n": 1})]
    with refusal("samples.incomplete", "samples_t_"):
        import_samples(with_results(tmp_path, both[0], **counts), out=tmp_path / "run")
    other = row("0", "-1.5", "-2.6", doc_id=0)
    with refusal("samples.mixed", ".jsonl:2"):
        import_samples(with_results(tmp_path, both[0], other), out=tmp_path / "run")
    with refusal("samples.mixed", ".jsonl:2"):
        import_samples(with_results(tmp_path, both[0], answer(doc_id=0)), out=tmp_path / "run")
    # A line for each filter, and the same document to within rounding, is one document.
    again = row("0", "-1.501", "-2.5", doc_id=0)
    import_samples(with_results(tmp_path, *both, again, **counts), out=tmp_path / "run")


SHAPES: list[dict[str, Any]] = [
    {"arguments": None},
    {"arguments": "texts"},
    {"arguments": 3},
    {"arguments": [["Ann saw", " him."]]},
    {"arguments": [["Ann saw", " him."], ["Ann saw"]]},
    {"arguments": [["Ann saw", " him."], ["Ann saw", None]]},
    {"arguments": [["Ann saw", " him."], "he"]},
    {"arguments": {"gen_args_0": {"arg_0": "Ann saw", "arg_1": {"until": []}}}},
    {"resps": None},
    {"resps": "-1.5"},
    {"resps": {"0": -1.5}},
    {"resps": [-1.5, -2.5]},
    {"resps": [["-1.5"], ["-2.5"]]},
    {"resps": [[], []]},
    {"resps": [[[True]], [[False]]]},
    {"resps": [[["1_000"]], [["-2"]]]},
    {"resps": [[["-١٢"]], [["-2"]]]},
    {"resps": [[[None, False]], [["-2.5", False]]]},
    {"resps": [[["generated text"]], [["-2"]]]},
    {"doc": None},
    {"doc": ["a"]},
    {"doc": EXPORTED | {"choices": None}},
    {"doc": EXPORTED | {"choices": "he."}},
    {"doc": EXPORTED | {"choices": ["he."]}},
    {"doc": EXPORTED | {"choices": ["he.", "him.", "her."]}},
    {"doc": EXPORTED | {"choices": ["he.", 7]}},
    {"doc": EXPORTED | {"choices": {"0": "he.", "1": "him."}}},
    {"target": None},
    {"target": [0, 1]},
    {"target": {"a": 1}},
    {"target": 2},
    {"target": True},
    {"acc": "yes"},
    {"acc": [1.0]},
    {"acc": 2},
    {"acc": -0.5},
    {"doc_id": "first"},
    {"doc_id": [0]},
    {"doc_id": True},
]


@pytest.mark.parametrize("changed", SHAPES, ids=str)
def test_shapes_that_are_no_samples_are_refused_in_words(
    changed: dict[str, Any], tmp_path: Path
) -> None:
    lines = write(tmp_path, row(doc_id=0) | changed)
    with refusal("samples.not-samples", "t.jsonl:1"):
        import_samples(lines, out=tmp_path / "run", model="m")


@pytest.mark.parametrize("total", ["0.5", 1e-2, "3.2e1"])
def test_log_likelihoods_above_0_are_refused(total: str | float, tmp_path: Path) -> None:
    with refusal("cell.out-of-range", "t.jsonl:1"):
        lines = write(tmp_path, row(resps=[[[total, False]], [["-2.5", False]]]))
        import_samples(lines, out=tmp_path / "run", model="m")


@pytest.mark.parametrize(
    "facts",
    [
        {"configs": None, "config": None, "n-samples": None},
        {"configs": [], "config": "c", "n-samples": [1]},
        {"configs": {"t": None}, "config": {"model_num_parameters": "many"}},
        {"configs": {"t": {"metadata": 1.0}}, "n-samples": {"t": 1}},
        {"configs": {"t": {"metadata": "nnd_version"}}, "n-samples": {"t": {"effective": "1"}}},
    ],
)
def test_results_of_other_shapes_say_nothing(facts: dict[str, Any], tmp_path: Path) -> None:
    found = import_samples(with_results(tmp_path, row(doc_id=0), **facts), out=tmp_path / "run")
    assert found.results[0].rates.overall.passes == 1


@pytest.mark.parametrize(
    ("rows", "code", "where"),
    [
        ([row(), row("0", "-1", "-2", "-3")], "samples.not-samples", "t.jsonl:2"),
        ([row("0", "nan", "-1")], "cell.not-finite", "t.jsonl:1"),
        ([row("0", "-1")], "samples.not-samples", "t.jsonl:1"),
        ([row("she.")], "samples.not-samples", "t.jsonl:1"),
        ([row(), row("0", "-1.5", "-9")], "samples.mixed", ""),
        ([{"doc": {}}], "samples.not-samples", "t.jsonl"),
        ([row(1, doc=EXPORTED)], "samples.not-samples", "t.jsonl:1"),
        ([row(0, doc=EXPORTED)], "samples.not-samples", "t.jsonl:1"),
    ],
)
def test_samples_that_are_wrong_are_refused(
    rows: list[dict[str, Any]], code: str, where: str, tmp_path: Path
) -> None:
    with refusal(code, where):
        import_samples(write(tmp_path, *rows), out=tmp_path / "run", model="m")
    assert not (tmp_path / "run").exists()


def test_files_that_do_not_belong_together_are_refused(
    tmp_path: Path, samples: list[Path], sample: Path
) -> None:
    out = tmp_path / "run"
    file = write(tmp_path, row())
    with refusal("option.needs-another", "samples_t.jsonl"):
        import_samples(file, out=out)
    with refusal("samples.mixed", "samples_t.jsonl"):
        import_samples([file, file], out=out, model="m")
    with refusal("samples.mixed"):
        import_samples([*samples, file], out=out, model="m")
    other = [{"context": "c", "candidate_high": "h", "candidate_low": "l"}]
    with refusal("run.another-data"):
        import_samples(samples, out=out, model="m", data=other)
    with refusal("run.another-data", "samples_t.jsonl:1"):
        import_samples(file, out=out, model="m", data=sample)
    assert not out.exists()
    import_samples(file, out=out, model="m")
    with refusal("place.holds-a-run", "run"):
        import_samples(file, out=out, model="m")
