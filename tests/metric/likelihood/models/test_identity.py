"""A model is its content: never another's numbers, and never two models of one content."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers as hf
from support.models.adapted import adapted, lora
from support.models.gguf_files import write_gguf
from support.tiny_models import Family, rope_shape, seeded

from nnd.metric.likelihood import Loading, ModelHolder, load_model, pin_version
from nnd.metric.likelihood.models import model_files
from nnd.metric.likelihood.models.model_files import content_digest, file_state, weight_files
from nnd.metric.run import Evaluation, evaluate
from nnd.schemas.files import digests

Saved = Callable[[str], Path]
Tiny = Callable[[str], Family]

CPU = Loading(device="cpu")
PAIRS = [
    {"context": "Who wrote the book?", "candidate_high": "the cat", "candidate_low": "a dog"},
    {"context": "The river", "candidate_high": "is in London", "candidate_low": "ran over 1884"},
]
CHAT = "{% for each in messages %}the {{ each['content'] }}{% endfor %}"
KINDS = ("safetensors", "bin", "shards", "gguf", "adapter", "base")


def score(model: Path) -> Evaluation:
    return evaluate(str(model), PAIRS, loading=CPU)


def numbers(found: Evaluation) -> list[float]:
    return [value for row in found.scored.select("ll_high", "ll_low").rows() for value in row]


def truth(model: Path) -> list[float]:
    """The numbers of a model that is loaded by transformers, and told nothing about files."""
    loaded = load_model(model, CPU)
    found = []
    for pair in PAIRS:
        for side in ("candidate_high", "candidate_low"):
            context = loaded.tokenizer(pair["context"]).input_ids
            text = loaded.tokenizer(f" {pair[side]}", add_special_tokens=False).input_ids
            with torch.no_grad():
                logits = loaded.model(torch.tensor([context + text])).logits[0].double()
            said = logits.log_softmax(-1)
            places = range(len(context) - 1, len(context) + len(text) - 1)
            found.append(
                sum(float(said[at, token]) for at, token in zip(places, text, strict=True))
                / len(text)
            )
    return found


@pytest.fixture
def build(saved: Saved, tiny: Tiny, tmp_path: Path) -> Callable[[str], Path]:
    """`build("shards")`: a model of this kind, to change."""

    def made(kind: str) -> Path:
        place = tmp_path / "model"
        if kind in ("adapter", "base"):
            base = shutil.copytree(saved("llama"), tmp_path / "base")
            wrapped = adapted(hf.AutoModelForCausalLM.from_pretrained(base), lora())
            wrapped.peft_config["default"].base_model_name_or_path = str(base)
            wrapped.save_pretrained(place)
            return place
        if kind == "gguf":
            tokenizer = tiny("gpt2").tokenizer
            with seeded():
                model = hf.LlamaForCausalLM(hf.LlamaConfig(**rope_shape(len(tokenizer), 160)))
            return write_gguf(model, tokenizer, tmp_path / "model.gguf")
        shutil.copytree(saved("llama"), place)
        if kind == "bin":
            state = hf.AutoModelForCausalLM.from_pretrained(place).state_dict()
            torch.save(state, place / "pytorch_model.bin")
            (place / "model.safetensors").unlink()
        if kind == "shards":
            hf.AutoModelForCausalLM.from_pretrained(place).save_pretrained(
                tmp_path / "sharded", max_shard_size="60KB"
            )
            (place / "model.safetensors").unlink()
            for file in (tmp_path / "sharded").glob("model*"):
                shutil.move(file, place)
        return place

    return made


def weights_of(kind: str, model: Path) -> Path:
    """The file whose end changes."""
    if kind == "gguf":
        return model
    if kind == "adapter":
        return model / "adapter_model.safetensors"
    folder = model.with_name("base") if kind == "base" else model
    return max(path for path in folder.iterdir() if path.suffix in (".safetensors", ".bin"))


def swap(file: Path, content: bytes) -> None:
    """Replace what is in a file; its size and its time say nothing."""
    state = file.stat()
    assert len(content) == state.st_size
    file.write_bytes(content)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


def changed(kind: str, file: Path) -> bytes:
    """The file with other numbers at its end, behind what a reader of headers sees."""
    content = bytearray(file.read_bytes())
    if kind == "bin":
        state = torch.load(file)
        before = state["lm_head.weight"].numpy().tobytes()
        after = (state["lm_head.weight"] * -1).numpy().tobytes()
        assert content.count(before) == 1
        return bytes(content).replace(before, after)
    for at in range(len(content) - 1, len(content) - 4_000, -4):
        content[at] ^= 0x80  # the sign of a little-endian float
    return bytes(content)


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as written long ago, so that all that may be remembered is."""
    monkeypatch.setattr(digests, "_SETTLED", -(10**18))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
