"""Surprise at marked errors: by hand, for a planted model, and for one that knows nothing."""

import base64
import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from support.refusals import refusal
from support.stored_folders import rewrite
from support.tiny_models import Family

import nnd
from nnd.converters.folder.conversion import convert
from nnd.converters.source import load_source
from nnd.metric.data import TOKENS, read_tokens
from nnd.metric.likelihood import LoadedModel, Scoring
from nnd.metric.numbers.slices.span_surprise import surprise_at_spans
from nnd.metric.show.reports.content.packed_pairs import pack_pairs
from nnd.metric.show.reports.content.report_models import read_models
from nnd.schemas import words_opposite

Loaded = Callable[[str], LoadedModel]

WORDS = ("the", "cat", "dog", "river", "hill", "town", "book", "fox", "sat", "ran", "lazy")


def test_words_that_stand_opposite() -> None:
    text, other = "The big cat ran off.", "The big dog ran away quickly."
    assert words_opposite(text, other, 8, 11) == (8, 11)  # cat, dog
    assert words_opposite(text, other, 4, 7) == (4, 7)  # the same word
    assert words_opposite(text, other, 16, 20) == (16, 29)  # "off." for "away quickly."
    assert words_opposite("a b c", "a c", 2, 3) is None
    assert words_opposite("犬が走る", "猫が走る", 0, 1) == (0, 1)


def planted(n: int = 60) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return pairs of which one word of seven is wrong, and annotations that mark it."""
    draw = random.Random(1)
    pairs, annotations = [], []
    for number in range(n):
        words = draw.sample(WORDS, k=7)
        at = draw.randrange(7)
        start = len(" ".join(words[:at])) + (at > 0)
        wrong = [*words[:at], "wrongly", *words[at + 1 :]]
        key = {"split": "test", "context_id": f"{number // 2}", "aspect": "a", "group": None}
        pairs.append(
            key
            | {
                "pair_id": f"p{number}",
                "cluster": None,
                "high_id": f"h{number}",
                "low_id": f"l{number}",
                "error_category": "odd" if number % 3 else "even",
                "candidate_high": " ".join(words),
                "candidate_low": " ".join(wrong),
            }
        )
        span = {"start": start, "end": start + 7, "label": "odd", "severity": "minor"}
        annotations.append(
            key
            | {
                "candidate_id": f"l{number}",
                "label": pairs[-1]["error_category"],
                "spans": [span, {"start": None, "end": None, "label": "odd", "severity": "major"}],
            }
        )
    frame = pl.DataFrame(pairs, schema_overrides={"group": pl.String, "cluster": pl.String})
    return frame, pl.DataFrame(annotations, schema_overrides={"group": pl.String})


def tokens_of(pairs: pl.DataFrame, value: Any) -> pl.DataFrame:
    rows = []
    for pair in pairs.to_dicts():
        for side in ("high", "low"):
            starts, ends, values, at = [], [], [], 0
            for word in pair[f"candidate_{side}"].split():
                starts.append(at)
                ends.append(at + len(word))
                values.append(value(word))
                at += len(word) + 1
            rows.append(("m", pair["pair_id"], side, starts, ends, values))
    return pl.DataFrame(rows, TOKENS, orient="row")


def test_a_model_that_dislikes_the_marked_words() -> None:
    pairs, annotations = planted()
    draw = random.Random(2)
    dislikes = lambda word: -9.0 if word == "wrongly" else -draw.random()  # noqa: E731
    found = surprise_at_spans("toy", pairs, annotations, tokens_of(pairs, dislikes))
    rows = found.models["m"]
    assert [(row.axis, row.value, row.marked.n) for row in rows] == [
        ("all", "all", 60),
        ("error_category", "even", 20),
        ("error_category", "odd", 40),
        ("severity", "minor", 60),  # the major one has no place
    ]
    assert {row.marked.auc for row in rows} == {1.0}
    assert rows[0].marked.contexts == 30
    # Its control, one of seven words in the better text, is at chance.
    control = rows[0].control
    assert control.n == 60
    assert control.interval is not None
    assert control.interval[0] < 0.5 < control.interval[1]
    assert "with probability 1.000" in found.headline()


def test_spans_count_clusters_and_say_if_these_are_few() -> None:
    pairs, annotations = planted()
    document = pl.format("document:{}", pl.col("context_id").cast(pl.Int64) // 4)
    tokens = tokens_of(pairs, lambda word: -9.0 if word == "wrongly" else -1.0)
    shared = pairs.with_columns(cluster=document)
    found = surprise_at_spans("toy", shared, annotations, tokens, "document")
    assert found.models["m"][0].marked.contexts == 8
    assert "documents" in [str(column.header) for column in found.table().columns]
    assert found.remarks()[-1].startswith("The tests come from only 8 documents; with fewer")
    alone = surprise_at_spans("toy", pairs, annotations, tokens)
    assert "contexts" in [str(column.header) for column in alone.table().columns]
    assert len(alone.remarks()) == 1


def test_a_model_that_knows_nothing_is_at_chance() -> None:
    pairs, annotations = planted()
    draw = random.Random(3)
    found = surprise_at_spans("toy", pairs, annotations, tokens_of(pairs, lambda _: -draw.random()))
    interval = found.models["m"][0].marked.interval
    assert interval is not None
    assert interval[0] < 0.5 < interval[1]
    tokens, nothing = tokens_of(pairs, lambda _: -1.0), annotations.clear()
    with refusal("data.no-pairs", "toy"):
        surprise_at_spans("toy", pairs, nothing, tokens)


def test_other_errors_of_a_candidate_are_left_out_under_a_category() -> None:
    key = {"split": "test", "context_id": "1", "aspect": "a", "group": None}
    texts = {"candidate_high": "a x b z", "candidate_low": "w x y z", "low_id": "l", "high_id": "h"}
    pairs = [
        key | texts | {"pair_id": name, "error_category": name, "cluster": None} for name in "XY"
    ]
    spans = {
        name: {"start": at, "end": at + 1, "label": name, "severity": "minor"}
        for name, at in (("X", 0), ("Y", 4))
    }
    annotations = [
        key | {"candidate_id": "l", "label": name, "spans": [span]} for name, span in spans.items()
    ]
    surprisal = {"w": 3.0, "x": 2.0, "y": 1.0, "z": 0.0}
    types = {"group": pl.String, "cluster": pl.String}
    frame = pl.DataFrame(pairs, schema_overrides=types)
    tokens = tokens_of(frame, lambda word: -surprisal.get(word, 1.0))
    marks = pl.DataFrame(annotations, schema_overrides={"group": pl.String})
    found = surprise_at_spans("toy", frame, marks, tokens).models["m"]
    # X marks w, and Y marks y. All: of 3 and 1 against 2 and 0, three of four pairs are right.
    # X: 3 against 2 and 0, without y; Y: 1 against 2 and 0, without w. In their places a and b have
    # 1, half of which is right against 2 and 0.
    assert [(row.value, row.marked.n, row.marked.auc, row.control.auc) for row in found] == [
        ("all", 1, 0.75, 0.5),
        ("X", 1, 1.0, 0.5),
        ("Y", 1, 0.5, 0.5),
        ("minor", 1, 0.75, 0.5),
    ]


MARKS = """

