"""A pattern of a tokenizer that explodes on a text is refused in words, and in seconds."""

import json
import time

import pytest
from support.refusals import refusal
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from nnd.metric.text.encoding.tokens import text_ids

PATTERNS = [r"(a+)+b", r"(a|aa)+c", r"(a+a+)+c", r"(a|b|ab|a)+c", r"(a*a)+d"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_that_explodes_is_refused(pattern: str) -> None:
    facts = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": pattern},
            "behavior": "Isolated",
            "invert": False,
        },
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
    }
    backend = Tokenizer.from_str(json.dumps(facts))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    assert text_ids(tokenizer, ["a"]) == [(0,)]
    start = time.process_time()
    with refusal("model.tokenizer") as caught:
        text_ids(tokenizer, ["a" * 200])
    assert "retry-limit" in caught.value.what
    assert time.process_time() - start < 10
