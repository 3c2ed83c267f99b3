"""Models that nnd cannot read are refused by what they are, before weights are loaded."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers as hf
from support.hub.asking import Ask, refused
from support.hub.server import Hub
from support.refusals import refusal

from nnd.metric.likelihood import Loading, load_config, load_model, load_skeleton

Saved = Callable[[str], Path]
WEIGHTS = "model.safetensors"


@pytest.fixture(autouse=True)
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test fail if weights are loaded."""

    def read(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("nnd.metric.likelihood.models.load_model.read_weights", read)


def described(folder: Path, config: dict[str, Any], *files: str) -> Path:
    """Return a folder with a configuration and files of these names."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    for name in files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"{}")
    return folder


def check_unread(folder: Path, code: str, *facts: str) -> None:
    """Check that scoring and a dry run refuse a model in the same words."""
    for load in (load_model, load_skeleton):
        with refusal(code, str(folder)) as caught:
            load(folder, Loading(device="cpu"))
        text = str(caught.value)
        assert [fact for fact in facts if fact not in text] == []
        assert len(text) < 500


@pytest.mark.parametrize(
    ("family", "named", "fact"),
    [
        ("bert", "BertModel", "BertModel is an encoder without a head"),
        ("roberta", "RobertaModel", "RobertaModel is an encoder without a head"),
        ("distilbert", "DistilBertModel", "an encoder without a head"),
        ("modernbert", "ModernBertModel", "an encoder without a head"),
        ("deberta-v2", "DebertaV2Model", "an encoder without a head"),
        ("t5", "T5EncoderModel", "T5EncoderModel is an encoder without a head"),
        ("umt5", "UMT5EncoderModel", "an encoder without a head"),
        ("dpr", "DPRQuestionEncoder", "an encoder without a head"),
        ("electra", "ElectraForPreTraining", "ElectraForPreTraining"),
        ("bert", "BertForNextSentencePrediction", "BertForNextSentencePrediction"),
        ("whisper", "WhisperForConditionalGeneration", "whisper: it writes down speech"),
        ("wav2vec2", "Wav2Vec2ForCTC", "wav2vec2: it writes down speech"),
        ("vits", "VitsModel", "vits: it speaks"),
        ("clip", "CLIPModel", "clip: it compares images with texts"),
        ("siglip", "SiglipModel", "siglip: it compares images with texts"),
        ("segformer", "SegformerModel", "segformer: it reads images"),
        ("qwen2_audio", "Qwen2AudioForConditionalGeneration", "qwen2_audio: transformers has no"),
    ],
)
def test_a_class_that_predicts_no_text_is_named(
    family: str, named: str, fact: str, tmp_path: Path
) -> None:
    config = {"architectures": [named], "model_type": family}
    check_unread(described(tmp_path, config, WEIGHTS), "model.not-a-language-model", fact)


@pytest.mark.parametrize(
    ("family", "named"), [("gpt2", "GPT2Model"), ("bart", "BartModel"), ("t5", "T5Model")]
)
def test_a_model_whose_head_is_its_embeddings_has_one(
    family: str, named: str, saved: Saved, tmp_path: Path
) -> None:
    """facebook/bart-base says that it is a BartModel."""
    mine = Path(shutil.copytree(saved(family), tmp_path / family))
    config = json.loads((mine / "config.json").read_bytes()) | {"architectures": [named]}
    described(mine, config)
    assert load_skeleton(mine, Loading(device="cpu")).model.num_parameters()


FORMATS = [
    ("tf_model.h5", "weights of TensorFlow are not read (tf_model.h5)", "from_tf=True"),
    ("flax_model.msgpack", "weights of Flax are not read", "from_flax=True"),
    ("flax_model.msgpack.index.json", "weights of Flax are not read", "from_flax=True"),
    ("model.onnx", "weights of ONNX are not read (model.onnx)", "that it was made from"),
    ("onnx/decoder_model.onnx", "weights of ONNX are not read (onnx/decoder", "made from"),
    ("weights.npz", "weights of MLX are not read", "made from"),
    ("weights.00.npz", "weights of MLX are not read", "made from"),
    ("consolidated.safetensors", "Mistral's or Meta's own form", "config.json"),
    ("original/consolidated.00.pth", "Mistral's or Meta's own form", "config.json"),
    ("openvino_model.bin", "weights of OpenVINO are not read", "made from"),
    ("model.bin", "weights of CTranslate2 are not read", "made from"),
    ("tiny.Q4_K_M.gguf", "a GGUF file has to be named itself", "/tiny.Q4_K_M.gguf"),
]


@pytest.mark.parametrize("has_config", [True, False])
@pytest.mark.parametrize(("file", "fact", "remedy"), FORMATS)
def test_weights_of_another_library_are_named(
    file: str, fact: str, remedy: str, *, has_config: bool, tmp_path: Path
) -> None:
    mine = described(tmp_path, {"model_type": "gpt2"}, file)
    if not has_config:
        (mine / "config.json").unlink()
    check_unread(mine, "model.other-format", fact, remedy)
    with refusal("model.other-format", str(mine)):  # before the first model of a list is scored
        load_config(mine)


@pytest.mark.parametrize("beside", [WEIGHTS, "pytorch_model.bin", "model.safetensors.index.json"])
def test_other_formats_beside_weights_do_not_matter(beside: str, tmp_path: Path) -> None:
    files = [file for file, *_ in FORMATS]
    config = load_config(described(tmp_path, {"model_type": "gpt2"}, beside, *files))
    assert config.model_type == "gpt2"


def test_a_repository_with_weights_of_another_library_only(
    hub: Hub, ask: Ask, saved: Saved
) -> None:
    files = {
        path.name: path.read_bytes()
        for path in saved("gpt2").iterdir()
        if path.is_file() and path.name != WEIGHTS
    }
    hub.commit("models", "org/flax", files | {"flax_model.msgpack": b"{}"})
    hub.commit("models", "org/files", {"a/tiny.gguf": b"GGUF", "README.md": b"#"})
    load = "load('nnd.metric.likelihood').load_model"
    error = refused(ask, f"{load}('org/flax')")
    assert error.code == "model.other-format"
    assert "weights of Flax are not read (flax_model.msgpack)" in error.message
    error = refused(ask, f"{load}('org/files')")
    assert error.code == "model.other-format"
    assert "name org/files/a/tiny.gguf" in error.message


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("bits", [3, 4, 8])
def test_weights_that_mlx_quantised_are_named(bits: int, *, again: bool, tmp_path: Path) -> None:
    how = {"group_size": 64, "bits": bits}
    config: dict[str, Any] = {"model_type": "llama", "quantization": how}
    if again:  # newer versions of mlx-lm write it under both names
        config["quantization_config"] = how
    check_unread(
        described(tmp_path, config, WEIGHTS), "model.other-format", f"MLX quantised to {bits} bits"
    )


def test_a_tokenizer_of_mistral_alone_is_named(tmp_path: Path) -> None:
    config = {"architectures": ["MistralForCausalLM"], "model_type": "mistral"}
    mine = described(tmp_path, config, WEIGHTS, "tekken.json")
    check_unread(mine, "model.tokenizer", "tekken.json, cannot be read", "put the tokenizer.json")


@pytest.mark.parametrize("kind", ["llama9", "qwen_next_4", "gpt-2", "LlamaConfig", "t5x"])
def test_an_unknown_type_of_model_names_the_version_of_transformers(
    kind: str, tmp_path: Path
) -> None:
    mine = described(tmp_path, {"architectures": ["New"], "model_type": kind}, WEIGHTS)
    check_unread(
        mine,
        "model.new-type",
        f'transformers {hf.__version__} does not know the type of model "{kind}"',
        "pip install --upgrade transformers",
    )


OWN = {
    "AutoConfig": "configuration_own.OwnConfig",
    "AutoModelForCausalLM": "modeling_own.OwnForCausalLM",
}


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "own", "auto_map": OWN},
        {"auto_map": OWN},
        {"model_type": "vit", "auto_map": {"AutoModelForCausalLM": OWN["AutoModelForCausalLM"]}},
        {"model_type": "own", "auto_map": {"AutoConfig": "org/code--configuration_own.OwnConfig"}},
    ],
)
def test_a_model_with_code_of_its_own_asks_for_trust(
    config: dict[str, Any], tmp_path: Path
) -> None:
    check_unread(
        described(tmp_path, config, WEIGHTS), "model.custom-code", "--trust-remote-code", "auto_map"
    )
