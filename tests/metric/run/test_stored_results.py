"""Where a result is stored, no model is loaded; whatever may change a number loads it again."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import polars as pl
import pytest
from huggingface_hub import constants
from support.flat_options import gathered
from support.metric_runs import pair_rows, write_pairs
from support.models.adapted import adapted, lora
from transformers import AutoModelForCausalLM

from nnd.metric.likelihood import Loading, Store, default_store, load_model
from nnd.metric.run import Evaluation, evaluate, result_keys, stored_results
from nnd.metric.run.launchers import here
from nnd.metric.run.model_cost import COST
from nnd.metric.run.sealed_rows import SealedRows
from nnd.schemas import Instruction, cache_folder

Saved: TypeAlias = Callable[[str], Path]


class _LoadsError(Exception):
    """A model is loaded."""


@dataclass(frozen=True)
class Case:
    """A model and data of one's own, scored once."""

    model: Path
    data: Path
    monkeypatch: pytest.MonkeyPatch

    def evaluate(self, **options: Any) -> Evaluation:
        return evaluate(self.model, self.data, **gathered(**options))


@pytest.fixture
def case(saved: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    shutil.copytree(saved("gpt2"), tmp_path / "gpt2")
    return Case(tmp_path / "gpt2", write_pairs(tmp_path / "birds"), monkeypatch)


def refuse_to_load(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise _LoadsError

    monkeypatch.setattr(here, "load_model", refuse)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return all files but cost.json, which differs between runs."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != COST}


def test_a_second_run_loads_nothing_and_writes_the_same_bytes(case: Case, tmp_path: Path) -> None:
    first = case.evaluate(out=tmp_path / "first")
    refuse_to_load(case.monkeypatch)

    second = case.evaluate(out=tmp_path / "second")

    assert files_of(tmp_path / "second") == files_of(tmp_path / "first")
    assert second.scored.equals(first.scored)
    (work,) = (result.work for result in second.results)
    (before,) = (result.work for result in first.results)
    assert (work.tokens, work.requests, work.stored) == (0, before.requests, before.requests)


def test_only_what_is_new_is_scored(case: Case, saved: Saved) -> None:
    case.evaluate()
    scored = []
    score = here.evaluate_model

    def listen(loaded: Any, pairs: Any, *others: Any, **options: Any) -> Any:
        scored.append((Path(loaded.name).name, pairs.name))
        return score(loaded, pairs, *others, **options)

    case.monkeypatch.setattr(here, "evaluate_model", listen)
    trees = case.data.with_name("trees")
    trees.mkdir()
    pair_rows().head(5).write_parquet(trees / "pairs.parquet")

    found = evaluate([case.model, saved("bart")], [case.data, trees])

    assert scored == [("gpt2", "trees"), ("tiny-bart", "birds"), ("tiny-bart", "trees")]
    names = [[Path(each.model).name for each in of.results] for of in found.evaluations.values()]
    assert names == [["gpt2", "tiny-bart"]] * 2


# Whatever may change a number


def change_weights(case: Case) -> None:
    """One byte of the last tensor; neither the size nor the time of the file tells."""
    path = case.model / "model.safetensors"
    state, content = path.stat(), bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def change_json(file: str, **values: object) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        facts = json.loads((case.model / file).read_text())
        (case.model / file).write_text(json.dumps(facts | values))

    return change


def change_rows(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Case], None]:
    def write(case: Case) -> None:
        rows = pl.read_parquet(case.data / "pairs.parquet")
        change(rows).write_parquet(case.data / "pairs.parquet")

    return write


def add_instruction(case: Case) -> None:
    words = Instruction(({"": "Describe the bird."},), "invented")
    case.monkeypatch.setattr("nnd.metric.data.pairs.instruction_in", lambda _: words)


def upgrade(library: Literal["torch", "transformers", "tokenizers"]) -> Callable[[Case], None]:
    def change(case: Case) -> None:
        installed = result_keys.version
        case.monkeypatch.setattr(
            result_keys, "version", lambda name: "99" if name == library else installed(name)
        )

    return change


def show_a_gpu(case: Case) -> None:
    case.monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")


def distrust_the_path(_: Case) -> None:
    """A later run of the same model finds the path of these numbers wrong."""
    (stored,) = (cache_folder() / "results").iterdir()
    fingerprint = SealedRows(stored).facts["fingerprint"]
    with Store(default_store(), warn=pytest.fail) as store:
        store.put_proof(fingerprint, json.dumps({"path": "alone"}))


def damage(_: Case) -> None:
    (stored,) = (cache_folder() / "results").iterdir()
    content = bytearray(stored.read_bytes())
    content[len(content) // 2] ^= 1
    stored.write_bytes(content)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(change_weights, id="weights"),
        pytest.param(change_json("tokenizer.json", truncation=None, padding=1), id="tokenizer"),
        pytest.param(change_json("tokenizer_config.json", model_max_length=9), id="window"),
        pytest.param(change_json("config.json", layer_norm_epsilon=0.1), id="config"),
        pytest.param(lambda case: (case.model / "README.md").write_text("base"), id="card"),
        pytest.param(change_rows(pl.DataFrame.reverse), id="order"),
        pytest.param(
            change_rows(lambda rows: rows.with_columns(context=pl.col("context") + "!")), id="text"
        ),
        pytest.param(
            change_rows(lambda rows: rows.with_columns(category=pl.lit("x"))), id="category"
        ),
        pytest.param(add_instruction, id="instruction"),
        *(
            pytest.param(upgrade(library), id=library)
            for library in ("torch", "transformers", "tokenizers")
        ),
        pytest.param(show_a_gpu, id="device"),
        pytest.param(distrust_the_path, id="path"),
        pytest.param(damage, id="damage"),
    ],
)
def test_what_changes_a_number_loads_the_model(
    change: Callable[[Case], object], case: Case
) -> None:
    case.evaluate()
    refuse_to_load(case.monkeypatch)
    case.evaluate()

    change(case)

    with pytest.raises(_LoadsError):
        case.evaluate()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "options",
    [
        {"protocol": "sum"},
        {"template": "Bird: {context}"},
        {"separator": "\n"},
        {"keep": "beginning"},
        {"unconditional": False},
        {"token_budget": 64},
        {"limit": 2},
        {"dtype": "bfloat16"},
        {"device": "cpu"},
        {"cache": False},
        {"keep_tokens": True},
        {"trust_remote_code": True},
    ],
    ids=lambda options: next(iter(options)),
)
def test_another_option_loads_the_model(options: dict[str, Any], case: Case) -> None:
    case.evaluate()
    refuse_to_load(case.monkeypatch)
    with pytest.raises(_LoadsError):
        case.evaluate(**options)


