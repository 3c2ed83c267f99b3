"""A tiny chat model with random weights, as a GGUF file, in place of the model of the guide."""

from pathlib import Path

import transformers as hf
from support.models.gguf_files import write_gguf
from support.tiny_models import build, randomised, rope_shape, seeded

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
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
