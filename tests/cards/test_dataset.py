"""The card of a folder: true to its data, the same each time, readable by the Hub's own tools."""

import json
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard
from support.card_folders import (
    as_published,
    change_manifest,
    convert_case,
    make_folder,
    number,
    row,
    rows_of_paragraphs,
    section,
    table,
)
from support.recounts.built_in_sources import Case, fixture_cases
from support.refusals import refusal
from support.stored_folders import read_manifest, write_manifest

from nnd.cards.dataset import data_card, write_card
from nnd.cards.lint.card_linter import check_card
from nnd.converters.folder.conversion import convert
from nnd.schemas import find_frame

CASES = list(fixture_cases())
NAMES = [
    "-".join(str(part) for part in case if part and not isinstance(part, Path)) for case in CASES
]
REAL = {"quiz_design": None, "goyal_gpt3_news": None, "wmt_mqm": "ted/zhen"}


def problems_of(card: str, folder: Path) -> list[str]:
    return [str(problem) for problem in check_card(card, folder)]


def head_of(card: str) -> dict[str, Any]:
    head: dict[str, Any] = yaml.safe_load(
        card.split("\n---\n", maxsplit=1)[0].removeprefix("---\n")
    )
    return head


# Every source.


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_card_of_every_fixture_is_true_to_its_data(case: Case, tmp_path: Path) -> None:
    folder = convert_case(case, tmp_path / "out")
    card = data_card(folder, "org/name")

    assert problems_of(card, folder) == []
    assert card == data_card(folder, "org/name")
    check_counts(card, folder)
    assert DatasetCard(card).data.pretty_name.endswith("(NND tests)")
    assert (
        MetadataConfigs.from_dataset_card_data(DatasetCard(card).data).get_default_config_name()
        == "pairs"
    )


# The card of WMT's fixture is checked always; its real pairs take most of the time of this file.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.full] if name == "wmt_mqm" else []) for name in REAL],
)
def test_the_card_of_real_data_is_true(name: str, nnd_data: Path, tmp_path: Path) -> None:
    convert(name, origin=nnd_data / name, set_name=REAL[name], out=tmp_path / "out")
    card = data_card(tmp_path / "out", "org/name")

    assert problems_of(card, tmp_path / "out") == []
    check_counts(card, tmp_path / "out")


def check_counts(card: str, folder: Path) -> None:
    """Count everything again, by other means: plain Python over plain rows."""
    pairs = pl.read_parquet(folder / "pairs.parquet").to_dicts()
    annotations = pl.read_parquet(folder / "annotations.parquet").to_dicts()
    references = find_frame(folder, "references")
    totals = {name: number(n) for name, n in table(section(card, "Counts"), "what", "n")}
    distinct = {(p["split"], p["context_id"], p["high_id"], p["low_id"]) for p in pairs}
    texts = {(a["split"], a["candidate_id"]): a["candidate"] for a in annotations}
    expected = {
        "pairs": len(pairs),
        "distinct pairs of candidates": len(distinct) if len(distinct) < len(pairs) else 0,
        "pairs that differ in letter case only": sum(
            folded(p["candidate_high"]) == folded(p["candidate_low"]) for p in pairs
        ),
        "contexts with a pair": len({(p["split"], p["context_id"]) for p in pairs}),
        "contexts": len({(a["split"], a["context_id"]) for a in annotations}),
        "candidates": len(texts),
        "empty candidates": sum(not text.strip() for text in texts.values()),
        "systems": len(
            {name for a in annotations if a["system"] for name in a["system"].split("|")}
        ),
        "annotations": len(annotations),
        "references": 0 if references is None else references.height,
    }
    assert totals == {name: n for name, n in expected.items() if n}
    rows = table(section(card, "Counts"), "error category", "pairs")
    assert {name.strip("`"): number(n) for name, n in rows} == tally(pairs, "error_category")
    assert f"**{len(pairs):,} tests for " in card.split("\n## ", maxsplit=1)[0]
    size = head_of(card)["size_categories"]
    assert size == [
        "n<1K" if len(pairs) < 1000 else "1K<n<10K" if len(pairs) < 10_000 else "10K<n<100K"
    ]


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split()).lower()


def tally(rows: list[dict[str, Any]], column: str) -> dict[str, int]:
    return dict(Counter(each[column] for each in rows))


def test_the_published_layout_has_the_same_card(tmp_path: Path) -> None:
    (case,) = [c for c in CASES if c[:3] == ("goyal_gpt3_news", c.place, None) and not c.variant][
        :1
    ]
    folder = convert_case(case, tmp_path / "out")
    published = as_published(folder, tmp_path / "hub")

    card = data_card(folder, "org/name")
    assert data_card(published, "org/name") == card
    assert problems_of(card, published) == []
    assert [entry["split"] for entry in head_of(card)["configs"][0]["data_files"]] == ["bbc", "cnn"]


