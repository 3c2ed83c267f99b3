"""One split of the data: which is scored, what is said of it, and the human scores it gets."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.screens.commands import Nnd
from support.stored_folders import reseal, write_sealed
from support.suites.split_source import write_letters
from transformers import Trainer, TrainingArguments

from nnd.converters.folder import convert
from nnd.metric.data import (
    choose_part,
    choose_splits,
    is_of_all_splits,
    load_pairs,
    open_pairs,
    read_human_scores,
)
from nnd.metric.data.human_scores import human_scores_in
from nnd.metric.data.splits import default_splits
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.numbers import agree, compare, slice_runs
from nnd.metric.other_metrics.on_datasets import metrics
from nnd.metric.run import Evaluation, estimate, evaluate, merge, read_entries, vary
from nnd.metric.show.reports.page.report import report
from nnd.metric.train import NNDCallback
from nnd.metric.train.training_sides import take_sides
from nnd.schemas import check_rows, cut_by_context

PLAIN = Scoring(cache=False, unconditional=False)
Judged = dict[str, tuple[Evaluation, Path]]


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`valid` and `test`, 8 pairs each; people find the badger 0 % and 25 % good."""
    return write_letters(tmp_path_factory.mktemp("letters"), ["valid", "test"])


def run(models: Any, data: Any, out: Path | None = None, **more: Any) -> Evaluation:
    found = evaluate(models, data, out=out, scoring=PLAIN, **more)
    assert isinstance(found, Evaluation)
    return found


