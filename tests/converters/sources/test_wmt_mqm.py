"""WMT MQM: the two TED files, the readings of others, and the quirks of files that are not here."""

import unicodedata
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from support.recounts.counted_again import converted
from support.refusals import refusal

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.folder.validation import validate
from nnd.converters.source.source import load_source
from nnd.converters.source.source_files import find_set
from nnd.metric.data.completion import contexts_of

NO_ERROR = "No-error"
HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment"

Row = list[str]


@pytest.fixture(scope="module")
def ende(nnd_data: Path) -> Conversion:
    return converted("wmt_mqm", nnd_data / "wmt_mqm", set_name="ted/ende")


@pytest.fixture(scope="module")
def zhen(nnd_data: Path) -> Conversion:
    return converted("wmt_mqm", nnd_data / "wmt_mqm", set_name="ted/zhen")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """`write("alpha s1 rater1 … ", …)`: an MQM file of rows given as tuples."""

    def make(*rows: str, name: str = "mqm_invented_enfr.tsv", header: str = HEADER) -> Path:
        path = tmp_path / name
        path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        return path

    return make


def mark(system: str, target: str, category: str, severity: str = "Minor", **other: str) -> str:
    """One row of an MQM file, in segment d/1/1 unless `seg` says otherwise."""
    cells = {"doc": "d", "id": "1", "seg": "1", "rater": "rater1", "source": "Good night"} | other
    comment = cells.pop("comment", "")
    texts = [target, category, NO_ERROR if category.lower() == "no-error" else severity]
    return "\t".join([system, *cells.values(), *texts, comment])


GOOD = mark("alpha", "Bonne nuit", NO_ERROR)
BAD = mark("beta", "Bon nuit", "Fluency/Grammar")


def table(path: Path) -> list[Row]:
    """The rows of a real file, read with nothing of ours."""
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def plain(text: str) -> str:
    text = unicodedata.normalize("NFC", text.replace("<v>", "").replace("</v>", ""))
    return " ".join(text.split())


# --- the real files ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "category", "by_row", "same_text", "released"),
    [("ende", 7, 22_222, 2_278, 21_961), ("zhen", 7, 31_944, 2_123, 29_954)],
)
def test_the_readings_of_others(  # noqa: PLR0917 - parameters of the table above
    nnd_data: Path, name: str, category: int, by_row: int, same_text: int, released: int
) -> None:
    # ../shared/facts/sources.md: a pair per error row, not per category; the released code strips
    # lines, keeps those of nine cells, and leaves the marks in the source it groups by.
    path = nnd_data / f"wmt_mqm/ted/{name}/mqm_ted_{name}.tsv"
    rows = table(path)
    stripped = [line.strip().split("\t") for line in path.read_text("utf-8").splitlines()[1:]]

    def pairs(rows: list[Row], source: Callable[[str], str]) -> list[tuple[str, str]]:
        groups = defaultdict(list)
        for row in rows:
            groups[row[2], row[3], source(row[5])].append(row)
        return [
            (plain(high[6]), plain(low[6]))
            for group in groups.values()
            for high in group
            if high[category] == NO_ERROR
            for low in group
            if low[category] != NO_ERROR
        ]

    ours = pairs(rows, plain)
    assert len(ours) == by_row
    assert sum(high == low for high, low in ours) == same_text
    assert len(pairs([row for row in stripped if len(row) == 9], str)) == released


def test_nothing_is_odd_about_the_real_files(ende: Conversion, zhen: Conversion) -> None:
    assert (ende.manifest["oddities"], zhen.manifest["oddities"]) == ([], [])


def test_the_language_is_that_of_the_translations(ende: Conversion, zhen: Conversion) -> None:
    assert ende.pairs["language"].unique().to_list() == ["de"]
    assert zhen.pairs["language"].unique().to_list() == ["en"]
    contexts = [contexts_of(each.pairs) for each in (ende, zhen)]
    assert [{each.context_language for each in every} for every in contexts] == [{"en"}, {"zh"}]