def test_a_model_of_the_hub_is_known_by_its_commit(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its main is another commit of the same weights in the end."""
    place = tmp_path / "cache" / "models--org--tiny"
    for commit in ("a" * 40, "b" * 40):
        shutil.copytree(case.model, place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("a" * 40)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    first = evaluate("org/tiny", case.data)
    refuse_to_load(monkeypatch)
    assert evaluate("org/tiny", case.data).to_dict() == first.to_dict()
    with pytest.raises(_LoadsError):  # its name is in the signature
        evaluate("org/tiny@main", case.data, loading=Loading(dtype="float32"))
    (place / "refs" / "main").write_text("b" * 40)
    with pytest.raises(_LoadsError):
        evaluate("org/tiny", case.data)


def test_an_adapter_is_known_with_its_base(case: Case, tmp_path: Path) -> None:
    adapter = tmp_path / "lora"
    config = lora(target_modules=["c_attn"], fan_in_fan_out=True)
    adapted(AutoModelForCausalLM.from_pretrained(case.model), config).save_pretrained(adapter)
    first = evaluate(adapter, case.data)
    refuse_to_load(case.monkeypatch)
    assert evaluate(adapter, case.data).to_dict() == first.to_dict()
    change_weights(case)
    with pytest.raises(_LoadsError):
        evaluate(adapter, case.data)


def test_the_newest_results_are_kept(case: Case) -> None:
    case.evaluate()
    (first,) = (cache_folder() / "results").iterdir()
    case.monkeypatch.setattr(stored_results, "_MOST_BYTES", 1.5 * first.stat().st_size)
    case.evaluate(protocol="sum")
    (left,) = (cache_folder() / "results").iterdir()
    assert left != first


def test_the_result_of_a_model_in_memory_is_not_stored(case: Case) -> None:
    loaded = load_model(case.model, Loading())
    evaluate(loaded, case.data)
    assert not (cache_folder() / "results").exists()


# Whatever goes wrong after scoring

LATER = {
    "rates": "nnd.metric.run.model_scoring.pass_rates",
    "boundaries": "nnd.metric.run.model_scoring.count_crossings",
    "signature": "nnd.metric.run.model_scoring.make_signature",
    "close tests": "nnd.metric.run.model_scoring.count_close",
    "stored result": "nnd.metric.run.stored_results.write_sealed",
    "agreement": "nnd.metric.run.summary.agree_scored",
    "effects": "nnd.metric.run.summary.find_effects",
    "writing": "nnd.metric.run.evaluation.write_folder",
}


@pytest.mark.parametrize("broken", LATER.values(), ids=LATER)
def test_likelihoods_are_stored_before_anything_is_made_of_them(
    broken: str, case: Case, tmp_path: Path
) -> None:
    class Broken(Exception):  # noqa: N818 - as a fault of ours would be
        pass

    def fail(*_: object, **__: object) -> NoReturn:
        raise Broken

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(broken, fail)
        with pytest.raises(Broken):
            case.evaluate(out=tmp_path / "run")

    (result,) = case.evaluate(out=tmp_path / "run").results

    assert result.work.tokens == 0  # beside those of the proof
    assert result.work.stored == result.work.requests > 0
