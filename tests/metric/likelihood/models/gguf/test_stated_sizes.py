"""Sizes that a GGUF file states and its tensors do not have are refused at once."""

import struct
import time
from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.metric.likelihood import Loading, load_model


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def number(key: str, value: int) -> bytes:
    return text(key) + struct.pack("<IQ", 10, value)


def tensor(name: str, dims: list[int], offset: int = 0) -> bytes:
    sizes = b"".join(struct.pack("<Q", each) for each in dims)
    return text(name) + struct.pack("<I", len(dims)) + sizes + struct.pack("<IQ", 0, offset)


SIZES = {
    "context_length": 64,
    "embedding_length": 32,
    "block_count": 1,
    "feed_forward_length": 64,
    "attention.head_count": 4,
}
EMBEDDINGS = tensor("token_embd.weight", [32, 100])


def build(
    sizes: dict[str, int], tensors: list[bytes], counts: tuple[int, int] | None = None
) -> bytes:
    """A file of at most 14 KB, with zeros for its tensors."""
    keys = [text("general.architecture") + struct.pack("<I", 8) + text("llama")]
    keys += [number(f"llama.{key}", value) for key, value in (SIZES | sizes).items()]
    n_tensors, n_keys = counts or (len(tensors), len(keys))
    head = b"GGUF" + struct.pack("<IQQ", 3, n_tensors, n_keys) + b"".join(keys + tensors)
    return head + bytes(-len(head) % 32) + bytes(12_800)


CASES = {
    "layers": build({"block_count": 10**9}, [EMBEDDINGS]),
    "layers beyond 32 bits": build({"block_count": 2**40}, [EMBEDDINGS]),
    "width": build({"embedding_length": 2**31}, [EMBEDDINGS]),
    "inner width": build({"feed_forward_length": 2**40}, [EMBEDDINGS]),
    "experts": build({"expert_feed_forward_length": 2**40}, [EMBEDDINGS]),
    "elements": build({}, [tensor("token_embd.weight", [2**40])]),
    "a product beyond 64 bits": build({}, [tensor("token_embd.weight", [2**33, 2**33])]),
    "a place beyond the end": build({}, [tensor("token_embd.weight", [32, 100], 2**50)]),
    "tensors that overlap": build({}, [EMBEDDINGS, tensor("blk.0.attn_q.weight", [32, 32], 64)]),
    "one tensor twice": build({}, [EMBEDDINGS, tensor("output.weight", [32, 100])]),
    "number of tensors": build({}, [], (2**40, 6)),
    "number of keys": build({}, [], (0, 2**40)),
    "number of dimensions": build({}, [text("token_embd.weight") + struct.pack("<I", 2**32 - 1)]),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_at_once(case: str, tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(CASES[case])
    start = time.process_time()
    with refusal("model.damaged", "small.gguf"):
        load_model(path, Loading(device="cpu"))
    assert time.process_time() - start < 2