def test_a_set_is_found_by_its_file(nnd_data: Path) -> None:
    path = nnd_data / "wmt_mqm/ted/zhen/mqm_ted_zhen.tsv"
    source = load_source("wmt_mqm")

    for origin in (path, path.parent):
        assert find_set(source, origin).facts["set"] == "ted/zhen"


def test_several_sets_must_be_chosen_from(nnd_data: Path) -> None:
    with refusal("source.several-files", "wmt_mqm"):
        convert("wmt_mqm", origin=nnd_data / "wmt_mqm")


def test_the_scores_file_is_not_taken_for_annotations(nnd_data: Path) -> None:
    folder = nnd_data / "wmt_mqm/newstest2021/ende"

    with refusal("file.another-kind", "mqm_newstest2021_ende.avg_seg_scores.tsv:1"):
        convert("wmt_mqm", origin=folder)


# --- files that are not here ------------------------------------------------------------------


def test_any_file_converts_with_systems_of_its_own(write: Callable[..., Path]) -> None:
    found = convert("wmt_mqm", origin=write(GOOD, BAD))

    assert found.pairs.select("system_high", "system_low", "language").rows() == [
        ("alpha", "beta", "fr")
    ]
    assert found.human_scores["system"].unique().sort().to_list() == ["alpha", "beta"]
    assert found.manifest["oddities"] == [
        "mqm_invented_enfr.tsv: translations into fr, going by the name of the file"
    ]


def test_a_folder_of_such_a_conversion_is_valid(write: Callable[..., Path], tmp_path: Path) -> None:
    convert("wmt_mqm", origin=write(GOOD, BAD), out=tmp_path / "out")

    assert list(validate(tmp_path / "out")) == []


def test_a_set_that_is_named_needs_no_name_of_a_file(write: Callable[..., Path]) -> None:
    rows = [row.replace("alpha", "ref").replace("beta", "SMU") for row in (GOOD, BAD)]

    found = convert("wmt_mqm", origin=write(*rows, name="ratings.tsv"), set_name="ted/zhen")

    assert found.pairs["language"].to_list() == ["en"]


def test_nine_columns_and_other_names_of_the_numbers(write: Callable[..., Path]) -> None:
    header = HEADER.replace("doc_id\tseg_id", "doc_seg_id\tglobal_seg_id").removesuffix("\tcomment")

    found = convert("wmt_mqm", origin=write(GOOD.rstrip("\t"), BAD.rstrip("\t"), header=header))

    assert found.pairs.height == 1


def test_a_tab_in_a_comment_belongs_to_it(write: Callable[..., Path]) -> None:
    row = mark("beta", "Bon nuit", "Fluency/Grammar", comment="wrong\tgender")

    found = convert("wmt_mqm", origin=write(GOOD, row))

    assert found.pairs.height == 1
    assert "comments with a tab in them, read as comments: 1" in found.manifest["oddities"][-1]


CUT_OFF = "\t".join(BAD.split("\t")[:8])
NAMED = {"set_name": "ted/zhen"}  # it knows its systems


@pytest.mark.parametrize(
    ("rows", "options", "code", "where"),
    [
        ([GOOD, CUT_OFF], {}, "file.not-csv", ":3"),
        # A tab in a text, and a category that is new.
        ([GOOD, mark("beta", "Bon\tnuit", "Fluency/Grammar")], {}, "cell.unknown-value", ":3"),
        ([GOOD, mark("beta", "Bon nuit", "Fluency/Rhyme")], {}, "row.wrong-shape", ":3: label"),
        ([GOOD, BAD], NAMED, "row.wrong-shape", ":2: system"),
    ],
)
def test_rows_that_are_not_what_they_should_be(
    write: Callable[..., Path], rows: list[str], options: dict[str, str], code: str, where: str
) -> None:
    with refusal(code, f"mqm_invented_enfr.tsv{where}"):
        convert("wmt_mqm", origin=write(*rows), **options)  # type: ignore[arg-type]


