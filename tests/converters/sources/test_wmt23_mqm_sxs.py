"""WMT23 side by side: three raters, attention checks, and the quirks of its rows."""

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from support.recounts.counted_again import converted
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert

COLUMNS = (
    *("system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category"),
    *("severity", "metadata"),
)
NAME = "sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(row, …)`: an archive of those rows under a header."""

    def make(*rows: str, header: str = "\t".join([*COLUMNS, "# Documentation"])) -> Path:
        raw = "\n".join([header, *rows, ""]).encode()
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as archive:
            info = tarfile.TarInfo(NAME)
            info.size = len(raw)
            archive.addfile(info, io.BytesIO(raw))
        path = tmp_path / f"{NAME}.tar.gz"
        path.write_bytes(gzip.compress(tar.getvalue()))
        return tmp_path

    return make


def mark(system: str, target: str, category: str, severity: str = "Minor", **other: str) -> str:
    """One row of segment d/1/1, by rater1 unless `rater` says otherwise."""
    cells = {"rater": "rater1", "source": "Good night"} | other
    severity = "No-error" if category == "No-error" else severity
    return "\t".join([system, "d", "1", "1", *cells.values(), target, category, severity, "{}"])


GOOD = mark("refA", "Gute Nacht", "No-error")
BAD = mark("ONLINE-A", "Gute <v>Nächte</v>", "Fluency/Grammar")


def found_in(folder: Path) -> Conversion:
    return convert("wmt23_mqm_sxs", origin=folder, accept_changed="a test")


def sides(conversion: Conversion) -> list[tuple[str, ...]]:
    columns = ("group", "system_high", "system_low", "error_category")
    return sorted(conversion.pairs.select(columns).rows())


def test_candidates_are_compared_within_a_rater(write: Write) -> None:
    other = [
        mark("refA", "Gute Nacht", "Style/Unnatural or awkward", rater="rater2"),
        mark("ONLINE-A", "Gute Nächte", "No-error", rater="rater2"),
        mark("ONLINE-W", "Nachts", "Non-translation!", rater="rater3"),
    ]

    found = found_in(write(GOOD, BAD, *other))

    assert sides(found) == [
        ("rater1", "refA", "ONLINE-A", "Fluency/Grammar"),
        ("rater2", "ONLINE-A", "refA", "Style/Unnatural or awkward"),
    ]
    # Raters have a name within the file, and a number in what is stored.
    raters = found.annotations.select("group", pl.col("annotators").list.join(" ")).unique()
    assert raters["group"].n_unique() == raters["annotators"].n_unique() == raters.height == 3
    counts = found.manifest["counts"]
    assert (counts["distinct_pairs"], counts["both_directions"]) == (2, 2)
    assert counts["highest_pass_rate"] == 0.5


def test_a_human_score_counts_each_judgement(write: Write) -> None:
    rows = [
        mark("refA", "Gute Nacht", "Other", rater="rater2"),
        mark("refA", "Gute Nacht", "No-error", rater="rater3"),
    ]

    scores = found_in(write(GOOD, BAD, *rows)).human_scores

    # Two of three raters found no error in refA's translation.
    overall = scores.filter(system="refA", category="overall")
    assert overall.select("score", "n").rows() == [(pytest.approx(2 / 3), 3)]


@pytest.mark.parametrize(
    ("name", "n", "alpha", "distinct", "both", "failures"),
    [
        # Of two directions a model fails one. In zhen 18 more fail where raters rank in a circle.
        ("ende", 1_040, 0.17272093936833965, 2_039, 242, 242 / 2),
        ("zhen", 3_770, 0.0927338978501191, 9_201, 1_680, 1_680 / 2 + 18),
    ],
)
def test_three_raters_agree_little_and_contradict_each_other(  # noqa: PLR0917 - a table
    nnd_data: Path, name: str, n: int, alpha: float, distinct: int, both: int, failures: float
) -> None:
    manifest = converted("wmt23_mqm_sxs", nnd_data / "wmt23_mqm_sxs", set_name=name).manifest

    counts = manifest["counts"]
    assert (counts["distinct_pairs"], counts["both_directions"]) == (distinct, both)
    assert counts["highest_pass_rate"] == pytest.approx(1 - failures / distinct)
    # Found apart from nnd, by comparing all labels of every two raters of a translation.
    assert manifest["agreement"]["translation"] == {
        "level": "nominal",
        "n_units": n,
        "n_ratings": 3 * n,
        "alpha": pytest.approx(alpha, abs=1e-12),
    }


def test_attention_checks_are_left_out_and_counted(write: Write) -> None:
    checks = [
        mark("refA", "Gute Nacht", "Found", "HOTW-test"),
        mark("ONLINE-W", "Nachts", "Missed", "HOTW-test"),
    ]

    found = found_in(write(GOOD, BAD, *checks))

    assert sides(found) == [("rater1", "refA", "ONLINE-A", "Fluency/Grammar")]
    assert found.manifest["oddities"] == [
        f"{NAME}: rows of attention checks (HOTW-test), left out: 2"
    ]


def test_an_omission_is_one_category_on_either_side(write: Write) -> None:
    rows = [
        mark("ONLINE-A", "Gute", f"Accuracy/Omission{side}", source="Good <v>night</v>")
        for side in ("", " (Translation)", " (Translation 2)")
    ]

    found = found_in(write(GOOD, *rows))

    assert sides(found) == [("rater1", "refA", "ONLINE-A", "Accuracy/Omission")]
    assert found.annotations["context"].unique().to_list() == ["Good night"]


def test_a_blank_at_the_end_makes_no_other_text(write: Write) -> None:
    rows = [
        mark("ONLINE-A", "Gute Nächte ", "Fluency/Spelling", source="Good night "),
        mark("ONLINE-W", "Nachts ", "Other"),
    ]

    found = found_in(write(GOOD, BAD, *rows))

    texts = found.annotations.select("candidate_id", "candidate").unique().sort("candidate_id")
    assert texts.rows() == [
        ("d/1/1/ONLINE-A", "Gute Nächte"),
        ("d/1/1/ONLINE-W", "Nachts "),
        ("d/1/1/refA", "Gute Nacht"),
    ]


@pytest.mark.parametrize(
    ("row", "code", "part"),
    [
        (mark("refA", "Gute Nacht!", "Other"), "row.contradiction", ""),
        (mark("refA", "Gute Nacht", "Other", source="Night"), "row.contradiction", ""),
        (mark("refA", "Gute\tNacht", "Other"), "cell.unknown-value", ""),
        ("refA\td\t1", "file.not-csv", ""),
        (mark("refA", "Gute Nacht", "Rhyme"), "row.wrong-shape", ": label"),
        (mark("SMU", "Gute Nacht", "Other"), "row.wrong-shape", ": system"),
    ],
    ids=["translation", "source", "tab", "cut off", "category", "system"],
)
def test_a_row_that_cannot_be_is_an_error(write: Write, row: str, code: str, part: str) -> None:
    with refusal(code, f".tsv:4{part}"):
        found_in(write(GOOD, BAD, row))


def test_another_file_is_an_error(write: Write) -> None:
    header = "\t".join(COLUMNS).replace("docSegId", "doc_id")

    with refusal("file.another-kind", "sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv:1"):
        found_in(write(GOOD, BAD, header=header))


def test_an_archive_that_was_cut_off_is_one_clear_error(write: Write) -> None:
    folder = write(GOOD, BAD)
    path = folder / f"{NAME}.tar.gz"
    path.write_bytes(path.read_bytes()[:-20])

    with refusal("file.cut-off", "sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz"):
        found_in(folder)
