"""A set of a suite stays a set: what `--limit`, `--held-out`, `--split` and the rest keep of it.

A table of every kind of derivation by every way to take a part, against loops over rows.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.suites.split_source import FACTS

from nnd.converters.folder import convert
from nnd.converters.make import derive
from nnd.metric.app import suite
from nnd.metric.data import PairSet, choose_contexts, choose_part, load_pairs, read_run
from nnd.metric.likelihood import Scoring
from nnd.metric.numbers import find_effects
from nnd.metric.run import Evaluation, evaluate, merge
from nnd.metric.train.training_sides import take_sides
from nnd.schemas import cut_by_context, cut_together

Row = Mapping[str, Any]
PLAIN = Scoring(cache=False, unconditional=False)
TRAIN = 3
"""Of 16 contexts, those of the split train come last."""

DEFINITION: list[dict[str, Any]] = [
    {"op": "case=upper", "name": "capitals"},
    {"op": "typos=0.3", "name": "typos", "variants": 2},
    {"file": "mine.jsonl", "name": "by-hand"},
    {"by": "error_category", "value": "rude", "name": "rude"},
    {"sample": 8, "name": "some"},
    *(
        {"op": "negation", "negatives": texts, "name": f"of-{texts}"}
        for texts in ("preferred", "references", "fake_references")
    ),
]
NEGATIVES = ("of-preferred", "of-references", "of-fake_references")
PREFERRED: dict[str, Any] = {"negatives": "preferred"}
SETS = tuple(each["name"] for each in DEFINITION)


def lines() -> list[str]:
    """Sixteen ponds; every fourth has no pair, because all that is said of it is good."""
    found = ["id,text,split,system,candidate,label,reference"]
    for pond in range(16):
        bad = ["rude", "bad"][pond % 3 == 0]
        labels = {"otter": "good", "badger": "good" if pond % 4 == 3 else bad}
        labels["marten"] = labels["badger"]
        split = "test" if pond < 16 - TRAIN else "train"
        for system, label in labels.items():
            said = f"The {system} will swim in pond {pond}."
            reference = f"Pond {pond} is small."
            found.append(f"c{pond},Pond {pond}.,{split},{system},{said},{label},{reference}")
    return found


@pytest.fixture(scope="module")
def ponds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with a set of each kind."""
    place = tmp_path_factory.mktemp("ponds")
    (place / "source").mkdir()
    facts = FACTS.replace("letters", "ponds").replace(
        "labels: {good: label}", "labels: {good: label}\n  references: [reference]"
    )
    rude = "rude: {name: Rude, group: null, description: It is rude.}"
    facts = facts.replace("taxonomy: {", f"taxonomy: {{{rude}, ")
    (place / "source" / "source.yaml").write_text(facts, encoding="utf-8")
    (place / "ponds.csv").write_text("\n".join(lines()) + "\n", encoding="utf-8")
    convert(place / "source", origin=place / "ponds.csv", out=place / "ponds-nnd")
    parents = pl.read_parquet(place / "ponds-nnd" / "pairs.parquet")
    mine = [
        {"parent_id": key, "context": f"See: {text}", "inputs": {"text": f"See: {text}"}}
        for key, text in parents.select("pair_id", "context").rows()
    ]
    (place / "mine.jsonl").write_text("\n".join(map(json.dumps, mine)), encoding="utf-8")
    definition = {"source": "ponds", "sets": DEFINITION}
    (place / "suite.json").write_text(json.dumps(definition), encoding="utf-8")
    suite(place / "suite.json", out=place / "suite", data=place / "ponds-nnd")
    return place / "suite"


@pytest.fixture(scope="module")
def whole(ponds: Path) -> PairSet:
    return load_pairs(ponds)


def rows_of(pairs: PairSet, name: str) -> list[Row]:
    (found,) = (each.pairs.to_dicts() for each in pairs.sets if each.name == name)
    return found


def ids(rows: Collection[Row]) -> set[str]:
    return {row["pair_id"] for row in rows}


def key(row: Row) -> tuple[str, str]:
    return row["split"], row["context_id"]


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


# What each way keeps of a set of negatives; of a set of human pairs it keeps their children.


