"""What people write into a card that nnd made, when nnd writes it again."""

import re
from collections.abc import Callable

import pytest
import yaml
from huggingface_hub import DatasetCardData
from support.refusals import refusal

from nnd.cards.marks import marked_card, merge_card
from nnd.schemas import split_head

BODY = "# Toy: NND tests\n\n12 pairs.\n\n## Counts\n\nMany."


def card(body: str = BODY, **more: object) -> str:
    told = {"pretty_name": "Toy", "license": "mit", "tags": ["nnd", "evaluation"], **more}
    return marked_card(DatasetCardData(**told), body)


def merged(held: str, ours: str) -> str:
    return merge_card(held, ours, "org/toy/README.md")


def head(text: str) -> dict[str, object]:
    return dict(yaml.safe_load(split_head(text)[0] or ""))


def test_a_card_that_nobody_touched_is_replaced() -> None:
    new = card("# Toy: NND tests\n\n13 pairs.", license="cc0-1.0")

    assert merged(card(), card()) == card()
    assert merged(card(), new) == new


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_stands_above_and_below_the_marks_stays(newline: str) -> None:
    held = card().replace("---\n\n<!--", "---\n\nMind the *gap*.\n\n<!--", 1)
    held += "\n## Thanks\n\nTo all.\n"

    again = merged(held.replace("\n", newline), card(BODY.replace("12", "13")))

    body = split_head(again)[1]
    assert body.strip().startswith("Mind the *gap*.\n\n<!-- nnd: begin")
    assert again.endswith("-->\n\n## Thanks\n\nTo all.\n")
    assert "13 pairs." in body
    assert "12 pairs." not in body
    assert merged(again, card(BODY.replace("12", "13"))) == again


def test_metadata_of_others_and_their_tags_stay() -> None:
    held = card().replace("- evaluation\n", "- evaluation\n- summaries\n")
    held = held.replace("license: mit\n", "license: mit\nextra_gated_prompt: Be kind.\n")

    again = merged(held, card(license="cc0-1.0"))

    assert head(again) == {
        "pretty_name": "Toy",
        "license": "cc0-1.0",
        "tags": ["nnd", "evaluation", "summaries"],
        "extra_gated_prompt": "Be kind.",
    }


def test_metadata_that_say_the_same_keep_their_bytes() -> None:
    held = card().replace("license: mit\n", "license: mit  # as the authors wrote\n")

    assert merged(held, card()) == held


def test_keys_that_nnd_no_longer_writes_go() -> None:
    held = card(license="other", license_name="theirs", license_link="https://x.org")

    assert "license_name" not in head(merged(held, card()))


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (("12 pairs.", "12 pairs, all mine."), '"12 pairs, all mine."'),
        (("12 pairs.\n", "12 pairs.\n\nSee also my page.\n"), '"See also my page."'),
        (("Many.", ""), '"the end"'),
        (("license: mit", "license: apache-2.0"), "license"),
        (("license: mit\n", ""), "license"),
    ],
)
def test_what_was_changed_between_the_marks_is_not_lost(edit: tuple[str, str], named: str) -> None:
    with refusal("card.marks", "org/toy/README.md") as caught:
        merged(card().replace(*edit), card())

    assert f": {named})" in caught.value.what


def test_a_change_by_hand_that_nnd_makes_too_is_none() -> None:
    new = card(BODY.replace("12", "13"))

    assert merged(card().replace("12 pairs", "13 pairs"), new) == new


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: re.sub(r"<!-- nnd: end .*-->\n", "", text),
        lambda text: re.sub(r"<!-- nnd: begin.*-->\n", "", text),
        lambda text: text + text[text.index("<!-- nnd: begin") :],
    ],
)
def test_damaged_marks_are_refused(damage: Callable[[str], str]) -> None:
    with refusal("card.marks", "org/toy/README.md"):
        merged(damage(card()), card())


def test_a_readme_from_before_the_first_publish_stays_above() -> None:
    again = merged("---\nlicense: other\nviewer: false\n---\n# My data\n", card())

    assert split_head(again)[1].strip().startswith("# My data\n\n<!-- nnd: begin")
    assert head(again)["license"] == "mit"
    assert head(again)["viewer"] is False


def test_a_card_without_marks_of_an_earlier_version_is_refused() -> None:
    held = (
        "# Toy: NND tests\n\n`manifest.json` beside this card holds every fact and count on it, x\n"
    )

    with refusal("card.marks", "org/toy/README.md"):
        merged(held, card())


@pytest.mark.parametrize("text", ["a: [", "- a"])
def test_metadata_that_cannot_be_read_are_refused(text: str) -> None:
    with refusal("file.not-yaml", "org/toy/README.md"):
        merged(f"---\n{text}\n---\n", card())
