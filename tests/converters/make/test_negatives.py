"""Sets of negatives: of which texts they are made, what a pair of them says, how they are kept."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.screens.commands import Nnd
from support.stored_folders import in_row, read_manifest, rewrite

from nnd.cards import card
from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate
from nnd.converters.make.deriving import derive
from nnd.metric.app.suites import suite

DIALOGUE = "Ann: I am here.\nBob: I will come by boat at 5."

CODE = """\
from nnd.converters import Annotation
from nnd.converters import Reference

def annotations(files):
    for row in files.jsonl("toy.jsonl"):
        yield Annotation(where=row.where, **row.fields)

def references(files):
    for text in ("Ann is waiting for Bob.", "Bob comes."):
        yield Reference(where="here", split="test", context_id="c1", reference=text)
"""

TEXTS = {
    "a": ("good", "Ann is here, and Bob will come."),
    "b": ("wrong", "Bob is here."),
    "c": ("good", "They will meet."),
}


@pytest.fixture
def folder(
    make_source: Callable[..., Path], toy: Callable[..., dict[str, Any]], tmp_path: Path
) -> Path:
    """Two pairs of a dialogue: b is worse than a and c; and two references."""
    rows = [
        toy(
            name, "heron", label,
            context=DIALOGUE, inputs={"dialogue": DIALOGUE}, candidate=text, score=3.0,
        )
        for name, (label, text) in TEXTS.items()
    ]  # fmt: skip
    convert(make_source(rows, code=CODE, expected=None), out=tmp_path / "toy")
    return tmp_path / "toy"


def made(folder: Path, spelled: str, **options: Any) -> pl.DataFrame:
    suite = folder.parent / "suite"
    options = {"negatives": "preferred"} | options
    report = derive(folder, [spelled], out=suite, **options)
    assert validate(suite).findings == ()
    (facts,) = report.sets
    outcomes = (facts[name] for name in ("changed", "unchanged", "rejected", "dropped"))
    assert facts["kind"] == "negatives"
    assert sum(facts["refusals"].values()) == facts["rejected"]
    assert sum(outcomes) % facts["variants"] == 0
    pairs = pl.read_parquet(suite / "sets" / f"{facts['name']}.parquet")
    shorter = pairs["candidate_high"].str.len_chars() < pairs["candidate_low"].str.len_chars()
    assert facts["lengths"]["shorter_wins"] == shorter.mean()
    assert f"set `{facts['name']}` | {pairs.height}" in card(suite).text
    return pairs


def test_a_negative_says_what_it_is_made_of(folder: Path) -> None:
    pairs = pl.read_parquet(folder / "pairs.parquet")
    parent = pairs.row(by_predicate=pl.col("high_id") == "a", named=True)
    (negative,) = made(folder, "swap_speakers").to_dicts()
    differing = {name for name in negative if negative[name] != parent[name]}

    assert negative["candidate_low"] == "Bob is here, and Ann will come."
    assert differing == {
        "pair_id", "candidate_low", "low_id", "system_low", "error_category", "error_group",
        "origin", "parent_id", "cluster", "margin",
    }  # fmt: skip
    assert (negative["low_id"], negative["parent_id"]) == ("a~swap_speakers.1", parent["pair_id"])
    assert negative["error_category"] == "swap_speakers"
    assert negative["origin"] == "synthetic:swap_speakers"
    assert negative["cluster"] == "c1"
    facts = read_manifest(folder.parent / "suite")["sets"][0]
    assert facts["parameters"] == {"of": "preferred", "aspect": "answer"}
    assert facts["refusals"] == {"fewer than two speakers named": 1}


@pytest.mark.parametrize("negatives", ["preferred", "references", "fake_references"])
def test_negatives_inherit_a_declared_cluster(
    make_source: Callable[..., Path],
    toy: Callable[..., dict[str, Any]],
    negatives: str,
    tmp_path: Path,
) -> None:
    rows = [
        toy(
            name, "heron", label,
            context=DIALOGUE, inputs={"dialogue": DIALOGUE, "scene": "The pier"}, candidate=text,
            score=3.0,
        )
        for name, (label, text) in TEXTS.items()
    ]  # fmt: skip
    source = make_source(rows, code=CODE, expected=None, cluster="scene")
    convert(source, out=tmp_path / "toy")
    human = pl.read_parquet(tmp_path / "toy" / "pairs.parquet")
    operation = "negation" if negatives == "references" else "swap_speakers"
    pairs = made(tmp_path / "toy", operation, negatives=negatives)

    assert set(human["cluster"]) == set(pairs["cluster"]) == {"scene:The pier"}


def test_references_have_no_parent(folder: Path) -> None:
    (negative,) = made(folder, "negation", negatives="references").to_dicts()

    assert negative["candidate_high"] == "Ann is waiting for Bob."
    assert negative["candidate_low"] == "Ann is not waiting for Bob."
    assert negative["high_id"] == "c1/reference.1"
    assert negative["low_id"] == "c1/reference.1~negation.1"
    assert (negative["parent_id"], negative["system_high"]) == (None, None)
    assert read_manifest(folder.parent / "suite")["sets"][0]["parents"] is None


def test_e29_a_fake_reference_is_the_candidate_closest_to_the_context(folder: Path) -> None:
    # Words of the context, in its order: "ann … here bob will come" of a are the most.
    (negative,) = made(folder, "swap_speakers", negatives="fake_references").to_dicts()

    assert (negative["high_id"], negative["parent_id"]) == ("a", None)


def test_e29_the_first_of_equally_close_candidates_is_taken(
    make_source: Callable[..., Path], toy: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    texts = {"b": "It is red.", "a": "It is big.", "c": "It was."}
    labels = {"b": "wrong", "a": "good", "c": "wrong"}
    rows = [
        toy(
            name,
            "heron",
            labels[name],
            context="It is.",
            inputs={"question": "It is."},
            candidate=text,
        )
        for name, text in texts.items()
    ]
    convert(make_source(rows, expected=None), out=tmp_path / "toy")
    stored = pl.read_parquet(tmp_path / "toy" / "annotations.parquet")["candidate_id"].to_list()
    (negative,) = made(tmp_path / "toy", "negation", negatives="fake_references").to_dicts()

    assert negative["high_id"] == next(name for name in stored if name in "ab")


def test_variants_that_repeat_a_text_are_dropped(folder: Path) -> None:
    negatives = made(folder, "negation", variants=6, seed=1)
    facts = read_manifest(folder.parent / "suite")["sets"][0]

    # a has two auxiliaries, c one: three texts of 12 variants.
    assert set(negatives["candidate_low"]) == {
        "Ann is not here, and Bob will come.",
        "Ann is here, and Bob will not come.",
        "They will not meet.",
    }
    assert (facts["changed"], facts["dropped"], facts["rejected"]) == (3, 9, 0)


def test_draws_depend_on_ids_alone(folder: Path) -> None:
    one = made(folder, "negation", seed=3)

    assert made(folder, "negation", seed=3).equals(one)
    assert any(not made(folder, "negation", seed=seed).equals(one) for seed in range(4, 10))


def own(folder: Path, body: str, parameters: str = "text, random") -> str:
    path = folder.parent / "mine.py"
    path.write_text(f"def spoil({parameters}):\n    {body}\n", encoding="utf-8")
    return f"{path}:spoil"


def test_a_function_of_ones_own_may_ask_for_the_context(folder: Path) -> None:
    body = "return text + context[:3] if 'Bob' in text else None"
    negatives = made(folder, own(folder, body, "text, random, context"))

    assert negatives["candidate_low"].to_list() == ["Ann is here, and Bob will come.Ann"]
    facts = read_manifest(folder.parent / "suite")["sets"][0]
    assert facts["refusals"] == {"the function returned None": 1}
    with refusal("make.needs-negatives"):
        derive(folder, [own(folder, body, "text, random, context")], out=folder.parent / "suite")


def test_a_function_that_makes_nothing_is_one_error(folder: Path) -> None:
    for body, code, where in (
        ("return text", "data.no-pairs", ""),
        ("return text + ' '", "data.no-pairs", ""),
        ("return ''", "data.no-pairs", ""),
        ("return 3", "make.function", '"a" of split test'),
    ):
        with refusal(code, where):
            derive(folder, [own(folder, body)], out=folder.parent / "suite", negatives="preferred")
    assert not (folder.parent / "suite").exists()


WRONG = [
    ("--op swap_speakers", "make.needs-negatives", ""),
    ("--op typos --negatives preferred", "option.conflict", ""),
    ("--op negation --negatives preferred --on context", "option.conflict", ""),
    ("--op typos --aspect answer", "option.needs-another", ""),
    ("--op negation --negatives preferred --aspect tone", "make.no-such-texts", "toy"),
    ("--op numbers --negatives preferred", "data.no-pairs", ""),
]


@pytest.mark.parametrize(("words", "code", "where"), WRONG)
def test_wrong_input_is_one_line_and_exit_code_2(
    words: str, code: str, where: str, folder: Path, nnd: Nnd
) -> None:
    nnd.refuses("derive", folder, "--out", "suite", *words.split(), code=code, where=where)

    assert not Path("suite").exists()


def test_the_command_says_why_texts_were_refused(folder: Path, nnd: Nnd) -> None:
    words = ["--op", "swap_speakers", "--negatives", "preferred", "--out", "suite"]
    printed = nnd("derive", folder, *words).out

    assert "swap_speakers refused 1 text: fewer than two speakers named (1)." in printed


def test_data_without_references_says_so(make_source: Callable[..., Path], tmp_path: Path) -> None:
    convert(make_source(), out=tmp_path / "toy")

    with refusal("make.no-such-texts", "toy"):
        derive(tmp_path / "toy", ["negation"], out=tmp_path / "suite", negatives="references")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("candidate_high", "Ann left.", "is not a text of its context"),
        ("low_id", "b", "is not the id of a text made of the better one"),
        ("error_category", "wrong", "is not the operation of the set"),
        ("origin", "synthetic:other", "does not name the operation"),
        ("parent_id", "0" * 16, "is not a human pair with this better text"),
    ],
)
def test_validate_finds_a_negative_that_is_not_one(
    column: str, value: str, message: str, folder: Path
) -> None:
    made(folder, "swap_speakers")
    suite = folder.parent / "suite"
    rewrite(suite, "sets/swap_speakers.parquet", in_row(0, value, column))

    assert any(
        finding.problem.path == column and message in finding.problem.message
        for finding in validate(suite)
    )


def test_a_definition_makes_negatives(folder: Path) -> None:
    definition = folder.parent / "suite.json"
    sets = [{"op": "negation", "negatives": "preferred", "name": "negated"}, {"op": "order"}]
    definition.write_text(json.dumps({"source": "toy", "sets": sets}), encoding="utf-8")
    report = suite(definition, out=folder.parent / "suite", data=folder)

    assert [(each["name"], each["kind"]) for each in report.sets] == [
        ("negated", "negatives"),
        ("order", "perturbation"),
    ]
    assert report.to_frame()["pairs"].to_list() == [2, 2]
    assert validate(folder.parent / "suite").findings == ()
