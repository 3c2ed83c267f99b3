"""Made pairs beside those of people: which pairs are whose, and what is said of them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.stored_folders import read_facts, write_sealed
from support.two_models import scored, write_run

from nnd.metric.data import STORED_SETS
from nnd.metric.numbers import Validity, compare
from nnd.schemas import check_rows, pairs_digest


def run(folder: Path, human: pl.DataFrame, *made: pl.DataFrame) -> Path:
    """A run of human pairs, and of made ones."""
    write_run(folder, human)
    sets = [each.with_columns(set=pl.lit("made"), parent_id=pl.lit(None)) for each in made]
    if sets:
        pl.concat(sets).select(
            pl.col(name).cast(dtype) for name, dtype in STORED_SETS.items()
        ).write_parquet(folder / "sets.parquet")
    return folder


def human(model: str, verdicts: str, **columns: Any) -> pl.DataFrame:
    return scored(model, verdicts, **{"origin": "human", "error_category": "wrong"} | columns)


def made(model: str, verdicts: str, operation: str = "negation") -> pl.DataFrame:
    """Negatives in the contexts of the human pairs."""
    rows = scored(model, verdicts, origin=f"synthetic:{operation}", error_category=operation)
    return rows.with_columns(
        pair_id="made" + pl.col("pair_id"),
        low_id=pl.col("low_id") + f"~{operation}.1",
        characters_high=12,
        characters_low=15,
    )


def origins(*runs: Path, **options: Any) -> Validity:
    found = compare(runs, by="origin", **options)
    assert isinstance(found, Validity)
    assert list(check_rows("validity", [found.to_dict()])) == []
    return found


def test_made_pairs_are_beside_human_ones(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", human("m", "+" * 5 + "-" * 5), made("m", "+" * 9 + "-"))
    (negation,) = origins(folder).operations
    of = negation.models["m"]

    assert (of.made.n, of.made.pass_rate) == (10, 0.9)
    assert (of.people["human"].pairs.n, of.people["human"].pairs.pass_rate) == (10, 0.5)
    assert of.people["human"].difference == pytest.approx(0.4)
    assert of.people["human"].interval is not None
    assert of.people["human"].interval[0] < 0.4 < of.people["human"].interval[1]
    assert "constructed" not in of.people


def test_only_pairs_of_the_matching_category_count(tmp_path: Path) -> None:
    people = human("m", "++--", error_category=["wrong", "wrong", "rude", "odd"])
    folder = run(tmp_path / "run", people, made("m", "+-"))

    for categories, rate in (["rude"], 0.0), (["wrong", "rude"], 2 / 3), ([], 0.5):
        (negation,) = origins(folder, match={"negation": categories}).operations
        assert negation.models["m"].people["human"].pairs.pass_rate == rate


def test_constructed_pairs_of_another_run_are_beside_them_too(tmp_path: Path) -> None:
    suite = run(tmp_path / "suite", human("m", "+-"), made("m", "++"))
    built = human("m", "+++-", origin="constructed:negation").with_columns(
        pair_id="built" + pl.col("pair_id")
    )
    (negation,) = origins(suite, run(tmp_path / "bump", built)).operations
    people = negation.models["m"].people

    assert (people["human"].pairs.n, people["human"].pairs.pass_rate) == (2, 0.5)
    assert (people["constructed"].pairs.n, people["constructed"].pairs.pass_rate) == (4, 0.75)
    # The contexts of two datasets are others, even where ids are the same: 4 + 2 of them.
    assert people["constructed"].difference == 0.25


def test_perturbed_pairs_are_not_made_ones(tmp_path: Path) -> None:
    children = made("m", "--").with_columns(error_category=pl.lit("wrong"))
    folder = run(tmp_path / "run", human("m", "+-"), made("m", "++", "numbers"), children)
    (numbers,) = origins(folder).operations

    assert numbers.operation == "numbers"
    assert numbers.models["m"].made.pass_rate == 1
    assert numbers.models["m"].people["human"].pairs.n == 2


def test_models_in_the_same_order_are_in_agreement(tmp_path: Path) -> None:
    models = {"x": ("+++-", "++++"), "y": ("++--", "+++-"), "z": ("+---", "++--")}
    people = pl.concat([human(name, verdicts) for name, (verdicts, _) in models.items()])
    negatives = [made(name, verdicts) for name, (_, verdicts) in models.items()]
    found = origins(run(tmp_path / "run", people, *negatives))

    assert found.operations[0].tau_b == {"human": 1.0, "constructed": None}
    assert found.headline() == (
        "Pass rate on made pairs minus that on human pairs, mean over 3 models, in points: "
        "negation +25.0."
    )
    assert (
        "negation: Kendall's tau-b of 3 models' pass rates is 1.00 with human pairs."
        in found.remarks()
    )


def test_what_the_surface_gives_away_is_said(tmp_path: Path) -> None:
    people = human("m", "+-", characters_high=[12, 10], characters_low=[10, 12])
    found = origins(run(tmp_path / "run", people, made("m", "++")))

    assert found.remarks()[-1] == (
        "negation: picking the shorter text passes 100.0 % of the made pairs, 50.0 % of the human "
        "ones."
    )
    (row,) = found.to_frame().iter_rows(named=True)
    assert (row["operation"], row["model"], row["origin"]) == ("negation", "m", "human")
    assert (row["n"], row["rate"], row["other"], row["human_n"]) == (2, 1.0, 0.5, 2)


def test_a_run_that_does_not_know_origins_says_so(tmp_path: Path) -> None:
    older = human("m", "+-").drop("origin")  # as runs were before they kept it
    found = origins(run(tmp_path / "run", older, made("m", "++")))

    assert found.operations[0].models["m"].people["human"].pairs.n == 2
    assert found.cautions == (
        "m: some runs do not store the origin of their pairs; these pairs count as human.",
    )


def test_made_pairs_that_models_pass_more_often_are_easier(tmp_path: Path) -> None:
    people = pl.concat([human("x", "-" * 40), human("y", "+" * 20 + "-" * 20)])
    negatives = [made("x", "+" * 40), made("y", "+" * 20 + "-" * 20)]
    found = origins(run(tmp_path / "run", people, *negatives))

    assert found.remarks()[0] == (
        "negation: made pairs are significantly easier than human ones for 1 of 2 models, harder "
        "for 0."
    )


def test_what_was_compared_is_written(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", human("m", "+-"), made("m", "++"))
    found = origins(folder, out=tmp_path / "suite")

    file = tmp_path / "suite" / "validity.json"
    assert read_facts(file) == found.to_dict()
    assert found.operations[0].digest == pairs_digest(["madep1", "madep0"])


def test_wrong_input_is_one_error(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", human("m", "+-"), made("m", "++"))
    again = run(tmp_path / "again", human("m", "+-"))
    for runs, options, code, fact in (
        ([again], {}, "run.no-made-pairs", ""),
        ([folder], {"match": {"numbers": ["wrong"]}}, "name.unknown", '"numbers"'),
        ([folder], {"match": {"negation": ["Wrong"]}}, "name.unknown", '"wrong"?'),
        ([folder], {"models": ["n"]}, "name.unknown", '"n"'),
        ([folder, again], {}, "name.twice", '"m"'),
    ):
        with refusal(code) as caught:
            origins(*runs, **options)
        assert fact in caught.value.what
    for option in {"match": {"negation": ["wrong"]}}, {"out": tmp_path}:
        with refusal("option.needs-another"):
            compare(folder, by=None, **option)


PARAGRAPHS = [f"paragraph:p{number // 2}" for number in range(12)]


def stored(folder: Path, name: str, *, old: bool) -> Path:
    """A run on human pairs and their negatives; an old one knows no clusters."""
    own: dict[str, Any] = {"cluster": None if old else PARAGRAPHS}
    # In older runs, the cluster of a made pair is the context of its human pair.
    people = human(name, "+-" * 6, **own)
    negatives = made(name, "++-" * 4).with_columns(
        cluster=people["context_id"] if old else people["cluster"],
        context_id=pl.col("context_id") + "~negation.1",
    )
    path = run(folder / f"{name}-run", people, negatives)
    known = {} if old else {"clusters": 6, "cluster": "paragraph"}
    signature = f"nnd|v:0.4.0|model:{name}@1|data:quiz@ab12|protocol:native"
    results = [{"model": name, "signature": signature, "protocol": "native", **known}]
    write_sealed(path / "result.json", {"results": results})
    return path


def test_old_runs_say_by_origin_that_clusters_are_unknown(tmp_path: Path) -> None:
    found = origins(stored(tmp_path, "x", old=True))
    (said,) = [line for line in found.remarks() if "older version" in line]
    assert said.endswith("too optimistic. Evaluate again (quick, because likelihoods are stored).")
    assert found.operations[0].models["x"].made.clusters == 12


def test_few_clusters_are_said_by_origin(tmp_path: Path) -> None:
    found = origins(stored(tmp_path, "x", old=False))
    assert found.operations[0].models["x"].made.clusters == 6
    assert any(
        line.startswith("The tests come from only 6 paragraphs; with fewer than 10")
        for line in found.remarks()
    )


def test_made_pairs_of_an_old_run_are_in_the_clusters_of_their_parents(tmp_path: Path) -> None:
    new, old = (stored(tmp_path, name, old=name == "y") for name in "xy")
    models = origins(new, old).operations[0].models
    assert models["y"].made.clusters == models["x"].made.clusters == 6
    widths = [
        high - low
        for each in models.values()
        for low, high in [each.people["human"].interval or (0.0, 0.0)]
    ]
    assert widths[0] == pytest.approx(widths[1], abs=1e-12)
