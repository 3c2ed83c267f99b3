"""The self-test agrees with right models, and sees faults of every part that it does not share."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from support.refusals import refusal
from support.screens.commands import Nnd
from support.tiny_models import Family

from nnd import selftest
from nnd.metric.likelihood import Engine, LoadedModel, Loading, wrap_model
from nnd.metric.selftest import SelfTest, testing
from nnd.metric.text import PROTOCOLS
from nnd.metric.text.encoding import assembly
from nnd.schemas import check_rows

CAUSAL = ["native", "laban2022", "sum", "bytes", "pmi"]


@pytest.fixture
def gpt2(loaded: Callable[[str], LoadedModel], birds: Path) -> Callable[..., SelfTest]:
    return lambda *protocols: selftest(loaded("gpt2"), birds, protocols=protocols, pairs=4)


def wrong(tested: SelfTest) -> list[str]:
    """Protocols whose numbers are off."""
    return [each.protocol for each in tested.protocols if (each.difference or 0) > 5e-5]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["gpt2", "llama", "bart", "t5"])
def test_a_right_model_agrees(name: str, loaded: Callable[[str], LoadedModel], birds: Path) -> None:
    before = {key: each.clone() for key, each in loaded(name).model.state_dict().items()}

    tested = selftest(loaded(name), birds)

    in_two = name in {"bart", "t5"}
    assert [each.protocol for each in tested.protocols] == CAUSAL + ["bartscore"] * in_two
    assert tested.ok
    assert tested.headline().startswith(f"{tested.model} agrees with float64 to ")
    for each in tested.protocols:
        assert each.requests == each.as_one == 2 * tested.pairs
        assert (each.ids_differ, each.verdicts_differ) == (0, 0)
        assert 0 < (each.difference or 0) < 5e-5
    after = loaded(name).model.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_a_fault_that_all_paths_share_is_seen(
    gpt2: Callable[..., SelfTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Engine.sum_rows

    def shifted(engine: Engine, rows: Any) -> Any:
        sums, work = right(engine, rows)
        return sums - [1e-4 * len(row.targets) for row in rows], work

    monkeypatch.setattr(Engine, "sum_rows", shifted)
    tested = gpt2("native", "sum")

    assert wrong(tested) == ["native", "sum"]
    assert "does not agree with float64" in tested.headline()
    assert "candidate of pair " in tested.remarks()[0]


def test_a_model_that_computes_otherwise_in_float32_is_seen(
    fresh: Callable[..., Family], birds: Path
) -> None:
    """All paths are off alike, so that the proof sees nothing."""
    family = fresh("gpt2", window=400)

    def shift(_: Any, given: tuple[torch.Tensor, ...], output: Any) -> Any:
        hidden = output[0] if isinstance(output, tuple) else output
        moved = hidden * (1 + 1e-4) if hidden.dtype == torch.float32 else hidden
        del given
        return (moved, *output[1:]) if isinstance(output, tuple) else moved

    family.model.transformer.h[0].register_forward_hook(shift)
    tested = selftest(wrap_model(family.model, family.tokenizer, name="hooked"), birds)

    assert {*wrong(tested)} == {*CAUSAL}


def test_a_token_that_the_encoder_drops_is_seen(
    gpt2: Callable[..., SelfTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = assembly.make_targets

    def short(*given: Any, **options: Any) -> list[Any]:
        made = right(*given, **options)
        return [
            each._replace(fed=each.fed[:-1], targets=each.targets[:-1], scored=each.scored[:-1])
            for each in made
        ]

    monkeypatch.setattr(assembly, "make_targets", short)
    (found,) = gpt2("native").protocols

    assert found.ids_differ == found.requests
    assert not found.ok


@pytest.mark.parametrize(
    ("protocol", "divisor"), [("sum", "tokens"), ("bytes", "tokens"), ("native", "bytes")]
)
def test_a_wrong_divisor_is_seen(
    protocol: str,
    divisor: Any,
    gpt2: Callable[..., SelfTest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PROTOCOLS, protocol, replace(PROTOCOLS[protocol], normaliser=divisor))

    assert wrong(gpt2(*CAUSAL)) == [protocol]


def test_pmi_that_subtracts_nothing_is_seen(
    gpt2: Callable[..., SelfTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROTOCOLS, "pmi", replace(PROTOCOLS["pmi"], minus_alone=False))

    assert wrong(gpt2(*CAUSAL)) == ["pmi"]


def test_a_verdict_is_seen(gpt2: Callable[..., SelfTest], monkeypatch: pytest.MonkeyPatch) -> None:
    right = testing.score_suite

    def turned(*given: Any) -> Any:
        found = right(*given)
        return found._replace(pairs=found.pairs.with_columns(passed=~found.pairs["passed"]))

    monkeypatch.setattr(testing, "score_suite", turned)
    tested = gpt2("native")

    assert tested.protocols[0].verdicts_differ == tested.pairs
    assert f"{tested.pairs} verdicts" in tested.headline()


def test_what_has_no_counterpart_is_left_out_with_the_reason(
    loaded: Callable[[str], LoadedModel],
) -> None:
    def pair(context: str, low: str = "the dog") -> dict[str, str]:
        return {"context": context, "candidate_high": "the cat", "candidate_low": low}

    rows = [
        pair("Who sat on the mat?"),
        pair("Who ran? " * 80),
        pair("Who looked?", "nobody<|endoftext|>"),
    ]
    tested = selftest(loaded("gpt2"), rows, protocols=["native"])

    assert (tested.pairs, tested.ok) == (1, True)
    assert tested.notes == (
        "1 pair left out, of which a text is cut to the model's window.",
        "1 pair left out, of which a text spells a special token.",
    )
    with refusal("data.no-pairs"):
        selftest(loaded("gpt2"), rows[1:2])


def test_models_without_float64_are_refused_in_a_sentence(
    fresh: Callable[..., Family], saved: Callable[[str], Path], birds: Path
) -> None:
    with refusal("model.no-float64"):
        selftest(str(saved("gpt2")), birds, loading=Loading(dtype="bfloat16"))
    xglm = fresh("xglm", window=400)
    with refusal("model.no-float64", "xglm"):
        selftest(wrap_model(xglm.model, xglm.tokenizer, name="xglm"), birds)


def test_what_does_not_fit_is_refused(
    loaded: Callable[[str], LoadedModel], birds: Path, tmp_path: Path
) -> None:
    with refusal("protocol.another-model", "gpt2"):
        selftest(loaded("gpt2"), birds, protocols=["bartscore"])
    with refusal("option.unknown-value"):
        selftest(loaded("gpt2"), birds, protocols=["natve"])
    with refusal("option.bad-value"):
        selftest(loaded("gpt2"), birds, pairs=0)
    with refusal("place.wrong-kind", "none"):
        selftest(loaded("gpt2"), birds, out=tmp_path / "none")


def test_the_command_prints_one_screen_and_stores_it_in_a_run(
    nnd: Nnd, saved: Callable[[str], Path], birds: Path, tmp_path: Path
) -> None:
    run, model = tmp_path / "run", saved("gpt2")
    assert nnd("evaluate", "--model", model, "--data", birds, "--out", run)[0] == 0

    code, out, _ = nnd("selftest", "--model", model, "--data", birds, "--out", run)

    assert code == 0
    assert "agrees with float64 to" in " ".join(out.split())
    assert len(out.splitlines()) < 24
    stored = json.loads((run / "selftest.json").read_text(encoding="utf-8"))
    assert list(check_rows("selftest", [stored])) == []
    assert nnd("selftest", "--model", model, "--data", birds, "--out", run)[0] == 0
    assert nnd("evaluate", "--model", model, "--data", birds, "--out", run)[0] == 0
    assert nnd("report", run, "--out", tmp_path / "page.html")[0] == 0


def test_the_command_exits_with_1_where_numbers_differ(
    nnd: Nnd, saved: Callable[[str], Path], birds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROTOCOLS, "sum", replace(PROTOCOLS["sum"], normaliser="tokens"))

    code, out, _ = nnd("selftest", "--model", saved("gpt2"), "--data", birds, "--json")

    assert code == 1
    assert max(json.loads(out)["protocols"], key=lambda each: each["difference"])["protocol"] == (
        "sum"
    )


def test_without_data_it_tests_on_quiz_design(
    nnd: Nnd, fresh: Callable[..., Family], tmp_path: Path
) -> None:
    family = fresh("llama", window=2_000)
    for part in (family.model, family.tokenizer):
        part.save_pretrained(tmp_path / "model")

    code, out, _ = nnd("selftest", "--model", tmp_path / "model", "--protocol", "native")

    assert code == 0
    assert "on 24 requests of quiz_design" in " ".join(out.split())
