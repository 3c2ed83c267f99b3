"""The signature: one line made from what was used."""

import copy
import tomllib
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
import torch
from support.places import ROOT
from support.tiny_models import SENTENCES, Family
from tokenizers import normalizers

from nnd.metric.data.pairs import PairSet, load_pairs
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.likelihood.models.model_digests import config_digest, tokenizer_digest
from nnd.metric.numbers.rates.pass_rates import pass_rates
from nnd.metric.run.pair_scoring import score_pairs
from nnd.metric.run.signature import make_signature
from nnd.metric.run.version import VERSION
from nnd.metric.text.encoding.requests import Keep
from nnd.metric.text.encoding.templates import find_template

LONG = " ".join(SENTENCES * 2)  # more than 160 tokens, whatever the family


def pairs(*contexts: str) -> PairSet:
    """Two candidates for each context, under a name."""
    columns = {"context": contexts, "candidate_high": "the cat", "candidate_low": "a dog"}
    found = load_pairs(pl.DataFrame(columns))
    return PairSet(found.pairs, None, "invented", "0123456789abcdef")


def signature(
    loaded: LoadedModel,
    *contexts: str,
    protocol: str = "native",
    template: str = "default",
    keep: Keep | None = None,
) -> str:
    data, chosen = pairs(*contexts or ("the river",)), find_template(template)
    engine = Engine(loaded, protocol=protocol, separator=chosen.separator, keep=keep)
    rates = pass_rates(score_pairs(data, engine, chosen))
    return make_signature("607a30d783dfa663", data, engine, chosen, rates)


def digests(loaded: LoadedModel) -> str:
    tok, cfg = tokenizer_digest(loaded.tokenizer), config_digest(loaded.model.config)
    return f"tok:{tok[:6]}|cfg:{cfg[:6]}"


def test_the_version_is_the_packages() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["version"] == VERSION


def test_tf32_is_named(
    loaded: Callable[[str], LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, template, exact = pairs("the river"), find_template("default"), Engine(loaded("gpt2"))
    rates = pass_rates(score_pairs(data, exact, template))
    monkeypatch.setattr(LoadedModel, "device", torch.device("cuda"))
    rounded = Engine(loaded("gpt2"), matmul="high")
    signed = make_signature("607a30d783dfa663", data, rounded, template, rates)
    assert "|dtype:float32|matmul:high|" in signed


def test_a_decoder_only_model(loaded: Callable[[str], LoadedModel]) -> None:
    assert signature(loaded("gpt2")) == (
        f"nnd|v:{VERSION}|model:gpt2@607a30d|{digests(loaded('gpt2'))}|data:invented@012345|protocol:native"
        "|template:default|dtype:float32|ties:fail|keep:end|trunc:0|n:1|sep:' '|bos:no"
    )


def test_another_config_or_tokenizer_shows(tiny: Callable[[str], Family]) -> None:
    gpt2 = tiny("gpt2")
    before = signature(wrap_model(gpt2.model, gpt2.tokenizer, name="gpt2"))
    model = copy.deepcopy(gpt2.model)
    model.config.layer_norm_epsilon = 1e-3
    assert changed(before, signature(wrap_model(model, gpt2.tokenizer, name="gpt2"))) == ["cfg"]
    tokenizer = copy.deepcopy(gpt2.tokenizer)
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    assert changed(before, signature(wrap_model(gpt2.model, tokenizer, name="gpt2"))) == ["tok"]


def changed(before: str, after: str) -> list[str]:
    parts = zip(before.split("|"), after.split("|"), strict=True)
    return [one.partition(":")[0] for one, other in parts if one != other]


def test_an_encoder_decoder_has_no_separator(loaded: Callable[[str], LoadedModel]) -> None:
    assert signature(loaded("bart")) == (
        f"nnd|v:{VERSION}|model:bart@607a30d|{digests(loaded('bart'))}|data:invented@012345|protocol:native"
        "|template:default|dtype:float32|ties:fail|keep:beginning|trunc:0|n:1"
    )


def test_dtype_is_that_of_the_weights(tiny: Callable[[str], Family]) -> None:
    gpt2 = tiny("gpt2")
    loaded = wrap_model(copy.deepcopy(gpt2.model).bfloat16(), gpt2.tokenizer)
    assert "|dtype:bfloat16|" in signature(loaded)


@pytest.mark.parametrize(
    ("name", "contexts", "options", "part"),
    [
        ("llama", (), {}, "|bos:yes\n"),
        ("gpt2", (), {}, "|bos:no\n"),
        ("gpt2", (), {"protocol": "laban2022"}, "|protocol:laban2022|"),
        ("gpt2", (), {"protocol": "sum"}, "|sep:' '|"),
        ("gpt2", (), {"keep": "beginning"}, "|keep:beginning|"),
        ("gpt2", (), {"keep": "end"}, "|keep:end|"),
        ("gpt2", ("the river", "the cat"), {}, "|trunc:0|n:2|"),
        ("gpt2", ("the river", LONG), {}, "|trunc:1|n:2|"),  # it reads 160 tokens
        ("bart", ("a", "b", "c"), {}, "|n:3\n"),
        (
            *("gpt2", (), {"template": "Read:\n{context}\tQ ü "}),
            "|template:Read:\\n{context}\\tQ ü |",
        ),
    ],
)
def test_what_was_used_stands_in_one_line(
    *,
    name: str,
    contexts: tuple[str, ...],
    options: dict[str, Any],
    part: str,
    loaded: Callable[[str], LoadedModel],
) -> None:
    found = signature(loaded(name), *contexts, **options)
    assert part in f"{found}\n"
    assert len(found.splitlines()) == 1
    assert ("|sep:" in found) == (name != "bart" and options.get("protocol") != "laban2022")
