"""The linter: a true card has no problem, and every way of breaking one makes exactly that one."""

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from support.card_folders import change_manifest, make_folder, row
from support.stored_folders import store

from nnd.cards.dataset import data_card
from nnd.cards.lint.card_linter import SECTIONS, check_card

ROWS = (
    row("a", "heron", "good"),
    row("b", "wren", "wrong"),
    row("c", "plover", "rude"),
    row("d", "wren", "good", context_id="c2"),
    row("e", "plover", "wrong", context_id="c2", candidate="text"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four contexts of birds, three pairs; nobody changes it."""
    published = [{"what": "all", "published": 4}]
    made = make_folder(tmp_path_factory.mktemp("birds"), ROWS, published_counts=published)
    change_manifest(made, contacts={"redacted": {"email": 2, "ip": 0}}, permission="They agree.")
    return made


@pytest.fixture(scope="module")
def card(folder: Path) -> str:
    return data_card(folder, "org/birds")


def problems_of(card: str, folder: Path) -> list[str]:
    return [str(problem) for problem in check_card(card, folder)]


def test_a_true_card_has_no_problem(card: str, folder: Path) -> None:
    assert problems_of(card, folder) == []


def test_what_is_added_by_hand_is_no_problem(card: str, folder: Path) -> None:
    added = """
## Thanks

To the [birds](https://example.org/a_(b)), see [above](#counts), [the manifest](manifest.json),
<https://example.org>, and `[this](is code)`.

| who | n |
| --- | --- |
| heron | 1 |

```python
x = {{}}  # TODO
```
"""
    assert problems_of(card + added, folder) == []


def swap(old: str, new: str, count: int = 1) -> Callable[[str], str]:
    def change(card: str) -> str:
        assert old in card
        return card.replace(old, new, count)

    return change


def drop(pattern: str) -> Callable[[str], str]:
    def change(card: str) -> str:
        changed = re.sub(pattern, "", card, count=1, flags=re.DOTALL | re.MULTILINE)
        assert changed != card
        return changed

    return change


def original_last(card: str) -> str:
    first, second = re.findall(r"```bibtex\n(.*?)```", card, re.DOTALL)
    return card.replace(first, "@@").replace(second, first).replace("@@", second)


DIGEST = re.compile(r"`([0-9a-f]{64})`")
PAIRS_PATH = "path: pairs/test-00000-of-00001.parquet"
BY_DATA = "according to the data"
UNTOLD = "a sentence that follows from the data is missing"
PAPER = "(https://arxiv.org/abs/2205.06871)"
NOTHING = "No context and no pair was dropped."
FEW = "Birds are few."
NAN = "Few.\n\n| a | b |\n| --- | --- |\n| heron | nan |\n"

BROKEN: dict[str, dict[str, tuple[Callable[[str], str], str]]] = {
    # the section that has the problem → what is done to the card → how, and what it says
    "metadata": {
        "none": (drop(r"\A---\n.*?\n---\n"), "the metadata is missing"),
        "not YAML": (swap("language:", "language: ]"), "not valid YAML"),
        "a list": (
            lambda card: re.sub(r"\A---\n.*?\n---\n", "---\n- a\n---\n", card, flags=re.DOTALL),
            "is not a mapping",
        ),
    },
    "metadata/language": {
        "no code": (
            swap("language:\n- en", "language:\n- English"),
            "is not in the form that the Hub accepts",
        ),
        "another": (
            swap("language:\n- en", "language:\n- fr"),
            "['fr'] does not follow from the data",
        ),
    },
    "metadata/license": {
        "unknown": (swap("license: cc0-1.0", "license: CC0"), "the Hub knows no licence 'CC0'"),
        "another": (
            swap("license: cc0-1.0", "license: mit"),
            "'mit' does not follow from the data",
        ),
        "none": (drop("license: cc0-1.0\n"), "is missing"),
    },
    "metadata/size_categories": {
        "none": (swap("- n<1K", "- small"), "not in the form"),
        "another": (swap("- n<1K", "- 1K<n<10K"), "does not follow from the data"),
    },
    "metadata/task_categories": {
        "unknown": (
            swap("task_categories:\n- question-answering", "task_categories:\n- birdsong"),
            "the Hub knows no 'birdsong'",
        ),
    },
    "metadata/annotations_creators": {
        "unknown": (swap("- expert-generated", "- experts"), "the Hub knows no 'experts'"),
    },
    "metadata/source_datasets": {
        "no form": (
            swap("- original", "- extended from birds"),
            "does not have the right form",
        ),
    },
    "metadata/pretty_name": {"none": (drop("pretty_name: [^\n]*\n"), "is missing")},
    "metadata/dataset_info": {
        "one": (swap("configs:", "dataset_info: {}\nconfigs:"), "is not needed"),
    },
    "metadata/configs": {
        "no default": (drop("  default: true\n"), "the default is none"),
        "two defaults": (
            swap("- config_name: human_scores\n", "- config_name: human_scores\n  default: true\n"),
            "the default is pairs and human_scores",
        ),
        "a path that is not published": (
            swap(PAIRS_PATH, "path: data/test.parquet"),
            "pairs test is not published as data/test.parquet",
        ),
        "a split that is not there": (
            swap(PAIRS_PATH, f"{PAIRS_PATH}\n  - split: dev\n    path: dev.parquet"),
            "pairs dev does not exist",
        ),
        "none": (drop(r"configs:\n.*?(?=\n---)"), "is not a list"),
    },
    "opening": {"other counts": (swap("**3 tests", "**4 tests"), "is missing")},
    "Counts": {
        "another total": (
            swap("| candidates | 5 |", "| candidates | 6 |"),
            'the row "candidates | 6" should be "candidates | 5" according to the data',
        ),
        "another count of a category": (
            swap("| `wrong` | 2 |", "| `wrong` | 3 |"),
            'the row "`wrong` | 3" should be "`wrong` | 2" according to the data',
        ),
        "a category that is left out": (
            drop(r"\| `rude` \| 1 \|\n"),
            'the row "`rude` | 1" is missing',
        ),
        "a category that is made up": (
            swap("| `rude` | 1 |", "| `rude` | 1 |\n| `bad` | 1 |"),
            'the row "`bad` | 1" does not follow from the data',
        ),
        "a renamed category": (
            swap("| `rude` | 1 |", "| `rough` | 1 |"),
            'the row "`rough` | 1" should be "`rude` | 1" according to the data',
        ),
        "a table without its header": (
            swap("| error category | pairs |", "| error | pairs |"),
            "a table with the columns error category, pairs is missing",
        ),
    },
    "Human scores of the systems": {"another": (swap("| 0.500 |", "| 0.900 |"), BY_DATA)},
    "What the texts are like": {
        "another number": (
            swap("| MSTTR-100 | none | none |", "| MSTTR-100 | none | 0.5 |"),
            BY_DATA,
        ),
    },
    "What the texts give away": {"another rate": (swap("| all | 3 |", "| all | 4 |"), BY_DATA)},
    "Published counts": {"another": (swap("| all | 4 | 3 |", "| all | 4 | 4 |"), BY_DATA)},
    "Examples": {"another": (swap("text of c", "another text"), BY_DATA)},
    "Provenance": {
        "another hash": (lambda card: DIGEST.sub(f"`{'0' * 64}`", card, count=1), BY_DATA),
    },
    "Personal and sensitive information": {
        "untold addresses": (swap("2 by `<email>`", "1 by `<email>`"), UNTOLD),
    },
    "Licence and redistribution": {
        "an untold permission": (drop("Published with permission: [^\n]*\n"), UNTOLD),
    },
    "What an NND test is": {
        "a link that is no address": (
            swap(PAPER, "(htps://arxiv.org)"),
            '"htps://arxiv.org" is a dead link',
        ),
    },
    "What was dropped and what is odd": {
        "an anchor that is none": (
            swap(NOTHING, "See [there](#there)."),
            '"#there" is a dead link',
        ),
        "a file that is not published": (
            swap(NOTHING, "See [there](notes.txt)."),
            '"notes.txt" is a dead link',
        ),
    },
    "Source and citation": {
        "a link without a host": (
            swap("<https://example.org/birds>", "<https:///birds>"),
            '"https:///birds" is a dead link',
        ),
        "a brace too few": (
            swap("year = {2021}\n}", "year = {2021}\n"),
            "the braces of the BibTeX do not match",
        ),
        "BibTeX without a key": (swap("@misc{birds,", "@misc{"), "has no key"),
        "BibTeX without a year": (swap(",\n  year = {2021}", ""), '"birds" has no year'),
        "the paper cited first": (
            original_last,
            "the citation of the people who made the evaluation does not come first",
        ),
        "the paper not cited": (
            drop(r"```bibtex\n@inproceedings.*?```\n"),
            "the NND paper is not cited",
        ),
    },
    "Limitations": {
        "untold": (drop("- The low candidates were written[^\n]*\n"), UNTOLD),
        **{
            left: (swap(FEW, f"Birds are {left}."), f'"{found}" is a placeholder')
            for left, found in {
                "[More Information Needed]": "[More Information Needed]",
                "TODO": "TODO",
                "FIXME": "FIXME",
                "XXX": "XXX",
                "TBD": "TBD",
                "lorem ipsum": "lorem",
                "{{ few }}": "{{",
                "{% few %}": "{%",
            }.items()
        },
        "nan in a table": (swap(FEW, NAN), '"nan" is a placeholder'),
    },
    "How people judged": {
        "None as a line": (swap("An ornithologist listened.", "None"), '"None"'),
    },
}


@pytest.mark.parametrize(
    ("where", "name"), [(where, name) for where, names in BROKEN.items() for name in names]
)
def test_each_way_of_breaking_a_card_makes_that_problem(
    where: str, name: str, card: str, folder: Path
) -> None:
    change, message = BROKEN[where][name]

    (problem,) = check_card(change(card), folder)
    assert problem.path == where
    assert message in problem.message
    assert problem.remedy
    assert str(problem).isprintable()


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_must_be_there_and_hold_something(name: str, card: str, folder: Path) -> None:
    heading = f"\n## {name}\n"
    start = card.index(heading)
    end = card.find("\n## ", start + 1)
    end = len(card) if end < 0 else end
    without = card[:start] + card[end:]
    empty = card[: start + len(heading)] + card[end:]

    for changed, message in ((without, "the section is missing"), (empty, "section is empty")):
        found = list(check_card(changed, folder))
        if name == "Source and citation":
            found = [problem for problem in found if "cite" not in problem.message]
            found = [problem for problem in found if "citation" not in problem.message]
        (problem,) = found
        assert problem.path == name
        assert message in problem.message


def test_a_card_of_older_data_is_told_row_by_row(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, ROWS)
    card = data_card(folder, "org/birds")
    pairs = pl.read_parquet(folder / "pairs.parquet")
    store(folder, "pairs.parquet", pairs.filter(pl.col("error_category") != "rude"))

    found = problems_of(card, folder)
    changed = 'Counts: the row "pairs | 3" should be "pairs | 2" according to the data'
    assert any(changed in each for each in found)
    assert any(
        'Counts: the row "`rude` | 1" does not follow from the data' in each for each in found
    )


def test_words_of_the_data_are_no_placeholders(tmp_path: Path) -> None:
    rows = [
        row("a", "heron", "good", candidate="TODO: sing {{ loud }}"),
        row("b", "None", "nan", candidate="XXX"),
    ]
    facts = {
        "systems": {"heron": None, "None": None},
        "taxonomy": {"nan": {"name": "Not a note", "group": None, "description": "Silence."}},
    }
    folder = make_folder(tmp_path, rows, **facts)
    change_manifest(folder, oddities=["birds.jsonl: line 3 says FIXME"])

    assert problems_of(data_card(folder, "org/birds"), folder) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n---\n",
        "\x00",
        "# x\n```\n",
        "|\n|-|\n|",
        "---\nlanguage: [[1], {}]\n---\n",
        "---\nlicense: {a: 1}\ntask_categories: [[1]]\nconfigs: [{data_files: 3}]\n---\n",
        "[a](http://[)",
        "## Counts\n| what | n |\n| --- | --- |\n",
    ],
)
def test_whatever_a_card_is_problems_are_told_and_nothing_is_raised(
    text: str, folder: Path
) -> None:
    assert len(problems_of(text, folder)) >= len(SECTIONS)


def test_a_folder_that_is_none_is_a_problem(tmp_path: Path) -> None:
    (problem,) = check_card("", tmp_path)

    assert "there is no manifest.json" in problem.message