def test_content_swapped_under_one_size_time_and_head(
    kind: str, build: Callable[[str], Path]
) -> None:
    model = build(kind)
    before = score(model)
    file = weights_of(kind, model)
    original = file.read_bytes()
    swap(file, changed(kind, file))

    after = score(model)

    assert numbers(after) == pytest.approx(truth(model), abs=1e-5)
    assert numbers(after) != pytest.approx(numbers(before), abs=1e-3)
    assert after.results[0].version != before.results[0].version
    assert after.results[0].signature != before.results[0].signature
    swap(file, original)
    assert numbers(score(model)) == numbers(before)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
def test_one_content_in_another_place_is_one_model(
    kind: str, build: Callable[[str], Path], tmp_path: Path
) -> None:
    """Another folder and, of a GGUF file, another name; another time, and a link for each file."""
    model = build(kind)
    before = score(model)
    place = tmp_path / "elsewhere"
    place.mkdir()
    if kind == "gguf":
        moved = place / "renamed.gguf"
        moved.symlink_to(model)
    else:
        blobs, moved = place / "blobs", place / "snapshot"
        shutil.copytree(model, blobs)
        moved.mkdir()
        for file in blobs.iterdir():
            os.utime(file, (1, 1))
            (moved / file.name).symlink_to(Path("..") / "blobs" / file.name)

    after = score(moved)

    (one,), (other,) = before.results, after.results
    assert other.version == one.version
    assert (other.work.stored, other.work.tokens) == (one.work.requests, 0)
    assert numbers(after) == numbers(before)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("file", ["tokenizer.json", "chat_template.jinja", "config.json"])
def test_other_files_swapped_under_one_size_and_time(
    file: str,
    linked: bool,  # noqa: FBT001
    saved: Saved,
    tmp_path: Path,
) -> None:
    """`linked`: the tokenizer is a folder somewhere else, to which `tokenizer` is a link."""
    model = Path(shutil.copytree(saved("llama"), tmp_path / "model"))
    (model / "chat_template.jinja").write_text(CHAT)
    if linked:
        (tmp_path / "tok").mkdir()
        for each in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            shutil.move(model / each, tmp_path / "tok")
        (model / "tokenizer").symlink_to(tmp_path / "tok", target_is_directory=True)
    place = model if file == "config.json" or not linked else tmp_path / "tok"
    before = score(model)
    text = (place / file).read_text()
    one, other = {
        "tokenizer.json": ('"o": ', '"i": '),
        "chat_template.jinja": ("the", "our"),
        "config.json": ('"rms_norm_eps": 1e-06', '"rms_norm_eps": 1e-01'),
    }[file]
    assert one in text
    swapped = text.replace(one, "\0").replace(other, one).replace("\0", other)
    swap(place / file, swapped.encode())

    after = score(model)

    assert after.results[0].signature != before.results[0].signature
    assert numbers(after) != pytest.approx(numbers(before), abs=1e-4)


def test_a_held_model_is_loaded_again_when_its_content_changes(
    build: Callable[[str], Path],
) -> None:
    model = build("base")
    holder = ModelHolder(None, CPU)
    first = holder.load(model, CPU)
    assert holder.load(model, CPU) is first
    file = weights_of("base", model)
    swap(file, changed("base", file))
    assert holder.load(model, CPU) is not first


# Files


def test_the_digest_of_a_large_file_is_remembered_by_all_that_a_file_system_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    hash_file = model_files._hash

    def listen(path: Path) -> str:
        read.append(path)
        return hash_file(path)

    monkeypatch.setattr(model_files, "_hash", listen)
    file = tmp_path / "a"
    file.write_bytes(b"12345")
    for large, times in ((10, 2), (4, 1)):
        monkeypatch.setattr(model_files, "_LARGE", large)
        read.clear()
        for _ in range(2):
            monkeypatch.setattr(digests, "_known", {})  # as in another process
            content_digest(file)
        assert len(read) == times
    (tmp_path / "b").hardlink_to(file)  # another path and time of change, one inode
    content_digest(tmp_path / "b")
    assert len(read) == times + 1


def test_the_digest_does_not_depend_on_how_parts_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "_PART_BYTES", 5)
    (tmp_path / "a").write_bytes(b"0123456789abc")
    found = [model_files._hash(tmp_path / "a")]
    for block in (1, 2, 5, 100):
        monkeypatch.setattr(model_files, "_BLOCK_BYTES", block)
        found.append(model_files._hash(tmp_path / "a"))
    assert len({*found}) == 1
    for at in range(13):
        content = bytearray(b"0123456789abc")
        content[at] ^= 1
        (tmp_path / "a").write_bytes(content)
        assert model_files._hash(tmp_path / "a") not in found


