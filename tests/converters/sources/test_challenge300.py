"""Challenge 300 on the real files: the newest and the two older layouts."""

from pathlib import Path

import polars as pl
import pytest
from support.recounts.counted_again import converted
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert

FILE = "challenge300-outputs.tsv"
QUOTED_2021 = "challenge300-outputs.58169e8.tsv"
UNQUOTED_2021 = "challenge300-outputs.865708d.tsv"


@pytest.fixture(scope="module")
def conversions(nnd_data: Path, challenge300: Conversion) -> dict[str, Conversion]:
    """File name → what it gives, for all three versions."""
    older = {
        name: converted("challenge300", nnd_data / "challenge300" / name)
        for name in (QUOTED_2021, UNQUOTED_2021)
    }
    return {FILE: challenge300} | older


@pytest.fixture(params=[QUOTED_2021, UNQUOTED_2021])
def older(request: pytest.FixtureRequest, conversions: dict[str, Conversion]) -> Conversion:
    return conversions[request.param]


def test_mean_credits_by_category_add_up_to_the_overall_mean(challenge300: Conversion) -> None:
    macaw = challenge300.human_scores.filter(system="Macaw-11B")
    parts = macaw.filter(pl.col("category") != "overall")
    given = (parts["score"] * parts["n"]).sum()

    assert parts["n"].sum() == 300
    assert given == pytest.approx(300 * macaw.filter(category="overall")["score"].item())


def test_the_categories_of_an_older_file(older: Conversion) -> None:
    assert older.manifest["counts"]["by_category"] == {
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

    with refusal("source.another-file", "challenge300-outputs.tsv"):
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

    with refusal("source.several-files", "test_a_folder_with_two_older_f0"):
        convert("challenge300", origin=tmp_path)


@pytest.mark.parametrize("name", [FILE, QUOTED_2021, UNQUOTED_2021])
def test_bom_and_crlf_are_simply_read(
    conversions: dict[str, Conversion], nnd_data: Path, tmp_path: Path, name: str
) -> None:
    raw = (nnd_data / "challenge300" / name).read_bytes()
    path = tmp_path / FILE
    path.write_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))

    found = convert("challenge300", origin=path, accept_changed="a test")

    assert found.annotations.equals(conversions[name].annotations)