def of_split(rows: Sequence[Row], _human: Sequence[Row]) -> set[str]:
    return {row["pair_id"] for row in rows if row["split"] == "test"}


def of_category(rows: Sequence[Row], human: Sequence[Row]) -> set[str]:
    contexts = {key(row) for row in human if row["error_category"] == "rude"}
    return {row["pair_id"] for row in rows if key(row) in contexts}


def of_limit(rows: Sequence[Row], _human: Sequence[Row]) -> set[str]:
    own: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        if row["split"] == "test":  # the default, beside train
            test = digest(*key(row), row["high_id"], row["low_id"])
            own[digest(*key(row))].append((test, row["pair_id"]))
    drawn = [pair for turn in (0, 3) for c in sorted(own) for pair in sorted(own[c])[turn:][:3]]
    return {pair for _, pair in drawn[:5]}


def held_out(rows: Sequence[Row], _human: Sequence[Row]) -> set[str]:
    def place(context: str) -> float:
        return int(hashlib.sha256(f"0\0{context}".encode()).hexdigest()[:16], 16) / 2**64

    return {row["pair_id"] for row in rows if place(row["context_id"]) >= 0.5}


PARTS: dict[str, tuple[dict[str, Any], Callable[..., set[str]]]] = {
    "split": ({"splits": ["test"]}, of_split),
    "category": ({"splits": ["test", "train"], "categories": ["rude"]}, of_category),
    "limit": ({"limit": 5}, of_limit),
    "held-out": ({"held_out": 0.5}, held_out),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_pairs_has_its_part_of_every_set(
    part: str, name: str, whole: PairSet
) -> None:
    options, negatives = PARTS[part]
    chosen = choose_part(whole, **options)
    rows, human = rows_of(whole, name), whole.pairs.to_dicts()
    if name in NEGATIVES:
        expected = negatives(rows, human)
    else:
        parents = ids(chosen.pairs.to_dicts())
        expected = {r["pair_id"] for r in rows if (r["parent_id"] or r["pair_id"]) in parents}
    assert ids(rows_of(chosen, name)) == expected
    assert 0 < len(expected) <= len(rows) - ((part, name) != ("category", "rude"))


@pytest.mark.parametrize("limit", range(1, 20, 3))
def test_a_larger_limit_contains_a_smaller_one(limit: int, whole: PairSet) -> None:
    small, large = (choose_part(whole, limit=n) for n in (limit, limit + 2))
    for name in SETS:
        assert ids(rows_of(small, name)) <= ids(rows_of(large, name))
    for name in NEGATIVES:
        assert len(rows_of(small, name)) == min(limit, len(of_split(rows_of(whole, name), [])))


def test_a_set_of_negatives_is_limited_also_where_the_human_pairs_are_few(whole: PairSet) -> None:
    human = whole.pairs.filter(pl.col("split") == "train")
    few = choose_part(replace(whole, pairs=human), splits=["train"], limit=human.height)
    assert few.pairs.height == human.height
    (name,) = (each.name for each in whole.sets if each.name == "of-references")
    many = replace(whole, pairs=human.head(1))
    found = choose_part(many, splits=["train"], limit=1)
    assert len(rows_of(found, name)) == 1
    assert found.n_whole in (None, 1)


def test_a_made_pair_of_both_sides_is_on_neither() -> None:
    human = pl.DataFrame(
        {
            "context": [f"Pond {n}." for n in range(8)],
            "context_id": [f"c{n}" for n in range(8)],
            "candidate_high": "x",
            "cluster": None,
        },
        schema_overrides={"cluster": pl.String},
    )
    sides = dict(zip(human["context_id"], cut_by_context(human, 0.5), strict=True))
    on = [next(name for name, side in sides.items() if side is wanted) for wanted in (True, False)]
    texts = {name: f"Pond {name[1:]}." for name in sides}
    rows = [(texts[on[0]], on[1]), (texts[on[0]], on[0]), (texts[on[1]], "new"), ("New.", "new")]
    made = pl.DataFrame(rows, ["context", "context_id"], orient="row").with_columns(
        candidate_high=pl.lit("y"), cluster=pl.lit(None, pl.String)
    )
    again, found = cut_together(human, [made], 0.5)
    assert dict(zip(human["context_id"], again, strict=True)) == sides
    # Its context is on one side and its text on the other; what shares a text follows it.
    assert found.to_list() == [None, True, False, False]


def test_contexts_that_are_chosen_bring_their_negatives(whole: PairSet) -> None:
    found = choose_contexts(whole, 4)
    contexts = {key(row) for row in found.pairs.to_dicts()}
    for name in NEGATIVES:
        kept = {key(row) for row in rows_of(found, name)}
        assert kept == contexts & {key(row) for row in rows_of(whole, name)}


@pytest.mark.parametrize("name", SETS)
def test_both_sides_of_a_training_have_their_part_of_a_set(
    name: str, ponds: Path, whole: PairSet
) -> None:
    sides = take_sides(ponds, [name], [], share=0.5, seed=0)
    training, test = (ids(each.pairs.to_dicts()) for each in (sides.training, sides.tests[0]))
    assert training | test == ids(rows_of(whole, name))
    assert training
    assert test
    assert sides.by_set == {name: len(training)}
    contexts = [
        {row["cluster"] or row["context_id"] for row in each.pairs.to_dicts()}
        for each in (sides.training, sides.tests[0])
    ]
    assert contexts[0].isdisjoint(contexts[1])
    if name in NEGATIVES:
        assert test == held_out(rows_of(whole, name), [])


def test_contexts_without_human_pairs_change_no_cut(ponds: Path, whole: PairSet) -> None:
    """The human pairs are cut as they are without the suite."""
    alone = load_pairs(ponds.parent / "ponds-nnd")
    for seed in range(5):
        cuts = [choose_part(each, held_out=0.7, split_seed=seed) for each in (whole, alone)]
        assert cuts[0].pairs["pair_id"].equals(cuts[1].pairs["pair_id"])


def test_workers_score_every_set_like_one_process(
    ponds: Path, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    gpt2 = str(saved("gpt2"))
    options: dict[str, Any] = {"splits": ["test", "train"], "scoring": PLAIN}
    alone = evaluate(gpt2, ponds, out=tmp_path / "alone", **options)
    for share in (1, 2):
        evaluate(gpt2, ponds, out=tmp_path / "run", worker=(share, 2), **options)
    merged = merge(tmp_path / "run")
    assert isinstance(alone, Evaluation)
    sets = [
        pl.read_parquet(tmp_path / run / "sets.parquet").sort("set", "pair_id")
        for run in ("alone", "run")
    ]
    assert (
        sets[0]
        .select("set", "pair_id", "passed")
        .equals(sets[1].select("set", "pair_id", "passed"))
    )
    assert {*sets[0]["set"]} == {*SETS}
    assert read_run(tmp_path / "run").height == alone.scored.height
    ns = [{each.set: each.n for each in found.results[0].suite} for found in (alone, merged)]
    assert ns[0] == ns[1]
    assert 0 not in ns[0].values()


# A set that is empty in the end


def test_a_set_without_tests_is_named(whole: PairSet) -> None:
    sets = [each for each in whole.sets if each.name == "of-references"]
    human = whole.pairs.with_columns(passed=pl.lit(value=True))
    texts = dict.fromkeys(("model", "set", *human.columns), pl.String)
    numbers = dict.fromkeys(("ll_high", "ll_low"), pl.Float64)
    nothing = pl.DataFrame(schema=texts | numbers | {"passed": pl.Boolean})
    effects = find_effects(sets, [("wren", human), ("heron", human)], nothing)
    assert effects is not None
    assert effects.remarks() == ["No tests of of-references are in this part of the data."]


def test_a_set_that_was_asked_for_must_have_pairs(ponds: Path, tmp_path: Path) -> None:
    code = "def only(text, random):\n    return 'No.' if 'pond 2' in text else None\n"
    (tmp_path / "only.py").write_text(code, encoding="utf-8")
    few = tmp_path / "few"
    derive(ponds.parent / "ponds-nnd", [f"{tmp_path / 'only.py'}:only"], out=few, **PREFERRED)
    with refusal("train.no-texts", "few-only"):
        take_sides(few, ["only"], [], share=0.5, seed=0)
