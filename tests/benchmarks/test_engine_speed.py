"""What the engine's benchmark counts and how it judges; nothing here needs the peers."""

import json
import shutil
from pathlib import Path
from typing import Any

import bench_models
import comparison
import engine_speed
import polars as pl
import pytest
import runs
import workloads
from peers import CONTESTANTS, EXACT, NND
from tokenizers import Tokenizer, decoders, models, pre_tokenizers


@pytest.fixture(scope="module")
def bytewise() -> Tokenizer:
    """A tokenizer without merges: a token is a byte."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: number for number, token in enumerate([*workloads.SPECIALS, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


@pytest.fixture(scope="module")
def folder(bytewise: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `workloads.prepare` would have written."""
    place = tmp_path_factory.mktemp("prepared")
    bytewise.save(str(place / "tokenizer.json"))
    return place


REQUESTS = [("abc", "de"), ("abc", "f"), ("xy", "de"), ("abc", "de")]


# Bytes of a context, for BART with <s> and </s>; bytes of a candidate, for GPT-2 with a space.
@pytest.mark.parametrize(
    ("model", "work", "unique"),
    [
        ("gpt2", [(3, [3, 2]), (2, [3])], 3 + (3 + 1) + (2 + 1) + 2 + (3 + 1)),
        ("bart", [(5, [2, 1]), (4, [2])], 5 + (2 + 1) + (1 + 1) + 4 + (2 + 1)),
    ],
)
def test_unique_tokens(folder: Path, model: str, work: bench_models.Lengths, unique: int) -> None:
    tokenizer = bench_models.load_tokenizer(model, folder)
    assert bench_models.lengths(tokenizer, model, REQUESTS) == work
    assert bench_models.unique_tokens(work) == unique


def test_needed_flops_of_a_decoder() -> None:
    model = bench_models.build_model("gpt2", n_embd=4, n_layer=2, n_head=2, vocab_size=10)
    # A layer: queries, keys and values 4 x 12, output 4 x 4, up 4 x 16, down 16 x 4.
    weights = 2 * (48 + 16 + 64 + 64)
    # Context of 3, candidate of 2: 3 + (2 + 1) tokens; they see 1 … 3 and 4 … 6 keys.
    flops = 2 * weights * 6 + 4 * 4 * 2 * (1 + 2 + 3 + 4 + 5 + 6) + 2 * 4 * 10 * 2
    assert bench_models.needed_flops(model, [(3, [2])]) == flops
    # A second candidate adds its 3 tokens, the keys they see, and its 2 scored positions.
    more = 2 * weights * 3 + 4 * 4 * 2 * (4 + 5 + 6) + 2 * 4 * 10 * 2
    assert bench_models.needed_flops(model, [(3, [2, 2])]) == flops + more


def test_needed_flops_of_an_encoder_decoder() -> None:
    model = bench_models.build_model(
        "bart",
        d_model=4,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=8,
        decoder_ffn_dim=8,
        vocab_size=10,
    )
    # Attention has four matrices of 4 x 4, a feed-forward net 4 x 8 and 8 x 4. Of the two decoder
    # layers' attention across, keys and values (2 x 4 x 4 each) read the context.
    context_token = (4 * 16 + 2 * 32) + 2 * (2 * 16)
    candidate_token = 2 * (4 * 16 + 2 * 16 + 2 * 32)
    # Context of 3, candidate of 2, so 3 decoder inputs.
    read = 2 * context_token * 3 + 4 * 4 * 1 * (3 * 3)
    fed = 2 * candidate_token * 3 + 4 * 4 * 2 * ((1 + 2 + 3) + 3 * 3) + 2 * 4 * 10 * 3
    assert bench_models.needed_flops(model, [(3, [2])]) == read + fed
    assert bench_models.needed_flops(model, [(3, [2, 2])]) == read + 2 * fed


@pytest.mark.parametrize(
    ("text", "most", "kept"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc"),
        ("aéb", 3, "aé"),
        ("aéb", 2, "a"),  # é is two bytes, and half of it is no text
        ("é", 1, ""),
    ],
)
def test_a_cut_text_is_a_beginning(bytewise: Tokenizer, text: str, most: int, kept: str) -> None:
    assert workloads.cut_text(bytewise, text, most) == kept


