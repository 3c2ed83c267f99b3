"""The same pairs under several choices: each is the evaluation it stands for."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from support.metric_runs import pair_rows
from support.refusals import refusal
from support.screens.commands import Nnd
from support.shown import check_pictured
from support.stored_folders import read_facts

from nnd.metric.likelihood import Engine, LoadedModel, Loading, Scoring
from nnd.metric.run import Variation, evaluate, vary
from nnd.metric.text import PROTOCOLS
from nnd.schemas import check_rows, read_document

Saved = Callable[[str], Path]
PAIRS = pair_rows()


@pytest.fixture(scope="module")
def varied(saved: Saved, tmp_path_factory: pytest.TempPathFactory) -> Variation:
    """A decoder-only model under every choice, written to a folder."""
    place = tmp_path_factory.mktemp("vary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NND_CACHE", str(place / "cache"))
        names = ["protocol", "dtype", "separator", "normalise"]
        return vary(saved("gpt2"), PAIRS, names, out=place / "run")


def choice(varied: Variation, name: str) -> pl.DataFrame:
    (found,) = [each.scored.scored for each in varied.choices if each.choice == name]
    return found


def test_each_choice_is_the_evaluation_it_stands_for(varied: Variation, saved: Saved) -> None:
    model = saved("gpt2")
    expected = {
        "sum": evaluate(model, PAIRS, scoring=Scoring("sum")),
        "newline": evaluate(model, PAIRS, scoring=Scoring(separator="\n")),
        "bfloat16": evaluate(model, PAIRS, loading=Loading(dtype="bfloat16")),
    }
    for name, found in expected.items():
        assert choice(varied, name)["ll_high"].to_list() == pytest.approx(
            found.scored["ll_high"].to_list(), abs=1e-5
        )
    lower = PAIRS.with_columns(
        pl.col("context", "candidate_high", "candidate_low").str.to_lowercase()
    )
    assert choice(varied, "lower")["ll_low"].to_list() == pytest.approx(
        evaluate(model, lower).scored["ll_low"].to_list(), abs=1e-5
    )


def test_flips_are_those_against_the_default(varied: Variation) -> None:
    default = varied.default.scored.scored["passed"]
    for each in varied.choices:
        flipped = (each.scored.scored["passed"] != default).sum()
        assert each.only_first + each.only_second == flipped  # all pairs are distinct tests
    assert any(each.flipped for each in varied.choices)


def test_a_choice_that_does_not_fit_is_left_out_and_said(varied: Variation) -> None:
    assert varied.default.choices == {
        "protocol": "native",
        "dtype": "float32",
        "separator": "space",
        "normalise": "raw",
    }
    assert [(each.dimension, each.choice) for each in varied.left_out] == [
        ("protocol", "bartscore")
    ]
    default, left_out = varied.remarks()
    assert default == (
        "The default is protocol native, dtype float32, separator space, normalise raw."
    )
    assert '"bartscore"' in left_out
    done = [each.choice for each in varied.choices if each.dimension == "protocol"]
    fitting = [name for name, each in PROTOCOLS.items() if each.hides is None]
    assert done == [name for name in fitting if name not in ("native", "bartscore")]


def test_it_shows_itself_and_fits_its_schema(varied: Variation) -> None:
    marks = check_pictured(varied)
    assert len(marks) == len(varied.choices) == varied.to_frame().height
    assert varied.headline().startswith("tiny-gpt2 passes ")
    assert list(check_rows("variation", [varied.to_dict()])) == []
    assert "|normalise:lower|" in "\n".join(varied.details())


def test_what_is_written_is_what_was_scored(varied: Variation, tmp_path: Path) -> None:
    varied.write(tmp_path / "run")
    stored = pl.read_parquet(tmp_path / "run" / "choices.parquet")
    assert stored.filter(choice="lower").drop("dimension", "choice").equals(choice(varied, "lower"))
    told = tmp_path / "run" / "variation.json"
    assert list(read_document(told)["outputs"]) == ["choices.parquet"]
    assert read_facts(told) == varied.to_dict()


def test_varied_again_nothing_is_computed(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    first = vary(saved("gpt2"), PAIRS, ["protocol"])
    computed: list[int] = []
    sums = Engine.sum_rows
    monkeypatch.setattr(Engine, "sum_rows", lambda self, rows: watch(computed, sums(self, rows)))
    again = vary(saved("gpt2"), PAIRS, ["protocol"])
    assert computed
    assert set(computed) == {0}
    assert again.to_dict() == first.to_dict()


def watch(computed: list[int], answer: tuple[object, object]) -> tuple[object, object]:
    computed.append(getattr(answer[1], "tokens"))  # noqa: B009
    return answer


def test_an_encoder_decoder_has_no_separator(loaded: Callable[[str], LoadedModel]) -> None:
    found = vary(loaded("bart"), PAIRS, ["separator", "dtype"], scoring=Scoring(cache=False))
    default, *left_out = found.remarks()
    assert default == "The default is dtype float32."
    assert [line.partition(" is left out: ")[0] for line in left_out] == [
        *("separator", "dtype bfloat16", "dtype float16")
    ]
    assert found.headline().endswith("; there was no other choice to score.")
    assert found.drawing() is None


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (
            ["protocols"],
            "option.unknown-value",
        ),
        ([], "input.missing"),
    ],
)
def test_an_unknown_dimension_is_an_error(names: list[str], code: str) -> None:
    with refusal(code):
        vary("no-such-model", PAIRS, names)


def test_a_folder_of_others_is_left_alone_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with refusal("place.foreign-files", "test_a_folder_of_others_is_lef0"):
        vary("no-such-model", PAIRS, ["dtype"], out=tmp_path)


def test_the_command(saved: Saved, nnd: Nnd, tmp_path: Path) -> None:
    data, out = tmp_path / "pairs.parquet", tmp_path / "run"
    PAIRS.write_parquet(data)
    asked = ["evaluate", "--model", saved("gpt2"), "--data", data, "--vary", "normalise"]
    assert json.loads(nnd(*asked, "--out", out, "--json").out) == read_facts(out / "variation.json")
    nnd.refuses(*asked, "--model", "gpt2", code="option.conflict")