def test_a_name_without_languages_and_a_file_without_the_header(
    write: Callable[..., Path],
) -> None:
    with refusal("file.another-kind", "ratings.tsv"):
        convert("wmt_mqm", origin=write(GOOD, BAD, name="ratings.tsv"))
    with refusal("file.another-kind", "mqm_invented_enfr.tsv:1"):
        convert("wmt_mqm", origin=write(BAD, header=GOOD))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Fluency/grammar", "Fluency/Grammar"),
        (" Style/Awkward", "Style/Awkward"),
        ("Other/-", "Other"),
        ("Source error/-", "Source error"),
        ("Non-translation!", "Non-translation!"),
    ],
)
def test_other_spellings_of_a_category(write: Callable[..., Path], written: str, read: str) -> None:
    rows = [mark("alpha", "Bonne nuit", "no-error"), mark("beta", "Bon nuit", written)]

    found = convert("wmt_mqm", origin=write(*rows))

    assert found.pairs.select("label_high", "error_category").rows() == [(NO_ERROR, read)]


def test_marks_of_one_category_are_one_label(write: Callable[..., Path]) -> None:
    rows = [
        mark("beta", "<v>Bon</v> nuit", "Fluency/Grammar"),
        mark("beta", "Bon <v>nuit</v>", "Fluency/Grammar", "Major"),
        mark("beta", "Bon nuit", "Accuracy/Omission", source="<v>Good</v> night"),
    ]
    path = write(GOOD, *rows)

    by_category = convert("wmt_mqm", origin=path).pairs
    by_severity = convert("wmt_mqm", origin=path, variant="severity").pairs

    assert by_category["error_category"].to_list() == ["Accuracy/Omission", "Fluency/Grammar"]
    assert by_severity["error_category"].to_list() == ["Major", "Minor"]
    assert by_category["candidate_low"].to_list() == ["Bon nuit"] * 2


def test_raters_who_disagree_on_an_error_make_a_candidate_contradictory(
    write: Callable[..., Path],
) -> None:
    other = mark("alpha", "Bonne nuit", "Style/Awkward", rater="rater2")
    third = mark("gamma", "Bonsoir", NO_ERROR)

    found = convert("wmt_mqm", origin=write(GOOD, other, BAD, third))

    assert found.pairs.select("system_high", "system_low").rows() == [("gamma", "beta")]
    assert [(entry["reason"], entry["n"]) for entry in found.manifest["dropped"]] == [
        ("contradictory", 1)
    ]


def test_by_the_order_of_severities_the_worst_one_counts(write: Callable[..., Path]) -> None:
    rows = [
        mark("beta", "Bon nuit", "Fluency/Grammar", "Minor"),
        mark("gamma", "Bonsoir", "Style/Awkward", "Minor"),
        mark("gamma", "Bonsoir", "Accuracy/Mistranslation", "Major"),
        mark("delta", "Bonne nuit !", "Fluency/Punctuation", "Neutral"),
    ]

    found = convert("wmt_mqm", origin=write(GOOD, *rows), variant="severity_order").pairs

    # Neutral is a matter of taste: as good as no error, and better than any.
    assert sorted(found.select("system_high", "system_low", "error_category").rows()) == [
        ("alpha", "beta", "Minor"),
        ("alpha", "gamma", "Major"),
        ("beta", "gamma", "Major"),
        ("delta", "beta", "Minor"),
        ("delta", "gamma", "Major"),
    ]


