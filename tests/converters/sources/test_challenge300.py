"""Challenge 300 on the real files: the newest and the two older layouts."""

import csv
import io
import random
from pathlib import Path

import polars as pl
import pytest

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.folder.validation import validate
from nnd.schemas import SourceError

FILE = "challenge300-outputs.tsv"
QUOTED_2021 = "challenge300-outputs.58169e8.tsv"
UNQUOTED_2021 = "challenge300-outputs.865708d.tsv"
CREDITED = ["Macaw-11B", "Macaw-answer-11B", "GPT3-davinci", "Jurassic-1-jumbo", "T5-XXL-SSM-NQ"]


@pytest.fixture(scope="module")
def conversions(nnd_data: Path, challenge300: Conversion) -> dict[str, Conversion]:
    """File name → what it gives, for all three versions."""
    older = {
        name: convert("challenge300", origin=nnd_data / "challenge300" / name)
        for name in (QUOTED_2021, UNQUOTED_2021)
    }
    return {FILE: challenge300} | older


@pytest.fixture(params=[QUOTED_2021, UNQUOTED_2021])
def older(request: pytest.FixtureRequest, conversions: dict[str, Conversion]) -> Conversion:
    return conversions[request.param]


def test_counts(challenge300: Conversion) -> None:
    assert challenge300.manifest["counts"] == {
        "annotations": 3300,
        "contexts": 300,
        "candidates": 3300,
        "empty_candidates": 1,
        "systems": 11,
        "pairs": 807,
        "distinct_pairs": 807,
        "same_after_lowercase": 0,
        "by_error_category": {"correctness": 807},
        "by_error_group": {},
        "by_aspect": {"correctness": 807},
        "by_category": {
            "Common Sense": 518,
            "Comparison": 15,
            "Creativity": 34,
            "Entity": 47,
            "Science": 193,
        },
        "by_split": {"test": 807},
    }


def test_dropped(challenge300: Conversion) -> None:
    # 6 of 11 systems were not credited: 6 * 300 = 1,800 answers without a score.
    dropped = {entry["reason"]: entry["n"] for entry in challenge300.manifest["dropped"]}

    assert dropped == {"unlabelled": 1800, "between": 88}


def test_every_pair_and_no_other(challenge300: Conversion, nnd_data: Path) -> None:
    text = (nnd_data / "challenge300" / FILE).read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")
    expected = [
        (row["id"], row[good], row[bad])
        for row in rows
        for good in CREDITED
        for bad in CREDITED
        if float(row[f"credit-{good}"]) == 1
        if float(row[f"credit-{bad}"]) == 0
    ]
    columns = ("context_id", "candidate_high", "candidate_low")

    assert sorted(challenge300.pairs.select(columns).rows()) == sorted(expected)


@pytest.mark.parametrize(
    ("row", "pair_id", "probe", "systems", "texts"),
    [
        (0, "71c3aa6d8b01328f", 10, ("GPT3-davinci", "T5-XXL-SSM-NQ"), ("The murderer.", "John")),
        (
            8,
            "9b077a56c1c3e4da",
            101,
            ("T5-XXL-SSM-NQ", "GPT3-davinci"),
            ("death", "Because they are toxic."),
        ),
        (
            -1,
            "290fe95b1acb5211",
            99,
            ("Macaw-answer-11B", "T5-XXL-SSM-NQ"),
            ("intake, compression, exhaust", "in an endless loop"),
        ),
    ],
    ids=["first", "ninth", "last"],
)
def test_pinned_pair(  # noqa: PLR0917 - parameters of the table above
    challenge300: Conversion,
    row: int,
    pair_id: str,
    probe: int,
    systems: tuple[str, str],
    texts: tuple[str, str],
) -> None:
    found = challenge300.pairs.row(row, named=True)

    assert found["pair_id"] == pair_id
    assert found["context_id"] == f"challenge300-probes-v1-{probe}"
    assert (found["system_high"], found["system_low"]) == systems
    assert (found["candidate_high"], found["candidate_low"]) == texts
    assert found["margin"] == 1


def test_the_empty_answer_is_kept_with_its_pair(challenge300: Conversion) -> None:
    empty = challenge300.pairs.filter(candidate_low="")

    assert empty.select("context_id", "system_low").rows() == [
        ("challenge300-probes-v1-30", "T5-XXL-SSM-NQ")
    ]


def test_a_context_is_its_question(challenge300: Conversion) -> None:
    first = challenge300.pairs.row(0, named=True)

    assert first["context"] == "The murderer killed the man. Who did the police arrest?"
    assert first["inputs"] == [{"key": "question", "value": first["context"]}]


