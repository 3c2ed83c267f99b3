"""Published files as if nobody had described them: what is written, and what an edit makes of it.

Counts of sources that no converter here reads are made by the few lines beside them.
"""

import itertools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from nnd.converters.folder.conversion import convert
from nnd.converters.onboard.scaffold.new_source_result import NewSource
from nnd.converters.onboard.scaffold.scaffolding import new_source
from nnd.converters.source.source import load_source

MQM = "wmt_mqm/ted/ende/mqm_ted_ende.tsv"


def look(data: Path, out: Path, *files: str, **options: Any) -> NewSource:
    return new_source("guessed", [data / file for file in files], out / "guessed", **options)


def edit(made: NewSource, **facts: Any) -> None:
    """Edit parts of `table` and other fields."""
    path = made.folder / "source.yaml"
    text = path.read_text("utf-8")
    found = yaml.safe_load(text)
    table = found["table"] | facts.pop("table", {})
    found |= facts | {"table": {key: value for key, value in table.items() if value is not None}}
    head = text[: text.index("\n\n")]
    path.write_text(f"{head}\n\n{yaml.safe_dump(found, sort_keys=False)}", encoding="utf-8")


def edited(made: NewSource, **facts: Any) -> NewSource:
    """Return what is said after an edit."""
    edit(made, **facts)
    return new_source("guessed", out=made.folder)


@pytest.mark.parametrize(
    ("file", "source", "set_name", "shape"),
    [
        ("simplification/simplicity_DA.csv", "simplification", "da", "scores"),
        ("confit_samsum/samsum_annotation.csv", "confit_samsum", None, "marks"),
        ("quiz_design/quiz_design_groups.jsonl", "quiz_design", None, "labels"),
        ("dialsummeval/human_judgment.jsonl", "dialsummeval", None, "lists"),
        ("llmbar/Dataset/LLMBar/Natural/dataset.json", "llmbar", None, "verdicts"),
    ],
)
def test_what_is_written_gives_what_the_built_in_source_gives(  # noqa: PLR0917
    nnd_data: Path,
    tmp_path: Path,
    file: str,
    source: str,
    set_name: str | None,
    shape: str,
) -> None:
    built_in = load_source(source)
    if set_name is not None:
        built_in = built_in.choose("set", set_name)

    made = look(nnd_data, tmp_path, file)

    assert made.shapes[0].name == shape
    if source == "dialsummeval":  # the alternative that its paper takes
        made = edited(made, quality={"rule": "majority", "top": 5})
    expected = {"pairs": 100} if source == "llmbar" else built_in.facts["expected"]
    for name in {"pairs", "by_error_category", "contexts"} & expected.keys():
        assert made.counts[name] == expected[name]


@pytest.mark.parametrize(("part", "pairs"), [("task1", 693), ("task2", 196)])
def test_bump_is_a_better_and_a_worse_text(
    nnd_data: Path, tmp_path: Path, part: str, pairs: int
) -> None:
    made = look(nnd_data, tmp_path, f"bump/data/{part}_dataset.json")

    assert (made.shapes[0].name, made.counts["pairs"]) == ("edited", pairs)


def test_summedits_asks_which_label_is_good_and_an_edit_says_it(
    nnd_data: Path, tmp_path: Path
) -> None:
    made = look(nnd_data, tmp_path, "summedits/data/summedits/summedits_samsum.json")
    assert made.problem is not None
    assert any("no_error: TODO" in line and "0, 1" in line for line in made.open)

    found = edited(
        made,
        quality={"rule": "no_error", "no_error": "1"},
        taxonomy={"0": {"name": "Inconsistent", "group": None, "description": "It differs."}},
    )

    rows = json.loads((nnd_data / "summedits/data/summedits/summedits_samsum.json").read_text())
    contexts = defaultdict[str, list[dict[str, Any]]](list)
    for row in rows:
        contexts[row["doc"]].append(row)
    pairs = sum(
        one["label"] == 1 and other["label"] == 0 and one["summary"] != other["summary"]
        for inside in contexts.values()
        for one, other in itertools.permutations(inside, 2)
    )
    assert (found.problem, found.counts["pairs"]) == (None, pairs)