# One folder.


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of the birds as they are."""
    return data_card(make_folder(tmp_path_factory.mktemp("birds")), "org/birds")


def test_the_metadata_of_a_folder(card: str) -> None:
    head = head_of(card)
    assert head.pop("tags")[:2] == ["near-negative-distinction", "nnd"]
    assert head == {
        "pretty_name": "Birds (NND tests)",
        "language": ["en"],
        "license": "cc0-1.0",
        "task_categories": ["question-answering"],
        "size_categories": ["n<1K"],
        "source_datasets": ["original"],
        "annotations_creators": ["expert-generated"],
        "configs": [
            {
                "config_name": "pairs",
                "default": True,
                "data_files": [{"split": "test", "path": "pairs/test-00000-of-00001.parquet"}],
            },
            {
                "config_name": "human_scores",
                "data_files": [{"split": "systems", "path": "human_scores.parquet"}],
            },
            {
                "config_name": "annotations",
                "data_files": [
                    {"split": "test", "path": "annotations/test-00000-of-00001.parquet"}
                ],
            },
            {
                "config_name": "preferences",
                "data_files": [
                    {"split": "test", "path": "preferences/test-00000-of-00001.parquet"}
                ],
            },
        ],
    }


def test_a_licence_that_the_hub_does_not_list_is_named(tmp_path: Path) -> None:
    head = head_of(data_card(make_folder(tmp_path, licence="LicenseRef-Birds"), "org/birds"))

    assert head["license"] == "other"
    assert head["license_name"] == "LicenseRef-Birds"
    assert head["license_link"] == "https://example.org/birds"


def test_a_region_goes_where_the_hub_takes_it(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, languages=["de-CH"])
    card = data_card(folder, "org/birds")

    assert head_of(card)["language"] == ["de"]
    assert head_of(card)["language_details"] == ["de-CH"]
    assert "shown for English only" in section(card, "Limitations")
    assert problems_of(card, folder) == []


def test_the_original_is_cited_before_the_paper(card: str) -> None:
    assert card.index("@misc{birds,") < card.index("@inproceedings{laban-etal-2022-near,")
    assert "https://arxiv.org/abs/2205.06871" in card


def test_every_config_is_shown_how_to_load(card: str) -> None:
    used = card.split("## How to use it")[1]

    for line in (
        'load_dataset("org/birds", "pairs", split="test")',
        'load_dataset("org/birds", "human_scores", split="systems")',
        'load_dataset("org/birds", "annotations", split="test")',
        'evaluate.load("nnd")',
        "nnd evaluate --model gpt2 --data org/birds",
    ):
        assert line in used


def test_what_a_source_does_not_say_is_said_to_be_so(tmp_path: Path) -> None:
    silent = dict.fromkeys(
        (
            "texts",
            "annotation_process",
            "personal_information",
            "limitations",
            "annotators",
            "task_categories",
            "source_datasets",
        ),
        ...,
    )
    folder = make_folder(tmp_path, homepage=None, **silent)
    card = data_card(folder, "org/birds")

    assert card.count("The source does not say.") == 3
    assert "annotations_creators" not in head_of(card)
    assert problems_of(card, folder) == []


def test_human_scores_stand_with_the_models(card: str) -> None:
    # One candidate each: heron's is good; wren's is wrong, plover's rude.
    header = ("system", "model", "overall", "`rude`", "`wrong`", "judged")
    linked = "[`birds/heron`](https://huggingface.co/birds/heron)"
    assert table(section(card, "Human scores of the systems"), *header) == [
        ["`heron`", linked, "1.000", "1.000", "1.000", "1"],
        ["`plover`", "not known", "0.000", "0.000", "1.000", "1"],
        ["`wren`", "not known", "0.000", "1.000", "0.000", "1"],
    ]


def test_a_model_that_is_not_certain_is_shown_as_such(tmp_path: Path) -> None:
    wren = {"id": "birds/wren", "certainty": "likely", "evidence": "A table of the paper."}
    systems = {"heron": "birds/heron", "wren": wren, "plover": None}
    card = data_card(make_folder(tmp_path, systems=systems), "org/birds")

    header = ("system", "model", "overall", "`rude`", "`wrong`", "judged")
    models = dict(row[:2] for row in table(section(card, "Human scores of the systems"), *header))
    assert models == {
        "`heron`": "[`birds/heron`](https://huggingface.co/birds/heron)",
        "`wren`": "`birds/wren` (likely)",
        "`plover`": "not known",
    }


def test_the_definitions_of_human_scores_name_their_columns(card: str) -> None:
    scores = section(card, "Human scores of the systems")

    share = "share of the system's candidates"
    assert [line for line in scores.splitlines() if line.startswith("- ")] == [
        f'- overall: {share} labelled "good" and nothing else.',
        f'- `rude`: 1 - {share} labelled "rude".',
        f'- `wrong`: 1 - {share} labelled "wrong".',
    ]


def test_examples_are_chosen_by_the_digest_and_not_by_row(tmp_path: Path) -> None:
    rows = [row("a", "heron", "good"), *(row(f"b{n}", "wren", "wrong") for n in range(20))]
    folder = make_folder(tmp_path, rows)
    lowest = min(pl.read_parquet(folder / "pairs.parquet")["pair_id"])

    assert section(data_card(folder, "org/birds"), "Examples").count("pair `") == 1
    assert f"pair `{lowest}`" in section(data_card(folder, "org/birds"), "Examples")


def test_long_candidates_are_cut_where_they_differ(tmp_path: Path) -> None:
    same = "the same words " * 100
    rows = [
        row("a", "heron", "good", candidate=f"{same}end well"),
        row("b", "wren", "wrong", candidate=f"{same}end badly"),
    ]
    shown = section(data_card(make_folder(tmp_path, rows), "org/birds"), "Examples")

    assert "end well" in shown
    assert "end badly" in shown
    assert shown.count("the same words") < 20


def test_published_counts_are_next_to_ours(tmp_path: Path) -> None:
    counted = [
        {"what": "all", "published": 2},
        {
            "what": "wrong ones",
            "published": 3,
            "where": {"error_category": "wrong"},
            "why": "Ours.",
        },
    ]
    folder = make_folder(tmp_path, published_counts=counted)

    def rows() -> list[list[str]]:
        text = section(data_card(folder, "org/birds"), "Published counts")
        return table(text, "what", "published", "here", "difference")

    # No digest is declared for the file, so that nobody knows whether it is the one counted.
    other = "the files that were read are not the declared ones"
    assert rows() == [["all", "2", "2", "none"], ["wrong ones", "3", "1", other]]
    files = json.loads((folder / "manifest.json").read_text())["files"]
    change_manifest(folder, files=[file | {"verified": True} for file in files])
    assert rows()[1] == ["wrong ones", "3", "1", "Ours."]


def test_addresses_and_permission_are_told(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    change_manifest(
        folder, contacts={"redacted": {"email": 12, "ip": 1}}, permission="They wrote *yes*."
    )
    card = data_card(folder, "org/birds")

    told = section(card, "Personal and sensitive information")
    assert "12 by `<email>` and 1 by `<ip>`" in told
    assert r"“They wrote \*yes\*.”" in section(card, "Licence and redistribution")
    assert "except for addresses that were replaced" in section(card, "What the texts give away")
    assert problems_of(card, folder) == []
    change_manifest(folder, contacts={"kept": "They are public."})
    assert "were kept: “They are public.”" in data_card(folder, "org/birds")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("source", None),
        ("files", [{}]),
        ("dropped", [{}]),
        ("oddities", [1]),
        ("normalised", None),
        ("hygiene", {}),
        ("nnd_version", None),
        ("contacts", None),
        ("contacts", {"redacted": None}),
        ("contacts", {"kept": 5}),
        ("permission", {}),
    ],
)
def test_a_manifest_in_another_form_is_refused(part: str, value: object, tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    card = data_card(folder, "org/birds")
    change_manifest(folder, **{part: value})

    with refusal("contract.broken"):
        data_card(folder, "org/birds")
    (problem,) = check_card(card, folder)
    assert part in str(problem)


def test_rules_without_labels_are_told_so(tmp_path: Path) -> None:
    rows = [row("a", "heron", None, score=3.0), row("b", "wren", None, score=1.0)]
    folder = make_folder(tmp_path, rows, quality={"rule": "gap", "minimum": 2}, taxonomy={})
    card = data_card(folder, "org/birds")

    assert "its score is at least 2 higher" in section(card, "From judgements to tests")
    assert problems_of(card, folder) == []


@pytest.mark.parametrize("name", ["birds", "a b/c", "org/", "org/birds/more", "../x"])
def test_what_is_no_name_of_a_repository_is_refused(name: str, tmp_path: Path) -> None:
    with refusal("hub.name"):
        data_card(make_folder(tmp_path), name)


def test_a_split_that_the_hub_cannot_load_is_refused(tmp_path: Path) -> None:
    rows = [row(*each, split="a/b") for each in (("a", "heron", "good"), ("b", "wren", "wrong"))]

    with refusal("data.split-name", 'split "a/b"'):
        data_card(make_folder(tmp_path, rows), "org/birds")


def test_a_folder_without_a_part_is_refused(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    (folder / "human_scores.parquet").unlink()
    with refusal("data.convert-again", "birds-nnd"):
        data_card(folder, "org/birds")
    manifest = read_manifest(folder)
    manifest["hygienic"] = manifest.pop("hygiene")
    write_manifest(folder, manifest)
    with refusal("contract.broken", "manifest.json"):
        data_card(folder, "org/birds")


def test_a_card_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder, out = make_folder(tmp_path), tmp_path / "cards"
    out.mkdir()
    write_card(folder, "org/birds", out / "README.md")
    card = (out / "README.md").read_text(encoding="utf-8")
    assert card == data_card(folder, "org/birds")

    with refusal("hub.name"):
        write_card(folder, "no", out / "README.md")
    assert [path.name for path in out.iterdir()] == ["README.md"]
    assert (out / "README.md").read_text(encoding="utf-8") == card
    with refusal("place.wrong-kind", "cards"):
        write_card(folder, "org/birds", out)


def test_why_a_changed_file_was_accepted_is_quoted(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    change_manifest(folder, accept_changed="Typing errors corrected.")
    card = data_card(folder, "org/birds")

    assert (
        "A file that differs from the declared one was accepted: "
        "\u201cTyping errors corrected.\u201d"
    ) in section(card, "Provenance")
    assert problems_of(card, folder) == []


def test_a_version_is_named(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    (file,) = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
    change_manifest(folder, files=[file | {"verified": True, "version": "2021-08-19"}])

    assert "a declared version (2021-08-19)" in section(
        data_card(folder, "org/birds"), "Provenance"
    )


def test_wrongly_decoded_contexts_are_shown(tmp_path: Path) -> None:
    context = {"context": "Caf\u00c3\u00a9?", "inputs": {"question": "Caf\u00c3\u00a9?"}}
    rows = [row("a", "heron", "good", **context), row("b", "wren", "wrong", **context)]
    card = data_card(make_folder(tmp_path, rows), "org/birds")

    assert "| (all contexts) | 1 |  |  |  |  | 100.0 % |" in section(
        card, "What the texts give away"
    )


def test_a_card_is_written_anew_between_its_marks(tmp_path: Path) -> None:
    folder, readme = make_folder(tmp_path), tmp_path / "README.md"
    write_card(folder, "org/birds", readme)
    readme.write_text(readme.read_text(encoding="utf-8") + "\nMine.\n", encoding="utf-8")

    write_card(folder, "org/trees", readme)

    assert readme.read_text(encoding="utf-8") == data_card(folder, "org/trees") + "\nMine.\n"


def test_another_text_or_a_card_changed_by_hand_is_not_replaced(tmp_path: Path) -> None:
    folder, readme = make_folder(tmp_path), tmp_path / "README.md"
    changed = data_card(folder, "org/birds").replace("org/birds", "org/rocks")
    for mine, code in (("mine", "place.foreign-files"), (changed, "card.marks")):
        readme.write_text(mine, encoding="utf-8")
        with refusal(code, "README.md"):
            write_card(folder, "org/birds", readme)
        assert readme.read_text(encoding="utf-8") == mine


def test_the_card_says_how_far_annotators_agree(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "out")
    counted = {"n_units": 1600, "n_ratings": 4800}
    agreement = {
        "coherence": {"level": "interval", "alpha": 0.5591, **counted},
        "fluency": {"level": "interval", "alpha": None, **counted},
        "errors": {"level": "nominal", "alpha": -0.1, "n_units": 7, "n_ratings": 14},
    }
    change_manifest(folder, agreement=agreement)

    text = section(data_card(folder, "org/name"), "How people judged")

    assert (
        "Krippendorff's alpha of the ratings (interval) is 0.56 for `coherence` (4,800 judgements "
        "of 1,600 candidates), not defined for `fluency` (4,800 judgements of 1,600 candidates); 1 "
        "is perfect agreement, and 0 is agreement by chance."
    ) in text
    assert "of the labels (nominal) is -0.10 for `errors` (14 judgements of 7 candidates);" in text


@pytest.mark.parametrize("n", [7, 12])
def test_clusters_are_counted_and_few_are_said(n: int, tmp_path: Path) -> None:
    rows = rows_of_paragraphs(n, questions=3)
    card = data_card(make_folder(tmp_path, rows, cluster="paragraph"), "birds/birds")
    limits = section(card, "Limitations")
    assert f"from {3 * n} contexts in {n} paragraphs, so intervals are computed over par" in limits
    few = f"The tests come from only {n} paragraphs; with fewer than 10, intervals are rough"
    assert (few in limits) == (n < 10)
