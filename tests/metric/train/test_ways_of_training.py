"""Several sets, references without worse texts, LoRA, and gradients that add up over batches."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from safetensors.torch import load_file
from support.refusals import refusal
from support.screens.commands import Nnd
from support.stored_folders import read_facts
from support.training.runs import bits, make_model, sample_pairs
from transformers import AutoModelForCausalLM

from nnd.converters.make import derive
from nnd.metric.data import read_run
from nnd.metric.run import evaluate
from nnd.metric.train.corpora import load_corpus
from nnd.metric.train.fine_tuning import train
from nnd.metric.train.history import HISTORY, read_history
from nnd.metric.train.objective import Lora, Loss, Objective, Schedule
from nnd.metric.train.trained import TrainedModel
from nnd.metric.train.training_folder import TRAINING
from nnd.metric.train.training_sides import take_sides
from nnd.schemas import check_rows

BRIEF = Schedule(steps=2, batch_size=4, learning_rate=3e-3)
TEXTS = {
    "context": ["Who sings?", "Who swims?", "Who swims?"],
    "reference": ["The wren sings.", "The heron swims.", "A duck swims."],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Birds as pairs, other pairs to test on, a model, and references in several forms."""
    folder = tmp_path_factory.mktemp("data")
    sample_pairs().write_parquet(folder / "birds.parquet")
    few = sample_pairs().filter(pl.col("context_id").is_between(pl.lit("qg-01"), pl.lit("qg-06")))
    few.write_parquet(folder / "few.parquet")
    other = {"context": "What floats?", "candidate_high": "A cork.", "candidate_low": "A stone."}
    pl.DataFrame([other]).write_parquet(folder / "other.parquet")
    rows = pl.DataFrame(TEXTS)
    rows.write_csv(folder / "texts.csv")
    rows.write_csv(folder / "texts.tsv", separator="\t")
    rows.write_ndjson(folder / "texts.jsonl")
    rows.write_json(folder / "texts.json")
    rows.write_parquet(folder / "texts.parquet")
    model, tokenizer = make_model("gpt2")
    model.config.update({f"{part}_pdrop": 0.0 for part in ("attn", "embd", "resid")})
    model.save_pretrained(folder / "gpt2")
    tokenizer.save_pretrained(folder / "gpt2")
    return folder


