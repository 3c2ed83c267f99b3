"""The history file: it holds what was found, is whole at any moment, and is read with care."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.refusals import refusal
from support.training.histories import entry
from support.two_models import scored

from nnd.metric.numbers.rates.pass_rates import pass_rates
from nnd.metric.numbers.statistics.intervals import wilson
from nnd.metric.train.history import (
    HistoryEntry,
    Point,
    TrainingRun,
    read_history,
    share_of_time,
    write_history,
)

ENTRIES = [entry(0, 0.4, rude=0.2, wrong=None), entry(20, 0.6, rude=0.7, wrong=0.5)]


def told(**changes: Any) -> str:
    """An entry as it is written, with something changed."""
    one: dict[str, Any] = {
        "step": 20,
        "epoch": None,
        "overall": {"pass_rate": 0.5, "n": 4, "interval": [0.1, 0.9]},
        "column": "error_category",
        "by": {},
        "seconds": 1.5,
        "training_seconds": 2,
        "signature": "nnd|v:0|model:a@20|n:4",
    }
    return json.dumps(one | changes)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.jsonl"
    write_history(path, ENTRIES)
    assert read_history(path) == ENTRIES
    assert path.read_bytes().count(b"\n") == 2
    assert [each.name for each in path.parent.iterdir()] == ["history.jsonl"]


def test_one_object_a_line(tmp_path: Path) -> None:
    (tmp_path / "h").write_text(told() + "\n", encoding="utf-8")
    assert read_history(tmp_path / "h") == [
        HistoryEntry(
            step=20,
            epoch=None,
            overall=Point(0.5, 4, (0.1, 0.9)),
            column="error_category",
            by={},
            seconds=1.5,
            training_seconds=2.0,
            signature="nnd|v:0|model:a@20|n:4",
        )
    ]


def test_any_category_and_name_is_kept(tmp_path: Path) -> None:
    odd = entry(0, 0.5, **{"Où?\u2028\n</script>\x00": 0.25})
    write_history(tmp_path / "h", [odd])
    assert read_history(tmp_path / "h") == [odd]


def test_a_write_that_fails_leaves_the_old_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "h"
    write_history(path, ENTRIES[:1])
    monkeypatch.setattr(Path, "replace", _no_room)
    with pytest.raises(OSError, match="no room"):
        write_history(path, ENTRIES)
    assert read_history(path) == ENTRIES[:1]
    assert [each.name for each in tmp_path.iterdir()] == ["h"]


def test_a_link_is_followed_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "h").symlink_to(tmp_path / "elsewhere" / "history")
    write_history(tmp_path / "h", ENTRIES)
    assert (tmp_path / "h").is_symlink()
    assert read_history(tmp_path / "elsewhere" / "history") == ENTRIES


def _no_room(*_: object) -> None:
    raise OSError("no room")


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("{", ""),
        ("[]", ""),
        ("{}", "step"),
        ("", ""),
        (told(step=True), "step: True"),
        (told(step=-1), "step: -1"),
        (told(step=2.5), "step: 2.5"),
        (told(overall={"pass_rate": 1.5, "n": 2, "interval": None}), "1.5"),
        (told(overall={"pass_rate": float("nan"), "n": 2, "interval": None}), "nan"),
        (told(overall={"pass_rate": None, "n": 2, "interval": None}), "None"),
        (told(overall={"pass_rate": 0.5, "n": 2, "interval": [0.1]}), "overall/interval: [0.1]"),
        (told(by=3), "by"),
        (told(seconds=-1), "seconds: -1"),
        (told(seconds=float("inf")), "seconds: inf"),
        (told(step=4), "step 4"),
        (told(step=10), "step 10"),
    ],
)
def test_a_line_that_is_no_entry_is_named(line: str, fact: str, tmp_path: Path) -> None:
    (tmp_path / "h").write_text(f"{told(step=10)}\n{line}\n", encoding="utf-8")
    with refusal("train.history", f"{tmp_path / 'h'} line 2") as caught:
        read_history(tmp_path / "h")
    assert fact in caught.value.what


@pytest.mark.parametrize("content", [None, b"\xff\xfe{"], ids=["no file", "no text"])
def test_a_file_that_is_no_history(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "h").write_bytes(content)
    with refusal("train.history", "h"):
        read_history(tmp_path / "h")


def test_the_line_of_a_category_leaves_out_steps_without_tests() -> None:
    run = TrainingRun("run", Path("h"), ENTRIES)
    assert run.line("overall") == [(0, ENTRIES[0].overall), (20, ENTRIES[1].overall)]
    assert run.line("wrong") == [(20, ENTRIES[1].by["wrong"])]
    assert run.line("unheard of") == []


def test_a_point_knows_its_wilson_interval() -> None:
    # 4 of 4: 1 to 4 / (4 + z^2), z = 1.959964.
    assert Point(1.0, 4, None).wilson == (pytest.approx(4 / (4 + 1.959964**2)), 1.0)
    assert Point(None, 0, None).wilson is None
    # 0.29 * 100 is 28.999999999999996 in floating point.
    assert Point(0.29, 100, None).wilson == wilson(29, 100)


def test_the_share_of_time() -> None:
    assert share_of_time(ENTRIES) == 0.25  # 1 s of scoring for every 3 s of training
    assert share_of_time([]) == 0


def test_a_recipe_is_the_same_at_every_step() -> None:
    first, last = ENTRIES
    assert first.signature != last.signature
    assert first.recipe == last.recipe
    assert first.recipe == "nnd|v:0|data:made_up@1|protocol:native|template:default|n:100"


def test_categories_are_those_of_the_finest_column_that_has_several() -> None:
    both = {"error_category": "rude", "aspect": ["tact", "tact", "form", "form"]}
    frame = scored("a", "++-+", **both).drop("model")
    found = HistoryEntry.of(pass_rates(frame), 7, "nnd")
    assert (found.overall.pass_rate, found.overall.n, found.column) == (0.75, 4, "aspect")
    assert {name: (rate.pass_rate, rate.n) for name, rate in found.by.items()} == {
        "form": (0.5, 2),
        "tact": (1.0, 2),
    }
    alone = frame.with_columns(aspect=pl.lit("tact"))
    of_one = HistoryEntry.of(pass_rates(alone), 7, "nnd")
    assert of_one.column == "error_category"
    assert of_one.by == {"rude": Point(0.75, 4, found.overall.interval)}