def test_challenge_has_a_column_for_each_system(nnd_data: Path, tmp_path: Path) -> None:
    made = look(nnd_data, tmp_path, "challenge300/challenge300-outputs.tsv")

    table = yaml.safe_load((made.folder / "source.yaml").read_text("utf-8"))["table"]
    assert table["wide"]["columns"] == {"candidate": "{system}", "credit": "credit-{system}"}
    lines = (nnd_data / "challenge300/challenge300-outputs.tsv").read_text().splitlines()
    header, *rows = (
        [cell[1:-1] if cell[:1] == '"' else cell for cell in line.split("\t")] for line in lines
    )
    pairs = 0
    for row in (dict(zip(header, cells, strict=True)) for cells in rows):
        credited = [name for name in header if row.get(f"credit-{name}", "")]
        pairs += sum(
            float(row[f"credit-{one}"]) > float(row[f"credit-{other}"]) and row[one] != row[other]
            for one, other in itertools.permutations(credited, 2)
        )
    assert (made.problem, made.counts["pairs"]) == (None, pairs)


def test_goyal_names_the_best_and_the_worst(nnd_data: Path, tmp_path: Path) -> None:
    made = look(nnd_data, tmp_path, "goyal_gpt3_news/cnn_human.json")

    rows = json.loads((nnd_data / "goyal_gpt3_news/cnn_human.json").read_text())
    pairs = 0
    for row in rows.values():
        for one in row["annotators"]:
            names = ("t0", "gpt3", "brio")
            best, worst = one["best_summary"], one["worst_summary"]
            worth = {name: (name in best) - (name in worst) for name in names}
            pairs += sum(
                worth[a] > worth[b] and row[a]["text"] != row[b]["text"]
                for a, b in itertools.permutations(names, 2)
            )
    assert (made.shapes[0].name, made.counts["pairs"]) == ("systems", pairs)


def test_mqm_is_a_marked_error_in_a_row(nnd_data: Path, tmp_path: Path) -> None:
    made = look(nnd_data, tmp_path, MQM)

    spans = yaml.safe_load((made.folder / "source.yaml").read_text("utf-8"))["table"]["spans"]
    assert spans["tags"] == ["<v>", "</v>"]
    assert made.shapes[0].name == "spans"
    expected = {file["name"]: file for file in load_source("wmt_mqm").facts["files"]}
    assert MQM.rpartition("/")[2] in expected or made.counts["pairs"] == 18073


def qgeval_pairs(data: Path) -> int:
    """Count the pairs of different questions whose means on an aspect differ by a point or more."""
    rows = json.loads((data / "qgeval/instances.json").read_text())
    aspects = rows[0]["questions"][0].keys() - {"prediction", "source"}
    assert len(aspects) == 7
    return sum(
        abs(one[aspect] - other[aspect]) >= 1 - 1e-6 and one["prediction"] != other["prediction"]
        for row in rows
        for one, other in itertools.combinations(row["questions"], 2)
        for aspect in aspects
    )


def test_qgeval_has_means(nnd_data: Path, tmp_path: Path) -> None:
    made = look(nnd_data, tmp_path, "qgeval/instances.json")

    assert len(yaml.safe_load((made.folder / "source.yaml").read_text())["aspects"]) == 7
    assert made.counts["pairs"] == qgeval_pairs(nnd_data)


def test_qgeval_has_a_workbook_for_each_annotator(nnd_data: Path, tmp_path: Path) -> None:
    made = look(nnd_data, tmp_path, "qgeval/annotation_result")

    assert made.shapes[0].name == "raters"
    edit(made, quality={"rule": "gap", "minimum": 1, "tolerance": 1e-6, "ratings": "mean"})
    found = convert(made.folder, origin=nnd_data / "qgeval/annotation_result")
    assert found.pairs.height == qgeval_pairs(nnd_data)


def test_faithbench_has_several_verdicts_of_a_text(nnd_data: Path, tmp_path: Path) -> None:
    made = look(nnd_data, tmp_path, "faithbench/data_for_release")

    contexts = defaultdict[str, list[tuple[str, set[str]]]](list)
    for path in (nnd_data / "faithbench/data_for_release").glob("*.json"):
        for row in json.loads(path.read_text())["samples"]:
            labels = {label for one in row["annotations"] for label in one["label"]}
            contexts[row["source"]].append((row["summary"], labels))
    pairs = sum(
        len(labels)
        for inside in contexts.values()
        for text, none in inside
        for other, labels in inside
        if not none and text != other
    )
    assert (made.problem, made.counts["pairs"]) == (None, pairs)


@pytest.mark.parametrize(
    ("part", "task"), [("qa", "QA"), ("data2txt", "Data2txt"), ("summary", "Summary")]
)
def test_ragtruth_has_a_list_of_errors(
    nnd_data: Path, tmp_path: Path, part: str, task: str
) -> None:
    made = look(nnd_data, tmp_path, f"ragtruth_faithjudge/ragtruth_{part}.jsonl")
    if part == "data2txt":  # the context is an object: its JSON
        made = edited(made, table={"inputs": {"source": "source"}, "context": None})

    expected = load_source("ragtruth").choose("set", "faithjudge").facts["expected"]
    assert (made.problem, made.counts["pairs"]) == (None, expected["by_category"][task])


