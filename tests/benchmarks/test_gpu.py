"""The benchmark of GPUs, on a CPU with tiny models: every step of it runs."""

import importlib.util
import json
import sys
from pathlib import Path

import gpu
import pytest
from torch.nn.attention import flex_attention


def test_on_a_cpu_with_tiny_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)  # quicker
    monkeypatch.setattr(gpu, "SMALL_FAMILIES", ("mistral",))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)  # of lm-eval, slow
    written = tmp_path / "made" / "figures.json"
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--small", "--json", str(written)])
    assert gpu.main() == 0
    found = json.loads(written.read_text(encoding="utf-8"))
    assert [(each["model"], each["workload"]) for each in found["speed"]] == [
        (f"small, 4/{key_heads} heads", workload)
        for key_heads in (4, 2)
        for workload in ("summeval", "quiz")
    ]
    # 2 contexts with 3 distinct candidates each; all are read, each token once.
    assert {each["requests"] for each in found["speed"]} == {6}
    assert min(each["padded"] for each in found["speed"]) > 0
    models = ["mistral", "mistral", "gpt_oss", "gpt_oss"]
    models += [f"{name} on two invented devices" for name in ("llama", "t5")]
    assert [each["what"] for each in found["equality"][-6:]] == models
    assert [each["path"] for each in found["equality"][-6:]] == ["packed"] * 6
    ways = [f"bfloat16, {way}" for way in ("packed", "cached", "plain", "alone")]
    ways += ["bfloat16, pairs at once", "bfloat16, pairs in parts", "float32, packed"]
    assert [each["what"] for each in found["paths"]] == ways


def test_a_wrong_number_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = gpu.Equality("blocks", "float32", "", gap=2e-4, bound=1e-4)
    found = gpu.Bench("CPU", "2", 1e9, [wrong], [], [], [])
    monkeypatch.setattr(gpu, "bench", lambda **_: found)
    monkeypatch.setattr(sys, "argv", ["gpu.py"])
    assert gpu.main() == 1
