"""The main job in memory: models and pairs in, results and agreement out."""

import hashlib
import json
import re
import shutil
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import oracle
from support.flat_options import gathered
from support.refusals import refusal
from support.tiny_models import Family
from support.tokenizer_kinds import joining
from support.two_models import write_run

from nnd.metric.data.pairs import load_pairs
from nnd.metric.data.scored_schema import SCORED_SCHEMA
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.likelihood.engine.faster_precision import FasterPrecision
from nnd.metric.likelihood.models.load_model import wrap_model
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.numbers import agree
from nnd.metric.numbers.comparison.comparing import compare
from nnd.metric.run import Evaluation, Sweep, evaluate
from nnd.metric.run.launchers import here
from nnd.schemas import ScoringWarning, check_rows

Loaded = Callable[[str], LoadedModel]
Tiny = Callable[[str], Family]

# Four contexts, eight pairs; in the last context one (high, low) differs by two categories.
ROWS = [
    ("the river", "the cat", "a dog", "rude"),
    ("the river", "the cat", "in London", "wrong"),
    ("who wrote it?", "nobody", "the town", "rude"),
    ("who wrote it?", "nobody", "a book", "wrong"),
    ("the hill", "over it", "it over", "rude"),
    ("the hill", "over it", "under", "wrong"),
    ("in 1884", "Tesla", "Paris", "rude"),
    ("in 1884", "Tesla", "Paris", "wrong"),
]
PAIRS = pl.DataFrame(
    ROWS, ["context", "candidate_high", "candidate_low", "error_category"], orient="row"
)
PEOPLE = pl.DataFrame(
    [
        ("A", "org/a", "quality", category, score)
        for category, score in (("overall", 0.3), ("rude", 0.4), ("wrong", 0.9))
    ]
    + [
        ("B", None, "quality", category, score)
        for category, score in (("overall", 0.6), ("rude", 0.5), ("wrong", 0.1))
    ],
    ["system", "model_id", "aspect", "category", "score"],
    orient="row",
)


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a converted one: pairs and the human scores that come with them."""
    folder = tmp_path_factory.mktemp("data") / "invented-nnd"
    folder.mkdir()
    PAIRS.write_parquet(folder / "pairs.parquet")
    PEOPLE.write_parquet(folder / "human_scores.parquet")
    return folder


SYSTEMS = {"gpt2": "A", "bart": "B"}


@pytest.fixture(scope="module")
def judged(loaded: Loaded, converted: Path) -> Evaluation:
    """Two models that stand for the judged systems."""
    return evaluate([loaded("gpt2"), loaded("bart")], converted, systems=SYSTEMS)


# Results


def test_likelihoods_are_those_of_the_formula(loaded: Loaded, tiny: Tiny) -> None:
    found = evaluate(loaded("bart"), PAIRS).scored
    for name, contexts in (("ll_alone", [""] * len(ROWS)), ("ll", PAIRS["context"])):
        texts = zip(contexts, PAIRS["candidate_high"], PAIRS["candidate_low"], strict=True)
        requests = [(context, text) for context, *both in texts for text in both]
        scores = oracle.scores(tiny("bart"), "native", requests)
        expected = [score.log_likelihood for score in scores]
        assert found[f"{name}_high"].to_list() == pytest.approx(expected[::2], abs=1e-5)
        assert found[f"{name}_low"].to_list() == pytest.approx(expected[1::2], abs=1e-5)
    passes = [high > low for high, low in zip(expected[::2], expected[1::2], strict=True)]
    assert found["passed"].to_list() == passes


def test_pmi_keeps_the_baseline_that_it_subtracts(loaded: Loaded) -> None:
    native = evaluate(loaded("gpt2"), PAIRS)
    pmi = evaluate(loaded("gpt2"), PAIRS, scoring=Scoring(protocol="pmi"))
    baseline = ["ll_alone_high", "ll_alone_low"]
    assert pmi.scored.select(baseline).equals(native.scored.select(baseline))
    for side in ("high", "low"):
        gain = native.scored[f"ll_{side}"] - native.scored[f"ll_alone_{side}"]
        assert pmi.scored[f"ll_{side}"].to_list() == pytest.approx(gain.to_list(), abs=1e-6)
    (of_pmi,), (of_native,) = pmi.results, native.results
    assert of_pmi.work.deviation == pytest.approx(2 * (of_native.work.deviation or 0))
    check_rows("result", [of_pmi.to_dict()])


def test_auto_names_the_template_that_it_took(loaded: Loaded, tmp_path: Path) -> None:
    asked = pl.DataFrame(ROWS, PAIRS.columns, orient="row").with_columns(
        inputs=pl.struct(question="context")
    )
    model = replace(loaded("bart"), name="allenai/macaw-tiny")
    for _ in range(2):  # the second run finds the first one's results in the folder
        (result,) = evaluate(
            model, asked, out=tmp_path / "run", scoring=Scoring(template="auto")
        ).results
        assert result.template == "macaw"
        assert "|template:macaw|" in result.signature


def test_a_result_says_what_was_done(loaded: Loaded) -> None:
    (result,) = evaluate(loaded("gpt2"), PAIRS, scoring=Scoring(protocol="sum")).results
    assert (result.model, result.protocol, result.template) == ("gpt2", "sum", "default")
    assert (result.dtype, result.device) == ("float32", "cpu")
    assert (result.rates.n_pairs, result.rates.overall.n) == (8, 7)
    assert list(result.rates.by["error_category"]) == ["rude", "wrong"]
    assert f"@{result.version[:7]}|" in result.signature


def test_tests_with_a_token_across_the_boundary_are_counted_once(loaded: Loaded) -> None:
    model = wrap_model(loaded("gpt2").model, joining("t "), name="joining")
    data = pl.DataFrame(
        {
            "context": ["the cat", "the dog", "the cat", "the dog"],
            "candidate_high": ["sat", "sat", "sat", ""],
            "candidate_low": ["ran", "ran", "ran", "he"],
            "error_category": ["rude", "rude", "wrong", "rude"],  # the third is the first again
        }
    )
    (result,) = evaluate(model, data).results
    assert result.n_crossing == result.to_dict()["n_crossing"] == 1
    (note,) = (note for note in result.notes if "encoded as one text" in note)
    assert note.startswith("in 1 of 3 tests, context and candidate encoded as one text would give")


@pytest.mark.parametrize(
    ("name", "protocol", "crossing"),
    [("gpt2", "bytes", 0), ("gpt2", "laban2022", None), ("bart", "native", None)],
)
def test_no_boundary_is_crossed_where_there_is_none(
    name: str, protocol: str, crossing: int | None, loaded: Loaded
) -> None:
    (result,) = evaluate(loaded(name), PAIRS, scoring=Scoring(protocol=protocol)).results
    assert result.n_crossing == crossing
    assert not any("encoded as one text" in note for note in result.notes)


def test_the_result_is_plain_json_that_keeps_the_schema(judged: Evaluation, loaded: Loaded) -> None:
    alone = evaluate(loaded("gpt2"), PAIRS)
    assert (judged.agreement is None, alone.agreement is None) == (False, True)
    for found in (judged.to_dict(), alone.to_dict()):
        assert list(check_rows("result", [found])) == []
        assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_no_pairs_give_no_rate_and_no_agreement(loaded: Loaded) -> None:
    found = evaluate([loaded("gpt2"), loaded("bart")], PAIRS.clear(), human_scores=PEOPLE)
    assert [result.rates.overall.pass_rate for result in found.results] == [None, None]
    assert (found.agreement, found.agreement_reason) == (None, "the data has no pairs")
    assert list(check_rows("result", [found.to_dict()])) == []


def test_one_pair_is_enough(loaded: Loaded) -> None:
    (result,) = evaluate(loaded("gpt2"), PAIRS.head(1)).results
    assert (result.rates.overall.n, result.rates.overall.interval) == (1, None)


def test_pairs_read_before_are_not_read_again(loaded: Loaded) -> None:
    data = load_pairs(PAIRS)
    (one,) = evaluate(loaded("gpt2"), data, scoring=Scoring(cache=False)).results
    (other,) = evaluate(loaded("gpt2"), PAIRS, scoring=Scoring(cache=False)).results
    assert one == other


def test_texts_in_any_script_are_scored(loaded: Loaded) -> None:
    data = PAIRS.head(2).with_columns(
        context=pl.Series(["東京は", "Ünïcode 🍰 e\u0301"]),
        candidate_high=pl.Series(["日本の首都です", "naïve\n\n"]),
        candidate_low=pl.Series(["\u200b\ufeff", "\t"]),
    )
    for name in ("gpt2", "llama", "t5", "bart"):
        (result,) = evaluate(loaded(name), data).results
        assert result.rates.overall.unscored == 0


# Baselines


def test_pairs_without_a_context_have_an_interval_and_can_differ(
    loaded: Loaded, tmp_path: Path
) -> None:
    words = ("the cat", "a dog", "in London", "nobody", "the town", "a book", "over it", "Tesla")
    pairs = pl.DataFrame(
        [
            {
                "context": "",
                "candidate_high": f"{good} {number}",
                "candidate_low": f"{bad} {number}",
            }
            for number in range(5)
            for good, bad in zip(words, words[1:] + words[:1], strict=True)
        ]
    )
    found = evaluate(loaded("gpt2"), pairs)
    overall = found.results[0].rates.overall
    assert (overall.n, overall.contexts) == (40, 40)
    assert overall.interval is not None
    assert overall.baselines["unconditional"] is None
    assert not [note for note in found.results[0].notes if "without any context" in note]
    assert list(check_rows("result", [found.to_dict()])) == []
    low, high = overall.interval
    assert low < (overall.pass_rate or 0) < high
    # A model that fails all of them is significantly worse.
    failing = found.scored.with_columns(model=pl.lit("none"), passed=pl.lit(value=False))
    passing = found.scored.with_columns(model=pl.lit("all"), passed=pl.lit(value=True))
    (comparison,) = compare([write_run(tmp_path / "run", failing, passing)])
    assert comparison.overall.verdict == "second"


def test_unless_nobody_wants_to_know(loaded: Loaded) -> None:
    found = evaluate(loaded("gpt2"), PAIRS, scoring=Scoring(unconditional=False))
    (result,) = found.results
    assert found.scored["ll_alone_high"].null_count() == 8
    assert result.rates.overall.baselines["unconditional"] is None
    assert result.rates.overall.baselines["shorter_wins"] is not None
    assert not [note for note in result.notes if "context" in note]
    assert list(check_rows("result", [found.to_dict()])) == []


def test_a_model_that_needs_contexts_is_scored_with_them_and_says_so(
    fresh: Callable[..., Family],
) -> None:
    family = fresh("gpt2")
    family.tokenizer.bos_token = family.tokenizer.eos_token = None
    found = evaluate(wrap_model(family.model, family.tokenizer, name="mine"), PAIRS)
    (result,) = found.results
    assert result.rates.overall.unscored == 0
    assert found.scored["ll_alone_low"].null_count() == 8
    assert result.notes[-1].startswith("no baseline without contexts: mine: a context is empty, ")
    assert list(check_rows("result", [found.to_dict()])) == []


def test_a_checkpoint_with_code_of_its_own_says_what_scored_it(
    saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(saved("gpt2"), tmp_path / "own")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "modeling_own.OwnModel"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modeling_own.py").write_text(
        "from transformers import GPT2LMHeadModel\n\n\nclass OwnModel(GPT2LMHeadModel):\n    pass\n"
    )
    plain, own = (
        evaluate(folder, PAIRS, loading=Loading(device="cpu", trust_remote_code=trusted)).results[0]
        for trusted in (False, True)
    )

    (note,) = (note for note in plain.notes if "auto_map" in note)
    assert "custom code" in note
    assert "scored as the GPT2LMHeadModel of transformers" in note
    assert note in plain.to_dict()["notes"]
    assert not any("auto_map" in note for note in own.notes)


def test_what_is_no_model_is_refused(tiny: Tiny, loaded: Loaded) -> None:
    gpt2, bart = loaded("gpt2"), loaded("bart")
    refusals: list[tuple[Any, str, str]] = [
        (object(), "model.unknown", "object"),
        ([object()], "model.unknown", "object"),
        (tiny("gpt2").model, "model.unknown", "GPT2LMHeadModel"),  # without its tokenizer
        ([], "input.missing", ""),
        ([gpt2, bart, gpt2], "name.twice", ""),
    ]
    for models, code, where in refusals:
        with refusal(code, where):
            evaluate(models, PAIRS)


def test_half_a_surrogate_pair_is_refused_wherever_it_is(tiny: Tiny, loaded: Loaded) -> None:
    half = "a \ud800"
    with refusal("cell.not-text"):
        evaluate(loaded("gpt2"), PAIRS, scoring=Scoring(template=f"{half} {{context}}"))
    with refusal("option.bad-value", 'model "a \ud800"'):
        evaluate(wrap_model(tiny("gpt2").model, tiny("gpt2").tokenizer, name=half), PAIRS)
    people = [
        {"system": half, "model_id": None, "aspect": "a", "category": "overall", "score": 1.0}
    ]
    with refusal("cell.not-text", "row 0"):
        evaluate(loaded("gpt2"), PAIRS, human_scores=people)


def test_what_the_surface_may_explain_is_a_note(loaded: Loaded) -> None:
    # The good candidate is the whole context: "more copied wins" passes all, so nobody leads.
    data = PAIRS.with_columns(
        context=pl.col("candidate_high") + " the end",
        candidate_high=pl.col("candidate_high") + " the end",
        candidate_low=pl.col("candidate_low") + " is",
    )
    (result,) = evaluate(loaded("gpt2"), data).results
    said = "always picking the text that copies more passes 100.0 % of 7 tests"
    assert any(said in note for note in result.notes)


# Datasets


@pytest.mark.parametrize("kind", [PAIRS.to_dicts, PAIRS.to_pandas, PAIRS.to_arrow])
def test_a_table_in_memory_is_one_dataset(kind: Callable[[], Any], loaded: Loaded) -> None:
    found = evaluate(loaded("gpt2"), kind())
    assert isinstance(found, Evaluation)
    assert found.results[0].rates == evaluate(loaded("gpt2"), PAIRS).results[0].rates


@pytest.mark.parametrize("several", [list, tuple])
def test_a_list_of_datasets_is_a_sweep(several: Callable[[Any], Any], loaded: Loaded) -> None:
    found = evaluate(loaded("gpt2"), several([load_pairs(PAIRS)]))
    assert isinstance(found, Sweep)
    assert found.evaluations["frame"].to_dict() == evaluate(loaded("gpt2"), PAIRS).to_dict()


def test_a_folder_of_something_else_is_refused_before_the_work(tiny: Tiny, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with refusal("place.foreign-files", "test_a_folder_of_something_els0"):
        evaluate(unusable(tiny), PAIRS, out=tmp_path)


# Several models


def test_the_best_model_is_shown_first_and_else_models_keep_their_order(loaded: Loaded) -> None:
    asked = ["t5", "gpt2", "bart"]
    found = evaluate([loaded(name) for name in asked], PAIRS)
    assert [result.model for result in found.results] == asked
    assert found.scored["model"].unique(maintain_order=True).to_list() == asked
    assert found.scored.height == 3 * 8
    shared = evaluate(loaded("gpt2"), PAIRS).results[0].rates
    rates = [0.25, 0.75, 0.25]
    results = tuple(
        replace(each, rates=replace(shared, overall=replace(shared.overall, pass_rate=rate)))
        for each, rate in zip(found.results, rates, strict=True)
    )
    shown = replace(found, results=results)

    order = ["gpt2", "t5", "bart"]
    assert [*map(str, shown.table().columns[0].cells)] == ["tests", *order]
    slices_, *_ = shown.details()
    assert [str(column.header) for column in slices_.columns][2:] == order  # type: ignore[union-attr]
    assert shown.details()[-3:] == [
        result.signature for name in order for result in results if result.model == name
    ]
    assert [each["model"] for each in shown.to_dict()["results"]] == asked


def test_each_model_scores_as_it_does_alone(loaded: Loaded) -> None:
    together = evaluate([loaded("gpt2"), loaded("bart")], PAIRS, scoring=Scoring(cache=False))
    for result in together.results:
        alone = evaluate(loaded(result.model), PAIRS, scoring=Scoring(cache=False))
        assert alone.results == (result,)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("other", ["./m", "m/", "x/../m", "{here}/m"])
def test_two_spellings_of_a_path_are_one_model(
    other: str, saved: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").symlink_to(saved("gpt2"))
    Path("x").mkdir()
    other = other.format(here=tmp_path)
    with refusal("name.twice"):
        evaluate(["m", other], PAIRS)
    evaluate("m", PAIRS, out="run")
    assert [each.model for each in evaluate(other, PAIRS, out="run").results] == [other]


def test_folders_and_loaded_models_go_together(
    loaded: Loaded, saved: Callable[[str], Path]
) -> None:
    found = evaluate([saved("gpt2"), loaded("gpt2")], PAIRS, loading=Loading(device="cpu"))
    one, other = found.results
    assert (one.model, other.model) == (str(saved("gpt2")), "gpt2")
    assert one.version == other.version
    assert one.rates == other.rates


# Slips are found before the work


def unusable(tiny: Tiny) -> LoadedModel:
    """A model that must not be asked anything."""

    def asked(*_: Any, **__: Any) -> None:
        pytest.fail("the model was asked before the slip was found")

    wrapped = wrap_model(tiny("gpt2").model, tiny("gpt2").tokenizer, name="mine")
    model = type("Untouched", (), {"__getattr__": asked})()
    return LoadedModel(model, wrapped.tokenizer, "mine")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"protocol": "nativ"}, "option.unknown-value"),
        ({"template": "mixgq"}, "template.unknown"),
        ({"systems": {"mien": "A"}}, "name.unknown"),
        ({"systems": {"mine": "Z"}}, "name.unknown"),
        ({"human_scores": "nowhere"}, "file.not-found"),
    ],
    ids=str,
)
def test_slips_in_options(options: dict[str, Any], code: str, tiny: Tiny, converted: Path) -> None:
    with refusal(code):
        evaluate(unusable(tiny), converted, **gathered(**options))


def test_a_later_model_that_is_not_there(tiny: Tiny, tmp_path: Path) -> None:
    with refusal("model.unknown", "nowhere"):
        evaluate([unusable(tiny), tmp_path / "nowhere"], PAIRS)


def test_an_unknown_side_to_keep_is_an_error(loaded: Loaded) -> None:
    with refusal("option.unknown-value"):
        evaluate(loaded("gpt2"), PAIRS, scoring=Scoring(keep="middle"))  # type: ignore[arg-type]


# Agreement


def test_human_scores_come_with_the_data(judged: Evaluation, loaded: Loaded) -> None:
    models = [loaded("gpt2"), loaded("bart")]
    named = evaluate(models, PAIRS, human_scores=PEOPLE, systems=SYSTEMS).agreement
    assert judged.agreement is not None
    assert judged.agreement == named
    assert judged.agreement.systems == SYSTEMS


def test_human_scores_of_ones_own_come_first(loaded: Loaded, converted: Path) -> None:
    models = [loaded("gpt2"), loaded("bart")]
    own = PEOPLE.with_columns(system=pl.col("system").str.to_lowercase())
    found = evaluate(
        models, converted, human_scores=own, systems={"gpt2": "a", "bart": "b"}
    ).agreement
    assert found is not None
    assert found.systems == {"gpt2": "a", "bart": "b"}


def test_agreement_has_every_category_and_intervals(judged: Evaluation) -> None:
    found = judged.to_dict()
    agreement, results = found["agreement"], found["results"]
    assert list(agreement["by_category"]) == ["overall", "rude", "wrong"]
    for name, human_gap in (("rude", 0.4 - 0.5), ("wrong", 0.9 - 0.1)):
        one, other = (result["by_error_category"][name]["pass_rate"] for result in results)
        # Two systems agree or disagree, or the models tie and nothing is defined.
        sign = None if one == other else (1.0 if (one - other) * human_gap > 0 else -1.0)
        assert agreement["by_category"][name]["tau_a"] == sign
        assert agreement["by_category"][name]["n"] == 2


@pytest.mark.parametrize(
    ("models", "systems", "reason"),
    [
        (["gpt2"], {"gpt2": "A"}, "needs two models .* only gpt2 is;"),
        (["gpt2", "bart"], None, "needs two models .* none is; .* the systems are A, B"),
        (["gpt2", "bart"], {"bart": "B"}, "needs two models .* only bart is;"),
    ],
)
def test_without_two_systems_there_is_a_reason(
    models: list[str],
    systems: dict[str, str] | None,
    reason: str,
    loaded: Loaded,
    converted: Path,
) -> None:
    found = evaluate([loaded(name) for name in models], converted, systems=systems)
    assert found.agreement is None
    assert re.search(reason, found.agreement_reason or "")
    assert (found.agreement_reason in found.remarks()) == (systems is not None)


def test_human_scores_that_were_named_ask_for_agreement(loaded: Loaded, converted: Path) -> None:
    found = evaluate(loaded("gpt2"), converted, human_scores=converted)
    assert found.agreement_reason in found.remarks()


def test_without_human_scores_there_is_a_reason(loaded: Loaded) -> None:
    found = evaluate([loaded("gpt2"), loaded("bart")], PAIRS)
    assert found.agreement is None
    assert (
        found.agreement_reason == "the data has no human scores; pass human_scores (--human-scores)"
    )
    assert found.agreement_reason not in found.remarks()


# Files


def test_writing_stores_the_result_and_every_likelihood(judged: Evaluation, tmp_path: Path) -> None:
    for _ in range(2):  # the second replaces what the first has written
        judged.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("result.json", "log_likelihoods.parquet", "cost.json")
    }
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert {key: result[key] for key in judged.to_dict()} == judged.to_dict()
    content = (tmp_path / "log_likelihoods.parquet").read_bytes()
    assert result["outputs"] == {
        "log_likelihoods.parquet": {
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    }
    assert list(check_rows("result", [result])) == []
    stored = pl.read_parquet(tmp_path / "log_likelihoods.parquet")
    assert stored.equals(judged.scored)
    assert stored.schema == {"model": pl.String(), **SCORED_SCHEMA}


def test_agree_finds_the_same_in_the_files_of_one_run_or_of_several(
    judged: Evaluation, loaded: Loaded, converted: Path, tmp_path: Path
) -> None:
    for name, data in (("gpt2", PAIRS), ("bart", PAIRS.reverse())):  # another order of rows
        (tmp_path / name).mkdir()
        evaluate(loaded(name), data).write(tmp_path / name)
    (tmp_path / "both").mkdir()
    judged.write(tmp_path / "both")
    assert judged.agreement is not None
    for runs in (tmp_path / "both", [tmp_path / name for name in ("gpt2", "bart")]):
        found = agree(runs, converted, systems=SYSTEMS)
        assert found.to_dict() == judged.agreement.to_dict()


def test_a_long_run_in_float32_says_how_many_tests_a_faster_precision_could_turn(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer = FasterPrecision("--dtype bfloat16 is faster", 0.5)
    monkeypatch.setattr(here, "faster_precision", lambda *_: offer)
    monkeypatch.setattr(here, "_LONG", 0.0)
    with pytest.warns(ScoringWarning, match="is faster; the margins of") as said:
        found = evaluate(loaded("gpt2"), PAIRS, scoring=Scoring(cache=False))
    margins = found.scored.unique(["context_id", "high_id", "low_id"]).select(
        (pl.col("ll_high") - pl.col("ll_low")).abs()
    )
    close = (margins.to_series() < 0.5).sum()
    assert f"of {close} of 7 tests are within its rounding, 0.5 nats" in str(said[0].message)
    with warnings.catch_warnings(action="error"):  # who chose a dtype is asked nothing
        evaluate(
            loaded("gpt2"), PAIRS, scoring=Scoring(cache=False), loading=Loading(dtype="float32")
        )
