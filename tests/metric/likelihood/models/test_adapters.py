"""Adapters: scored as PEFT computes them, named in the signature, refused with a reason."""

import copy
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers as hf
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from support.engine.cases import NATS, REQUESTS
from support.models.adapted import adapted, formula, load_base, lora
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.likelihood import Engine, Loading, load_model, name_models, wrap_model
from nnd.metric.likelihood.models.model_digests import weights_digest

Saved = Callable[[str], Path]
Tiny = Callable[[str], Family]
CPU = Loading(device="cpu")
ASKED = [REQUESTS[1], REQUESTS[4], REQUESTS[5], REQUESTS[9]]

METHODS: dict[str, tuple[str, peft.PeftConfig, str]] = {
    "lora": ("llama", lora(), "packed"),
    "prompts": (
        "llama",
        peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
        "plain",
    ),
    "prefix": (
        "llama",
        peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
        "plain",
    ),
    "prefix of a decoder": (
        "bart",
        peft.PrefixTuningConfig(task_type="SEQ_2_SEQ_LM", num_virtual_tokens=3),
        "plain",
    ),
    "prompts of an encoder": (
        "t5",
        peft.PromptTuningConfig(task_type="SEQ_2_SEQ_LM", num_virtual_tokens=3),
        "plain",
    ),
}


@pytest.fixture
def save(saved: Saved, tiny: Tiny, tmp_path: Path) -> Callable[..., Path]:
    """`save("llama", config)`: the folder that PEFT writes of an adapter on that family."""

    def write(name: str, config: peft.PeftConfig, place: str = "adapter") -> Path:
        model = copy.deepcopy(tiny(name).model)
        model.config._name_or_path = str(saved(name))  # as if it had been loaded from there
        model.name_or_path = str(saved(name))
        adapted(model, copy.deepcopy(config)).save_pretrained(tmp_path / place)
        return tmp_path / place

    return write


def edited(folder: Path, **settings: Any) -> Path:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    return folder


def check_refused(
    model_id: str | Path, code: str, fact: str = "", adapter: str | None = None
) -> None:
    """Check that an adapter cannot be loaded, and that a short sentence names it and says so."""
    with refusal(code, str(adapter or model_id)) as caught:
        load_model(model_id, Loading(device="cpu", adapter=adapter))
    assert fact in caught.value.what
    assert len(str(caught.value)) < 700


# Numbers