def test_mqm_scores_are_the_published_ones(nnd_data: Path) -> None:
    found = converted("wmt_mqm", nnd_data / "wmt_mqm", set_name="ted/ende", variant="mqm")
    published = {}
    path = nnd_data / "wmt_mqm/ted/ende/mqm_ted_ende.avg_seg_scores.tsv"
    for line in path.read_text("utf-8").splitlines()[1:]:
        system, score, segment = line.split()
        if score != "None":  # its name of the reference is another
            published[system.replace("ref-A", "ref"), int(segment)] = float(score)
    ours = {
        (system, int(context.rpartition("/")[2])): sum(ratings) / len(ratings)
        for system, context, ratings in found.annotations.select(
            "system", "context_id", "ratings"
        ).iter_rows()
    }
    assert len(ours) == len(published) == 7_406
    assert ours == pytest.approx(published, abs=1e-9)


def test_weights(write: Callable[..., Path]) -> None:
    rows = [
        mark("beta", "Bon nuit", "Fluency/Punctuation", "Minor"),
        mark("beta", "Bon nuit", "Fluency/Punctuation", "Major"),
        mark("beta", "Bon nuit", "Fluency/Grammar", "Minor", rater="rater2"),
        mark("gamma", "Oui", "Non-translation!", "Major"),
        mark("delta", "Nuit", "Style/Awkward", "Neutral"),
        mark("eta", "Bon", "Accuracy/Omission", "Critical"),
    ]
    found = convert("wmt_mqm", origin=write(GOOD, *rows), variant="mqm")
    scores = dict(found.annotations.select("system", "ratings").iter_rows())
    worst = {"gamma": [-25.0], "eta": [-25.0]}
    assert scores == {"alpha": [0.0], "beta": [-5.1, -1.0], "delta": [0.0], **worst}
    assert sorted(found.pairs.select("system_high", "system_low").rows()) == [
        (high, low) for high in ("alpha", "beta", "delta") for low in ("eta", "gamma")
    ]


def test_two_texts_of_one_system_are_two_candidates(write: Callable[..., Path]) -> None:
    other = mark("beta", "Bonnes nuits", "Fluency/Grammar", rater="rater2")
    spaced = mark("beta", "Bon  nuit", "Fluency/Spelling", rater="rater3")

    found = convert("wmt_mqm", origin=write(GOOD, BAD, other, spaced))

    assert found.pairs.select("low_id", "candidate_low", "error_category").rows() == [
        ("d/1/1/beta", "Bon nuit", "Fluency/Grammar"),
        ("d/1/1/beta", "Bon nuit", "Fluency/Spelling"),
        ("d/1/1/beta#2", "Bonnes nuits", "Fluency/Grammar"),
    ]
    assert "translations with several texts" in found.manifest["oddities"][-1]


def test_texts_that_look_quoted_are_reported(write: Callable[..., Path]) -> None:
    row = mark("beta", '"Il dit ""bon nuit"""', "Fluency/Grammar")

    found = convert("wmt_mqm", origin=write(GOOD, row))

    assert found.pairs["candidate_low"].to_list() == ['"Il dit ""bon nuit"""']
    assert "left as it is: 1" in found.manifest["oddities"][-1]


def test_an_empty_translation_is_kept(write: Callable[..., Path]) -> None:
    found = convert("wmt_mqm", origin=write(GOOD, mark("beta", "", "Non-translation!", "Major")))

    assert found.pairs["candidate_low"].to_list() == [""]
    assert found.manifest["counts"]["empty_candidates"] == 1


def test_raters_are_told_apart_and_not_named(write: Callable[..., Path]) -> None:
    # Two raters find the same error in a translation, one of them twice; a third finds none.
    path = write(
        BAD,
        BAD,
        mark("beta", "Bon nuit", "Fluency/Grammar", rater="ann@example.org"),
        mark("alpha", "Bonne nuit", NO_ERROR, rater="rater3"),
    )

    found = convert("wmt_mqm", origin=path).annotations

    # In the order of the stored rows: alpha's comes first.
    assert found["system", "annotators"].rows() == [("alpha", ["a1"]), ("beta", ["a2", "a3"])]