@pytest.fixture(scope="module")
def suite(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with two sets."""
    folder = tmp_path_factory.mktemp("suite") / "birds"
    derive(sample, ["case=upper", "typos=0.2"], out=folder)
    return folder


def begin(folder: Path, out: Path, **options: Any) -> TrainedModel:
    how: dict[str, Any] = {"data": folder / "birds.parquet", "split": 0.6, "schedule": BRIEF}
    return train(folder / "gpt2", **how | options, out=out)


def likelihoods(out: Path, when: str) -> list[float]:
    return read_run(out / when)["ll_high"].to_list()


# Gradients that add up


@pytest.mark.parametrize("loss", ["mle", "unlikelihood", "margin"])
def test_batches_of_a_step_train_like_one_large_batch(
    loss: Loss, data: Path, tmp_path: Path
) -> None:
    """Also in the last step of an epoch, which has fewer batches, and the last, a smaller one."""
    objective, trained = Objective(loss), []
    for name, sizes in (("one", (8, 1)), ("several", (2, 4))):
        schedule = Schedule(2.0, None, *sizes, learning_rate=3e-3)
        how = {"data": data / "few.parquet", "objective": objective, "schedule": schedule}
        begin(data, tmp_path / name, **how)
        facts = read_facts(tmp_path / name / TRAINING)
        assert facts["counts"]["examples"] == 21  # the last step has batches of 2, 2 and 1
        weights = load_file(tmp_path / name / "model.safetensors")
        trained.append((facts["steps"], [each["loss"] for each in facts["losses"]], weights))
    (steps, losses, weights), (steps_, losses_, weights_) = trained

    assert steps == steps_ > 2
    assert losses_ == pytest.approx(losses, rel=1e-4)
    for name, value in weights.items():
        torch.testing.assert_close(weights_[name], value, atol=2e-4, rtol=1e-3)


# Several sets


def test_several_sets_are_trained_on_each_pair_once(suite: Path) -> None:
    both = take_sides(suite, ["typos-0.2", "case-upper", "typos-0.2"], [], share=0.7, seed=0)
    one, other = (
        take_sides(suite, [name], [], share=0.7, seed=0) for name in ("case-upper", "typos-0.2")
    )
    ids = {*one.training.pairs["pair_id"], *other.training.pairs["pair_id"]}

    assert sorted(both.training.pairs["pair_id"]) == sorted(ids)
    assert both.by_set == {
        "case-upper": one.training.pairs.height,
        "typos-0.2": other.training.pairs.height,
    }
    assert [each.title for each in both.tests] == [
        one.tests[0].title,
        other.tests[0].title,
        one.tests[-1].title,
    ]


def test_the_command_takes_several_sets(suite: Path, data: Path, tmp_path: Path, nnd: Nnd) -> None:
    sets = ["--set", "case-upper", "--set", "typos-0.2", "--steps", 1, "--device", "cpu"]
    out = tmp_path / "out"
    code, shown, _ = nnd("train", "--model", data / "gpt2", "--data", suite, "--out", out, *sets)
    facts = read_facts(out / TRAINING)

    assert code == 0
    assert list(facts["counts"]["by_set"]) == ["case-upper", "typos-0.2"]
    assert "(pairs: case-upper " in " ".join(shown.split())
    assert "-case-upper+typos-0.2" in facts["signature"]
    assert [*check_rows("training", [facts])] == []


# References alone


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_references_are_read_from_every_kind_of_table(form: str, data: Path) -> None:
    found, of_references = load_corpus(data / f"texts.{form}")
    assert of_references

    assert sorted(found.pairs.select("context", "candidate_high").rows()) == sorted(
        zip(*TEXTS.values(), strict=True)
    )
    assert found.pairs["candidate_low"].null_count() == 3


def test_references_are_trained_on_and_other_pairs_tested(data: Path, tmp_path: Path) -> None:
    how = {"data": data / "texts.csv", "tests": [data / "other.parquet"]}
    found = begin(data, tmp_path / "out", **how, objective=Objective("mle"))
    facts = read_facts(tmp_path / "out" / TRAINING)

    assert facts["counts"]["examples"] == 3
    assert facts["split"] is None
    assert likelihoods(tmp_path / "out", "before") != likelihoods(tmp_path / "out", "after")
    assert "on 3 distinct references in 2 contexts; tested on other data." in found.remarks()[0]
    assert [*check_rows("training", [facts])] == []


WITH_NEGATIVES: list[tuple[str, str, list[str] | None]] = [
    ("Who sings?", "The wren sings.", ["The wren swims.", "The wren  sings.", " ", "No."]),
    ("Who swims?", "The heron swims.", []),
    ("Who swims?", "A duck swims.", None),
    ("Who flies?", " ", ["The heron swims."]),
]


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet"])
def test_references_may_have_negatives(form: str, tmp_path: Path) -> None:
    """What is blank or says the same is no negative; a reference without any is kept."""
    rows = pl.DataFrame(WITH_NEGATIVES, ["context", "reference", "negatives"], orient="row")
    path = tmp_path / f"texts.{form}"
    {"jsonl": rows.write_ndjson, "json": rows.write_json, "parquet": rows.write_parquet}[form](path)
    found = load_corpus(path).pairs.pairs

    columns = ("context", "candidate_high", "candidate_low", "origin")
    assert found.select(columns).rows() == [
        ("Who sings?", "The wren sings.", "The wren swims.", "synthetic"),
        ("Who sings?", "The wren sings.", "No.", "synthetic"),
        ("Who swims?", "The heron swims.", None, None),
        ("Who swims?", "A duck swims.", None, None),
    ]


@pytest.mark.parametrize("loss", ["unlikelihood", "margin", "mle"])
def test_references_with_negatives_are_all_trained_on(
    loss: Loss, data: Path, tmp_path: Path
) -> None:
    rows = pl.DataFrame(WITH_NEGATIVES, ["context", "reference", "negatives"], orient="row")
    rows.write_ndjson(tmp_path / "texts.jsonl")
    how = {"data": tmp_path / "texts.jsonl", "tests": [data / "other.parquet"]}
    found = begin(data, tmp_path / "out", **how, objective=Objective(loss))
    facts = read_facts(tmp_path / "out" / TRAINING)

    assert facts["counts"]["examples"] == 4
    assert facts["split"] is None
    kind = "references" if loss == "mle" else "examples"
    assert f"on 4 distinct {kind} in 2 contexts; tested on other data." in found.remarks()[0]
    assert [*check_rows("training", [facts])] == []
    assert likelihoods(tmp_path / "out", "before") != likelihoods(tmp_path / "out", "after")


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"reference": ["x"], "negatives": ["y"]}, "column.wrong-type"),
        ({"references": [["x", "z"]], "negatives": [["y"]]}, "option.conflict"),
    ],
)
def test_negatives_that_cannot_be_read_are_refused(columns: dict[str, Any], code: str) -> None:
    with refusal(code):
        load_corpus(pl.DataFrame({"context": ["Who?"], **columns}))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"objective": Objective("unlikelihood")}, "train.no-texts"),
        ({"objective": Objective("mle"), "tests": []}, "train.no-texts"),
        ({"objective": Objective("mle"), "sets": ["typos"]}, "name.unknown"),
    ],
)
def test_what_references_cannot_do_is_refused(
    options: dict[str, Any], code: str, data: Path, tmp_path: Path
) -> None:
    how: dict[str, Any] = {"data": data / "texts.csv", "tests": [data / "other.parquet"]}
    with refusal(code):
        begin(data, tmp_path / "out", **how | options)
    assert not (tmp_path / "out").exists()


# LoRA


@pytest.fixture(scope="module")
def adapted(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lora")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NND_CACHE", str(folder / "cache"))
        begin(data, folder / "out", lora=Lora(2, dropout=0.1))
    return folder / "out"


def test_adapters_are_trained_and_the_model_is_not(adapted: Path, data: Path) -> None:
    config = json.loads((adapted / "adapter_config.json").read_text(encoding="utf-8"))
    facts = read_facts(adapted / TRAINING)

    assert (config["r"], config["lora_alpha"], config["lora_dropout"]) == (2, 4.0, 0.1)
    assert not (adapted / "model.safetensors").exists()
    assert facts["lora"] == {"rank": 2, "alpha": 4.0, "dropout": 0.1, "targets": ["c_attn"]}
    assert "|lora:2|lora-alpha:4|lora-dropout:0.1|lora-targets:c_attn|" in facts["signature"]
    assert likelihoods(adapted, "before") != likelihoods(adapted, "after")
    assert bits(make_model("gpt2")[0]) == bits(AutoModelForCausalLM.from_pretrained(data / "gpt2"))
    assert [*check_rows("training", [facts])] == []


def test_what_is_saved_scores_as_it_did_after_the_training(
    adapted: Path, data: Path, tmp_path: Path
) -> None:
    pairs = data / "birds.parquet"
    evaluate(str(adapted), pairs, out=tmp_path / "run")
    ids = read_run(adapted / "after").select("pair_id", expected="ll_high")
    found = read_run(tmp_path / "run").select("pair_id", "ll_high")
    both = ids.join(found, on="pair_id")

    assert both.height == ids.height > 0
    assert both["ll_high"].to_list() == pytest.approx(both["expected"].to_list(), abs=1e-5)


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"rank": None, "alpha": 2.0}, "option.needs-another"),
        ({"rank": 0}, "option.bad-value"),
        ({"rank": 2, "dropout": 1.0}, "option.bad-value"),
    ],
)
def test_adapters_that_cannot_be_are_refused(how: dict[str, Any], code: str) -> None:
    with refusal(code):
        Lora(**how)


def test_layers_that_the_model_lacks_are_refused(data: Path, tmp_path: Path) -> None:
    with refusal("adapter.unsupported", "gpt2"):
        begin(data, tmp_path / "out", lora=Lora(2, targets=("wings",)))


def test_the_command_trains_adapters_on_references(data: Path, tmp_path: Path, nnd: Nnd) -> None:
    out = tmp_path / "out"
    code, _, _ = nnd(
        *("train", "--model", data / "gpt2", "--data", data / "texts.csv", "--out", out),
        *("--test", data / "other.parquet", "--loss", "mle", "--steps", 1, "--accumulation", 2),
        *("--lora-rank", 2, "--lora-target", "c_attn", "--lora-target", "c_proj"),
        *("--device", "cpu", "--batch-size", 1),
    )
    facts = read_facts(out / TRAINING)

    assert code == 0
    assert facts["lora"]["targets"] == ["c_attn", "c_proj"]
    assert facts["schedule"]["accumulation"] == 2


def test_a_quantised_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with refusal("model.quantised", "model.gguf"):
        train(tmp_path / "model.gguf", tmp_path / "nowhere", out=tmp_path / "out")

    assert not (tmp_path / "out").exists()


# When and how tests are taken


def test_tests_are_taken_every_few_steps_by_the_protocol_that_is_named(
    data: Path, tmp_path: Path
) -> None:
    schedule = Schedule(steps=5, batch_size=4, learning_rate=3e-3)
    begin(data, tmp_path / "sum", every=3, protocol="sum", schedule=schedule)
    begin(data, tmp_path / "native", every=3, schedule=schedule)
    entries = read_history(tmp_path / "sum" / HISTORY)
    assert [entry.step for entry in entries] == [0, 3, 5]
    assert all("|protocol:sum|" in entry.signature for entry in entries)
    for when in ("before", "after"):
        summed, native = (read_run(tmp_path / name / when) for name in ("sum", "native"))
        # The same training: a sum is the mean times the tokens.
        assert summed["ll_high"].to_list() == pytest.approx(
            (native["ll_high"] * native["tokens_high"]).to_list(), abs=1e-4
        )


@pytest.mark.parametrize(
    ("options", "code"),
    [({"every": 0}, "option.bad-value"), ({"protocol": "nativ"}, "option.unknown-value")],
    ids=["every", "protocol"],
)
def test_a_wrong_interval_or_protocol_is_refused_before_anything_is_written(
    options: dict[str, Any], code: str, data: Path, tmp_path: Path
) -> None:
    with refusal(code):
        begin(data, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
