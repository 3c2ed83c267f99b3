"""The tokenizer of a folder is that of its tokenizer.json, whichever class transformers takes."""

# ruff: noqa: S106 (a bos_token is no password)

import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from support.tiny_models import SENTENCES, Family
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from nnd.metric.likelihood import Engine, Loading, load_model, load_tokenizer, wrap_model
from nnd.metric.likelihood.models.library_warnings import listening

Saved = Callable[[str], Path]
Tiny = Callable[[str], Family]
CPU = Loading(device="cpu")
TEXTS = (
    *SENTENCES,
    "12 arches, 3,400 crowns",
    "  The  CAT\tsat\n\non it ",
    "it's café, cafe\u0301 ﬁne",
    "渡轮 👍🏽 שלום",
    "def f(x): return x_1",
    "",
)


def trained(
    pre: Any, normaliser: Any = None, specials: tuple[str, ...] = ("<s>", "</s>", "<unk>")
) -> Tokenizer:
    backend = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    backend.pre_tokenizer, backend.decoder = pre, decoders.ByteLevel()
    if normaliser is not None:
        backend.normalizer = normaliser
    backend.train_from_iterator(
        [*SENTENCES, *TEXTS],
        trainers.BpeTrainer(
            vocab_size=350,
            special_tokens=list(specials),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return backend


def byte_level(**options: Any) -> Any:
    return pre_tokenizers.ByteLevel(**({"add_prefix_space": False} | options))


PIPELINES: dict[str, Callable[[], Tokenizer]] = {
    "metaspace": lambda: trained(pre_tokenizers.Metaspace()),
    "bytes": lambda: trained(byte_level()),
    "bytes after a space": lambda: trained(byte_level(add_prefix_space=True)),
    "bytes, single digits": lambda: trained(
        pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level()])
    ),
    "bytes, lower case": lambda: trained(byte_level(), normalizers.Lowercase()),
    "bytes, NFKC": lambda: trained(byte_level(), normalizers.NFKC()),
    "lines": lambda: trained(
        pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(r"\n+|[^\n]+"), "isolated"),
                byte_level(use_regex=False),
            ]
        )
    ),
    "whitespace": lambda: trained(pre_tokenizers.Whitespace()),
}

CLASSES = {
    "qwen2": "Qwen2Tokenizer",
    "llama": "LlamaTokenizer",
    "gpt2": "GPT2Tokenizer",
    "gpt_neox": "GPTNeoXTokenizer",
    "gemma": "GemmaTokenizer",
    "bart": "RobertaTokenizer",
    "bert": "BertTokenizer",
}


def folder_of(backend: Tokenizer, place: Path, model_type: str, **settings: Any) -> Path:
    place.mkdir(exist_ok=True)
    backend.save(str(place / "tokenizer.json"))
    (place / "config.json").write_text(json.dumps({"model_type": model_type}))
    named = {"tokenizer_class": CLASSES.get(model_type), "eos_token": "</s>", "bos_token": "<s>"}
    (place / "tokenizer_config.json").write_text(
        json.dumps(named | {"unk_token": "<unk>"} | settings)
    )
    return place


def cuts(tokenizer: Any, *, specials: bool = False) -> list[list[int]]:
    return [tokenizer(text, add_special_tokens=specials)["input_ids"] for text in TEXTS]


def cuts_of_file(folder: Path, *, specials: bool = False) -> list[list[int]]:
    file = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return [file.encode(text, add_special_tokens=specials).ids for text in TEXTS]


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("model_type", CLASSES)
def test_texts_are_cut_as_the_file_says(pipeline: str, model_type: str, tmp_path: Path) -> None:
    folder = folder_of(PIPELINES[pipeline](), tmp_path, model_type)
    assert cuts(load_tokenizer(folder)) == cuts_of_file(folder)


@pytest.mark.parametrize("model_type", CLASSES)
def test_special_tokens_are_those_of_the_file(model_type: str, tmp_path: Path) -> None:
    backend = PIPELINES["bytes"]()
    around = [("<s>", 0), ("</s>", 1)]
    backend.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=around)
    folder = folder_of(backend, tmp_path, model_type)
    assert cuts(load_tokenizer(folder), specials=True) == cuts_of_file(folder, specials=True)


@pytest.mark.parametrize("model_type", ["qwen2", "llama", "gpt2"])
def test_added_tokens_are_those_of_the_file(model_type: str, tmp_path: Path) -> None:
    backend = PIPELINES["bytes"]()
    backend.add_tokens(["river", "  ", "\n\n"])
    folder = folder_of(backend, tmp_path, model_type)
    assert cuts(load_tokenizer(folder)) == cuts_of_file(folder)


# Said


@pytest.fixture
def model_of(tmp_path: Path) -> Callable[[str], Path]:
    """`model_of("metaspace")`: a Qwen2 with that tokenizer, as save_pretrained writes it."""

    def save(pipeline: str) -> Path:
        wrapped = hf.PreTrainedTokenizerFast(
            tokenizer_object=PIPELINES[pipeline](), bos_token="<s>", eos_token="</s>"
        )
        config = hf.Qwen2Config(
            vocab_size=len(wrapped),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=128,
        )
        hf.Qwen2ForCausalLM(config).save_pretrained(tmp_path)
        wrapped.save_pretrained(tmp_path)
        return tmp_path

    return save


def test_a_note_gives_the_class_and_an_example(model_of: Callable[[str], Path]) -> None:
    (note,) = load_model(model_of("metaspace"), CPU).notes
    assert "Qwen2Tokenizer" in note
    assert "'The ferry was late.'" in note
    assert len(note) < 250


