"""Children of pairs: which texts change together, what becomes of each parent, what is shared."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from support.refusals import refusal
from support.screens.commands import Nnd

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate
from nnd.converters.make.deriving import derive
from nnd.converters.make.distinct_texts import texts_of
from nnd.converters.make.perturbing import perturb
from nnd.converters.make.suite_folder import DerivedSet
from nnd.converters.make.text_operations.spelling import find_operation
from nnd.schemas import check_frame, polars_schema

LONG = "The guests came by boat in the morning. They left the town at night. Who saw them?"


def pair(number: int, name: str = "c1", **fields: Any) -> dict[str, Any]:
    """A row of the pair schema; `inputs` is an object."""
    row = {
        "pair_id": f"{number:016x}",
        "source": "toy",
        "split": "test",
        "language": "en",
        "context_id": name,
        "context": LONG,
        "inputs": {"text": fields.get("context", LONG)},
        "category": None,
        "aspect": "answer",
        "candidate_high": f"high of {name}",
        "candidate_low": f"low {number}",
        "high_id": f"{name}/high",
        "low_id": f"{name}/low{number}",
        "system_high": None,
        "system_low": None,
        "label_high": "good",
        "error_category": "wrong",
        "error_group": None,
        "margin": None,
        "origin": "human",
        "parent_id": None,
        "group": None,
        "cluster": None,
        "metadata": [],
    } | fields
    row["inputs"] = [{"key": key, "value": text} for key, text in row["inputs"].items()]
    return row


def frame(*rows: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, polars_schema("pair"), orient="row")


def made(pairs: pl.DataFrame, spelled: str, **options: Any) -> DerivedSet:
    found = perturb(pairs, find_operation(spelled), seed=options.pop("seed", 1), **options)
    assert list(check_frame("pair", found.pairs)) == []
    assert found.pairs["pair_id"].is_unique().all()
    return found


def counts(found: DerivedSet) -> tuple[int, ...]:
    return tuple(found.facts[name] for name in ("changed", "unchanged", "rejected", "dropped"))


def test_g40_draws_depend_on_ids_and_not_on_the_order_or_number_of_rows() -> None:
    pairs = frame(*(pair(number, f"c{number // 3}") for number in range(12)))
    for spelled in ("typos=0.1", "order", "whitespace=0.3"):
        all_rows = made(pairs, spelled).pairs.sort("parent_id")
        turned = made(pairs.reverse(), spelled).pairs.sort("parent_id")
        one = made(pairs[[7]], spelled).pairs

        assert turned.equals(all_rows)
        assert one.equals(all_rows[[7]])
        # The same text in another context has draws of its own.
        assert all_rows["context"].n_unique() > 1
        assert not made(pairs, spelled, seed=2).pairs.sort("parent_id").equals(all_rows)


def test_all_pairs_of_a_context_share_its_changed_context() -> None:
    """At most (1 + operations) times the unique context tokens of the parents are read."""
    pairs = frame(*(pair(number, f"c{number // 5}") for number in range(20)))
    operations = ("typos=0.1", "punctuation", "order", "case", "whitespace=0.2")
    suite = pl.concat([pairs, *(made(pairs, spelled).pairs for spelled in operations)])

    def tokens(rows: pl.DataFrame) -> int:
        contexts = rows.unique(["split", "context_id"])
        assert rows.unique(["split", "context_id", "context", "inputs"]).height == contexts.height
        return int(contexts["context"].str.split(" ").list.len().sum())

    assert suite.height == 6 * pairs.height
    assert tokens(suite) <= 1.02 * (1 + len(operations)) * tokens(pairs)  # blanks make some


def test_g48_numbers_change_together_and_a_pair_that_becomes_equal_is_dropped() -> None:
    text = "There were 3 goals and 8 cards."
    pairs = frame(
        pair(1, context=text, candidate_high="3 goals", candidate_low="8 goals"),
        pair(2, context=text, candidate_high="3 goals", candidate_low="4 goals"),
        # Equal after white-space folding, as `convert --keep-equal` keeps them.
        pair(3, context=text, candidate_high="3 goals", candidate_low="3  goals"),
    )
    for seed in range(30):
        found = made(pairs, "numbers", seed=seed)
        high, low, other = found.pairs["candidate_high"][0], *found.pairs["candidate_low"][:2]
        goals, cards = (found.pairs["context"][0].split()[at] for at in (2, 5))

        assert counts(found) == (3, 0, 0, 0)
        assert (high, low) == (f"{goals} goals", f"{cards} goals")
        assert other.split()[0] not in {goals, cards, "4"}
    both = frame(pair(1, candidate_high="One goal. ", candidate_low="One goal"), pair(2))
    operation = find_operation("punctuation").applied_to("candidate")
    dropped = perturb(
        both.with_columns(candidate_low=pl.col("candidate_low") + "!"), operation, seed=1
    )

    assert counts(dropped) == (1, 0, 0, 1)
    assert dropped.pairs["parent_id"].to_list() == [f"{2:016x}"]


def test_g06_only_parents_with_a_child_count() -> None:
    pairs = frame(pair(1), pair(2, "c2", context="no end"), pair(3, "c3", context="?!"))
    found = made(pairs, "punctuation")

    assert found.pairs["parent_id"].to_list() == [f"{1:016x}"]
    assert (found.facts["parents"], found.facts["contexts"]) == (1, 1)
    assert counts(found) == (1, 1, 1, 0)


def test_why_pairs_are_rejected_is_counted() -> None:
    code = "So:\n```python\nprint(1)\n```\nRun it. Now."
    pairs = frame(pair(1), pair(2, "c2", context=code), pair(3, "c2", context=code))
    found = made(pairs, "order", variants=2)

    assert counts(found) == (2, 0, 4, 0)
    assert found.facts["refusals"] == {"data of an unknown form": 4}
    assert made(frame(pair(1)), "order").facts["refusals"] is None


def test_g08_what_becomes_of_each_parent_is_counted_for_every_variant() -> None:
    texts = [LONG, "one", "One. Two.", ""]
    rows = [pair(number, f"c{number}", context=text) for number, text in enumerate(texts)]
    found = made(frame(*rows), "order", variants=3)

    assert counts(found) == (6, 6, 0, 0)
    assert (found.facts["pairs"], found.facts["parents"], found.facts["variants"]) == (6, 2, 3)


def test_g54_variants_are_children_of_one_parent() -> None:
    found = made(frame(pair(1)), "typos=0.2", variants=3)

    assert found.pairs["context_id"].to_list() == [f"c1~typos-0.2.{k}" for k in (1, 2, 3)]
    assert found.pairs["context"].n_unique() == 3
    assert set(found.pairs["parent_id"]) == {f"{1:016x}"}
    assert set(found.pairs["cluster"]) == {"c1"}
    assert made(frame(pair(1)), "punctuation", variants=3).facts["variants"] == 1


@pytest.mark.parametrize(
    ("target", "renamed"),
    [
        ("context", {"context_id"}),
        ("candidate", {"high_id", "low_id"}),
        ("both", {"context_id", "high_id", "low_id"}),
    ],
)
def test_what_is_changed_has_a_new_id_and_the_rest_its_own(target: Any, renamed: set[str]) -> None:
    pairs = frame(pair(1, candidate_high="Yes it is.", candidate_low="No it is not."))
    operation = find_operation("punctuation").applied_to(target)
    found = perturb(pairs, operation, seed=1)
    new = {
        name
        for name in ("context_id", "high_id", "low_id")
        if found.pairs[name][0] != pairs[name][0]
    }

    assert new == renamed
    assert all(found.pairs[name][0] == f"{pairs[name][0]}~{operation.set_name}.1" for name in new)
    assert found.facts["parameters"]["on"] == target


def test_a_template_reads_the_changed_parts_too() -> None:
    """The answer is also in the paragraph; the context is rendered from the changed parts."""
    inputs = {"paragraph": "Lima is by the sea. It is large.", "answer": "Lima"}
    text = r"Lima \n Lima is by the sea. It is large."
    for spelled in ("typos=0.5", "order", "case=upper", "whitespace=1"):
        found = made(frame(pair(1, context=text, inputs=inputs)), spelled)
        parts = {each["key"]: each["value"] for each in found.pairs["inputs"].to_list()[0]}

        assert list(parts) == ["paragraph", "answer"]
        assert parts["paragraph"] != inputs["paragraph"]
        assert found.pairs["context"][0] == rf"{parts['answer']} \n {parts['paragraph']}"


def test_a_context_that_is_not_made_of_its_parts_is_changed_as_a_text() -> None:
    inputs = {"summary": "Guests came.", "long": LONG + " Who?"}
    found = made(frame(pair(1, inputs=inputs)), "punctuation")

    assert found.pairs["context"][0] == LONG[:-1]
    assert [part["value"] for part in found.pairs["inputs"].to_list()[0]] == [
        "Guests came",
        LONG + " Who",
    ]


PARTS = st.text(st.sampled_from("ab .?1"), max_size=8)


@settings(max_examples=30)
@given(parts=st.lists(PARTS, min_size=1, max_size=3), between=PARTS, whole=st.booleans())
def test_a_context_unchanged_is_rendered_as_it_was(
    parts: list[str],
    between: str,
    whole: bool,  # noqa: FBT001
) -> None:
    text = between.join(parts) if whole else between
    inputs = {f"part{number}": part for number, part in enumerate(parts)}
    texts = texts_of(frame(pair(1, context=text, inputs=inputs)))
    (context,) = texts.contexts

    pieces = (texts.texts[at] if isinstance(at, int) else at for at in context.pieces)
    assert "".join(pieces) == text
    assert {name: texts.texts[at] for name, at in context.parts.items()} == inputs


def test_a_derived_pair_belongs_to_the_cluster_of_its_human_ancestor() -> None:
    assert made(frame(pair(1, cluster="first")), "punctuation").pairs["cluster"].to_list() == [
        "first"
    ]


# The command.


@pytest.fixture
def folder(make_source: Callable[..., Path], tmp_path: Path) -> Path:
    """A converted folder with two pairs, of the context "Who sings?"."""
    convert(make_source(redistribution="no-derivatives"), out=tmp_path / "toy")
    return tmp_path / "toy"


def own(folder: Path, body: str) -> str:
    path = folder.parent / "mine.py"
    path.write_text(f"def change(text, random):\n    {body}\n", encoding="utf-8")
    return f"{path}:change"


def test_g51_a_function_of_ones_own_is_an_operation(folder: Path) -> None:
    suite = folder.parent / "suite"
    report = derive(folder, [own(folder, "return text + ' ' + str(random.random())")], out=suite)
    children = pl.read_parquet(suite / "sets/change.parquet")

    assert set(children["origin"]) == {"synthetic:change"}
    assert children["context"].n_unique() == 1
    assert report.sets[0]["parameters"].keys() == {"file", "function", "sha256", "on"}
    assert validate(suite).ok


FAILING = [
    ("return 1 / 0", "make.function", '"c1" of split test'),
    ("raise SystemExit(3)", "make.function", '"c1" of split test'),
    ("return 3", "make.function", '"c1" of split test'),
    ("return b'a'", "make.function", '"c1" of split test'),
    (r"return '\ud800'", "make.function", '"c1" of split test'),
    ("return None", "data.no-pairs", ""),
    ("return text", "data.no-pairs", ""),
    ("return ' '", "data.no-pairs", ""),
]


def test_a_function_that_fails_is_one_error_and_nothing_is_written(folder: Path) -> None:
    suite = folder.parent / "suite"
    derive(folder, ["punctuation"], out=suite)
    before = (suite / "manifest.json").read_bytes()
    for body, code, where in FAILING:
        with refusal(code, where):
            derive(folder, ["punctuation", own(folder, body)], out=suite)

        assert (suite / "manifest.json").read_bytes() == before
        assert [path.name for path in (suite / "sets").iterdir()] == ["punctuation.parquet"]
        assert not [path for path in folder.parent.iterdir() if path.name.startswith(".")]


WRONG = [
    ("--op typo", "option.unknown-value", ""),
    ("--op typos=2", "option.bad-value", '"typos=2"'),
    ("--op numbers", "data.no-pairs", ""),
    ("--op numbers --on context", "option.conflict", ""),
    ("--op case --op case=lower", "name.twice", ""),
    ("--op case --variants 0", "option.bad-value", ""),
    ("", "input.missing", ""),
]


def test_wrong_input_is_one_line_and_exit_code_2(folder: Path, nnd: Nnd) -> None:
    for words, code, where in WRONG:
        nnd.refuses("derive", folder, "--out", "suite", *words.split(), code=code, where=where)

        assert not Path("suite").exists()


def test_the_command_shows_what_was_made(folder: Path, nnd: Nnd) -> None:
    ran = nnd("derive", folder, "--op", "punctuation", "--json")
    (facts,) = json.loads(ran.out)["sets"]

    assert (ran.code, facts["name"], facts["pairs"]) == (0, "punctuation", 2)
    assert validate(Path("toy-suite")).ok