def stored(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert list(check_rows("result", [found])) == []
    return found


def as_of_02(folder: Path) -> Path:
    """Make a run one of 0.2, which does not state splits."""
    found = stored(folder)
    del found["splits"]
    write_sealed(folder / "result.json", found)
    return folder


def badger(people: pl.DataFrame | None) -> float:
    assert people is not None
    return float(people.filter(system="badger", category="overall")["score"].item())


@pytest.fixture(scope="module")
def stand_for(models: list[str]) -> dict[str, str]:
    return {models[0]: "otter", models[1]: "badger"}


@pytest.fixture(scope="module")
def judged(
    models: list[str],
    letters: Path,
    stand_for: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Judged:
    """Which splits were scored → models that stand for systems, and the folder of the run."""
    place = tmp_path_factory.mktemp("judged")
    chosen: dict[str, dict[str, Any]] = {
        "test": {},
        "valid": {"splits": ["valid"]},
        "both": {"splits": ["test", "valid"]},
        "part": {"splits": ["test", "valid"], "limit": 2},
    }
    return {
        name: (run(models, letters, place / name, systems=stand_for, **more), place / name)
        for name, more in chosen.items()
    }


# Which splits


@pytest.mark.parametrize(
    ("known", "scored"),
    [
        (["test"], ["test"]),
        (["valid", "test"], ["test"]),
        (["train", "dev", "test"], ["test"]),
        (["Validation", "test"], ["test"]),
        (["evaluation", "test"], ["evaluation", "test"]),  # SummEdits: both are to test with
        (["bbc", "cnn"], ["bbc", "cnn"]),  # Goyal
        (["test", "cnn"], ["cnn", "test"]),
        (["train", "valid"], ["train", "valid"]),
        ([], []),
    ],
)
def test_test_is_scored_by_default_if_the_others_are_to_train_on(
    known: list[str], scored: list[str]
) -> None:
    assert default_splits(known) == scored


def test_the_headline_the_signature_and_the_result_state_the_splits(
    models: list[str], letters: Path, judged: Judged
) -> None:
    version = load_pairs(letters).version[:6]
    for splits, n, said, signed in (
        ([], 8, "(split test).", "|split:test|protocol:native|"),
        (["valid", "test"], 16, "(splits test and valid).", f"@{version}|protocol:"),
    ):
        found = run(models[0], letters, splits=splits)
        signature = found.results[0].signature
        assert found.results[0].rates.n_pairs == n
        assert f"of {n} tests" in found.headline()
        assert found.headline().endswith(f"on letters-nnd {said}")
        assert signed in signature
        assert ("split:" in signature) == (n == 8)
    assert f"|data:letters-nnd@{version}|" in signature
    assert stored(judged["test"][1])["splits"] == ["test"]


def test_data_with_one_split_is_described_as_before(models: list[str], tmp_path: Path) -> None:
    found = run(models[0], write_letters(tmp_path, ["all"]))
    assert found.headline().endswith(" on letters-nnd.")
    assert "split:" not in found.results[0].signature
    assert found.splits == ("all",)


def test_an_unknown_split(letters: Path) -> None:
    with refusal("name.unknown", "letters-nnd") as caught:
        choose_splits(load_pairs(letters), ["vaild"])
    assert '"valid"?' in caught.value.what
    assert "test, valid" in caught.value.remedy


def test_rows_without_a_split_are_not_of_a_named_one(letters: Path) -> None:
    rows = load_pairs(letters).pairs.with_columns(
        split=pl.when(pl.col("split") == "valid").then(None).otherwise("split")
    )
    assert choose_splits(load_pairs(rows)).pairs.height == 16
    assert choose_splits(load_pairs(rows), None).pairs.height == 16
    assert choose_splits(load_pairs(rows), ["test"]).pairs.height == 8


def test_equal_texts_are_counted_in_the_chosen_splits() -> None:
    texts = {"context": "c", "candidate_high": "h", "candidate_low": "l"}
    rows = [texts | {"split": split} for split in ("test", "valid")]
    own = load_pairs([*rows, rows[0] | {"candidate_low": " h"}])
    assert len(own.equal) == 1
    assert "dropped" in choose_splits(own, ["test"]).headline()
    assert "dropped" not in choose_splits(own, ["valid"]).headline()


def test_it_goes_together_with_other_parts(letters: Path) -> None:
    pairs = load_pairs(letters)
    held_out = pairs.pairs.filter(~cut_by_context(pairs.pairs, 0.5))
    assert {*held_out["split"]} == {"test", "valid"}
    # What a training has held out is cut in another way, so all splits are scored unless named.
    assert choose_part(pairs, held_out=0.5).pairs.equals(held_out)
    found = choose_part(pairs, held_out=0.5, splits=["valid"], limit=2)
    assert found.title == "letters-nnd (split valid, --held-out 0.5, --limit 2)"
    assert {*found.pairs["pair_id"]} <= {*held_out.filter(split="valid")["pair_id"]}
    assert found.part == (("held-out", "0.5"), ("split", "valid"), ("limit", "2"))


def test_a_part_is_not_cut_again(letters: Path, models: list[str]) -> None:
    whole = choose_splits(load_pairs(letters), ["test", "valid"])
    assert choose_splits(whole) == whole
    assert run(models[0], whole).results[0].rates.n_pairs == 16
    training = take_sides(str(letters), [], [], share=0.5, seed=0)
    assert {*training.training.pairs["split"]} == {"test", "valid"}
    (tested,) = training.tests
    n = run(models[0], replace(tested, human_scores=None)).results[0].rates.n_pairs
    assert n == tested.pairs.height > tested.pairs.filter(split="test").height


def test_pairs_in_pieces_are_those_in_memory(letters: Path, tmp_path: Path) -> None:
    pairs = pl.read_parquet(letters / "pairs.parquet")
    folder = tmp_path / "letters-nnd"
    folder.mkdir()
    for path in letters.glob("*.*"):
        (folder / path.name).write_bytes(path.read_bytes())
    pairs.write_parquet(folder / "pairs.parquet", row_group_size=3)
    reseal(folder)
    for names in ([], ["valid"], ["test", "valid"]):
        whole, stream = choose_splits(load_pairs(folder), names), open_pairs(folder, names)
        rows = stream.rows("", [(0, whole.pairs.height)]).pairs
        assert rows.equals(whole.pairs)
        assert (stream.about.title, stream.about.part) == (whole.title, whole.part)
        people = stream.about.human_scores
        assert people is not None
        assert people.equals(whole.human_scores)
    with refusal("name.unknown", "letters-nnd"):
        open_pairs(folder, ["cnn"])
    plain = pairs.drop("split")
    plain.write_parquet(tmp_path / "plain.parquet")
    assert open_pairs(tmp_path / "plain.parquet").sizes() == {"": 16}


# Where splits are chosen


def test_estimates_variations_workers_and_the_callback_take_splits(
    models: list[str], letters: Path, tmp_path: Path, fresh: Callable[..., Any]
) -> None:
    few, all_ = ({"splits": names} for names in ((), ["test", "valid"]))
    costs = [estimate(models[0], str(letters), scoring=PLAIN, **each) for each in (few, all_)]
    tokens = [each.to_dict()["models"][0] for each in costs]
    assert tokens[0] != tokens[1]
    varied = vary(models[0], str(letters), ["protocol"], scoring=PLAIN, splits=["valid"])
    assert varied.data == "letters-nnd (split valid)"
    both = vary(models[0], str(letters), ["protocol"], scoring=PLAIN, **all_)
    assert both.default.scored.results[0].rates.n_pairs == 16
    evaluate(models[0], letters, out=tmp_path / "run", worker=(1, 1), scoring=PLAIN)
    assert merge(tmp_path / "run").headline() == run(models[0], letters).headline()
    assert stored(tmp_path / "run")["splits"] == ["test"]
    family = fresh("gpt2")
    trainer = Trainer(
        family.model,
        TrainingArguments(output_dir=str(tmp_path / "out"), report_to=[]),
        processing_class=family.tokenizer,
    )
    assert NNDCallback(trainer, letters).pairs.title == "letters-nnd (split test)"
    assert NNDCallback(trainer, letters, splits=["valid"]).pairs.splits == ("valid",)


def test_entries_of_runs_take_a_split(letters: Path) -> None:
    entries = read_entries(
        [
            {"model": "gpt2", "data": str(letters), "split": "valid"},
            {"model": "gpt2", "data": str(letters), "split": ["a b", "test"]},
        ],
        letters.parent,
        lambda _: "runs.yaml:1",
        scoring=PLAIN,
        loading=Loading(),
    )
    assert [each.splits for each in entries] == [("valid",), ("a b", "test")]
    assert entries[0].manner == "native+split-valid"
    assert entries[1].manner.startswith("native+split-")
    assert " " not in entries[1].manner


def test_a_run_of_another_split_is_not_added_to(
    models: list[str], letters: Path, judged: Judged
) -> None:
    _, folder = judged["both"]
    with refusal("place.holds-a-run", str(folder)) as caught:
        run(models[1], letters, folder)
    assert "(split test)" in caught.value.what


# Human scores


def human_score(found: Evaluation, model: str) -> float:
    assert found.agreement is not None
    return found.agreement.by_category["overall"].judged[model].human_score


def test_human_scores_are_of_the_scored_split(
    models: list[str], letters: Path, judged: Judged
) -> None:
    assert badger(read_human_scores(letters)) == 0.125
    for splits, score in {"test": 0.25, "valid": 0.0, "both": 0.125}.items():
        found, _ = judged[splits]
        assert human_score(found, models[1]) == score
        assert found.agreement is not None
        assert not any("split" in str(remark) for remark in found.agreement.remarks())


def test_stored_and_later_agreement_are_the_same(letters: Path, judged: Judged) -> None:
    for found, out in judged.values():
        assert found.agreement is not None
        assert agree(out, letters).by_category == found.agreement.by_category


def test_human_scores_of_your_own_are_left_as_they_are(
    models: list[str], letters: Path, stand_for: dict[str, str]
) -> None:
    found = run(models, letters, systems=stand_for, human_scores=letters / "human_scores.parquet")
    assert human_score(found, models[1]) == 0.125
    assert found.agreement is not None
    assert found.agreement.remarks() == []


def test_without_annotations_it_is_said_that_human_scores_are_of_all_splits(
    models: list[str], letters: Path, stand_for: dict[str, str], tmp_path: Path
) -> None:
    for name in ("pairs", "human_scores"):
        path = letters / f"{name}.parquet"
        (tmp_path / path.name).write_bytes(path.read_bytes())
    said = (
        "Human scores are of all splits, because the annotations that they are made from are "
        "missing."
    )
    found = run(models, tmp_path, tmp_path / "run", systems=stand_for)
    assert human_score(found, models[1]) == 0.125
    assert found.agreement is not None
    assert said in found.agreement.remarks()
    assert said in agree(tmp_path / "run", tmp_path).remarks()
    whole = run(models, tmp_path, systems=stand_for, splits=["test", "valid"]).agreement
    assert whole is not None
    assert whole.remarks() == []


def test_human_scores_of_frank_by_hand(nnd_data: Path, tmp_path: Path) -> None:
    convert("frank", set_name="typed", origin=nnd_data / "frank", out=tmp_path)
    pairs = load_pairs(tmp_path)
    chosen = choose_splits(pairs)
    assert chosen.title == f"{tmp_path.name} (split test)"
    assert (pairs.pairs.height, chosen.pairs.height) == (1363, 962)
    whole, people = human_scores_in(tmp_path, pl.DataFrame(), ["test", "valid"]), pairs.human_scores
    assert people is not None
    assert whole.equals(people)
    # Counted again: a candidate is good if its only label is NoE.
    rows = pl.read_parquet(tmp_path / "annotations.parquet").filter(split="test")
    good: dict[str, list[bool]] = {}
    for (_, system), own in rows.group_by("candidate_id", "system", maintain_order=True):
        for name in str(system).split("|"):
            good.setdefault(name, []).append({*own["label"].drop_nulls()} == {"no_error"})
    found = chosen.human_scores
    assert found is not None
    overall = found.filter(category="overall")
    assert dict(overall.select("system", "score").iter_rows()) == {
        name: pytest.approx(sum(each) / len(each)) for name, each in good.items()
    }
    assert not any(map(is_of_all_splits, found["definition"]))


# Runs


@pytest.fixture(scope="module")
def runs(models: list[str], letters: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A run of 0.2, which is of all splits, and one of this version."""
    old, new = (tmp_path_factory.mktemp("runs") / name for name in ("old", "new"))
    run(models[0], letters, old, splits=["test", "valid"], systems={models[0]: "otter"})
    run(models[1], letters, new, systems={models[1]: "badger"})
    return [as_of_02(old), new]


def test_a_run_of_02_is_compared_on_the_shared_split(runs: list[Path]) -> None:
    (found,) = compare(runs)
    assert (found.n_pairs, found.only_in_first, found.only_in_second) == (8, 8, 0)
    assert found.splits == ("test",)
    assert "Compared on split test." in found.remarks()
    (same,) = compare(runs, splits=["test"])
    assert "8 shared tests (split test)" in same.headline()
    assert (same.only_in_first, same.overall, same.by) == (0, found.overall, found.by)
    assert list(check_rows("comparison", [found.to_dict()])) == []


def test_runs_of_different_splits_agree_on_a_named_one(runs: list[Path], letters: Path) -> None:
    with refusal("run.another-data"):
        agree(runs, letters)
    found = agree(runs, letters, splits=["test"])
    (score,) = {
        each.human_score for m, each in found.by_category["overall"].judged.items() if "bart" in m
    }
    assert score == 0.25
    assert "Pass rates are of split test." in found.remarks()
    assert list(check_rows("agreement", [found.to_dict()])) == []


@pytest.mark.parametrize("splits", [[], ["valid"]])
def test_slices_reports_and_metrics_take_splits(
    runs: list[Path], letters: Path, tmp_path: Path, splits: Sequence[str]
) -> None:
    old, n = runs[0], 8 if splits else 16
    of = "split valid" if splits else "splits test and valid"
    found = slice_runs(old, letters, by="error_category", splits=splits)
    assert (found.n, found.data) == (n, f"letters-nnd ({of})")
    made = report(old, tmp_path / "page.html", data=letters, splits=splits)
    page = made.page.read_text(encoding="utf-8")
    assert f"letters-nnd ({of})" in page
    assert f"of {n} tests" in page
    table = metrics(old, data=letters, scorers="length", splits=splits)
    assert f"of {n} tests ({of})" in table.headline()
    assert table.rows[0].candidates["good"].n == (12 if splits else 24)
    assert list(check_rows("metrics", [table.to_dict()])) == []


def test_metrics_judge_the_split_that_the_run_scored(runs: list[Path], letters: Path) -> None:
    assert "of 8 tests (split test)" in metrics(runs[1], data=letters, scorers="length").headline()
    assert "of 8 tests (split test)" in metrics(data=letters, scorers="length").headline()
    with refusal("name.unknown", "new"):
        metrics(runs[1], data=letters, scorers="length", splits=["valid"])


def test_the_command_takes_splits(models: list[str], letters: Path, nnd: Nnd) -> None:
    def said(*arguments: object) -> str:
        ran = nnd(*arguments)
        assert ran.code == 0, ran.err
        return ran.out

    named = [part for model in models for part in ("--model", model)]
    splits = ["--split", "test", "--split", "valid"]
    first = said("evaluate", *named, "--data", letters, *splits, "--out", "run", "--no-cache")
    assert "of 16 tests" in first
    assert "on letters-nnd (splits test and valid)" in first
    only = ["--split", "valid", "--mixed-rules"]
    assert "of 8 shared tests (split valid)" in said("compare", "run", *only)
    assert "of letters-nnd (split valid)" in said("slice", "run", "--by", "error_category", *only)
    assert "of 8 tests (split valid)" in said("metrics", "run", "--data", letters, *only)
    systems = ["--system", f"{models[0]}=otter", "--system", f"{models[1]}=badger"]
    agreed = said("agree", "run", "--data", letters, *systems, *only)
    assert "Pass rates are of split valid." in agreed
    said("report", "run", "--data", letters, *only)
    assert "letters-nnd (split valid)" in Path("report.html").read_text(encoding="utf-8")


def test_a_report_of_a_split_of_a_part_does_not_count_other_splits(
    models: list[str], letters: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run(models[0], letters, out, splits=["test", "valid"], limit=10)
    page = tmp_path / "page.html"
    report(out, page)
    assert "of 10 of 16 tests" in page.read_text(encoding="utf-8")
    report(out, page, splits=["valid"])
    assert "of 16 tests" not in page.read_text(encoding="utf-8")


def test_a_report_of_a_split_does_not_show_the_agreement_over_all(
    letters: Path, judged: Judged, tmp_path: Path
) -> None:
    def page(*splits: str, data: Path | None = None) -> str:
        _, folder = judged["both"]
        made = report(folder, tmp_path / "page.html", data=data, splits=splits)
        return made.page.read_text(encoding="utf-8")

    why = "the stored agreement is of splits test and valid; pass --data or --human-scores"
    assert why in page("test")
    assert why not in page()
    assert why not in page("valid", "test")
    assert why not in page("test", data=letters)
