"""Adapted, quantised and GGUF models: each scored by the command as the formula says."""

import copy
import hashlib
import json
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import peft
import polars as pl
import pytest
import torch
import transformers as hf
from support.metric_runs import CONTEXTS, TEXTS, write_pairs
from support.models.adapted import adapted, formula, load_base, lora
from support.models.gguf_files import write_gguf
from support.refusals import refusal
from support.screens.commands import Nnd
from support.tiny_models import Family, build, causal, rope_shape, seeded

from nnd.metric.likelihood import Engine, Loading, load_model, wrap_model
from nnd.metric.likelihood.engine.precision import precision_of
from nnd.metric.likelihood.models.quantised_formats import format_of

CPU = Loading(device="cpu")
TOKENS = {"bos_token_id": 0, "eos_token_id": 0}
# bitsandbytes scales 64 weights at a time, and packs 32 rows together on some CPUs.
SHAPE = {"hidden_size": 64, "intermediate_size": 128, "head_dim": 16}


@dataclass(frozen=True)
class Made:
    """One small Llama in several forms, and the float64 reference of each."""

    family: Family
    base: Path
    lora: Path
    merged: Path
    gguf: Path

    def dequantised(self, quantise: str) -> Any:
        # A model of its own: some CPUs pack the weights in another way when they are first used.
        loaded = load_model(self.base, Loading(device="cpu", quantise=quantise))
        return loaded.model.dequantize(torch.float32)

    def adapted(self) -> Any:
        return peft.PeftModel.from_pretrained(load_base(self.base), self.lora)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("formats")
    tokenizer = build("gpt2", folder).tokenizer
    with seeded():
        config = hf.LlamaConfig(**rope_shape(len(tokenizer), 160) | TOKENS | SHAPE)
        model = hf.LlamaForCausalLM(config)
        family = causal("llama", model, tokenizer, bos=(), laban=(0, 0), window=160)
    found = Made(family, *(folder / name for name in ("base", "lora", "merged", "tiny.gguf")))
    model.save_pretrained(found.base)
    adapted(load_base(found.base), lora()).save_pretrained(found.lora)
    found.adapted().merge_and_unload().save_pretrained(found.merged)
    for place in (found.base, found.merged):
        tokenizer.save_pretrained(place)
    write_gguf(model, tokenizer, found.gguf)
    return found


def check_refused(model_id: object, code: str, fact: str = "", **options: Any) -> None:
    with refusal(code) as caught:
        load_model(str(model_id), Loading(**{"device": "cpu"} | options))
    assert fact in str(caught.value)


def test_six_forms_of_a_model_are_scored_by_the_command(
    made: Made, tmp_path: Path, nnd: Nnd
) -> None:
    data, out, elsewhere = write_pairs(tmp_path), tmp_path / "run", tmp_path / "elsewhere"
    shutil.copytree(made.base, elsewhere)
    forms: list[tuple[list[object], str, float, Any]] = [
        ([made.lora], str(made.lora), 1e-5, made.adapted),
        ([elsewhere, "--adapter", made.lora], f"{elsewhere}+{made.lora}", 1e-5, made.adapted),
        ([made.merged], str(made.merged), 1e-5, lambda: load_base(made.merged)),
        ([made.gguf], str(made.gguf), 1e-5, lambda: made.family.model),
        *(
            (
                [made.base, "--quantise", name],
                f"{made.base}+{name}",
                bound,
                partial(made.dequantised, name),
            )
            for name, bound in (("bnb-int8", 0.1), ("bnb-nf4", 0.05))
        ),
    ]
    asked = [(CONTEXTS[at], text) for at, *texts, _ in TEXTS for text in texts]
    common = ["--data", data, "--out", out, "--device", "cpu", "--no-unconditional", "--details"]
    for arguments, name, bound, reference in forms:
        code, printed, _ = nnd("evaluate", "--model", *arguments, *common)
        assert code == 0
        scored = pl.read_parquet(out / "log_likelihoods.parquet").filter(pl.col("model") == name)
        found = scored.select("ll_high", "ll_low").to_numpy().ravel()
        apart = abs(found - formula(made.family, reference(), asked))
        # As the engine holds its paths to the bound: rounding of floats for each, else on average.
        assert (apart.max() if bound < 0.01 else apart.mean()) < bound, name
    results = json.loads((out / "result.json").read_text())["results"]
    assert [each["model"] for each in results] == [name for _, name, *_ in forms]
    assert len({each["signature"] for each in results}) == 6
    assert results[0]["version"] == results[1]["version"]  # the same weights at another place
    formats = [None, None, None, "gguf-F32", "bnb-int8", "bnb-nf4"]
    assert [each["quantised"] for each in results] == formats
    assert "|dtype:float32|quant:bnb-nf4|ties:fail|" in results[-1]["signature"]
    held = {each["quantised"]: each["weight_bytes"] for each in results}
    assert held["bnb-nf4"] < held["bnb-int8"] < held[None]
    assert results[-1]["unquantised_bytes"] == 4 * made.family.model.num_parameters()
    said = "the weights take 0.2 MB of memory (bnb-nf4), and 0.5 MB as float32"
    assert said in " ".join(printed.split())


# What weights are called