def test_fib_has_choices_with_the_number_of_the_right_one(nnd_data: Path, tmp_path: Path) -> None:
    folder = "fib/multiple_choice-dataset/xsum/fib"

    made = look(nnd_data, tmp_path, folder)

    lines = [line for path in (nnd_data / folder).glob("*.jsonl") for line in path.open()]
    assert (made.shapes[0].name, made.counts["pairs"]) == ("choices", len(lines))


def test_quintd_has_a_file_for_each_annotator_and_each_system(
    nnd_data: Path, tmp_path: Path
) -> None:
    made = look(
        nnd_data, tmp_path, "quintd/data/quintd-1/annotations/human", "quintd/data/quintd-1/outputs"
    )
    source = yaml.safe_load((made.folder / "source.yaml").read_text("utf-8"))

    found = edited(
        made,
        table={
            "join": source["table"]["join"]
            | {
                "on": {"dataset": "dataset", "model": "model", "item": "_key"},
                "columns": {"text": "generated[].out", "data": "generated[].in"},
            },
            "compute": {
                "item": "CAST(table_idx AS INT) + 1",
                "key": "dataset || '/' || table_idx",
            },
            "columns": {"candidate": "text", "system": "model", "context_id": "key"},
            "inputs": {"data": "data"},
        },
    )

    pairs = load_source("quintd").facts["expected"]["pairs"]
    assert (found.problem, found.counts["pairs"]) == (None, pairs)


def test_d2t_eval_has_spans_texts_and_inputs_in_different_files(
    nnd_data: Path, tmp_path: Path
) -> None:
    root = nnd_data / "d2t_eval"
    parts = [
        f"d2t_eval/{part}"
        for part in (
            "annotations/human/d2t-eval/test",
            "outputs",
            "inputs/d2t-eval/d2t-football/test.json",
            "inputs/d2t-eval/d2t-gsmarena/test.json",
        )
    ]
    made = look(nnd_data, tmp_path, *parts)
    join = yaml.safe_load((made.folder / "source.yaml").read_text("utf-8"))["table"]["join"]
    assert join["on"] == {name: name for name in ("dataset", "split", "example_idx", "setup_id")}

    found = edited(
        made,
        table={
            "where": "dataset <> 'd2t-openweather' AND split = 'test'",
            "compute": {"item": "CAST(example_idx AS INT) + 1", "key": "dataset || '/' || item"},
            "columns": {"candidate": "text", "system": "setup_id", "context_id": "key"},
            "inputs": {"data": "data"},
            # Some rows say phi3.5, and their folder phi3-5.
            "join": [
                join
                | {
                    "extract": {"_file": "d2t-eval/(?P<folder>[^/]+)/"},
                    "on": {"dataset": "dataset", "example_idx": "example_idx", "split": "split"}
                    | {"setup_id": "folder"},
                },
                {
                    "file": [part.removeprefix("d2t_eval/") for part in parts[2:]],
                    "extract": {"_file": "(?P<name>d2t-(football|gsmarena))"},
                    "on": {"dataset": "name", "item": "_row"},
                    "columns": {"data": "."},
                },
            ],
            "labels": None,
            "spans": {
                "list": "annotations",
                "category": "type",
                "no_error": "no error",
                "annotator": "annotator_group",
            },
        },
    )

    texts = {}
    for path in root.glob("outputs/d2t-eval/*/*-test.jsonl"):
        for row in map(json.loads, path.open()):
            texts[row["dataset"], path.parent.name, row["example_idx"]] = row["output"]
    labels = defaultdict[tuple[str, int], dict[str, list[set[int]]]](dict)
    for row in map(json.loads, (root / f"{parts[0][9:]}/annotations.jsonl").open()):
        if row["dataset"] != "d2t-openweather" and row["split"] == "test":
            inside = labels[row["dataset"], row["example_idx"]]
            inside.setdefault(row["setup_id"], []).append(
                {one["type"] for one in row["annotations"]}
            )
    pairs = sum(
        len(set.union(*inside[other]))
        for (dataset, number), inside in labels.items()
        for one, other in itertools.permutations(inside, 2)
        if not any(inside[one])  # annotators who contradict each other make no pair
        and all(inside[other])
        and texts[dataset, one, number] != texts[dataset, other, number]
    )
    assert found.problem is None
    assert found.counts["pairs"] == pairs
