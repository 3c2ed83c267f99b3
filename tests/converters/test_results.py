"""What the functions behind the commands return: a headline, a table, a frame, plain values."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from support.checked_source import make_birds
from support.stored_folders import write_sealed

from nnd.converters.export.exporting import export
from nnd.converters.folder import convert, validate
from nnd.converters.hub import Publication
from nnd.converters.hub.published_dataset import PublishedFile
from nnd.converters.onboard import check_source, new_source
from nnd.converters.source import sources
from nnd.schemas import table_text


def as_json(result: object) -> object:
    """Return what comes back of a result's plain values written as JSON."""
    return json.loads(json.dumps(result.to_dict()))  # type: ignore[attr-defined]


def test_a_conversion_shows_its_counts_and_gives_its_pairs() -> None:
    conversion = convert("sample")

    headline = conversion.headline()
    assert headline == "72 pairs of 14 contexts and 5 systems from sample; 16 contexts were judged."
    assert str(conversion).startswith(f"{conversion.headline()}\n")
    assert repr(conversion) == str(conversion)
    table = conversion.table()
    assert sum(int(n) for n in table.columns[1].cells) == 72
    (counts, *_) = conversion.details()
    rows = dict(zip(*(column.cells for column in counts.columns), strict=True))
    assert (rows["contexts"], rows["pairs"]) == ("16", "72")
    assert conversion.to_frame().height == 72
    assert as_json(conversion) == conversion.manifest
    dropped, *examples = conversion.remarks()
    assert dropped == (
        "Dropped: 1 annotation (unlabelled), 1 context (one candidate), 1 pair (same text; "
        "--keep-equal keeps them)."
    )
    # The two most frequent categories, wrong_fact (16) and off_target (14), and of each the pair
    # with the lowest id.
    lowest = conversion.pairs.sort("pair_id").unique("error_category", keep="first")
    for category, example in zip(("wrong_fact", "off_target"), examples, strict=True):
        pair = lowest.row(by_predicate=pl.col("error_category") == category, named=True)
        assert example.startswith(f'Of "{" ".join(pair["context"].split())[:48]}')
        assert f'{pair["system_high"]} (good) "{pair["candidate_high"][:48]}' in example
        assert f'beats {pair["system_low"]} ({category}) "{pair["candidate_low"][:48]}' in example


def test_a_conversion_says_what_to_know_of_its_input(tmp_path: Path) -> None:
    birds = make_birds(tmp_path)
    birds.real.write_text(birds.real.read_text() + "\n")

    conversion = convert(
        birds.folder,
        origin=birds.real,
        normalise=["nfc", "whitespace"],
        accept_changed="a line added",
    )

    assert conversion.headline() == "5 pairs of 3 contexts and 3 systems from birds."
    assert conversion.remarks()[:2] == [
        (
            "birds.jsonl is unverified (its SHA-256 differs from the declared one): "
            "expected counts were not checked"
        ),
        "candidates and contexts were changed: nfc, whitespace",
    ]


def test_hygiene_tables_show_looks_only_where_there_are_any(tmp_path: Path) -> None:
    birds = make_birds(tmp_path)
    assert len(convert(birds.folder, origin=birds.real).details()) == 2  # counts, lengths
    birds.set_real([(*row[:3], row[3].lower(), row[4]) for row in _rows(birds.real)])

    *_, lengths, looks = convert(birds.folder, origin=birds.real).details()

    assert "shorter wins" in table_text(lengths)
    assert "100.0 %" in table_text(looks)


def _rows(real: Path) -> list[tuple[str, str, str, str, str]]:
    rows = (json.loads(line) for line in real.read_text().splitlines())
    names = ("key", "question", "system", "answer", "label")
    return [tuple(row[name] for name in names) for row in rows]  # type: ignore[misc]


def test_a_validation_is_true_where_nothing_is_wrong(sample: Path, tmp_path: Path) -> None:
    found = validate(sample)

    assert found
    assert found.ok
    assert (len(found), found.table()) == (0, None)
    assert found.headline() == f"{sample} has no problems."
    assert found.to_frame().height == 0
    assert as_json(found) == {"folder": str(sample), "problems": []}

    broken = tmp_path / "broken"
    shutil.copytree(sample, broken)
    manifest = json.loads((broken / "manifest.json").read_text())
    manifest["counts"]["pairs"] = 71
    write_sealed(broken / "manifest.json", manifest)
    found = validate(broken)

    assert not found
    assert found.headline() == f"{broken} has 1 problem."
    (finding,) = found
    assert as_json(found) == {"folder": str(broken), "problems": [str(finding)]}
    assert found.to_frame().rows() == [
        (
            "manifest.json",
            None,
            "counts/pairs",
            "71, but the annotations give 72",
            "convert the source again",
        )
    ]
    (cells,) = zip(*(column.cells for column in found.table().columns), strict=True)
    assert [*map(str, cells)] == [
        "manifest.json\ncounts/pairs",
        "71, but the annotations give 72",
        "convert the source again",
    ]