@pytest.mark.parametrize(
    ("settings", "called"),
    [
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bnb-int8"),
        ({"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, "bnb-nf4"),
        ({"quant_method": "gptq", "bits": 4}, "gptq-4"),
        ({"quant_method": "awq", "bits": 4}, "awq-4"),
        ({"quant_method": "fp8"}, "fp8"),
        (
            {"quant_method": "compressed-tensors", "format": "int-quantized"},
            "compressed-tensors-int-quantized",
        ),
        (None, None),
    ],
)
def test_a_format_has_a_name(settings: dict[str, Any] | None, called: str | None) -> None:
    assert format_of(hf.LlamaConfig(quantization_config=settings)) == called


def test_the_bound_follows_the_format(made: Made) -> None:
    loaded = wrap_model(made.family.model, made.family.tokenizer)
    bounds = {}
    for name in (None, "gguf-Q4_K_M", "gptq-4", "bnb-nf4", "bnb-int8", "fp8"):
        object.__setattr__(loaded, "quantised", name)
        bounds[name] = precision_of(loaded).bound
    assert bounds == {
        **dict.fromkeys((None, "gguf-Q4_K_M"), 1e-4),
        **dict.fromkeys(("gptq-4", "bnb-nf4"), 5e-2),
        **dict.fromkeys(("bnb-int8", "fp8"), 1e-1),
    }


# Versions


def test_a_gguf_file_is_its_bytes(made: Made) -> None:
    before = load_model(made.gguf, CPU)
    copied = made.gguf.with_name("copy") / made.gguf.name
    copied.parent.mkdir()
    copied.write_bytes(made.gguf.read_bytes())
    assert load_model(copied, CPU).version() == before.version()
    text = "The cat, Who wrote 1884?"
    assert before.tokenizer(text)["input_ids"] == made.family.tokenizer(text)["input_ids"]


def test_a_quantised_checkpoint_keeps_its_version(made: Made, tmp_path: Path) -> None:
    loaded = load_model(made.base, Loading(device="cpu", quantise="bnb-nf4"))
    loaded.model.save_pretrained(tmp_path)
    made.family.tokenizer.save_pretrained(tmp_path)
    stored = load_model(tmp_path, CPU)
    assert stored.quantised == "bnb-nf4"
    before = stored.version()
    content = (tmp_path / "model.safetensors").read_bytes()
    assert before == hashlib.sha256(content).hexdigest()
    asked = [("Who wrote the book?", "the cat")]
    found = Engine(stored)(asked).log_likelihood.tolist()
    assert stored.version() == before
    assert found == pytest.approx(Engine(loaded)(asked).log_likelihood.tolist(), abs=0.05)
    check_refused(tmp_path, "model.quantised", "(bnb-nf4)", quantise="bnb-int8")


def test_a_device_map_changes_neither_numbers_nor_version(made: Made) -> None:
    one, other = load_model(made.base, CPU), load_model(made.base, Loading(device_map="auto"))
    asked = [("Who wrote the book?", "the cat")]
    assert one.version() == other.version()
    found = [Engine(each)(asked).log_likelihood.tolist() for each in (one, other)]
    assert found[0] == found[1]


def test_weights_that_are_on_disk_until_they_are_used(made: Made, tmp_path: Path) -> None:
    parts = ("embed_tokens", "rotary_emb", "layers.0", "layers.1", "norm")
    places = {f"model.{part}": "disk" if part == "layers.1" else "cpu" for part in parts}
    spread = hf.AutoModelForCausalLM.from_pretrained(
        made.base, device_map=places | {"lm_head": "disk"}, offload_folder=tmp_path
    )
    one, other = load_model(made.base, CPU), wrap_model(spread, made.family.tokenizer)
    assert spread.lm_head.weight.is_meta
    asked = [("Who wrote the book?", "the cat"), ("Who wrote the book?", "a dog")]
    found = [Engine(each)(asked).log_likelihood.tolist() for each in (one, other)]
    assert found[0] == found[1]
    assert one.version() == other.version()


# Refusing


def test_an_unknown_way_to_quantise(made: Made) -> None:
    check_refused(made.base, "option.unknown-value", "bnb-int8", quantise="int4")


def test_a_device_map_that_cannot_be(made: Made) -> None:
    wrong = {"device": None, "device_map": "fast"}
    check_refused(made.base, "option.unknown-value", '"fast"', **wrong)
    check_refused(made.base, "option.conflict", "--device cpu", device_map="auto")


def test_a_library_that_is_missing(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    install = "pip install 'near-negative[quantised]'"
    check_refused(made.base, "extra.missing", install, quantise="bnb-nf4")
    assert load_model(made.gguf, CPU).quantised == "gguf-F32"


def test_a_checkpoint_whose_library_is_missing(made: Made, tmp_path: Path) -> None:
    config = copy.deepcopy(made.family.model.config)
    config.quantization_config = {"quant_method": "gptq", "bits": 4}
    config.save_pretrained(tmp_path)
    check_refused(tmp_path, "extra.missing", "pip install gptqmodel")


def test_what_is_not_a_gguf_file(tmp_path: Path) -> None:
    page = tmp_path / "page.gguf"
    check_refused(page, "file.not-found", str(page))
    page.write_text("<html>")
    check_refused(page, "model.damaged", str(page))


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.9, 0.999])
def test_a_gguf_file_that_was_cut(share: float, made: Made, tmp_path: Path) -> None:
    content, cut = made.gguf.read_bytes(), tmp_path / "cut.gguf"
    cut.write_bytes(content[: max(6, int(share * len(content)))])
    check_refused(cut, "model.damaged", str(cut))
