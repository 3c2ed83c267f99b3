"""Stored runs compared: which models, which pairs, what is said."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.stored_folders import write_text
from support.two_models import scored, sign

from nnd.metric.numbers.comparison.comparing import compare
from nnd.metric.numbers.comparison.comparison import Comparison

Runs = Callable[..., list[Path]]

BETTER, WORSE = "+" * 30 + "-" * 10, "+" * 10 + "-" * 30
KINDS = ["rude", "wrong"] * 20


def only(folders: list[Path], **options: Any) -> Comparison:
    (found,) = compare(folders, **options)
    return found


# Which models


def test_two_runs_of_one_model_each_or_one_of_two(runs: Runs) -> None:
    x, y = scored("x", BETTER), scored("y", WORSE)
    found = only(runs(x, y))
    assert (found.first, found.second, found.n_pairs) == ("x", "y", 40)
    assert found.overall.difference == 0.5
    assert found.overall.verdict == "first"
    (folder,) = runs(pl.concat([x, y]))
    (found,) = compare(folder)  # one folder needs no list
    assert (found.first, found.second, found.overall.difference) == ("x", "y", 0.5)


def test_all_models_each_with_each_or_two_in_the_order_asked_for(runs: Runs) -> None:
    x, y, z = (scored(name, BETTER) for name in "xyz")
    folders = runs(pl.concat([x, y]), z)
    found = compare(folders)
    assert [(each.first, each.second) for each in found] == [("x", "y"), ("x", "z"), ("y", "z")]
    asked = only(folders, models=["z", "x"])
    assert (asked.first, asked.second) == ("z", "x")


def test_one_model_in_two_runs_is_told_apart_by_the_folder(runs: Runs) -> None:
    one, other = folders = runs(scored("x", BETTER), scored("x", WORSE))
    found = only(folders)
    assert (found.first, found.second) == (f"{one}:x", f"{other}:x")
    assert found.sentences[0].startswith(f"{one}:x is better than {other}:x overall: ")
    assert only(folders, models=[f"{other}:x", f"{one}:x"]).overall.verdict == "second"
    with refusal("name.twice") as caught:
        compare(folders, models=["x", f"{one}:x"])
    assert all(f"{folder}:x" in caught.value.remedy for folder in folders)


@pytest.mark.parametrize(
    ("models", "code"),
    [
        (["x"], "run.too-few-models"),
        (["x", "q"], "name.unknown"),
        (["x", "x"], "name.twice"),
    ],
)
def test_models_that_cannot_be_compared(models: list[str], code: str, runs: Runs) -> None:
    folders = runs(pl.concat([scored("x", "+"), scored("y", "-")]))
    with refusal(code):
        compare(folders, models=models)


def test_a_run_that_is_named_twice(runs: Runs) -> None:
    (folder,) = runs(scored("x", "+"))
    with refusal("name.twice", str(folder)):
        compare([folder, folder])


@pytest.mark.parametrize("name", ["nowhere", ""])
def test_what_is_no_run(name: str, tmp_path: Path) -> None:
    with refusal("run.not-a-run", str(tmp_path / name)):
        compare(tmp_path / name)


# Which pairs


def test_the_order_of_rows_does_not_matter(runs: Runs) -> None:
    x, y = scored("x", BETTER, aspect=KINDS), scored("y", WORSE, aspect=KINDS)
    mixed = runs(x.reverse(), y.sample(fraction=1, shuffle=True, seed=1))
    assert only(mixed).to_dict() == only(runs(x, y)).to_dict()


def test_pairs_of_one_run_only_are_left_out_and_told(runs: Runs) -> None:
    # x has p0 to p39, y p0 to p29 and ten of its own.
    y = scored("y", WORSE)
    others = y.tail(10).with_columns(pl.col("pair_id") + "!", pl.col("context_id") + "!")
    found = only(runs(scored("x", BETTER).head(38), pl.concat([y.head(30), others])))
    assert (found.n_pairs, found.only_in_first, found.only_in_second) == (30, 8, 10)
    assert found.overall.n == 30
    assert found.sentences[-1] == (
        "Left out: 8 pairs scored only with x, and 10 scored only with y."
    )


def test_a_category_that_no_shared_pair_has_stays_with_nothing(runs: Runs) -> None:
    x, y = (scored(name, "++-", error_category=["rude", "wrong", "wrong"]) for name in "xy")
    found = only(runs(x, y.filter(pl.col("error_category") == "wrong")))
    rude, wrong = found.to_dict()["by_error_category"].values()
    assert (rude["n"], rude["difference"], rude["interval"], rude["p"]) == (0, None, None, None)
    assert (wrong["n"], wrong["difference"]) == (2, 0)
    assert "the models share no pair of rude" in found.sentences[1]


def test_a_pair_that_the_data_has_twice_is_two_pairs(runs: Runs) -> None:
    x, y = (scored(name, "++-") for name in "xy")
    found = only(runs(pl.concat([x, x]), pl.concat([y, y])))
    assert (found.n_pairs, found.only_in_first) == (6, 0)


def test_runs_without_a_common_pair(runs: Runs) -> None:
    folders = runs(scored("x", "+-"), scored("y", "+-", pair_id=["q0", "q1"]))
    with refusal("run.another-data"):
        compare(folders)
    sign(folders[0], x="nnd|v:0.1.0|model:x@1|data:quiz@abc|protocol:native")
    sign(folders[1], y="nnd|v:0.1.0|model:y@2|data:frank@def|protocol:native")
    with refusal("run.another-data") as caught:
        compare(folders)
    assert all(data in caught.value.what for data in ("quiz@abc", "frank@def"))


def test_models_of_different_rules_are_compared_only_if_told(runs: Runs) -> None:
    folders = runs(scored("x", BETTER), scored("y", WORSE), scored("z", WORSE))
    for folder, name, version in zip(folders, "xyz", ("0.1.0", "0.2.0", "0.2.0"), strict=True):
        sign(folder, **{name: f"nnd|v:{version}|model:{name}@1|protocol:native|sep:' '|bos:no"})
    with refusal("run.different-rules"):
        compare(folders)
    assert only(folders, models=["y", "z"]).sentences == only(folders[1:]).sentences
    mixed = only(folders[:2], mixed_rules=True)
    assert mixed.overall == only(runs(scored("x", BETTER), scored("y", WORSE))).overall
    assert mixed.sentences[0].startswith("x and y were scored by different rules, 0.1: ")


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("context_id", "other", ["c1", "other"]),
        ("context_id", None, ["c1"]),
        ("low_id", "other", ["l1", "other"]),
        ("aspect", "other", ["quality", "other"]),
        ("characters_high", 9, ["5", "9"]),
    ],
)
def test_a_pair_id_that_stands_for_two_pairs(
    *, column: str, value: Any, told: list[str], runs: Runs
) -> None:
    x = scored("x", "+-", aspect="quality").with_columns(characters_high=pl.lit(5, pl.Int64))
    second = pl.col("pair_id") == "p1"
    changed = pl.when(second).then(pl.lit(value)).otherwise(column).alias(column)
    with refusal("run.another-data") as caught:
        compare(runs(x, x.with_columns(changed, model=pl.lit("y"))))
    assert all(fact in caught.value.what for fact in ("p1", column, *told))


def test_no_pairs_at_all(runs: Runs) -> None:
    # A run without pairs names no model either.
    folders = runs(scored("x", ""), scored("y", ""))
    with refusal("run.too-few-models"):
        compare(folders)


# Stored files


def test_runs_from_before_lengths_were_stored(runs: Runs) -> None:
    added = ["characters_high", "characters_low", "copied_high", "copied_low"]
    old = scored("y", WORSE).drop(added, "ll_alone_high", "ll_alone_low")
    new = scored("x", BETTER).with_columns(pl.lit(7, pl.Int64).alias(name) for name in added[:2])
    assert only(runs(new, old)).overall.difference == 0.5


@pytest.mark.parametrize(
    ("column", "values"), [("ll_low", [-1.0, float("nan")]), ("passed", [True, None])]
)
def test_a_value_that_cannot_be_is_refused(column: str, values: list[Any], runs: Runs) -> None:
    wrong = scored("x", "++").with_columns(pl.Series(column, values))
    with refusal("run.evaluate-again", "log_likelihoods.parquet: row 1") as caught:
        compare(runs(wrong, scored("y", "++")))
    assert column in caught.value.what


def test_signatures_come_along(runs: Runs) -> None:
    folders = runs(scored("x", "+-"), scored("y", "+-"))
    sign(folders[0], x="nnd|x")
    found = only(folders)
    assert (found.signature_first, found.signature_second) == ("nnd|x", None)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "contract.broken"),
        ("[]", "contract.broken"),
        ('{"results": [{"model": "x"}]}', "run.evaluate-again"),
    ],
)
def test_a_result_that_is_none(text: str, code: str, runs: Runs) -> None:
    folders = runs(scored("x", "+-"), scored("y", "+-"))
    write_text(folders[0] / "result.json", text)
    with refusal(code, f"{folders[0]}/result.json"):
        compare(folders)


def test_a_result_that_was_changed(runs: Runs) -> None:
    folders = runs(scored("x", "+-"), scored("y", "+-"))
    sign(folders[0], x="nnd|protocol:native")
    path = folders[0] / "result.json"
    path.write_text(path.read_text().replace("protocol:native", "protocol:sum"))
    with refusal("contract.broken", str(path)):
        compare(folders)


# What is said


def test_the_better_one_comes_first(runs: Runs) -> None:
    found = only(runs(scored("x", WORSE), scored("y", BETTER)))
    # 20 of 40 discordant tests, all y's: p = 2 / 2^20.
    assert found.sentences[0].startswith(
        "y is better than x overall: 75.0 % against 25.0 % of 40 tests, a difference of +50.0 "
        "points [+"
    )
    assert found.sentences[0].endswith("], p < 0.0001.")


def test_where_the_data_cannot_tell_it_says_what_it_would_take(runs: Runs) -> None:
    # 40 tests, two to a context. The contexts differ by 2, 2, 2, -1 and -2. Of 32 flips, 20 are as
    # far from 0 as 3: those in which the four 2 do not cancel out.
    contexts = [f"c{number // 2}" for number in range(40)]
    x = scored("x", "+" * 6 + "-" * 34, context_id=contexts)
    y = scored("y", "-" * 37 + "+" * 3, context_id=contexts)
    found = only(runs(x, y))
    needed = found.overall.needed
    assert needed is not None
    (sentence,) = found.sentences
    assert sentence == (
        "x and y do not differ significantly overall: 15.0 % against 7.5 % of 40 tests, a "
        f"difference of +7.5 points [{shown(found)}], p = 0.6250; to detect 2 points takes about "
        f"{needed.tests:,} tests of {needed.clusters:,} contexts like these."
    )
    assert needed.clusters == -(-needed.tests // 2)


def shown(found: Comparison) -> str:
    low, high = found.overall.interval or (0, 0)
    return f"{100 * low:+.1f}, {100 * high:+.1f}"


def test_unscored_tests_are_told(runs: Runs) -> None:
    found = only(runs(scored("x", "+?-"), scored("y", "++?")))
    assert found.sentences[-1] == (
        "2 tests lack a likelihood of one model or both; they count as failures."
    )


def test_where_each_is_better(runs: Runs) -> None:
    kinds = ["rude"] * 20 + ["vague"] * 4 + ["wrong"] * 20
    x = scored("x", "+" * 20 + "+-+-" + "-" * 20, error_category=kinds)
    y = scored("y", "-" * 20 + "+--+" + "+" * 20, error_category=kinds)
    found = only(runs(x, y))
    assert found.sentences[1] == (
        "By error category: x is better at rude; y is better at wrong; the difference is not "
        "significant at vague."
    )


def test_the_dictionary_is_plain_json(runs: Runs) -> None:
    plain = only(runs(scored("x", BETTER, aspect=KINDS), scored("y", WORSE))).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert (plain["n_pairs"], plain["overall"]["only_first"], plain["by_category"]) == (40, 20, {})
    assert plain["by_aspect"]["rude"]["n"] == 20
