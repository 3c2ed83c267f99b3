"""`card`: a card made, written or checked."""

from pathlib import Path

from nnd.cards import card
from nnd.schemas import table_text


def test_a_card_is_only_made_where_no_file_is_named(sample: Path) -> None:
    made = card(sample)

    assert "ORG/sample-nnd" in made.text
    assert (made.file, made.problems, made.table()) == (None, None, None)
    assert made.headline() == f"The card of {sample} has {len(made.text.splitlines())} lines."


def test_a_card_that_was_written_has_no_problems(sample: Path, tmp_path: Path) -> None:
    written = card(sample, repo="org/name", out=tmp_path / "CARD.md")
    checked = card(sample, tmp_path / "CARD.md")

    lines = len(written.text.splitlines())
    place = tmp_path / "CARD.md"
    assert written.headline() == f"The card of {sample} is in {place} ({lines} lines)."
    assert written.text == checked.text == (tmp_path / "CARD.md").read_text()
    assert checked.ok
    assert checked.problems == ()
    assert checked.headline() == f"{place} has no problems."
    assert checked.to_frame().height == 0


def test_a_card_of_other_counts_has_its_problems(sample: Path, tmp_path: Path) -> None:
    place = tmp_path / "CARD.md"
    place.write_text(card(sample).text.replace("## Counts", "## Numbers"))

    checked = card(sample, place)

    assert not checked.ok
    assert checked.headline() == f"{place} has 1 problem."
    ((section, message, remedy),) = checked.to_frame().rows()
    assert (section, message) == ("Counts", "the section is missing")
    table = checked.table()
    assert table is not None
    assert remedy in table_text(table, 200)
    assert checked.to_dict()["problems"] == [str(problem) for problem in checked]
