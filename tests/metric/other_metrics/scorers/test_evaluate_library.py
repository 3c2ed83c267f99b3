"""Metrics of the library `evaluate` as scorers, by modules of our own: nothing is downloaded."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import evaluate
import pytest
from support.refusals import refusal

from nnd.metric.other_metrics.scorers.scorer import Text, score_texts
from nnd.metric.other_metrics.scorers.scorer_names import find_scorers

MODULE = """
import datasets
import evaluate
import numpy as np


class Words(evaluate.Metric):
    def _info(self):
        features = datasets.Features(FEATURES)
        return evaluate.MetricInfo(
            description="d", citation="", inputs_description="", features=features
        )

    def _compute(self, predictions, references):
        first = [each if isinstance(each, str) else each[0] for each in references]
        shared = [len({*p.split()} & {*r.split()}) for p, r in zip(predictions, first)]
        words = sum(len(each.split()) for each in first)
        return RESULT
"""
ONE = '{"predictions": datasets.Value("string"), "references": datasets.Value("string")}'
LISTS = (
    '{"predictions": datasets.Value("string"), '
    '"references": datasets.Sequence(datasets.Value("string"))}'
)
# "the cat" shares 2 words with "the cat sat" and 1 with "a cat"; "a dog" 1 with "a cat".
TEXTS = [
    Text("the cat", "context", None, ("the cat sat", "a cat")),
    Text("a dog", "context", None, ("a cat",)),
    Text("no reference", "context"),
]


@pytest.fixture(scope="module", autouse=True)
def _caches_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`evaluate` copies modules into a cache, and imports them from there."""
    folder = tmp_path_factory.mktemp("evaluate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate.config, "HF_MODULES_CACHE", str(folder))
        patch.setattr(evaluate.config, "HF_METRICS_CACHE", str(folder))
        # Another cache that other tests have put first would be searched instead.
        others = [place for place in sys.path if not (Path(place) / "evaluate_modules").is_dir()]
        patch.setattr(sys, "path", others)
        importlib.invalidate_caches()
        for name in _imported():  # from another cache, by other tests
            patch.delitem(sys.modules, name)
        yield
        for name in _imported():
            del sys.modules[name]


def _imported() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "evaluate_modules"]


def module(folder: Path, name: str, result: str, features: str = ONE) -> Path:
    """Write a module that answers with an expression of `shared` and `words`."""
    path = folder / f"{name}.py"
    path.write_text(MODULE.replace("FEATURES", features).replace("RESULT", result))
    return path


@pytest.mark.parametrize(
    ("result", "key"),
    [
        ('{"each": shared}', ""),
        ('{"each": np.array(shared), "model": "words", "all": 4}', ""),
        ('{"each": shared, "other": [0] * len(shared)}', ":each"),
        ('{"mean": float(np.mean(shared))}', ""),  # as METEOR answers
        ('{"mean": float(np.mean(shared)), "n": len(shared)}', ":mean"),
    ],
)
@pytest.mark.parametrize("features", [ONE, LISTS], ids=["one", "lists"])
def test_a_number_for_every_text(result: str, key: str, features: str, tmp_path: Path) -> None:
    path = module(tmp_path, "words", result, features)
    (scorer,) = find_scorers([f"evaluate={path}{key}"], several="mean")
    assert score_texts(scorer, TEXTS).to_list() == [1.5, 1, None]
    assert scorer.name == f"evaluate={path}{key}"
    assert scorer.definition.startswith("words of evaluate 0.")
    assert scorer.definition.endswith("; mean over references")


def test_what_a_module_prints_is_not_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = module(tmp_path, "words", '[print("downloading"), {"each": shared}][1]')
    (scorer,) = find_scorers([f"evaluate={path}"])
    score_texts(scorer, TEXTS)
    assert capsys.readouterr() == ("", "downloading\n")


@pytest.mark.parametrize(
    ("result", "key", "code", "facts"),
    [
        # 2 + 1 + 1 shared of 3 + 2 + 2 words; alone 2/3, 1/2, 1/2
        (
            '{"share": sum(shared) / words}',
            ":share",
            "scorer.values",
            ["share", "0.571429", "0.555556"],
        ),
        ('{"f1": shared, "em": shared}', "", "scorer.values", ["words.py:f1"]),
        ('{"f1": 1, "em": 2}', "", "scorer.values", ["words.py:f1"]),
        ('{"each": shared}', ":f1", "scorer.values", ['"f1"', "each"]),
        ('{"each": ["x"] * len(shared)}', "", "scorer.values", ['"each"']),
        ('{"each": [0, 0]}', ":each", "scorer.values", ['"each"']),
        ("1 / 0", "", "scorer.cannot-load", ["ZeroDivisionError: division by zero"]),
        ("None", "", "scorer.cannot-load", ["TypeError: "]),
    ],
)
def test_what_is_no_number_for_every_text(
    *, result: str, key: str, code: str, facts: list[str], tmp_path: Path
) -> None:
    path = module(tmp_path, "words", result)
    (scorer,) = find_scorers([f"evaluate={path}{key}"])
    with refusal(code, f"evaluate={path}{key}") as caught:
        score_texts(scorer, TEXTS)
    assert all(fact in f"{caught.value.what} {caught.value.remedy}" for fact in facts)


def test_other_inputs(tmp_path: Path) -> None:
    sources = ONE.replace("{", '{"sources": datasets.Value("string"), ')
    path = module(tmp_path, "words", "{}", sources)
    with refusal("scorer.references"):
        find_scorers([f"evaluate={path}"])
    path = module(tmp_path, "numbers", "{}", ONE.replace("string", "int32"))
    (scorer,) = find_scorers([f"evaluate={path}"])
    with refusal("scorer.cannot-load", "numbers.py"):
        score_texts(scorer, TEXTS)
    with refusal("scorer.cannot-load", "none.py:f1"):
        find_scorers([f"evaluate={tmp_path / 'none.py'}:f1"])


def test_texts_without_references(tmp_path: Path) -> None:
    (scorer,) = find_scorers([f"evaluate={module(tmp_path, 'words', '{}')}"])
    with refusal("scorer.references"):
        score_texts(scorer, TEXTS[2:])
    assert score_texts(scorer, []).to_list() == []
