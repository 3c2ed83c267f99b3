"""SummEval on the real file, and what is said where the articles are not in it."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.places import SOURCES

from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.folder.validation import validate
from nnd.schemas import SourceError

FILE = "model_annotations.aligned.paired.jsonl"
UNPAIRED = "model_annotations.aligned.jsonl"
ASPECTS = ("coherence", "consistency", "fluency", "relevance")
FIXTURE = SOURCES / "summeval" / "fixture" / FILE

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def lines(nnd_data: Path) -> list[dict[str, Any]]:
    text = (nnd_data / "summeval" / FILE).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def summeval(nnd_data: Path) -> Conversion:
    return convert("summeval", origin=nnd_data / "summeval")


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def refused(tmp_path: Path, edit: Edit) -> str:
    """What is said of the fixture when its third line has been edited."""
    edited = [json.loads(line) for line in FIXTURE.read_text(encoding="utf-8").splitlines()]
    edit(edited[2])
    with pytest.raises(SourceError) as caught:
        convert("summeval", origin=write(tmp_path / FILE, edited))
    message = str(caught.value)
    assert message.isprintable()
    return message


def test_counts(summeval: Conversion) -> None:
    pairs = {"coherence": 4232, "consistency": 2396, "fluency": 2781, "relevance": 3737}

    assert summeval.manifest["counts"] == {
        "annotations": 6400,
        "contexts": 100,
        "candidates": 1600,
        "empty_candidates": 0,
        "systems": 16,
        "pairs": 13146,
        "distinct_pairs": 8563,
        "same_after_lowercase": 0,
        "by_error_category": pairs,
        "by_error_group": {},
        "by_aspect": pairs,
        "by_category": {},
        "by_split": {"test": 13146},
    }


def test_dropped(summeval: Conversion) -> None:
    # 13,170 - 13,146
    assert [(entry["reason"], entry["n"]) for entry in summeval.manifest["dropped"]] == [
        ("same_text", 24)
    ]


def test_the_file_is_the_declared_one(summeval: Conversion) -> None:
    assert [(file["name"], file["verified"]) for file in summeval.manifest["files"]] == [
        (FILE, True)
    ]


def test_every_pair_and_no_other(summeval: Conversion, lines: list[dict[str, Any]]) -> None:
    def is_high(line: dict[str, Any], aspect: str) -> bool:
        return sorted(expert[aspect] for expert in line["expert_annotations"])[1] == 5

    by_document: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        by_document.setdefault(line["id"], []).append(line)
    expected = [
        (document, aspect, high["model_id"], low["model_id"], high["decoded"], low["decoded"])
        for document, written in by_document.items()
        for aspect in ASPECTS
        for high in written
        for low in written
        if is_high(high, aspect) and not is_high(low, aspect)
    ]
    columns = ("context_id", "aspect", "system_high", "system_low")
    columns += ("candidate_high", "candidate_low")

    # ../shared/facts/sources.md, "Obtained against published"
    assert Counter(aspect for _, aspect, *_ in expected) == {
        "coherence": 4243,
        "consistency": 2396,
        "fluency": 2781,
        "relevance": 3750,
    }
    assert sorted(summeval.pairs.select(columns).rows()) == sorted(
        pair for pair in expected if pair[-2] != pair[-1]
    )


@pytest.mark.parametrize(
    ("row", "pair_id", "document", "aspect", "systems", "starts"),
    [
        (
            0,
            "e579b43644951994",
            "cnn-test-404f859482d47c127868964a9a39d1a7645dd2e9",
            "coherence",
            ("M0", "M1"),
            ("-lrb- cnn -rrb- donald sterling 's racist", "a los angeles judge has ordered"),
        ),
        (
            8,
            "e02e75ec0dfc98ea",
            "cnn-test-404f859482d47c127868964a9a39d1a7645dd2e9",
            "coherence",
            ("M0", "M12"),
            ("-lrb- cnn -rrb- donald sterling 's racist", "rochelle `` shelly '' sterling"),
        ),
        (
            -1,
            "9eacaa648aa8c64b",
            "dm-test-fadabe346fe95d33eee71299e6596754768f5246",
            "relevance",
            ("M9", "M8"),
            ("the woman has two children under five", "gemma , named only as gemma , has"),
        ),
    ],
    ids=["first", "ninth", "last"],
)
def test_pinned_pair(  # noqa: PLR0917 - parameters of the table above
    summeval: Conversion,
    row: int,
    pair_id: str,
    document: str,
    aspect: str,
    systems: tuple[str, str],
    starts: tuple[str, str],
) -> None:
    found = summeval.pairs.row(row, named=True)

    assert (found["pair_id"], found["context_id"], found["aspect"]) == (pair_id, document, aspect)
    assert (found["high_id"], found["low_id"]) == tuple(f"{document}/{name}" for name in systems)
    assert found["candidate_high"].startswith(starts[0])
    assert found["candidate_low"].startswith(starts[1])
    assert found["error_category"] == aspect


def test_a_context_is_its_article(summeval: Conversion) -> None:
    first = summeval.pairs.row(0, named=True)

    assert first["context"].startswith("(CNN)Donald Sterling's racist remarks cost him an NBA team")
    assert first["inputs"] == [{"key": "article", "value": first["context"]}]


@pytest.mark.parametrize(
    ("system", "means"),
    [
        # Fabbri et al. 2021, expert ratings: LEAD-3, Pointer Generator, T5, GPT-2, BART, Pegasus.
        ("M0", (4.16, 4.98, 4.94, 4.14)),
        ("M8", (3.29, 4.65, 4.79, 3.55)),
        ("M17", (4.00, 4.93, 4.93, 4.23)),
        ("M20", (3.63, 3.40, 3.97, 3.30)),
        ("M22", (4.18, 4.94, 4.90, 4.25)),
        ("M23", (4.16, 4.91, 4.88, 4.26)),
    ],
)
def test_human_scores_are_the_means_of_the_paper(
    summeval: Conversion, system: str, means: tuple[float, ...]
) -> None:
    of_system = summeval.human_scores.filter(system=system).sort("aspect")

    assert of_system["aspect"].to_list() == list(ASPECTS)
    assert of_system["n"].to_list() == [100] * 4
    assert [round(score, 2) for score in of_system["score"]] == list(means)


def test_bart_is_the_system_that_is_on_the_hub(summeval: Conversion) -> None:
    known = summeval.human_scores.select("system", "model_id").unique().drop_nulls()

    assert known.rows() == [("M22", "facebook/bart-large-cnn")]


def test_only_gpt2_is_not_tokenised_and_only_gpt2_and_bart_are_cased(summeval: Conversion) -> None:
    texts = pl.col("candidate")
    tokenised = summeval.annotations.filter(texts.str.contains(" .", literal=True))
    cased = summeval.annotations.filter(texts != texts.str.to_lowercase())

    assert tokenised.filter(system="M20").height == 0
    assert tokenised["system"].n_unique() == 15
    assert set(cased["system"]) == {"M20", "M22"}


def test_every_second_line_gives_the_pairs_of_the_released_code(
    lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    # ../shared/facts/sources.md: 259 + 1,088 + 384 + 1,032 = 2,763, same texts included; the
    # paper's 3,613 are of a file with a seventeenth system.
    found = convert(
        "summeval", origin=write(tmp_path / FILE, lines[1::2]), accept_changed="a test"
    ).manifest
    dropped = {entry["reason"]: entry["n"] for entry in found["dropped"]}

    assert found["counts"]["systems"] == 8
    assert found["counts"]["pairs"] + dropped.get("same_text", 0) == 2763


def test_the_folder_is_valid(summeval: Conversion, tmp_path: Path) -> None:
    summeval.write(tmp_path)

    assert list(validate(tmp_path)) == []


def test_a_file_without_articles_is_refused_with_the_way_to_get_them(
    nnd_data: Path,
) -> None:
    with pytest.raises(SourceError) as caught:
        convert("summeval", origin=nnd_data / "summeval" / UNPAIRED)

    assert f'{UNPAIRED}:1: there is no "text", the article; make {FILE}' in str(caught.value)
    assert "data_processing/pair_data.py of https://github.com/Yale-LILY/SummEval" in str(
        caught.value
    )


def test_a_folder_without_the_paired_file_is_refused_with_the_way_to_get_it(tmp_path: Path) -> None:
    shutil.copy(FIXTURE, tmp_path / UNPAIRED)

    with pytest.raises(SourceError) as caught:
        convert("summeval", origin=tmp_path)

    assert f"{tmp_path}: there is no {FILE}; name the file with --from" in str(caught.value)
    assert f"make {FILE} from the published {UNPAIRED}" in str(caught.value)
    assert "data_processing/pair_data.py" in str(caught.value)


def test_no_file_at_all_is_refused_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NND_CACHE", str(tmp_path))

    with pytest.raises(SourceError, match=r"no URL is declared; .*data_processing/pair_data\.py"):
        convert("summeval")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda line: line.pop("id"), f'{FILE}:3: there is no "id", only decoded'),
        (lambda line: line.update(text=None), f"{FILE}:3, text: null is not a string"),
        (lambda line: line.update(decoded=[]), f"{FILE}:3, decoded: [] is not a string"),
        (lambda line: line.update(model_id=7), f"{FILE}:3, model_id: 7 is not a string"),
        (
            lambda line: line.update(expert_annotations={}),
            f"{FILE}:3, expert_annotations: {{}} is not a list",
        ),
        (
            lambda line: line["expert_annotations"][1].pop("fluency"),
            f'{FILE}:3, expert_annotations[1]: there is no "fluency", only coherence',
        ),
        (
            lambda line: line["expert_annotations"][2].update(relevance="5"),
            f'{FILE}:3, expert_annotations[2], relevance: "5" is not a number',
        ),
        (
            lambda line: line["expert_annotations"][0].update(coherence=50),
            f"{FILE}:3, expert_annotations[0], coherence: 50 is not a rating between 1 and 5",
        ),
        (
            lambda line: line.update(model_id="M23_dynamicmix"),
            f'{FILE}:3: system: "M23_dynamicmix" is not in source.yaml',
        ),
        (lambda line: line.update(text="Another."), "stands for two different things"),
        (lambda line: line.update(decoded=" "), f"{FILE}:3: candidate: is empty"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(tmp_path: Path, edit: Edit, message: str) -> None:
    assert message in refused(tmp_path, edit)