from nnd.converters import Span


def annotations(files):
    for row in read(files):
        end = len(row.candidate.split()[0])
        yield row._replace(spans=[] if row.label == "good" else [Span(0, end, row.label, "minor")])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, in which the first word of each error is marked."""
    sample, own = load_source("sample").folder, tmp_path_factory.mktemp("own") / "sample"
    own.mkdir()
    for name in ("source.yaml", "sample.jsonl", "convert.py"):
        (own / name).write_bytes((sample / name).read_bytes())
    code = (own / "convert.py").read_text(encoding="utf-8").replace("def annotations(", "def read(")
    (own / "convert.py").write_text(code + MARKS, encoding="utf-8")
    convert(own, out=own.parent / "data")
    return own.parent / "data"


@pytest.fixture(scope="module")
def run(folder: Path, loaded: Loaded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    scoring = Scoring(keep_tokens=True, unconditional=False, cache=False)
    nnd.evaluate(loaded("gpt2"), folder, scoring=scoring, out=out)
    return out


def test_tokens_are_stored_and_add_up(run: Path) -> None:
    rows = pl.read_parquet(run / "log_likelihoods.parquet")
    tokens = read_tokens(run).with_columns(mean=pl.col("log_likelihood").list.mean())
    assert tokens.schema["log_likelihood"] == pl.List(pl.Float32)
    for side in ("high", "low"):
        own = tokens.filter(side=side).join(rows, on="pair_id", maintain_order="left")
        assert own.height == rows.height
        assert own["mean"].to_list() == pytest.approx(own[f"ll_{side}"].to_list(), abs=1e-5)
    # Another model is added to the run, and the tokens of the first stay.
    before = read_tokens(run)
    assert before["model"].unique().to_list() == ["gpt2"]


def test_an_untrained_model_is_hardly_surprised(run: Path, folder: Path) -> None:
    found = nnd.slice(run, folder, spans=True)
    (of_all, *_) = found.models["gpt2"]
    assert of_all.marked.n > 30
    assert of_all.marked.auc is not None
    assert "gpt2" in str(found)
    with refusal("option.conflict"):
        nnd.slice(run, folder, spans=True, by="length")
    with refusal("data.not-converted"):
        nnd.slice(run, spans=True)


def test_a_pair_is_shown_token_by_token(run: Path, folder: Path, loaded: Loaded) -> None:
    pairs = pl.read_parquet(folder / "pairs.parquet")
    pair = pairs.filter(~pl.col("candidate_high").str.contains(r"[^\x00-\x7f]")).row(0, named=True)
    found = nnd.show(folder, pair=pair["pair_id"], run=run)
    assert "".join(token.text for token in found.high["gpt2"]) == pair["candidate_high"].replace(
        " ", ""
    )
    stored = read_tokens(run).filter(pair_id=pair["pair_id"], side="low").row(0, named=True)
    assert [token.log_likelihood for token in found.low["gpt2"]] == stored["log_likelihood"]
    assert "difference" in str(found)
    again = nnd.show(folder, pair=pair["pair_id"], models=loaded("gpt2"))
    values = [token.log_likelihood for token in again.low["gpt2"]]
    assert values == pytest.approx(stored["log_likelihood"], abs=1e-5)
    with refusal("name.unknown"):
        nnd.show(folder, pair="zzz", run=run)
    with refusal("option.needs-another"):
        nnd.show(folder, run=run)


def test_two_texts_given_on_the_spot_are_shown_token_by_token(
    tiny: Callable[[str], Family], loaded: Loaded
) -> None:
    family, model = tiny("gpt2"), loaded("gpt2")
    context, high, low = "The cat sat on", "the mat.", "the big dog."
    found = nnd.show(models=model, context=context, high=high, low=low)
    sums = {}
    for text, tokens in ((high, found.high["gpt2"]), (low, found.low["gpt2"])):
        assert "".join(token.text for token in tokens) == text.replace(" ", "")
        sums[text] = sum(token.log_likelihood for token in tokens)
        before, own = family.text_ids(context), family.text_ids(f" {text}")
        with torch.no_grad():
            logits = family.model(torch.tensor([before + own])).logits[0].log_softmax(-1)
        places = range(len(before) - 1, len(before) + len(own) - 1)
        values = [float(logits[at, token]) for at, token in zip(places, own, strict=True)]
        assert [token.log_likelihood for token in tokens] == pytest.approx(values, abs=1e-4)
    mean = sums[high] / len(found.high["gpt2"])
    assert f"gpt2 {sums[high]:.2f} ({mean:.2f} a token) and {sums[low]:.2f}" in found.headline()
    with refusal("input.missing"):
        nnd.show(models=model, high=high)
    with refusal("option.conflict"):
        nnd.show(pl.DataFrame(), models=model, high=high)


def unpacked(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
    return found


def test_a_report_shows_the_surprise_of_each_pair_and_marks_of_its_group(
    run: Path, folder: Path, tmp_path: Path
) -> None:
    models = read_models([run])
    packed = unpacked(pack_pairs(models, nnd.load_pairs(folder)))
    (tokens,) = packed["tokens"]
    first = packed["candidates"][packed["low"][0]]
    assert packed["marked"][0] == [[0, len(first.split()[0])]]
    stored = read_tokens(run).filter(pair_id=packed["pair_id"][0], side="low").row(0, named=True)
    assert [token[2] for token in tokens["low"][0]] == pytest.approx(
        [
            -value
            for at, value in zip(stored["start"], stored["log_likelihood"], strict=True)
            if at is not None
        ],
        abs=0.006,
    )
    own = shutil.copytree(folder, tmp_path / "data")
    for name in ("pairs.parquet", "annotations.parquet"):
        rewrite(own, name, pl.lit("a").alias("group"))
    assert unpacked(pack_pairs(models, nnd.load_pairs(own)))["marked"] == packed["marked"]
    rewrite(own, "annotations.parquet", pl.lit("b").alias("group"))
    assert not any(unpacked(pack_pairs(models, nnd.load_pairs(own)))["marked"])
