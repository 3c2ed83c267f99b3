"""A GGUF file in parts is read as one."""

import shutil
from collections.abc import Callable
from pathlib import Path

import gguf
import pytest
import torch
from support.refusals import refusal

from nnd.metric.likelihood import Loading, load_model
from nnd.metric.likelihood.models.model_digests import weights_digest

CPU = Loading(device="cpu")
NAMES = [f"tiny-{n:05d}-of-00003.gguf" for n in (1, 2, 3)]


@pytest.fixture
def parts(place: Path, tmp_path: Path) -> Path:
    """A folder with tiny.gguf in three parts, as llama-gguf-split writes them."""
    whole = gguf.GGUFReader(place / "tiny.gguf")
    tensors = [whole.tensors[n::3] for n in range(3)]
    for number, (name, some) in enumerate(zip(NAMES, tensors, strict=True)):
        writer = gguf.GGUFWriter(tmp_path / name, "llama")
        if number == 0:
            for key, field in whole.fields.items():
                if not key.startswith("GGUF.") and key != "general.architecture":
                    kind, inner = field.types[0], (field.types[1:] or [None])[0]
                    writer.add_key_value(key, field.contents(), kind, inner)
        writer.add_uint16("split.no", number)
        writer.add_uint16("split.count", 3)
        writer.add_int32("split.tensors.count", len(whole.tensors))
        for each in some:
            writer.add_tensor(each.name, each.data)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return tmp_path


def test_parts_are_the_whole(parts: Path, place: Path) -> None:
    joined, whole = load_model(parts / NAMES[0], CPU), load_model(place / "tiny.gguf", CPU)
    assert weights_digest(joined.model) == weights_digest(whole.model)
    ids = torch.tensor([[1, 2, 3, 4, 5]])
    assert torch.equal(joined.model(ids).logits, whole.model(ids).logits)
    text = "The council met on Monday."
    assert joined.tokenizer(text).input_ids == whole.tokenizer(text).input_ids


def test_a_change_of_any_part_changes_the_digest(parts: Path) -> None:
    before = load_model(parts / NAMES[0], CPU).digest
    with (parts / NAMES[2]).open("r+b") as file:
        file.seek(-4, 2)
        file.write(b"\x00\x00\x80\x3f")
    assert load_model(parts / NAMES[0], CPU).digest != before


Harm = Callable[[Path], object]
HARMS: dict[str, tuple[str, int, Harm, str]] = {
    "the second is named": ("model.damaged", 1, lambda _: None, "and not the first"),
    "one is missing": ("file.not-found", 0, lambda at: (at / NAMES[1]).unlink(), "this part of"),
    "one is another": (
        "model.damaged",
        0,
        lambda at: shutil.copy(at / NAMES[1], at / NAMES[2]),
        "not part 3 of 3",
    ),
    "the first is another": (
        "model.damaged",
        0,
        lambda at: shutil.copy(at / NAMES[1], at / NAMES[0]),
        "not part 1 of 3",
    ),
    "one is cut": (
        "model.damaged",
        0,
        lambda at: (at / NAMES[2]).write_bytes((at / NAMES[2]).read_bytes()[:200]),
        "cut or damaged",
    ),
    "it was renamed": (
        "model.damaged",
        3,
        lambda at: (at / NAMES[0]).rename(at / "mine.gguf"),
        "the first of 3 parts",
    ),
    "fewer are named": (
        "model.damaged",
        4,
        lambda at: [
            shutil.copy(at / NAMES[n], at / f"tiny-0000{n + 1}-of-00002.gguf") for n in (0, 1)
        ],
        "the first of 3 parts, but its name says 2",
    ),
}


@pytest.mark.parametrize("harm", HARMS)
def test_parts_that_are_not_whole_are_refused(harm: str, parts: Path) -> None:
    code, named, do, words = HARMS[harm]
    do(parts)
    file = [*NAMES, "mine.gguf", "tiny-00001-of-00002.gguf"][named]
    with refusal(code) as caught:
        load_model(parts / file, CPU)
    assert words in caught.value.what