@pytest.mark.parametrize("method", METHODS)
def test_an_adapter_scores_as_the_formula_says(
    method: str, save: Callable[..., Path], tiny: Tiny
) -> None:
    name, config, path = METHODS[method]
    family = tiny(name)
    loaded = load_model(save(name, config), CPU)
    found = Engine(loaded)(ASKED)
    model = adapted(copy.deepcopy(family.model), copy.deepcopy(config))
    assert found.log_likelihood.tolist() == pytest.approx(formula(family, model, ASKED), abs=NATS)
    assert found.work.path == path
    assert found.log_likelihood.tolist() != pytest.approx(
        formula(family, family.model, ASKED), abs=0.1
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", METHODS)
def test_an_adapter_without_a_task_has_that_of_its_base(
    method: str, save: Callable[..., Path]
) -> None:
    name, config, _ = METHODS[method]
    folder = save(name, config)
    named = load_model(folder, CPU)
    silent = load_model(edited(folder, task_type=None), CPU)  # PEFT's default
    assert silent.version() == named.version()
    found, expected = (Engine(each)(ASKED).log_likelihood.tolist() for each in (silent, named))
    assert found == expected


def test_virtual_tokens_take_their_part_of_the_window(
    save: Callable[..., Path], saved: Saved
) -> None:
    base = load_model(saved("llama"), CPU)
    assert base.decoder_window is not None
    for method in ("prompts", "prefix"):
        loaded = load_model(save("llama", METHODS[method][1], method), CPU)
        assert loaded.decoder_window == base.decoder_window - 3


def test_an_adapter_beside_its_base_is_the_adapter_alone(
    save: Callable[..., Path], saved: Saved
) -> None:
    folder = save("llama", lora())
    alone = load_model(folder, CPU)
    beside = load_model(saved("llama"), Loading(device="cpu", adapter=str(folder)))
    assert (alone.name, beside.name) == (str(folder), f"{saved('llama')}+{folder}")
    assert name_models([saved("llama")], Loading(adapter=str(folder))) == [beside.name]
    assert alone.signed(alone.version()) == beside.signed(beside.version())
    assert (
        Engine(alone)(ASKED).log_likelihood.tolist()
        == Engine(beside)(ASKED).log_likelihood.tolist()
    )


# Names and digests


def test_the_signature_names_base_and_adapter(save: Callable[..., Path], saved: Saved) -> None:
    folder = save("llama", lora())
    base, loaded = load_model(saved("llama"), CPU), load_model(folder, CPU)
    of_base, of_adapter = loaded.version().split("+")
    assert of_base == base.version()
    assert loaded.signed(loaded.version()) == (
        f"{saved('llama')}@{of_base[:7]}+{folder}@{of_adapter[:7]}"
    )


def test_both_commits_are_named_and_the_bases_revision_is_the_adapters(
    save: Callable[..., Path], saved: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = edited(save("llama", lora()), base_model_name_or_path="org/base", revision="old")
    old, new, own = ("a" * 40, "b" * 40, "c" * 40)
    for name, branch, commit, files in (
        ("base", "old", old, saved("llama")),
        ("base", "main", new, saved("gpt2")),
        ("lora", "main", own, folder),
    ):
        place = tmp_path / "cache" / f"models--org--{name}"
        shutil.copytree(files, place / "snapshots" / commit)
        (place / "refs").mkdir(exist_ok=True)
        (place / "refs" / branch).write_text(commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    loaded = load_model("org/lora@main", CPU)
    assert loaded.version() == f"{old}+{own}"
    assert loaded.signed(loaded.version()) == f"org/base@{old[:7]}+org/lora@{own[:7]}"
    named = load_model("org/base@old", Loading(device="cpu", adapter="org/lora@main"))
    assert named.version() == loaded.version()


def test_the_same_adapter_has_one_version_however_it_is_wrapped(
    save: Callable[..., Path], saved: Saved, tiny: Tiny
) -> None:
    folder = save("llama", lora())
    tokenizer, base = tiny("llama").tokenizer, saved("llama")
    attached = hf.AutoModelForCausalLM.from_pretrained(folder)
    wrapped = peft.PeftModel.from_pretrained(load_base(base), folder)
    renamed = peft.PeftModel.from_pretrained(load_base(base), folder, adapter_name="mine")
    handed_over = [wrap_model(model, tokenizer) for model in (attached, wrapped, renamed)]
    versions = {each.version() for each in [*handed_over, load_model(folder, CPU)]}
    assert len(versions) == 1
    assert handed_over[2].name == f"{base}+mine"
    found = [Engine(each)(ASKED).log_likelihood.tolist() for each in handed_over]
    assert found[0] == found[1] == found[2]


def test_what_scales_an_adapter_is_a_part_of_its_version(
    save: Callable[..., Path], saved: Saved, tiny: Tiny
) -> None:
    folder = save("llama", lora(lora_alpha=8))
    before = load_model(folder, CPU).version()
    after = load_model(edited(folder, lora_alpha=16), CPU).version()
    assert before.split("+")[0] == after.split("+")[0]
    assert before != after
    # Switched off, the adapter changes nothing: the version is the base's.
    wrapped = peft.PeftModel.from_pretrained(load_base(saved("llama")), folder)
    wrapped.base_model.disable_adapter_layers()
    off = wrap_model(wrapped, tiny("llama").tokenizer)
    assert off.version() != before
    assert off.adapted is None


def test_a_merged_model_is_a_model(
    save: Callable[..., Path], saved: Saved, tiny: Tiny, tmp_path: Path
) -> None:
    folder = save("llama", lora())
    wrapped = peft.PeftModel.from_pretrained(load_base(saved("llama")), folder)
    wrapped.merge_and_unload().save_pretrained(tmp_path / "merged")
    tiny("llama").tokenizer.save_pretrained(tmp_path / "merged")
    merged = load_model(tmp_path / "merged", CPU)
    assert merged.adapted is None
    assert merged.version() == weights_digest(merged.model)
    of_adapter = Engine(load_model(folder, CPU))(ASKED).log_likelihood.tolist()
    assert Engine(merged)(ASKED).log_likelihood.tolist() == pytest.approx(of_adapter, abs=1e-4)


# Tokens


def test_an_adapter_brings_its_tokens_and_their_embeddings(
    saved: Saved, tiny: Tiny, tmp_path: Path
) -> None:
    family = tiny("llama")
    tokenizer = copy.deepcopy(family.tokenizer)
    tokenizer.add_tokens(["<|river|>"])
    base = load_base(saved("llama"))
    base.resize_token_embeddings(len(tokenizer))
    model = adapted(base, lora(modules_to_save=["embed_tokens", "lm_head"]))
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = load_model(tmp_path, CPU)
    assert loaded.tokenizer("<|river|>", add_special_tokens=False)["input_ids"] == [400]
    asked = [("Who wrote the book?", "<|river|> the cat")]
    found = Engine(loaded)(asked).log_likelihood.tolist()
    assert found == Engine(wrap_model(model, tokenizer))(asked).log_likelihood.tolist()


def test_tokens_without_embeddings_are_refused(save: Callable[..., Path], tiny: Tiny) -> None:
    folder = save("llama", lora())
    tokenizer = copy.deepcopy(tiny("llama").tokenizer)
    tokenizer.add_tokens(["<|river|>"])
    tokenizer.save_pretrained(folder)
    check_refused(folder, "model.tokenizer", "401 tokens")


# Refusing


@pytest.mark.parametrize(
    ("settings", "code", "fact"),
    [
        ({"base_model_name_or_path": None}, "adapter.base", ""),
        ({"base_model_name_or_path": "/gone/base"}, "adapter.base", "/gone/base"),
        ({"task_type": "SEQ_CLS"}, "model.not-a-language-model", "SEQ_CLS"),
        ({"alora_invocation_tokens": [5, 6]}, "adapter.unsupported", "aLoRA"),
    ],
    ids=["no base", "a base that is gone", "a classifier", "a method that reads more"],
)
def test_an_adapter_whose_settings_do_not_fit(
    settings: dict[str, Any], code: str, fact: str, save: Callable[..., Path], saved: Saved
) -> None:
    folder = edited(save("llama", lora()), **settings)
    check_refused(folder, code, fact)
    if code == "adapter.base":  # which can be named
        assert load_model(saved("llama"), Loading(device="cpu", adapter=str(folder))).adapted


@pytest.mark.parametrize(
    ("config", "settings", "fact"),
    [
        (lora(use_dora=True), {"use_dora": False}, "lora_magnitude_vector"),
        (lora(lora_bias=True), {"lora_bias": False}, "lora_B.bias"),
        (lora(), {"target_modules": ["q_proj"]}, "down_proj.lora_A"),
        (lora(), {"layers_to_transform": [0]}, "layers.1."),
        (lora(), {"r": 3}, "size mismatch"),
        (lora(), {"target_modules": ["q_proj", "up_proj", "down_proj"]}, "up_proj.lora_A"),
    ],
)
def test_an_adapters_weights_are_used_whole(
    config: peft.PeftConfig, settings: dict[str, Any], fact: str, save: Callable[..., Path]
) -> None:
    check_refused(edited(save("llama", config), **settings), "adapter.base", fact)


@pytest.mark.parametrize("other", ["gpt2", "mistral-small"])
def test_an_adapter_of_another_architecture(
    other: str, save: Callable[..., Path], saved: Saved, tmp_path: Path
) -> None:
    folder = save("llama", lora())
    base = saved("gpt2")
    if other == "mistral-small":  # the same names, fewer layers: nothing is missing, much is left
        config = hf.AutoConfig.from_pretrained(saved("llama"), num_hidden_layers=1)
        base = tmp_path / "small"
        hf.AutoModelForCausalLM.from_config(config).save_pretrained(base)
        hf.AutoTokenizer.from_pretrained(saved("llama")).save_pretrained(base)
    check_refused(base, "adapter.base", adapter=str(folder))


def test_a_damaged_adapter(save: Callable[..., Path]) -> None:
    folder = save("llama", lora())
    (folder / "adapter_model.safetensors").write_bytes(b"")
    check_refused(folder, "adapter.damaged")
    (folder / "adapter_model.safetensors").unlink()
    check_refused(folder, "adapter.damaged", "adapter_model")
    (folder / "adapter_config.json").write_text("{")
    check_refused(folder, "adapter.damaged", "adapter_config.json")


def test_what_is_not_an_adapter(saved: Saved, save: Callable[..., Path]) -> None:
    base, folder = str(saved("llama")), str(save("llama", lora()))
    check_refused(base, "adapter.not-an-adapter", "adapter_config.json", adapter=base)
    check_refused(folder, "adapter.base", adapter=folder)
    edited(Path(folder), base_model_name_or_path=folder)
    check_refused(folder, "adapter.base")


def test_without_peft_the_extra_is_named(
    save: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save("llama", lora())
    monkeypatch.setitem(sys.modules, "peft", None)
    with refusal("extra.missing") as caught:
        load_model(folder, Loading(device="cpu"))
    assert "'near-negative[adapters]'" in caught.value.remedy


def with_tensor(folder: Path, name: str) -> Path:
    path = folder / "adapter_model.safetensors"
    save_file({**load_file(path), name: torch.ones(1, 32)}, path)
    return folder


@pytest.mark.parametrize(
    "name", ["v_head.summary.weight", "base_model.model.v_head.summary.weight"]
)
def test_the_head_that_trl_leaves_in_an_adapter_is_told_and_left_out(
    name: str, save: Callable[..., Path]
) -> None:
    without = load_model(save("llama", lora()), CPU)
    loaded = load_model(with_tensor(save("llama", lora()), name), CPU)
    assert without.notes == ()
    (note,) = loaded.notes
    assert "v_head" in note
    assert Engine(loaded)(ASKED).log_likelihood.tolist() == (
        Engine(without)(ASKED).log_likelihood.tolist()
    )
    check_refused(with_tensor(save("llama", lora()), "extra.lora_A.weight"), "adapter.base")


@pytest.mark.parametrize("kind", ["biases", "modules_to_save", "norms"])
def test_what_an_adapter_writes_into_its_base_is_in_its_version(
    kind: str,
    save: Callable[..., Path],
    saved: Saved,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = {
        "biases": lora(target_modules=["c_attn"], bias="all"),
        "modules_to_save": lora(target_modules=["c_attn"], modules_to_save=["mlp"]),
        "norms": lora(target_modules=["c_attn"], modules_to_save=["ln_1"]),
    }[kind]
    commit = "a" * 40
    place = tmp_path / "cache/models--org--base"
    shutil.copytree(saved("gpt2"), place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs/main").write_text(commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    folder = edited(save("gpt2", config), base_model_name_or_path="org/base")
    path = folder / "adapter_model.safetensors"
    first, again = (load_model(folder, CPU).version() for _ in range(2))
    assert first == again
    tensors = load_file(path)
    written = [key for key in tensors if "lora_" not in key]
    assert written
    save_file({**tensors, written[0]: tensors[written[0]] + 0.5}, path)
    other = load_model(folder, CPU)
    assert other.version() != first
    assert other.commit == commit
