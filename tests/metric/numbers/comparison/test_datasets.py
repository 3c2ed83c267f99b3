"""Runs of several datasets compared: within each, and a mean over them."""

from pathlib import Path

import polars as pl
import pytest
from support.refusals import refusal
from support.screens.tables import lines
from support.two_models import scored, sign, write_run

from nnd.metric.numbers import Comparisons, compare
from nnd.schemas import check_rows

SIGNED = {"quiz": "nnd|v:1|data:org/quiz@abc123", "frank": "nnd|v:1|data:frank@def456"}


def frank(model: str, verdicts: str) -> pl.DataFrame:
    """Scored pairs of another dataset than `scored` gives."""
    return scored(model, verdicts, pair_id=[f"f{number}" for number in range(len(verdicts))])


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """x passes 30 of 40 and y 10 on quiz; x 10 of 20 and y 12 on frank, a run each."""
    frames = {
        "quiz-x": scored("x", "+" * 30 + "-" * 10),
        "frank": pl.concat([frank("x", "+-" * 10), frank("y", "+-" * 9 + "++")]),
        "quiz-y": scored("y", "+" * 10 + "-" * 30),
    }
    return [write_run(tmp_path / name, frame) for name, frame in frames.items()]


@pytest.fixture
def signed(runs: list[Path]) -> list[Path]:
    """The same runs, which tell their datasets."""
    for folder in runs:
        of = "frank" if folder.name == "frank" else "quiz"
        sign(folder, x=SIGNED[of], y=SIGNED[of])
    return runs


def sides(found: Comparisons) -> list[tuple[str | None, str, str, float | None]]:
    return [(e.data, e.first, e.second, e.overall.difference) for e in found]


def test_models_are_compared_within_each_dataset(signed: list[Path]) -> None:
    found = compare(signed)
    assert sides(found) == [("org/quiz", "x", "y", 0.5), ("frank", "x", "y", -0.05)]
    for data, folders in (("org/quiz", [signed[0], signed[2]]), ("frank", [signed[1]])):
        (mine,), (alone,) = found.by_data()[data], compare(folders)
        assert mine.to_dict() == {**alone.to_dict(), "data": data}
        assert alone.to_dict()["data"] is None
    assert list(check_rows("comparison", found.to_dict()["comparisons"])) == []


def test_each_dataset_has_rows_of_its_own_and_counts_once_in_the_mean(signed: list[Path]) -> None:
    # x passes 75 % and 50 %, 62.5 % on average, and 66.7 % of all 60 tests; y 25 % and 55 %.
    found = compare(signed)
    assert found.headline() == (
        "Mean over 2 datasets, each counting once: x 62.5 %, y 40.0 %; 1 of 2 differences is "
        "significant."
    )
    assert found.remarks()[0] == (
        "org/quiz: x 75.0 % > y 25.0 % of 40 shared tests; the difference is significant."
    )
    assert found.remarks()[-1].startswith("frank: ")
    rows = lines(found.table())
    assert rows[0] == "dataset models points ahead [95 %] p differ"
    assert [row.split(" +")[0] for row in rows if " against " in row] == [
        *("org/quiz x against y", "frank y against x")
    ]
    overall = found.to_frame().filter(pl.col("slice") == "overall")
    assert overall.select("data", "rate").rows() == [("org/quiz", 0.75), ("frank", 0.5)]


def test_datasets_of_one_name_are_told_apart(runs: list[Path]) -> None:
    for folder in runs:
        of = "abc123" if folder.name == "frank" else "def456"
        sign(folder, x=f"nnd|data:quiz@{of}", y=f"nnd|data:quiz@{of}")
    assert [*compare(runs).by_data()] == ["quiz@def456", "quiz@abc123"]


def test_a_dataset_nobody_named_is_called_as_its_first_run(runs: list[Path]) -> None:
    assert [*compare(runs).by_data()] == [str(runs[0]), str(runs[1])]


def test_labels_need_the_folder_only_within_a_dataset(runs: list[Path], tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", frank("x", "-" * 20))
    assert [each[1:3] for each in sides(compare([*runs, other]))] == [
        *(("x", "y"), (f"{runs[1]}:x", "y"), (f"{runs[1]}:x", f"{other}:x"), ("y", f"{other}:x"))
    ]
    one = compare([*runs, other], models=["y", f"{other}:x"])
    assert sides(one) == [(None, "y", f"{other}:x", 0.55)]


def test_models_that_are_asked_for_are_found_on_every_dataset_that_has_them(
    signed: list[Path], tmp_path: Path
) -> None:
    more = write_run(tmp_path / "more", frank("z", "+" * 20))
    both = sides(compare([*signed, more], models=["y", "x"]))
    assert [each[:3] for each in both] == [("org/quiz", "y", "x"), ("frank", "y", "x")]
    one = sides(compare([*signed, more], models=["y", "z"]))
    assert [each[:3] for each in one] == [(None, "y", "z")]
    with refusal("name.unknown") as caught:
        compare([*signed, more], models=["x", "w"])
    assert "x, y, z" in caught.value.remedy


def test_a_model_that_is_on_one_dataset_only_is_left_out_of_it(
    runs: list[Path], tmp_path: Path
) -> None:
    more = write_run(tmp_path / "more", frank("z", "+" * 20))
    start = "Mean over 2 datasets, each counting once: x 62.5 %, y 40.0 %; "
    assert compare([*runs, more]).headline().startswith(start)


@pytest.mark.parametrize(
    ("more", "verdicts", "why"),
    [
        ("z", "+" * 10, "not all models share the same tests; 1 of 4 differences is significant."),
        ("vw", "+-" * 10, "no model was scored on all of them; 1 of 2 differences is significant."),
    ],
)
def test_no_mean_is_taken_where_models_share_no_tests(
    more: str, verdicts: str, why: str, runs: list[Path], tmp_path: Path
) -> None:
    other = write_run(tmp_path / "more", *(frank(name, verdicts) for name in more))
    folders = [*runs, other] if more == "z" else [runs[0], runs[2], other]
    assert compare(folders).headline() == f"The mean over the 2 datasets is undefined: {why}"


def test_a_model_alone_on_its_dataset_is_refused(runs: list[Path]) -> None:
    with refusal("run.another-data") as caught:
        compare(runs[:2])
    assert all(f'"{run}:x"' in caught.value.what for run in runs[:2])


def test_runs_are_joined_through_a_third(tmp_path: Path) -> None:
    # p0..p3 and p2..p5 are connected by p0..p5 alone, which comes last.
    ends = scored("x", "+" * 4), scored("y", "+" * 6).tail(4), scored("z", "+" * 6)
    folders = [write_run(tmp_path / name, frame) for name, frame in zip("abc", ends, strict=True)]
    assert [each.n_pairs for each in compare(folders)] == [2, 4, 4]
    assert [*compare(folders).by_data()] == [None]
