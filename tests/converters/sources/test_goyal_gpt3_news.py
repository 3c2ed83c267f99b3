"""GPT-3 news: net votes, from the zip and from the loose files."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.recounts.counted_again import converted
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert

ZIP = "human_annotations.zip"
Votes = list[tuple[list[str], list[str]]]
Read = Callable[..., Conversion]


def document(votes: Votes, **fields: Any) -> dict[str, Any]:
    """A document with three summaries; one (best, worst) per annotator."""
    return {
        "article": "An article.",
        "annotators": [{"best_summary": best, "worst_summary": worst} for best, worst in votes],
        **{name: {"text": f"What {name} wrote."} for name in ("t0", "gpt3", "brio")},
    } | fields


CLEAR: Votes = [(["gpt3"], ["t0"])] * 3
PLAIN = {"0": document(CLEAR)}


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """`read(cnn, variant)`: what the source makes of a loose cnn_human.json, with PLAIN as bbc."""

    def convert_page(page: object, variant: str | None = None) -> Conversion:
        (tmp_path / "cnn_human.json").write_text(json.dumps(page), encoding="utf-8")
        (tmp_path / "bbc_human.json").write_text(json.dumps(PLAIN), encoding="utf-8")
        return convert("goyal_gpt3_news", origin=tmp_path, variant=variant, accept_changed="a test")

    return convert_page


@pytest.fixture(scope="module")
def packed(nnd_data: Path) -> Conversion:
    """From the zip, which is found before the loose files beside it: leave it as it is."""
    return converted("goyal_gpt3_news", nnd_data / "goyal_gpt3_news")


def net_votes(conversion: Conversion) -> dict[str, float]:
    """System → score in document 0 of cnn."""
    found = conversion.annotations.filter(split="cnn", context_id="0")
    return dict(found.select("system", "score").iter_rows())


def test_lists_that_are_not_one_name_are_reported(packed: Conversion) -> None:
    what = "of 300 annotations do not name one best and one worst summary"

    assert packed.manifest["oddities"] == [
        f"{ZIP}/cnn_human.json: 60 {what}; the first of each list counts",
        f"{ZIP}/bbc_human.json: 82 {what}; the first of each list counts",
    ]


@pytest.mark.parametrize("named", [None, "cnn_human.json"], ids=["by set", "by file"])
def test_the_loose_files_give_the_same_pairs_but_for_two_documents_that_changed_places(
    packed: Conversion, nnd_data: Path, named: str | None
) -> None:
    folder = nnd_data / "goyal_gpt3_news"
    loose = (
        convert("goyal_gpt3_news", origin=folder / named)
        if named
        else convert("goyal_gpt3_news", origin=folder, set_name="loose")
    )
    moved = (pl.col("split") == "cnn") & pl.col("context_id").is_in(["2", "7"])
    texts = ("context", "candidate_high", "candidate_low", "margin")

    assert loose.pairs.filter(~moved).equals(packed.pairs.filter(~moved))
    assert sorted(loose.pairs.select(texts).rows()) == sorted(packed.pairs.select(texts).rows())
    assert [file["verified"] for file in loose.manifest["files"]] == [True, True]


@pytest.mark.parametrize(
    ("votes", "first_name", "every_name"),
    [
        (
            [(["gpt3"], ["t0"]), (["gpt3"], ["brio"]), (["t0"], ["brio"])],
            {"gpt3": 2, "t0": 0, "brio": -2},
            {"gpt3": 2, "t0": 0, "brio": -2},
        ),
        (
            [(["brio", "gpt3"], ["t0"]), (["gpt3"], ["t0", "brio"])],
            {"brio": 1, "gpt3": 1, "t0": -2},
            {"brio": 0, "gpt3": 2, "t0": -2},
        ),
        # The best is the worst as well: 1 - 1.
        ([*CLEAR, (["brio"], ["brio"])], {"gpt3": 3, "t0": -3, "brio": 0}, None),
        # An empty list is no vote.
        ([*CLEAR, ([], ["brio"])], {"gpt3": 3, "t0": -3, "brio": -1}, None),
    ],
    ids=["one name each", "several names", "one name in both", "no name"],
)
def test_net_votes(
    read: Read, votes: Votes, first_name: dict[str, int], every_name: dict[str, int] | None
) -> None:
    page = {"0": document(votes)}

    assert net_votes(read(page)) == first_name
    assert net_votes(read(page, "every_name")) == (every_name or first_name)


def test_the_votes_of_single_annotators_are_kept(read: Read) -> None:
    found = read({"0": document([(["gpt3"], ["t0"]), (["t0"], ["gpt3"])])}).annotations
    ratings = found.filter(split="cnn").select("system", "ratings").rows()

    assert sorted(ratings) == [("brio", [0, 0]), ("gpt3", [1, -1]), ("t0", [-1, 1])]


KIND, BEST = "file.another-kind", ", 7, annotators[0], best_summary"
KEYWORDS = {"input": "An article.", "1": {"keyword": "law", "annotators": [["gpt3"]]}}


@pytest.mark.parametrize(
    ("page", "code", "where"),
    [
        ({"7": document([(["gpt4"], ["t0"])])}, "cell.unknown-value", BEST),
        ({"7": document([([5], ["t0"])])}, KIND, BEST),  # type: ignore[list-item]
        ({"7": document(CLEAR, t0="text")}, KIND, ", 7, t0"),
        ({"7": document(CLEAR, article=None)}, KIND, ", 7, article"),
        (
            {"7": document(CLEAR, pegasus={"text": "Other."})},
            *("row.wrong-shape", ", 7, pegasus: system"),
        ),
        ({"0": KEYWORDS}, KIND, ", 0"),
        ({"0": []}, KIND, ", 0"),
        (3, KIND, ""),
    ],
    ids=["name", "type", "summary", "article", "system", "keywords", "document", "page"],
)
def test_a_wrong_file_is_refused(read: Read, page: object, code: str, where: str) -> None:
    with refusal(code, f"cnn_human.json{where}"):
        read(page)


def test_the_other_file_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "cnn_human.json").write_text(json.dumps(PLAIN), encoding="utf-8")

    with refusal("file.not-found", "test_the_other_file_is_asked_f0"):
        convert("goyal_gpt3_news", origin=tmp_path)


GOOD = json.dumps(PLAIN)


@pytest.mark.parametrize(
    ("members", "code", "where"),
    [
        ({"bbc_human.json": GOOD}, KIND, ""),
        (
            {"a/cnn_human.json": '{"0": {', "a/bbc_human.json": "{}"},
            *("file.cut-off", "/cnn_human.json"),
        ),
        (
            {"cnn_human.json": GOOD, "bbc_human.json": b"\xff\xfe{\0}\0"},
            *("file.not-utf8", "/bbc_human.json:1"),
        ),
        ({"../cnn_human.json": GOOD, "bbc_human.json": GOOD}, "file.bad-archive", ""),
    ],
    ids=["missing", "cut off", "UTF-16", "elsewhere"],
)
def test_a_wrong_zip_is_refused(
    tmp_path: Path, members: dict[str, str | bytes], code: str, where: str
) -> None:
    with zipfile.ZipFile(tmp_path / ZIP, "w") as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)

    with refusal(code, f"{ZIP}{where}"):
        convert("goyal_gpt3_news", origin=tmp_path, out=tmp_path / "out")

    assert [path.name for path in tmp_path.iterdir()] == [ZIP]
