"""`nnd show`: of whatever data there is."""

import json
from pathlib import Path

import polars as pl
import pytest
from support.card_folders import make_folder
from support.checked_source import make_birds
from support.refusals import refusal
from support.screens.commands import Nnd

from nnd.metric.app import show


def test_a_folder_a_file_a_table_and_a_source_give_the_same_pairs(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    file = folder / "pairs.parquet"
    shown = [
        show(data).rows.select("pair_id", "candidate_low", "error_category").rows()
        for data in (folder, file, pl.read_parquet(file), tmp_path / "source")
    ]

    assert [row[1:] for row in shown[0]] == [("text of c", "rude"), ("text of b", "wrong")]
    assert all(rows == shown[0] for rows in shown)
    assert show(tmp_path / "source").name == "birds"


def test_the_real_file_of_a_source_is_read_from_where_it_is(tmp_path: Path) -> None:
    birds = make_birds(tmp_path)

    assert show(birds.folder, origin=birds.real).total == 5
    found = show(birds.folder, origin=birds.real, annotations=True, n=3)
    assert (found.name, found.total) == ("birds", 8)
    assert found.rows["label"].to_list() == ["good", "rude", "wrong"]  # stored by candidate_id


def test_the_command_prints_them(nnd: Nnd, tmp_path: Path) -> None:
    folder = make_folder(tmp_path)

    code, out, err = nnd("show", folder, "--category", "wrong", "-n", 1)
    assert (code, err) == (0, "")
    assert out.startswith("birds-nnd (--category wrong) has 1 pair; 1 shown.\n")
    assert "text of [a]" in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = nnd("show", folder, "--annotations", "--json")
    assert (code, json.loads(out)["annotations"]) == (0, 3)


def test_the_command_takes_two_texts_instead_of_data(nnd: Nnd) -> None:
    code, out, err = nnd(
        "show", "--context", "Whose?", "--high", "mine, yes", "--low", "yours, yes"
    )
    assert (code, err) == (0, "")
    assert "[mine]" in out
    assert "[yours]" in out
    code, _, err = nnd("show", "--high", "mine")
    assert (code, "DATA is missing" in err) == (2, True)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"category": ["wron"]}, "name.unknown"),
        ({"category": ["wrong"], "annotations": True}, "option.conflict"),
        ({"origin": "nowhere"}, "source.unknown"),
        ({"run": "run", "models": "gpt2"}, "option.conflict"),
    ],
)
def test_what_cannot_be_shown_is_one_clear_error(
    options: dict[str, object], code: str, tmp_path: Path
) -> None:
    with refusal(code):
        show(make_folder(tmp_path), **options)  # type: ignore[arg-type]


def test_a_table_has_no_annotations() -> None:
    with refusal("data.not-converted"):
        show(pl.DataFrame(), annotations=True)
