"""Scorers by name: those there are, those that lack something, and models that load when asked."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.refusals import refusal

from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.other_metrics.scorers.scorer import Text, score_texts
from nnd.metric.other_metrics.scorers.scorer_names import LIKELIHOODS, find_scorers, plain_names
from nnd.schemas import Instruction

PLAIN = ["rouge1", "rouge2", "rouge3", "rougeL", "bleu", "chrf", "length", "overlap"]
TEXT = Text("The cat sat.", "The cat sat on the mat.", None, ("The cat sat down.",))


def test_without_references_only_what_needs_none() -> None:
    assert plain_names([TEXT, TEXT._replace(references=())]) == PLAIN
    assert plain_names([TEXT._replace(references=())]) == ["length", "overlap"]


def test_every_name_gives_a_scorer_of_that_name_that_tells_what_it_does() -> None:
    names = [*PLAIN, "bertscore=m", *(f"{name}=m" for name in LIKELIHOODS)]
    found = find_scorers(names)
    assert [scorer.name for scorer in found] == names
    assert all(scorer.definition for scorer in found)
    needless = {"length", "overlap", "prompted=m"}
    needless |= {"bartscore_faithfulness=m", "prompted_faithfulness=m"}
    assert {scorer.name for scorer in found if not scorer.needs_references} == needless


def test_plain_scorers_score() -> None:
    for scorer in find_scorers(PLAIN):
        assert score_texts(scorer, [TEXT])[0] > 0


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("rouge9", "option.unknown-value"),
        ("rouge1=model", "option.unknown-value"),
        ("bartscore_f", "option.needs-another"),
        ("prompted=", "option.needs-another"),
        ("evaluate=", "option.unknown-value"),
        ("", "option.unknown-value"),
    ],
)
def test_names_that_are_none(name: str, code: str) -> None:
    with refusal(code):
        find_scorers([name])


@pytest.mark.parametrize("prompt", [{"template": "Sum up: {context}"}, {"prefix": "In short, "}])
def test_a_prompt_that_nothing_reads(prompt: dict[str, str]) -> None:
    with refusal("option.conflict"):
        find_scorers(["rouge1", "length"], **prompt)  # type: ignore[arg-type]


def test_a_model_that_is_not_there_is_told_when_it_is_asked(tmp_path: Path) -> None:
    (scorer,) = find_scorers([f"bartscore_f={tmp_path / 'none'}"])
    with refusal("model.unknown", "none"):
        score_texts(scorer, [TEXT])


def test_models_score_as_the_engine_does(
    loaded: Callable[[str], LoadedModel], saved: Callable[[str], Path]
) -> None:
    bart, folder = loaded("bart"), saved("bart")
    names = [f"bartscore_faithfulness={folder}", f"prompted={folder}"]
    scorers = find_scorers(names, template="Read: {context}", prefix="So: ")
    request = (("Read: ", TEXT.context), f"So: {TEXT.candidate}")
    for scorer, protocol in zip(scorers, ("bartscore", "native"), strict=True):
        expected = Engine(bart, protocol=protocol)([request]).log_likelihood[0]
        assert score_texts(scorer, [TEXT])[0] == pytest.approx(expected, abs=1e-5)
        made_with = f"{folder}@{bart.version()[:7]}, protocol {protocol}, float32"
        assert scorer.made_with is not None
        assert scorer.made_with() == made_with


def test_a_likelihood_reads_the_instruction_of_the_data(
    loaded: Callable[[str], LoadedModel], saved: Callable[[str], Path]
) -> None:
    instruction = Instruction(({"news": "Sum up:\n{article}", "de": "{context}\n?"},), "invented")
    names = [f"prompted={saved('bart')}"]
    (scorer,) = find_scorers(names, template="instruction", instruction=instruction)
    news = TEXT._replace(parts={"article": "The dog ran."}, kinds=("news", "en"))
    german = TEXT._replace(kinds=("chats", "de"))

    expected = Engine(loaded("bart"))(
        [
            (("Sum up:\n", "The dog ran.", ""), TEXT.candidate),
            (("", TEXT.context, "\n?"), TEXT.candidate),
        ]
    )

    assert score_texts(scorer, [news, german]).to_list() == pytest.approx(
        expected.log_likelihood.tolist(), abs=1e-5
    )
    assert f'; template "instruction" ({instruction.digests[0]})' in scorer.definition
    with refusal("template.no-words"):
        score_texts(scorer, [TEXT._replace(kinds=("plays", "en"))])
    with refusal("template.unknown", 'template "instruction"'):
        find_scorers(names, template="instruction")


def test_what_was_cut_is_part_of_the_definition(saved: Callable[[str], Path]) -> None:
    (scorer,) = find_scorers([f"bartscore_faithfulness={saved('bart')}"])
    score_texts(scorer, [TEXT, TEXT._replace(context="The cat sat. " * 500)])
    assert scorer.made_with is not None
    assert scorer.made_with().endswith(", 1 of 2 texts cut to the window")