@pytest.mark.parametrize(
    ("names", "config", "read"),
    [
        ({"model.safetensors", "consolidated.safetensors", "pytorch_model.bin"}, {}, 1),
        ({"pytorch_model.bin", "training_args.bin"}, {}, 1),
        ({"x-1.safetensors", "x-2.safetensors", "consolidated.safetensors", "INDEX"}, {}, 2),
        ({"model.safetensors", "w.safetensors"}, {"transformers_weights": "w.safetensors"}, 1),
        ({"odd-1.safetensors", "odd-2.safetensors"}, {}, 2),
    ],
)
def test_the_files_that_weights_are_read_from(
    names: set[str], config: dict[str, str], read: int, tmp_path: Path
) -> None:
    for name in names - {"INDEX"}:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "config.json").write_text(json.dumps(config))
    if "INDEX" in names:
        index = {"weight_map": {"a": "x-1.safetensors", "b": "x-2.safetensors"}}
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    found = [path.name for path in weight_files(tmp_path)]
    assert len(found) == read
    assert "consolidated.safetensors" not in found
    assert "training_args.bin" not in found
    if config:
        assert found == ["w.safetensors"]


def test_a_folder_that_links_to_one_above_it_ends(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "config.json").write_text("{}")
    state = file_state(str(tmp_path))
    assert state is not None
    assert [name for name, _ in state] == ["config.json"]


def test_files_that_change_while_they_are_read_are_an_error(
    saved: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training that writes its checkpoint must not leave numbers under the old content."""
    model = Path(shutil.copytree(saved("llama"), tmp_path / "model"))
    load = hf.AutoModelForCausalLM.from_pretrained

    def write_and_load(*args: object, **options: object) -> object:
        file = model / "model.safetensors"
        swap(file, changed("safetensors", file))
        return load(*args, **options)

    monkeypatch.setattr(hf.AutoModelForCausalLM, "from_pretrained", write_and_load)
    with pytest.raises(ValueError, match="changed while they were read"):
        load_model(model, CPU)


def test_shards_under_other_names_are_one_quantised_model(
    build: Callable[[str], Path], tmp_path: Path
) -> None:
    """Their names say only which are read; the version of others is that of their tensors."""
    model = build("shards")
    before = model_files.joint_digest(weight_files(model))
    index = model / "model.safetensors.index.json"
    text = index.read_text()
    for file in weight_files(model):
        renamed = file.name.replace("model-", "part-")
        text = text.replace(file.name, renamed)
        file.rename(tmp_path / "model" / renamed)
    index.write_text(text)
    assert model_files.joint_digest(weight_files(model)) == before
    assert pin_version(load_model(model, CPU), remember=True).version()


def test_a_gguf_file_under_two_names_has_one_signature(
    build: Callable[[str], Path], tmp_path: Path
) -> None:
    """Apart from its name, which says where it is."""
    one = build("gguf")
    other = Path(shutil.copy(one, tmp_path / "other.gguf"))
    signatures = [score(model).results[0].signature for model in (one, other)]
    assert signatures[1].replace(str(other), str(one)) == signatures[0]


CODE = """
from transformers import LlamaForCausalLM


class Scaled(LlamaForCausalLM):
    def forward(self, *given, **options):
        found = super().forward(*given, **options)
        found.logits = found.logits * 0.5
        return found
"""


def test_an_edited_file_of_code_is_another_model(saved: Saved, tmp_path: Path) -> None:
    """Its numbers are stored, under a digest of the code."""
    model = Path(shutil.copytree(saved("llama"), tmp_path / "model"))
    config = json.loads((model / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "modeling_scaled.Scaled"}
    (model / "config.json").write_text(json.dumps(config))
    code, how = model / "modeling_scaled.py", Loading(device="cpu", trust_remote_code=True)
    code.write_text(CODE)
    before, again = (evaluate(str(model), PAIRS, loading=how) for _ in range(2))
    swap(code, CODE.replace("0.5", "0.1").encode())
    after = evaluate(str(model), PAIRS, loading=how)
    assert again.results[0].work.stored == before.results[0].work.requests
    assert after.results[0].work.stored == 0
    assert numbers(after) != pytest.approx(numbers(before), abs=1e-3)
    swap(code, CODE.encode())
    assert numbers(evaluate(str(model), PAIRS, loading=how)) == numbers(before)
