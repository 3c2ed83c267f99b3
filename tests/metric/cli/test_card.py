"""`nnd card`: prints or writes a card, or checks one."""

import json
from pathlib import Path

import pytest
from support.card_folders import make_folder
from support.refusals import refusal
from support.screens.commands import Nnd

from nnd.cards.dataset import data_card


def test_a_card_is_printed_as_it_is_written(nnd: Nnd, tmp_path: Path) -> None:
    folder = make_folder(tmp_path, limitations=["Birds :bird: are few."])
    text = data_card(folder, "org/birds")
    lines = f"{len(text.splitlines())} lines"

    assert nnd("card", folder, "--repo", "org/birds") == (0, text, "")
    code, out, _ = nnd("card", folder, "--repo", "org/birds", "--json")
    assert (code, json.loads(out)["text"]) == (0, text)
    code, out, _ = nnd("card", folder, "--repo", "org/birds", "--out", tmp_path / "README.md")
    assert (code, out) == (0, f"The card of {folder} is in {tmp_path / 'README.md'} ({lines}).\n")
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


def test_without_a_name_the_folder_gives_one(nnd: Nnd, tmp_path: Path) -> None:
    assert 'load_dataset("ORG/birds-nnd", "pairs"' in nnd("card", make_folder(tmp_path))[1]


def test_a_card_is_checked(nnd: Nnd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path)
    readme, other = folder / "README.md", tmp_path / "other.md"
    nnd("card", folder, "--out", readme)
    other.write_text(readme.read_text().replace("| pairs | 2 |", "| pairs | 7 |"))

    assert nnd("card", folder, "--check") == (0, f"{readme} has no problems.\n", "")
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = nnd("card", folder, "--check", other)
    assert code == 1
    assert out.startswith(f"{other} has 1 problem.\n")
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert 'Counts the row "pairs | 7" should be "pairs | 2" according to the data' in rows[-2]
    code, out, _ = nnd("card", folder, "--check", other, "--json")
    assert code == 1
    assert len(json.loads(out)["problems"]) == 1


def test_what_cannot_be_is_refused(nnd: Nnd, tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    for arguments, code, where in (
        (["--check"], "file.not-found", "README.md"),
        (["--repo", "birds"], "hub.name", '"birds"'),
        (["--out", folder / "manifest.json" / "README.md"], "place.cannot-write", "manifest.json"),
    ):
        nnd.refuses("card", folder, *arguments, code=code, where=where)


def test_a_folder_that_was_not_converted_has_no_card(tmp_path: Path) -> None:
    with refusal("data.convert-again", str(tmp_path)):
        data_card(tmp_path, "org/birds")
