"""The two sides of a training share no context, and what a test on one can show is said."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from support.refusals import refusal

from nnd.converters.make import derive
from nnd.metric.data import PairSet, load_pairs
from nnd.metric.train.training_sides import take_sides
from nnd.metric.train.transfer_notes import check_apart, circularity


def pairs(name: str, *contexts: tuple[str, str], **columns: str) -> PairSet:
    """Data of some name, with a pair for each id and text of a context."""
    rows = [
        {"context_id": key, "context": text, "candidate_high": "x", "candidate_low": "y", **columns}
        for key, text in contexts
    ]
    return replace(load_pairs(pl.DataFrame(rows)), name=name)


@pytest.fixture(scope="module")
def suite(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with a set of its pairs in capitals."""
    folder = tmp_path_factory.mktemp("suite") / "birds"
    derive(sample, ["case=upper"], out=folder)
    return folder


def clusters(data: PairSet) -> set[str]:
    return {*data.pairs.select(pl.coalesce("cluster", "context_id")).to_series()}


def test_a_leak_is_an_error_that_names_the_context() -> None:
    training = pairs("a", ("c1", "Who sings?"), ("c2", "Who flies?"), source="birds")
    with refusal("train.leak", "b"):
        check_apart(training, pairs("b", ("x1", "Who  flies?\n"), source="fish"))
    with refusal("train.leak", "b"):
        check_apart(training, pairs("b", ("c1", "Who sang?"), source="birds"))
    derived = pairs("b", ("c2~typos.0", "Who flise?"), source="birds", cluster="c2")
    with refusal("train.leak", "b"):
        check_apart(training, derived)
    check_apart(training, pairs("b", ("c1", "Who swims?"), source="fish"))  # ids of another source


def test_data_to_test_on_must_be_about_other_contexts(suite: Path) -> None:
    with refusal("train.leak", "birds"):
        take_sides(suite, [], [suite], share=0.7, seed=0)


def test_a_set_is_trained_on_and_its_human_pairs_are_tested_too(suite: Path) -> None:
    found = take_sides(suite, ["case-upper"], [], share=0.7, seed=0)
    human = take_sides(suite, [], [], share=0.7, seed=0)
    assert found.training.pairs["origin"].unique().to_list() == ["synthetic:case"]
    assert [each.title for each in found.tests] == [
        "birds-case-upper (--held-out 0.7)",
        "birds (--held-out 0.7)",
    ]
    assert clusters(found.tests[0]) <= clusters(found.tests[1])
    assert clusters(found.training) <= clusters(human.training)
    assert clusters(human.training).isdisjoint(clusters(human.tests[0]))
    assert found.tests[1].pairs.equals(human.tests[0].pairs)
    assert clusters(human.training) | clusters(human.tests[0]) == clusters(load_pairs(suite))


def test_another_seed_makes_another_cut(suite: Path) -> None:
    cuts = [take_sides(suite, [], [], share=0.5, seed=seed) for seed in (0, 1)]
    assert clusters(cuts[0].training) != clusters(cuts[1].training)
    assert cuts[1].tests[0].title == "birds (--held-out 0.5, --split-seed 1)"


def sentences(training: PairSet, *tests: PairSet) -> list[str]:
    return circularity(training, tests)


def test_a_test_of_the_origin_of_the_training_pairs_is_called_circular() -> None:
    made = pairs("a", ("c1", "x"), source="birds", origin="synthetic:numbers")
    same = pairs("b", ("c2", "y"), source="fish", origin="synthetic:numbers")
    first, second = sentences(made, same)
    assert first.startswith("b has the origin of the training pairs (synthetic:numbers): a higher")
    assert second.startswith("No test is on human pairs of another origin")


def test_human_pairs_are_transfer_from_made_pairs_and_from_those_of_another_source() -> None:
    made = pairs("a", ("c1", "x"), source="birds", origin="synthetic:numbers")
    birds = pairs("b", ("c2", "y"), source="birds", origin="human")
    unmarked = pairs("c", ("c3", "z"))
    assert sentences(made, birds) == []
    assert sentences(birds, unmarked) == []
    (circular, lacking) = sentences(birds, birds)
    assert "(human pairs of birds)" in circular
    assert lacking.startswith("No test is on human pairs")