def test_sources_list_every_set() -> None:
    found = sources()

    *real, sample = [each.name for each in found]
    assert found.headline() == f"{len(real)} sources."
    assert (real, sample) == (sorted(real), "sample")
    frame = found.to_frame()
    assert frame.height == len(found.entries()) > len(found)
    (quiz,) = frame.filter(pl.col("name") == "quiz_design").rows(named=True)
    assert (quiz["set"], quiz["rule"], quiz["pairs"]) == (None, "no_error", 2_686)
    assert found.table().row_count == frame.height
    names, tasks = ([*map(str, column.cells)] for column in found.table().columns[:2])
    assert names[-5:-2] == ["wmt_mqm", "  --set ted/ende", "  --set ted/zhen"]
    assert (names[-1], tasks[-1]) == ("sample", "invented, for trying out")
    assert found.remarks() == []
    assert as_json(found) == {"sources": json.loads(json.dumps(found.entries()))}


def test_a_report_of_a_check_is_true_where_nothing_fails(tmp_path: Path) -> None:
    birds = make_birds(tmp_path)
    birds.set_facts(licence=["CC0-1.0"])

    report = check_source(birds.folder)

    assert not report
    assert report.counts == {"pass": 0, "fail": 1, "review": 0, "skipped": 27}
    assert report.headline() == f"{birds.folder}: 0 of 28 checks pass, 1 fail, 27 skipped."
    assert len(report) == report.to_frame().height == 28
    assert report.table().row_count == 1
    (skipped,) = report.remarks()
    assert skipped.endswith('("source.yaml" must pass first).')
    assert report.to_frame()["outcome"].to_list() == ["fail", *["skipped"] * 27]
    assert as_json(report)["checks"][0]["name"] == "source.yaml"  # type: ignore[index]


def test_a_new_source_shows_the_columns_of_its_file(tmp_path: Path) -> None:
    birds = make_birds(tmp_path / "birds")

    made = new_source("new_birds", birds.real, tmp_path / "new_birds")

    assert made.headline() == f"5 pairs of 3 contexts; the source is in {tmp_path / 'new_birds'}."
    assert made.to_frame()["column"].to_list() == ["key", "question", "system", "answer", "label"]
    assert made.table().row_count == 5
    (todo,) = made.details()
    assert not isinstance(todo, str)
    assert todo.row_count == len(made.left) > 0
    assert f"  nnd convert {made.folder} --from {birds.real}" in made.remarks()
    assert [*map(str, todo.columns[0].cells)] == [left.field for left in made.left]
    assert any(f"fill in the {len(made.left)} facts" in str(line) for line in made.remarks())
    assert made.examples is not None
    assert made.remarks()[-1] == made.examples.summary()[-1]
    assert as_json(made) == made.to_dict()


def test_an_export_says_how_many_rows_are_where(sample: Path, tmp_path: Path) -> None:
    exported = export(sample, tmp_path / "tasks", to="lm-eval")

    assert exported.headline() == f"72 rows written to {tmp_path / 'tasks'}."
    assert exported.remarks() == exported.notes != ()
    assert str(exported).endswith("\n".join(exported.notes))
    assert as_json(exported) == {
        "out": str(tmp_path / "tasks"),
        "rows": 72,
        "unit": "row",
        "notes": list(exported.notes),
    }
    assert export(sample, tmp_path / "pairs.csv", to="csv").remarks() == ()


@pytest.mark.parametrize(
    ("commit", "changed", "headline"),
    [
        (None, False, "Dry run: nothing was written to https://hf.co/o/n."),
        ("abc", True, "Published: https://hf.co/o/n at abc."),
        ("abc", False, "Unchanged; the Hub already has it: https://hf.co/o/n at abc."),
    ],
)
def test_what_was_published_says_so(commit: str | None, *, changed: bool, headline: str) -> None:
    file = PublishedFile("pairs/[x].parquet", 1_234, "added")
    published = Publication("o/n", "https://hf.co/o/n", commit, changed, None, None, (file,))

    assert published.headline() == headline
    assert [str(cell) for cell in published.table().columns[1].cells] == ["1,234"]
    assert "pairs/[x].parquet" in str(published)
    assert published.to_frame().rows() == [("pairs/[x].parquet", 1_234, "added")]


def test_what_was_published_says_how_to_use_it_and_a_dry_run_what_would_change() -> None:
    same, other = (PublishedFile("README.md", 1, change) for change in ("same", "changed"))  # type: ignore[arg-type]
    dry = Publication("o/n", "https://hf.co/o/n", None, False, None, None, (same,))
    assert dry.remarks() == ["The card stays as it is."]
    assert replace(dry, files=(other,), card_diff="-a\n+b\n").remarks() == ["-a\n+b"]
    alone = replace(dry, tag="v1", files=(other,), card_diff="+b\n", unasked="o/n: no network")
    said, card = alone.remarks()
    assert alone.headline().startswith("Dry run without the Hub: nothing was written to ")
    assert said.startswith("o/n: no network. So it is not known whether the repository exists")
    assert "whether the tag v1 is free" in said
    assert card == "+b"
    done = replace(dry, commit="abc", pull_request="https://hf.co/1", tag="v1", usage=("load()",))
    assert done.remarks() == ["Pull request: https://hf.co/1", "Tag: v1", "  load()"]
    assert "usage" not in done.to_dict()