def test_mean_credits(challenge300: Conversion) -> None:
    # ../shared/facts/sources.md, "Human quality per model".
    overall = challenge300.human_scores.filter(category="overall")
    found = {
        system: (round(100 * score, 1), n)
        for system, score, n in overall.select("system", "score", "n").rows()
    }

    assert found == {
        "Macaw-11B": (74.7, 300),
        "Macaw-answer-11B": (76.1, 300),
        "GPT3-davinci": (65.6, 300),
        "Jurassic-1-jumbo": (64.8, 300),
        "T5-XXL-SSM-NQ": (57.5, 300),
    }


def test_mean_credits_by_category_add_up_to_the_overall_mean(challenge300: Conversion) -> None:
    macaw = challenge300.human_scores.filter(system="Macaw-11B")
    parts = macaw.filter(pl.col("category") != "overall")
    given = (parts["score"] * parts["n"]).sum()

    assert parts["n"].sum() == 300
    assert given == pytest.approx(300 * macaw.filter(category="overall")["score"].item())


def test_an_older_file_gives_809_pairs(older: Conversion) -> None:
    counts = older.manifest["counts"]

    assert (counts["pairs"], counts["empty_candidates"], counts["systems"]) == (809, 1, 11)
    assert counts["by_category"] == {
        "Common Sense": 523,
        "Comparison": 14,
        "Creativity": 34,
        "Entity": 44,
        "Science": 194,
    }


def test_an_older_file_is_another_version_of_the_declared_one(
    conversions: dict[str, Conversion],
) -> None:
    found = {name: one.manifest["files"][0] for name, one in conversions.items()}

    assert [file["verified"] for file in found.values()] == [True, True, True]
    assert {name: file.get("version") for name, file in found.items()} == {
        FILE: None,
        QUOTED_2021: "2021-08-19, quoted (commit 58169e8)",
        UNQUOTED_2021: "2021-08-19, first release (commit 865708d)",
    }


def test_a_truncated_file_is_refused(nnd_data: Path, tmp_path: Path) -> None:
    lines = (nnd_data / "challenge300" / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(b"".join(lines[:200]))

    with pytest.raises(SourceError, match="not the declared file of 135,738 bytes"):
        convert("challenge300", origin=tmp_path, out=tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_an_older_file_differs_in_the_credits_of_nine_questions_only(
    older: Conversion, challenge300: Conversion
) -> None:
    new, old = challenge300.annotations, older.annotations
    differs = new["score"].ne_missing(old["score"])

    assert old.drop("score").equals(new.drop("score"))
    assert sorted(
        new.filter(differs)["context_id"].str.split("-").list.last().cast(pl.Int64).unique()
    ) == [
        3,
        25,
        55,
        58,
        145,
        147,
        186,
        197,
        214,
    ]


def test_both_older_files_hold_the_same_annotations(conversions: dict[str, Conversion]) -> None:
    # One is quoted and says Jurassic-jumbo, the other is not and says Jurassic-1-jumbo.
    quoted, unquoted = conversions[QUOTED_2021], conversions[UNQUOTED_2021]

    assert quoted.annotations.equals(unquoted.annotations)


def test_a_folder_with_two_older_files_asks_for_one(nnd_data: Path, tmp_path: Path) -> None:
    for name in (QUOTED_2021, UNQUOTED_2021):
        (tmp_path / name).symlink_to(nnd_data / "challenge300" / name)

    with pytest.raises(SourceError, match=f"{QUOTED_2021} and {UNQUOTED_2021} fit equally well"):
        convert("challenge300", origin=tmp_path)


def test_the_order_of_the_rows_does_not_matter(
    challenge300: Conversion, nnd_data: Path, tmp_path: Path
) -> None:
    # No cell of the newest file has a line break, so lines are rows.
    header, *rows = (nnd_data / "challenge300" / FILE).read_bytes().splitlines(keepends=True)
    random.Random(1).shuffle(rows)
    (tmp_path / FILE).write_bytes(header + b"".join(rows))
    convert(
        "challenge300", origin=tmp_path / FILE, out=tmp_path / "shuffled", accept_changed="a test"
    )
    (tmp_path / "straight").mkdir()
    challenge300.write(tmp_path / "straight")

    for name in ("pairs.parquet", "human_scores.parquet"):
        assert (tmp_path / "shuffled" / name).read_bytes() == (
            tmp_path / "straight" / name
        ).read_bytes()


@pytest.mark.parametrize("name", [FILE, QUOTED_2021, UNQUOTED_2021])
def test_bom_and_crlf_are_simply_read(
    conversions: dict[str, Conversion], nnd_data: Path, tmp_path: Path, name: str
) -> None:
    raw = (nnd_data / "challenge300" / name).read_bytes()
    path = tmp_path / FILE
    path.write_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))

    found = convert("challenge300", origin=path, accept_changed="a test")

    assert found.annotations.equals(conversions[name].annotations)


def test_the_folder_is_valid(challenge300: Conversion, tmp_path: Path) -> None:
    challenge300.write(tmp_path)

    assert list(validate(tmp_path)) == []