def test_a_cut_text_is_no_longer_when_tokenised_anew() -> None:
    texts = ["the cat sat on the mat", "the theatre is there", "a cattle mattress"]
    frame = pl.DataFrame({"context": texts, "candidate_high": texts, "candidate_low": texts})
    tokenizer = workloads.train_tokenizer(frame)
    for text in texts:
        for most in range(1, 12):
            kept = workloads.cut_text(tokenizer, text, most)
            assert text.startswith(kept)
            assert len(tokenizer.encode(kept).ids) <= most


def test_requests_are_both_candidates_of_each_pair() -> None:
    pairs = pl.DataFrame(
        {"context": ["x", "x"], "candidate_high": ["a", "a"], "candidate_low": ["b", "c"]}
    )
    assert workloads.requests(pairs) == [("x", "a"), ("x", "b"), ("x", "a"), ("x", "c")]


TINY = {
    "gpt2": {"n_embd": 8, "n_layer": 2, "n_head": 2},
    "bart": {
        "d_model": 8,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 16,
        "decoder_ffn_dim": 16,
    },
}


def clock(tool: str, model: str, folder: Path) -> runs.Clocked:
    """Run a contestant on REQUESTS with a tiny model."""
    network = bench_models.build_model(model, **TINY[model])
    entries = runs.watch_embeddings(network)
    contestant = CONTESTANTS[tool](network, bench_models.load_tokenizer(model, folder))
    contestant(REQUESTS[:2])
    return runs.clock(contestant, REQUESTS, entries)


# The loop reads every request with its context. GPT-2: with a space before the candidate. BART:
# <s> and </s> around the context; </s> and <s> before the candidate, its last token predicts </s>.
@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("gpt2", (3 + 3) + (3 + 2) + (2 + 3) + (3 + 3)),
        ("bart", (5 + 4) + (5 + 3) + (4 + 4) + (5 + 4)),
    ],
)
def test_contestants_agree_and_their_tokens_are_counted(
    folder: Path, model: str, tokens: int
) -> None:
    exact, loop, ours = (clock(tool, model, folder) for tool in (EXACT, "one at a time", NND))
    assert loop.values == pytest.approx(exact.values, abs=1e-5)
    assert ours.values == pytest.approx(exact.values, abs=1e-5)
    assert exact.tokens == loop.tokens == tokens
    assert 0 < ours.tokens < tokens
    assert 0 < ours.planning_seconds < ours.seconds


def test_the_warm_up_holds_the_longest_request(folder: Path) -> None:
    tokenizer = bench_models.load_tokenizer("gpt2", folder)
    requests = [("abc", "de"), ("abc", "f"), ("a", "b"), ("a", "c"), ("ab", "cd"), ("ab", "cdefg")]
    assert runs.two_longest(tokenizer, requests) == requests[:2] + requests[4:]


def _run(seconds: float, **changes: Any) -> runs.Run:
    facts = {
        "tokens": 105,
        "planning_seconds": 0.02 * seconds,
        "warm_up_seconds": 0.1,
        "warm_up_tokens": 10,
        "peak_bytes": 100 + comparison.MOST_MEMORY,
        "weight_bytes": 100,
        "checksum": 1.0,
        "values": [-1.0, -2.0],
        "first_seconds": 1.4,
        "whole_seconds": 3.1,
    }
    return runs.Run(seconds=seconds, **facts | changes)


def _compared(ours: list[runs.Run], **changes: Any) -> comparison.Comparison:
    """A block in which medians of 1.0 s, 1.4 s in a first run and 3.1 s with the baseline reach."""
    block = comparison.Block("made", "gpt2", {"lm-eval": 7.0}, {"lm-eval": 5.0})
    theirs = [_run(0.1), _run(7.0), _run(9.0)]
    facts = {
        "work": comparison.Work(1, 100, flops=50, baseline_flops=50),
        "peak": 100.0,
        "own": 62.5,  # 50 FLOPs in a second are 80 % of it
        "gap": 1e-5,
        "sample": 2,
    }
    return comparison.Comparison(
        block=block, runs={NND: ours, "lm-eval": theirs}, **facts | changes
    )


def _missed(found: comparison.Comparison) -> list[str]:
    return [verdict.what for verdict in comparison.judge(found) if not verdict.reached]


def _misses(gap: float = 1e-5, **changes: Any) -> list[str]:
    """Judge runs that just reach everything, but for `changes` in the slowest of ours."""
    ours = [_run(0.9), _run(1.0), _run(2.0, **changes)]
    found = _compared(ours, gap=gap)
    assert found.bound("lm-eval") == 7.0 * 100 / 50
    return _missed(found)


