"""Likelihoods of multilingual models as scorers, against a literal loop in float64."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from support.models.told_models import ToldModel, told_model
from support.refusals import refusal

from nnd.metric.likelihood import Engine, Loading, load_model
from nnd.metric.other_metrics.scorers.likelihood_scorers import likelihood
from nnd.metric.other_metrics.scorers.scorer import Text, score_texts
from nnd.metric.other_metrics.scorers.scorer_names import find_scorers
from nnd.metric.text import LanguageOptions

SOURCE = "The cat sat on the mat; the town is looking."
CANDIDATE, REFERENCE = "Pisica a stat pe covor.", "Cine a scris covor rau"
GERMAN = Text(CANDIDATE, SOURCE, None, (REFERENCE,), (), "de", "en")
TEXTS = [
    GERMAN,
    GERMAN._replace(language="ro"),
    GERMAN._replace(language="ro", context_language="de"),
    GERMAN._replace(references=(REFERENCE, "in London?")),
]
CODES = {
    "nllb": {"en": "eng_Latn", "de": "deu_Latn", "ro": "ron_Latn"},
    "mbart50": {"en": "en_XX", "de": "de_DE", "ro": "ro_RO"},
    "m2m": {"en": "en", "de": "de", "ro": "ro"},
    "madlad": {"en": "en", "de": "de", "ro": "ro"},
}

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


def mean(model: ToldModel, context: str, candidate: str, source: str, target: str) -> float:
    own = model.log_probabilities(context, candidate, source, target)
    return sum(own) / len(own)


@pytest.mark.parametrize("name", CODES)
def test_each_candidate_is_scored_under_its_own_language(name: str, told: Told) -> None:
    model, folder = told(name)
    codes = CODES[name]
    (scorer,) = find_scorers([f"prompted={folder}"])
    right = [
        mean(model, SOURCE, CANDIDATE, codes[text.context_language], codes[text.language])  # type: ignore[index]
        for text in TEXTS
    ]
    assert score_texts(scorer, TEXTS).to_list() == pytest.approx(right, abs=2e-5)
    assert abs(right[0] - right[1]) > 0.01
    assert scorer.made_with is not None
    last = "languages de, ro" if name == "madlad" else f"{codes['en']}>{codes['ro']}"
    assert scorer.made_with().endswith(last)


@pytest.mark.parametrize("direction", ["precision", "recall", "f"])
def test_a_reference_is_in_the_language_of_the_candidate(direction: str, told: Told) -> None:
    model, folder = told("nllb")
    (scorer,) = find_scorers([f"prompted_{direction}={folder}"])
    right = []
    for text in TEXTS:
        code = CODES["nllb"][str(text.language)]
        found = []
        for reference in text.references:
            precision = mean(model, reference, CANDIDATE, code, code)
            recall = mean(model, CANDIDATE, reference, code, code)
            both = {"precision": precision, "recall": recall, "f": (precision + recall) / 2}
            found.append(both[direction])
        right.append(max(found))
    assert score_texts(scorer, TEXTS).to_list() == pytest.approx(right, abs=2e-5)
    assert abs(right[0] - right[1]) > 0.01


def test_bartscore_scores_the_code_too(told: Told) -> None:
    _, folder = told("nllb")
    german, romanian = (
        score_texts(find_scorers([f"bartscore_faithfulness={folder}"])[0], [text])[0]
        for text in TEXTS[:2]
    )
    engine = Engine(load_model(str(folder), Loading(dtype="float32")), protocol="bartscore")
    both = score_texts(likelihood("mine", engine), TEXTS[:2])
    assert both.to_list() == pytest.approx([german, romanian], abs=1e-5)
    assert abs(german - romanian) > 0.01


def test_an_option_says_what_the_data_does_not(told: Told) -> None:
    model, folder = told("nllb")
    silent = [GERMAN._replace(language=None, context_language=None)]
    name = f"prompted_recall={folder}"
    with refusal("model.language") as found:
        score_texts(find_scorers([name])[0], silent)
    assert "--language" in str(found.value)
    (scorer,) = find_scorers([name], languages=LanguageOptions("ro"))
    right = mean(model, CANDIDATE, REFERENCE, "ron_Latn", "ron_Latn")
    assert score_texts(scorer, silent)[0] == pytest.approx(right, abs=2e-5)
    (scorer,) = find_scorers([f"prompted={folder}"], languages=LanguageOptions("ro", "de"))
    right = mean(model, SOURCE, CANDIDATE, "deu_Latn", "ron_Latn")
    assert score_texts(scorer, silent)[0] == pytest.approx(right, abs=2e-5)


def test_a_source_of_unknown_language_is_told_of(
    told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    _, folder = told("nllb")
    (scorer,) = find_scorers([f"prompted={folder}"])
    with caplog.at_level(logging.WARNING):
        score_texts(scorer, [GERMAN._replace(context_language=None)])
    assert "the data does not say the language of the contexts" in caplog.text