@pytest.mark.parametrize(
    ("name", "settings", "fact"),
    [
        ("gpt2", {"add_bos_token": True}, "add_bos_token: true, but tokenizer.json adds none"),
        ("llama", {"add_bos_token": False}, "add_bos_token: false, but tokenizer.json adds it"),
        ("gpt2", {"add_eos_token": True}, "add_eos_token: true"),
        ("t5", {"add_eos_token": False}, "add_eos_token: false, but tokenizer.json adds it"),
        ("mistral", {"add_eos_token": True}, "add_eos_token: true"),
    ],
)
def test_files_that_disagree_on_special_tokens_are_said(
    name: str, settings: dict[str, bool], fact: str, saved: Saved, tmp_path: Path
) -> None:
    # Llama 2 and DeepSeek say in both files whether a text begins with <s>.
    folder = Path(shutil.copytree(saved(name), tmp_path / name))
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    loaded = load_model(folder, CPU)
    (note,) = loaded.notes
    assert fact in note
    assert cuts(loaded.tokenizer, specials=True) == cuts_of_file(folder, specials=True)


def test_the_numbers_are_those_of_the_files_tokens(model_of: Callable[[str], Path]) -> None:
    folder = model_of("metaspace")
    loaded = load_model(folder, CPU)
    file = Tokenizer.from_file(str(folder / "tokenizer.json"))
    context, candidate = "Who wrote the book?", "the cat sat"
    before = file.encode(context).ids
    ids = file.encode(f"{context} {candidate}").ids
    assert ids[: len(before)] == before
    found = Engine(loaded)([(context, candidate)])
    with torch.no_grad():
        exact = loaded.model.double()(torch.tensor([ids])).logits.log_softmax(-1)[0]
    sums = [float(exact[at - 1, ids[at]]) for at in range(len(before), len(ids))]
    assert found.log_likelihood[0] == pytest.approx(sum(sums) / len(sums), abs=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "qwen2", "bart", "t5", "mbart50"])
def test_nothing_is_said_where_class_and_file_agree(name: str, saved: Saved, tiny: Tiny) -> None:
    loaded = load_model(saved(name), CPU)
    assert loaded.notes == ()
    assert cuts(loaded.tokenizer, specials=True) == cuts(tiny(name).tokenizer, specials=True)


def test_a_tokenizer_in_memory_is_its_users_own(tiny: Tiny) -> None:
    mine = tiny("qwen2").tokenizer
    backend = mine.backend_tokenizer
    wrapped = wrap_model(tiny("qwen2").model, mine)
    assert wrapped.tokenizer is mine
    assert wrapped.tokenizer.backend_tokenizer is backend


@pytest.mark.parametrize("name", ["mbart", "mbart50"])
def test_codes_of_languages_can_still_be_set(name: str, saved: Saved) -> None:
    tokenizer: Any = load_tokenizer(saved(name))
    one, *_, other = (
        tokenizer.lang_code_to_id if hasattr(tokenizer, "lang_code_to_id") else ("", "")
    )
    for code in filter(None, (one, other)):
        tokenizer.src_lang = code
        assert tokenizer.convert_tokens_to_ids(code) in tokenizer("a river")["input_ids"]


# What transformers warns of


def mistral(folder: Path, **settings: Any) -> Path:
    """Write a Mistral of transformers 4.55, whose large vocabulary is cut by a wrong pattern."""
    state = json.loads(trained(byte_level()).to_str())
    vocabulary = state["model"]["vocab"]
    vocabulary |= {f"zz{n}": n for n in range(len(vocabulary), 100_100)}
    wrapped = hf.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(state)), bos_token="<s>", eos_token="</s>"
    )
    config = hf.MistralConfig(
        vocab_size=len(wrapped),
        hidden_size=4,
        intermediate_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
    )
    hf.MistralForCausalLM(config).save_pretrained(folder)
    wrapped.save_pretrained(folder)
    for name, values in (
        ("config.json", {"transformers_version": "4.55.2"}),
        ("tokenizer_config.json", settings),
    ):
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | values))
    return folder


def test_a_wrong_pattern_is_said_with_the_setting_that_corrects_it(tmp_path: Path) -> None:
    loaded = load_model(mistral(tmp_path), CPU)
    (note,) = loaded.notes
    assert '"fix_mistral_regex": true in the tokenizer_config.json' in note
    assert cuts(loaded.tokenizer) == cuts_of_file(tmp_path)


def test_a_folder_can_ask_for_the_right_pattern(tmp_path: Path) -> None:
    loaded = load_model(mistral(tmp_path, fix_mistral_regex=True), CPU)
    assert loaded.notes == ()
    digits = loaded.tokenizer.tokenize("1950")
    assert digits == ["1", "9", "5", "0"]


def test_a_warning_is_heard_each_time_and_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    logger: Any = hf.logging.get_logger("transformers.tests")
    level = hf.logging.get_verbosity()
    hf.logging.set_verbosity_error()
    try:
        for _ in range(2):
            with listening() as heard:
                logger.warning_once("attention is not as in the paper")
                logger.warning("`old` is deprecated! Use `new`.")
                logger.info("a detail")
            assert [*heard] == ["transformers warns: attention is not as in the paper"]
        logger.warning("afterwards")
    finally:
        hf.logging.set_verbosity(level)
    assert capfd.readouterr().err == ""
    assert not [each for each in logging.getLogger("transformers").handlers if each.level > 0]


def test_weights_that_are_no_longer_tied_are_said(tmp_path: Path, tiny: Tiny) -> None:
    # transformers unties a head that differs from the embeddings it should be.
    tokenizer = tiny("gpt2").tokenizer
    config = hf.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        tie_word_embeddings=False,
    )
    hf.LlamaForCausalLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tie_word_embeddings": True}))
    (note,) = load_model(tmp_path, CPU).notes
    assert "lm_head.weight" in note