def test_what_just_reaches_is_no_miss() -> None:
    assert _misses() == []


@pytest.mark.parametrize(
    ("changes", "miss"),
    [
        ({"tokens": 106}, "made-gpt2: tokens read / unique tokens 1.06"),
        ({"peak_bytes": 200 + 2 * 2**30}, "made-gpt2: GiB beside the weights 2"),
        ({"gap": 2e-5}, "made-gpt2: gap to float64 2e-05"),
        ({"gap": float("nan")}, "made-gpt2: gap to float64 nan"),
    ],
)
def test_one_bad_run_is_a_miss(changes: dict[str, Any], miss: str) -> None:
    assert _misses(**changes) == [miss]


@pytest.mark.parametrize(
    ("ours", "facts", "miss"),
    [
        ({}, {"own": 64.0}, "made-gpt2: 78% of the rate of the model's own products"),
        (
            {"first_seconds": 1.6, "whole_seconds": 3.5},
            {},
            "made-gpt2: first run, with its proof, 4.4x as fast as lm-eval",
        ),
        (
            {"whole_seconds": 3.5},
            {},
            "made-gpt2: baseline's share of time / of FLOPs 1.2",  # (3.5 - 1.4) / 3.5 of 1/2
        ),
    ],
)
def test_a_median_below_its_target_is_a_miss(
    ours: dict[str, Any], facts: dict[str, Any], miss: str
) -> None:
    assert _missed(_compared([_run(1.0, **ours)] * 3, **facts)) == [miss]


def test_the_headline_includes_proof_and_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    engine_speed._print_comparison(_compared([_run(1.0)]))
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("made-gpt2: 1 pairs in 3.10 s, with proof and baseline")
    assert (
        "nnd, first run: 1.40 s with its proof, 3.10 s with the baseline too: 5.0x lm-eval; "
        "2.3x lm-eval" in printed
    )
    assert "nnd, second run: 80% of the rate of the model's own products" in printed
    assert "nnd, the baseline's share of time / of FLOPs: 1.10" in printed


def test_a_ratio_of_medians_below_the_target_is_a_miss() -> None:
    assert _missed(_compared([_run(1.02)], own=60.0)) == ["made-gpt2: 6.9x as fast as lm-eval"]


@pytest.mark.parametrize("model", ["gpt2", "bart"])
def test_the_models_own_products(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the head at half the speed, half of the work takes twice as long: 2/3 of the rate."""
    network = bench_models.build_model(model, **TINY[model])
    work = [(3, [2, 2])]
    in_head = bench_models.head_flops(network, work)
    # The flops of 2 candidates of 2 tokens, of BART with their end tokens.
    assert in_head == 2 * 8 * network.config.vocab_size * {"gpt2": 4, "bart": 6}[model]
    layers = [*bench_models.layer_matrices(network)]
    # As in the tests above: attention, then up and down; BART's decoder has attention twice.
    assert (
        sum(size * columns for size, columns in layers)
        == {
            "gpt2": 2 * (8 * 24 + 8 * 8 + 2 * 8 * 32),
            "bart": (4 * 64 + 2 * 8 * 16) + 2 * (8 * 64 + 2 * 8 * 16),
        }[model]
    )
    monkeypatch.setattr(
        runs, "matmul_rate", lambda rows, *_: 100.0 if rows == runs.TRUNK_ROWS else 50.0
    )
    assert runs.own_rate(network, 2 * in_head, in_head) == pytest.approx(200 / 3)


def test_our_first_runs_are_clocked_where_there_are_other_pairs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(folder / "tokenizer.json", tmp_path)
    (tmp_path / "few.json").write_text(json.dumps(REQUESTS), encoding="utf-8")
    build = bench_models.build_model
    monkeypatch.setattr(bench_models, "build_model", lambda name: build(name, **TINY[name]))
    alone = runs.run(NND, "gpt2", tmp_path, "few")
    assert (alone.first_seconds, alone.whole_seconds) == (None, None)
    (tmp_path / "few_other.json").write_text(json.dumps(REQUESTS[:2]), encoding="utf-8")
    found = runs.run(NND, "gpt2", tmp_path, "few")
    assert found.values == alone.values
    assert min(found.first_seconds or 0, found.whole_seconds or 0) > 0
    theirs = runs.run("one at a time", "gpt2", tmp_path, "few")
    assert theirs.first_seconds is None
