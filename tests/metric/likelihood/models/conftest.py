"""The Hub that models are on, and models as folders and files hold them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import transformers as hf
from support.hub.fixtures import ask, hub, served
from support.metric_runs import write_pairs
from support.models.adapted import adapted, load_base, lora
from support.models.gguf_files import write_gguf
from support.tiny_models import Family, rope_shape, seeded

__all__ = ["ask", "hub", "served"]

Saved = Callable[[str], Path]


@pytest.fixture(scope="session")
def place(tiny: Callable[[str], Family], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, and a small Llama as a GGUF file, as a folder, and with an adapter."""
    folder, tokenizer = tmp_path_factory.mktemp("here"), tiny("gpt2").tokenizer
    with seeded():
        model = hf.LlamaForCausalLM(hf.LlamaConfig(**rope_shape(len(tokenizer), 160)))
    write_gguf(model, tokenizer, folder / "tiny.gguf")
    model.save_pretrained(folder / "base")
    tokenizer.save_pretrained(folder / "base")
    adapted(load_base(folder / "base"), lora()).save_pretrained(folder / "adapter")
    return write_pairs(folder)


@pytest.fixture
def folder(saved: Saved, tmp_path: Path) -> Saved:
    """`folder("gpt2")`: a saved family of this test's own."""
    return lambda name: Path(shutil.copytree(saved(name), tmp_path / name))


@pytest.fixture
def below(folder: Saved) -> Saved:
    """`below("gpt2")`: its tokenizer is in a subfolder, as those of QGEval2024 on the Hub."""

    def moved(name: str) -> Path:
        mine = folder(name)
        (mine / "tokenizer").mkdir()
        for file in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            if (mine / file).is_file():
                (mine / file).rename(mine / "tokenizer" / file)
        return mine

    return moved
