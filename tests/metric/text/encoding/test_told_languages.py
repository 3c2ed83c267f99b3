"""Models that are told languages, through `evaluate`, against a literal loop in float64."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.models.told_models import ToldModel, marian, saved, told_model
from support.refusals import refusal
from support.tiny_models import Family

from nnd.metric.data.completion import contexts_of
from nnd.metric.data.pairs import load_pairs
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.likelihood.models.load_model import load_model
from nnd.metric.run import Evaluation, evaluate, merge
from nnd.metric.text import Chat, choose_rendering, find_protocol, language_tokens
from nnd.metric.train.objective import Objective
from nnd.metric.train.pair_batches import make_examples
from nnd.schemas import ScoringError

ENGLISH = "The cat sat on the mat; the town is looking."
FIRST = ("Pisica a stat pe covor.", "Cine a scris covor rau")
SECOND = ("the river in 1884", "Londra a fugit peste deal")
GERMAN = {"context": ENGLISH, "language": "de", "context_language": "en"}
ROWS: list[dict[str, Any]] = [
    {**GERMAN, "candidate_high": FIRST[0], "candidate_low": FIRST[1]},
    {**GERMAN, "candidate_high": SECOND[0], "candidate_low": SECOND[1], "language": "ro"},
    {**GERMAN, "candidate_high": FIRST[0], "candidate_low": FIRST[1], "language": "ro"},
    {**GERMAN, "context": "in London?", "candidate_high": SECOND[0], "candidate_low": FIRST[0]},
]
CODES: Mapping[str, Mapping[str, str]] = {
    "m2m": {"en": "en", "de": "de", "ro": "ro"},
    "madlad": {"en": "en", "de": "de", "ro": "ro"},
    "marian": {"en": "eng", "de": "deu", "ro": "ron"},
    "mbart": {"en": "en_XX", "de": "de_DE", "ro": "ro_RO"},
    "mbart50": {"en": "en_XX", "de": "de_DE", "ro": "ro_RO"},
    "nllb": {"en": "eng_Latn", "de": "deu_Latn", "ro": "ron_Latn"},
    "nllb_legacy": {"en": "eng_Latn", "de": "deu_Latn", "ro": "ron_Latn"},
}
pytestmark = pytest.mark.filterwarnings("ignore:Recommended")  # sacremoses, by Marian

Told = Callable[[str], tuple[ToldModel, Path]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    built: dict[str, tuple[ToldModel, Path]] = {}

    def find(name: str) -> tuple[ToldModel, Path]:
        if name not in built:
            folder = tmp_path_factory.mktemp(name)
            built[name] = told_model(name, folder), folder / "model"
        return built[name]

    return find


def run(model: object, rows: list[dict[str, Any]], out: Path, **scoring: Any) -> Evaluation:
    made = Scoring(**{"cache": False, "unconditional": False, **scoring})
    found = evaluate(model, rows, out=out, scoring=made, loading=Loading(dtype="float32"))  # type: ignore[arg-type]
    return found if isinstance(found, Evaluation) else next(iter(found.evaluations.values()))


def values(out: Path) -> list[tuple[float, float]]:
    frame = pl.read_parquet(next(out.rglob("log_likelihoods.parquet")))
    return frame.select("ll_high", "ll_low").rows()


def expected(
    model: ToldModel, codes: Mapping[str, str], rows: list[dict[str, Any]], *, summed: bool = False
) -> list[tuple[float, ...]]:
    found = []
    for row in rows:
        languages = codes[row["context_language"]], codes[row["language"]]
        each = [
            model.log_probabilities(row["context"], row[f"candidate_{side}"], *languages)
            for side in ("high", "low")
        ]
        found.append(tuple(sum(own) / (1 if summed else len(own)) for own in each))
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CODES)
def test_each_pair_is_scored_under_its_own_language(name: str, told: Told, tmp_path: Path) -> None:
    model, folder = told(name)
    result = run(folder, ROWS, tmp_path / "run").results[0]
    right = expected(model, CODES[name], ROWS)
    assert values(tmp_path / "run") == [pytest.approx(pair, abs=2e-5) for pair in right]
    de, ro = right[0], right[2]  # the same texts in two languages
    assert abs(de[0] - ro[0]) > 0.01
    codes = CODES[name]
    named = [codes["de"], codes["ro"]]
    if name not in ("madlad", "marian"):
        named = [f"{codes['en']}>{code}" for code in named]
    assert result.languages is not None
    assert list(result.languages.given) == named
    assert f"|lang:{','.join(named)}|dtype:float32|" in result.signature


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CODES)
def test_a_batch_of_languages_is_as_one_pair_at_a_time(
    name: str, told: Told, tmp_path: Path
) -> None:
    _, folder = told(name)
    run(folder, ROWS, tmp_path / "all")
    alone = []
    for number, row in enumerate(ROWS[:2]):
        run(folder, [row], tmp_path / f"run_{number}")
        alone += values(tmp_path / f"run_{number}")
    assert values(tmp_path / "all")[:2] == [pytest.approx(pair, abs=1e-5) for pair in alone]


@pytest.mark.parametrize("name", ["m2m", "mbart", "marian"])
def test_sums_bytes_and_pmi_tell_the_same_languages(name: str, told: Told, tmp_path: Path) -> None:
    model, folder = told(name)
    codes = CODES[name]
    sums = expected(model, codes, ROWS, summed=True)
    run(folder, ROWS, tmp_path / "sum", protocol="sum")
    assert values(tmp_path / "sum") == [pytest.approx(pair, abs=5e-4) for pair in sums]
    per_byte = [
        tuple(
            total / len(row[f"candidate_{side}"].encode())
            for side, total in zip(("high", "low"), pair, strict=True)
        )
        for row, pair in zip(ROWS, sums, strict=True)
    ]
    run(folder, ROWS, tmp_path / "bytes", protocol="bytes")
    assert values(tmp_path / "bytes") == [pytest.approx(pair, abs=2e-5) for pair in per_byte]
    alone = expected(model, codes, [{**row, "context": ""} for row in ROWS])
    gains = [
        tuple(one - other for one, other in zip(pair, without, strict=True))
        for pair, without in zip(expected(model, codes, ROWS), alone, strict=True)
    ]
    run(folder, ROWS, tmp_path / "pmi", protocol="pmi")
    assert values(tmp_path / "pmi") == [pytest.approx(pair, abs=4e-5) for pair in gains]


def test_the_baseline_is_told_the_languages_too(told: Told, tmp_path: Path) -> None:
    model, folder = told("nllb")
    run(folder, ROWS, tmp_path / "run", unconditional=True)
    frame = pl.read_parquet(next((tmp_path / "run").rglob("log_likelihoods.parquet")))
    alone = expected(model, CODES["nllb"], [{**row, "context": ""} for row in ROWS])
    found = frame.select("ll_alone_high", "ll_alone_low").rows()
    assert found == [pytest.approx(pair, abs=2e-5) for pair in alone]


def test_laban2022_has_no_place_for_a_code_but_in_the_source(told: Told, tmp_path: Path) -> None:
    with refusal("protocol.another-model", family=ScoringError):
        run(told("nllb")[1], ROWS, tmp_path / "one", protocol="laban2022")
    model, folder = told("madlad")
    run(folder, ROWS, tmp_path / "two", protocol="laban2022")  # T5: 0, text, 1 as in `native`
    right = expected(model, CODES["madlad"], ROWS)
    assert values(tmp_path / "two") == [pytest.approx(pair, abs=2e-5) for pair in right]


def test_bartscore_scores_the_code_too(told: Told, tmp_path: Path) -> None:
    _, folder = told("nllb")
    run(folder, ROWS, tmp_path / "run", protocol="bartscore")
    frame = pl.read_parquet(next((tmp_path / "run").rglob("log_likelihoods.parquet")))
    run(folder, ROWS, tmp_path / "native")
    native = pl.read_parquet(next((tmp_path / "native").rglob("log_likelihoods.parquet")))
    assert frame["tokens_high"].to_list() == [n + 1 for n in native["tokens_high"]]
    assert frame["end_tokens"].to_list() == [2] * 4
    assert native["end_tokens"].to_list() == [1] * 4


@pytest.mark.parametrize("name", CODES)
def test_data_without_a_language_is_refused(name: str, told: Told, tmp_path: Path) -> None:
    rows = [{key: row[key] for key in row if key != "language"} for row in ROWS]
    with refusal("model.language", family=ScoringError) as found:
        run(told(name)[1], rows, tmp_path / "run")
    assert "--language" in str(found.value)


def test_an_option_says_what_the_data_does_not(told: Told, tmp_path: Path) -> None:
    model, folder = told("nllb")
    rows = [{key: row[key] for key in row if "language" not in key} for row in ROWS]
    result = run(folder, rows, tmp_path / "run", language="de", context_language="zh-TW").results[0]
    assert result.languages is not None
    assert result.languages.given == ("zho_Hant>deu_Latn",)
    told_rows = [{**row, "language": "de", "context_language": "zh"} for row in rows]
    codes = {"zh": "zho_Hant", "de": "deu_Latn"}
    right = expected(model, codes, told_rows)
    assert values(tmp_path / "run") == [pytest.approx(pair, abs=2e-5) for pair in right]
    with refusal("place.holds-a-run", family=ScoringError):  # other options are another run
        run(folder, rows, tmp_path / "run", language="ro", context_language="zh-TW")


@pytest.mark.parametrize(
    ("name", "language", "words"),
    [
        ("nllb", "gsw", "gsw"),
        ("nllb", "sr-Latn", "srp_Cyrl"),
        ("marian", "pt", "pt_br or pt_pt"),
        ("mbart50", "zh-TW", "zh_CN"),
    ],
)
def test_an_unclear_language_is_refused_with_the_codes_to_choose_from(
    name: str, language: str, words: str, told: Told, tmp_path: Path
) -> None:
    rows = [{**row, "language": language} for row in ROWS]
    with refusal("model.language", family=ScoringError) as found:
        run(told(name)[1], rows, tmp_path / "run")
    assert words in str(found.value)
    assert "--language" in str(found.value)


def test_an_option_decides_only_what_is_unclear(told: Told, tmp_path: Path) -> None:
    rows = [{**ROWS[0], "language": "pt"}, ROWS[0]]
    result = run(told("marian")[1], rows, tmp_path / "run", language="pt-BR").results[0]
    assert result.languages is not None
    assert result.languages.given == ("deu", "pt_br")


def test_a_source_of_unknown_language_is_read_as_the_tokenizer_is_set(
    told: Told, tmp_path: Path
) -> None:
    rows = [{key: row[key] for key in row if key != "context_language"} for row in ROWS]
    result = run(told("nllb")[1], rows, tmp_path / "run").results[0]
    assert result.languages is not None
    assert result.languages.given == ("eng_Latn>deu_Latn", "eng_Latn>ron_Latn")
    assert any("--context-language" in note for note in result.notes)


def test_a_target_in_the_tokenizers_settings_is_used_and_contradicted(
    told: Told, tmp_path: Path
) -> None:
    _, folder = told("nllb")
    copy = tmp_path / "model"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    config = json.loads((copy / "tokenizer_config.json").read_bytes())
    (copy / "tokenizer_config.json").write_text(json.dumps(config | {"tgt_lang": "ron_Latn"}))
    rows = [{key: row[key] for key in row if key != "language"} for row in ROWS]
    result = run(copy, rows, tmp_path / "one").results[0]
    assert result.languages is not None
    assert result.languages.given == ("eng_Latn>ron_Latn",)
    assert any("does not say the language of the candidates" in note for note in result.notes)
    other = run(copy, ROWS[:1], tmp_path / "two").results[0]
    assert other.languages is not None
    assert other.languages.given == ("eng_Latn>deu_Latn",)
    assert any("set to ron_Latn" in note for note in other.notes)


@pytest.mark.parametrize("name", ["m2m", "mbart50", "nllb"])
def test_the_tokenizer_is_left_as_it_was(name: str, told: Told, tmp_path: Path) -> None:
    loaded = load_model(str(told(name)[1]), Loading(dtype="float32"))
    before = loaded.tokenizer("the cat")["input_ids"]
    settings = loaded.tokenizer.src_lang, loaded.tokenizer.tgt_lang
    run(loaded, ROWS, tmp_path / "run")
    assert (loaded.tokenizer.src_lang, loaded.tokenizer.tgt_lang) == settings
    assert loaded.tokenizer("the cat")["input_ids"] == before


def test_a_cut_keeps_the_token_of_the_target(told: Told, tmp_path: Path) -> None:
    model, folder = told("marian")
    long = " ".join([ENGLISH] * 12)
    rows = [{**ROWS[0], "context": long}]
    result = run(folder, rows, tmp_path / "run", keep="end").results[0]
    assert result.rates.overall.truncated == 1
    assert model.read(ENGLISH, "", "deu")[0] == model.tokenizer.convert_tokens_to_ids(">>deu<<")
    kept = model.text_ids(long)[-(160 - 2) :]
    whole = (model.ids(("{target}",), "", "deu"), kept, model.ids(("</s>",), "", "deu"))
    own = replace(model)
    object.__setattr__(own, "read", lambda *_: tuple(token for part in whole for token in part))
    right = expected(own, CODES["marian"], rows)
    assert values(tmp_path / "run") == [pytest.approx(pair, abs=2e-5) for pair in right]


def test_a_template_that_writes_the_token_tells_the_language(told: Told, tmp_path: Path) -> None:
    _, folder = told("madlad")
    rows = [{key: row[key] for key in row if "language" not in key} for row in ROWS]
    run(folder, rows, tmp_path / "one", template="<2de> {context}")
    run(folder, rows, tmp_path / "two", language="de")
    assert values(tmp_path / "one") == values(tmp_path / "two")


@pytest.mark.parametrize(
    ("codes", "settings"), [((), {}), (("deu", "fra"), {"source_lang": "fr", "target_lang": "ro"})]
)
def test_a_marian_model_of_one_target_is_told_nothing(
    codes: tuple[str, ...], settings: dict[str, str], tmp_path: Path
) -> None:
    model = saved(tmp_path, lambda folder: marian(folder, codes, **settings))
    model = replace(model, source=("text", "</s>"))
    rows = [{**row, "language": "ro"} for row in ROWS]
    result = run(tmp_path / "model", rows, tmp_path / "run").results[0]
    right = expected(model, CODES["marian"], rows)
    assert values(tmp_path / "run") == [pytest.approx(pair, abs=2e-5) for pair in right]
    assert "|lang:" not in result.signature


@pytest.mark.parametrize("name", ["bart", "t5", "marian", "pegasus", "prophetnet"])
def test_models_of_one_language_tell_none(name: str, tiny: Callable[[str], Family]) -> None:
    assert language_tokens(tiny(name).tokenizer) is None


def test_the_language_of_contexts_is_a_column_or_a_fact() -> None:
    column = load_pairs(ROWS)
    assert [each.context_language for each in contexts_of(column.pairs)] == ["en"] * 4
    facts = [{"key": "topic", "value": "cats"}, {"key": "context_language", "value": "zh"}]
    rows = pl.DataFrame([{**ROWS[0], "metadata": facts}]).drop("context_language")
    (context,) = contexts_of(rows)
    assert (context.language, context.context_language) == ("de", "zh")
    (bare,) = contexts_of(rows.drop("metadata", "language"))
    assert (bare.language, bare.context_language) == (None, None)


def test_parts_of_different_languages_are_joined(told: Told, tmp_path: Path) -> None:
    _, folder = told("nllb")
    data = tmp_path / "pairs.jsonl"
    texts = [{**row, "context": f"{row['context']} {n}"} for n in range(4) for row in ROWS]
    data.write_text("".join(f"{json.dumps(row)}\n" for row in texts), encoding="utf-8")
    scoring = Scoring(cache=False, unconditional=False)
    whole = run(folder, texts, tmp_path / "whole").results[0]
    for number in (1, 2, 3):
        evaluate(folder, data, out=tmp_path / "run", worker=(number, 3), scoring=scoring)
    merge(tmp_path / "run")
    joined = json.loads((tmp_path / "run" / "result.json").read_bytes())["results"][0]
    assert whole.languages is not None
    assert joined["languages"] == whole.languages.to_dict()
    told_in = [
        [part for part in signature.split("|") if part.startswith("lang:")]
        for signature in (joined["signature"], whole.signature)
    ]
    assert told_in == [["lang:eng_Latn>deu_Latn,eng_Latn>ron_Latn"]] * 2


def test_training_reads_the_languages(told: Told) -> None:
    model, folder = told("m2m")
    loaded = load_model(str(folder), Loading(dtype="float32"))
    pairs = load_pairs(ROWS)
    rendering, chat = choose_rendering(
        loaded, find_protocol("native"), Chat(), None, contexts=contexts_of(pairs.pairs)
    )
    examples = make_examples(loaded, pairs, rendering, chat, Objective())
    starts = {example.high.inputs[:2] for example in examples}
    assert starts == {model.ids(("</s>", "{target}"), "en", code) for code in ("de", "ro")}
    assert {example.high.context[0] for example in examples} == {
        *model.ids(("{source}",), "en", "de")
    }
