"""A report says what the run says, needs nothing else, and lets no text be more than text."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from support.refusals import refusal
from support.report.page import Page, page_of
from support.report.runs import FAMILIES, MODELS, SYSTEMS, Pretended, write_run
from support.report.texts import HOSTILE, hostile_pairs, hostile_run, hostile_scores, many_pairs
from support.shown import check_shown
from support.stored_folders import write_text
from support.two_models import scored, write_run as write_likelihoods

from nnd.metric.numbers.about import PAPER
from nnd.metric.numbers.comparison.comparing import compare
from nnd.metric.show.reports.content.packed_pairs import MOST_PAIRS
from nnd.metric.show.reports.page.report import report
from nnd.schemas import ScoringWarning, check_rows

FULL = bool(os.environ.get("NND_TEST_FULL"))


def stored(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "result.json").read_text())
    return found


# What the run says


def test_the_run_that_these_tests_make_is_like_a_real_one(sample_run: Path) -> None:
    assert list(check_rows("result", [stored(sample_run)])) == []


def test_pass_rates_are_those_of_the_result_file(sample_run: Path, page: Page) -> None:
    results = {each["model"]: each for each in stored(sample_run)["results"]}
    rows = page.numbers["pass_rates"]
    assert len(rows) == 5 * 7  # overall and six categories
    for row in rows:
        whole = results[row["model"]]
        expected = whole["by_error_category"][row["category"]] if row["column"] else whole
        keys = ("n", "passes", "pass_rate", "interval", "wilson", "baselines", "length_matched")
        assert {key: row[key] for key in keys} == {key: expected[key] for key in keys}
    shares = [(row["model"], row["category"], row["pass_rate"]) for row in rows]
    heat = page.numbers["heat_map"]
    assert [(row["model"], row["category"], row["pass_rate"]) for row in heat] == shares


def test_agreement_is_that_of_the_result_file(sample_run: Path, page: Page, sample: Path) -> None:
    agreement = stored(sample_run)["agreement"]
    scores = pl.read_parquet(sample / "human_scores.parquet").filter(
        pl.col("category") == "overall"
    )
    for row in page.numbers["agreement"]:
        assert row["model"] in SYSTEMS
        if row["category"] == "overall":
            of = scores.filter(pl.col("system") == SYSTEMS[row["model"]])["score"].mean()
            assert row["human_score"] == of
    told = page.words()
    for category in ("overall", "wrong_fact"):
        found = agreement["by_category"][category]
        low, high = found["intervals"]["tau_b"]
        assert f"τ {found['tau_b']:.2f} [{low:.2f}, {high:.2f}]".replace("-", "\u2212") in told
    predicted = [
        {"category": category, **prediction}
        for category, found in agreement["by_category"].items()
        for prediction in found["extrapolation"]["predictions"]
    ]
    assert predicted  # of zoo/eel, which nobody judged
    assert page.numbers["extrapolation"] == predicted


@pytest.mark.usefixtures("undrawn")
def test_comparisons_of_few_models_are_those_of_compare(small: Path, tmp_path: Path) -> None:
    three = write_run(tmp_path / "three", small, MODELS[:3])
    found = page_of(tmp_path, three)
    results = sorted(stored(three)["results"], key=lambda each: -each["pass_rate"])
    expected = compare(three, models=[each["model"] for each in results])  # the best first
    assert [each for each in found.numbers if each.startswith("comparison")] == [
        "comparison_1",
        "comparison_2",
        "comparison_3",
    ]
    for number, each in enumerate(expected, start=1):
        overall, *rows = found.numbers[f"comparison_{number}"]
        assert (
            overall
            == {"first": each.first, "second": each.second, "category": "overall"}
            | each.to_dict()["overall"]
        )
        by = each.to_dict()["by_error_category"]
        assert {row["category"]: row["difference"] for row in rows} == {
            value: difference["difference"] for value, difference in by.items()
        }
        leads = [row["difference"] for row in rows]
        assert leads == sorted(leads, reverse=True)
        assert each.sentences[0].replace("zoo/", "") in found.words()


def test_of_many_models_the_best_is_compared_with_each(page: Page) -> None:
    pairs = {
        (rows[0]["first"], rows[0]["second"]) for key, rows in page.numbers.items() if "comp" in key
    }
    assert pairs == {("zoo/dog", f"zoo/{other}") for other in ("ant", "bee", "cat", "eel")}


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        (("++-", "+--", "++-"), "x and z pass most, 66.7 % of 3 tests"),
        (("++-", "+-+"), "x and y pass 66.7 % of 3 tests"),
        (("+--", "++-"), "y passes most, 66.7 % of 3 tests"),
    ],
)
@pytest.mark.usefixtures("undrawn")
def test_the_first_sentence_names_all_that_pass_most(
    verdicts: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    models = [scored(name, each) for name, each in zip("xyz", verdicts, strict=False)]
    assert told in page_of(tmp_path, write_likelihoods(tmp_path / "run", *models)).words()


@pytest.mark.usefixtures("undrawn")
def test_the_first_sentences_name_those_that_may_be_as_good(tmp_path: Path) -> None:
    # Of 40 tests x passes 30, y 29 of the same (p = 1), z 10 of the same (p = 2 / 2**20).
    models = [
        scored(name, "+" * n + "-" * (40 - n)) for name, n in (("x", 30), ("y", 29), ("z", 10))
    ]
    words = page_of(tmp_path, write_likelihoods(tmp_path / "run", *models)).words()
    assert ". The difference from y is not significant. " in words


@pytest.mark.usefixtures("undrawn")
def test_all_passed_is_told_with_an_interval_of_contexts(tmp_path: Path) -> None:
    # n / (n + z²) = 4 / (4 + 1.95996²) = 0.5101
    words = page_of(tmp_path, write_likelihoods(tmp_path / "run", scored("x", "++++"))).words()
    assert "100.0 % of 4 tests, 95 % interval with one test per context 51.0 to 100.0." in words
    assert "[51.0, 100.0]*" in words
    assert "all contexts agree; Wilson's interval, each context counted as one test" in words


@pytest.mark.usefixtures("undrawn")
def test_two_sizes_of_no_family_are_no_trend(small: Path, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", small, MODELS[:2])
    assert "scaling" not in page_of(tmp_path, run).numbers
    assert "scaling" in page_of(tmp_path, run, families=FAMILIES).numbers


def test_sizes_and_families(page: Page) -> None:
    rows = [row for row in page.numbers["scaling"] if row["category"] == "overall"]
    assert {row["model"]: row["parameters"] for row in rows} == {
        each.name: each.parameters for each in MODELS
    }
    assert {row["model"]: row["family"] for row in rows if row["family"]} == FAMILIES


def test_every_pair_is_there_with_its_texts_and_verdicts(
    sample_run: Path, sample: Path, page: Page
) -> None:
    scores = pl.read_parquet(sample_run / "log_likelihoods.parquet")
    pairs = {row["pair_id"]: row for row in pl.read_parquet(sample / "pairs.parquet").to_dicts()}
    packed = page.pairs
    assert len(packed["pair_id"]) == 72
    for number, pair_id in enumerate(packed["pair_id"]):
        assert packed["contexts"][packed["context"][number]] == pairs[pair_id]["context"]
        for side in ("high", "low"):
            text = packed["candidates"][packed[side][number]]
            assert text == pairs[pair_id][f"candidate_{side}"]
        for column in ("error_category", "aspect", "system_high", "system_low"):
            coded = packed["columns"][column]
            assert coded["values"][coded["places"][number]] == pairs[pair_id][column]
    assert len(packed["contexts"]) == len(set(packed["contexts"]))  # each once
    assert len(packed["candidates"]) == len(set(packed["candidates"]))
    letters = {"p": "passed", "f": "failed", "t": "tie", "u": "unscored"}
    results = {each["model"]: each for each in stored(sample_run)["results"]}
    best_first = sorted(results, key=lambda model: -results[model]["pass_rate"])
    assert best_first[0] == "zoo/dog"
    for model, each in zip(best_first, packed["scores"], strict=True):
        for number, row in enumerate(scores.filter(pl.col("model") == model).to_dicts()):
            assert row["pair_id"] == packed["pair_id"][number]
            for side in ("high", "low"):
                value = row[f"ll_{side}"]
                assert each[side][number] == (None if value is None else round(value, 5))
            unscored = row["ll_high"] is None or row["ll_low"] is None
            verdict = "passed" if row["passed"] else "tie" if row["tie"] else "failed"
            expected = "unscored" if unscored else verdict
            assert letters[each["verdicts"][number].lower()] == expected
    # Two pairs of the sample are never one test, so close pairs are close tests.
    close = [sum(letter.isupper() for letter in each["verdicts"]) for each in packed["scores"]]
    assert close == [results[model]["n_close"] for model in best_first]
    assert sum(close) > 0


@pytest.mark.usefixtures("undrawn")
def test_a_column_that_repeats_another_is_left_out(sample: Path, tmp_path: Path) -> None:
    """Rules without error labels have the aspect for an error category."""
    pairs = pl.read_parquet(sample / "pairs.parquet")
    pairs = pairs.with_columns(aspect=pl.col("error_category"))
    found = page_of(tmp_path, write_run(tmp_path / "run", pairs, MODELS[:1]))
    assert list(found.pairs["columns"]) == ["error_category", "category", "error_group"]


def test_signatures_versions_and_notes_are_at_hand(sample_run: Path, page: Page) -> None:
    for result in stored(sample_run)["results"]:
        assert result["signature"] in page.words()
        assert result["version"] in page.words()


# With less to show


@pytest.mark.usefixtures("undrawn")
def test_without_data_ids_stand_for_texts_and_the_stored_agreement_is_told(
    small_run: Path, tmp_path: Path
) -> None:
    found = page_of(tmp_path, small_run)
    rows = pl.read_parquet(small_run / "log_likelihoods.parquet").head(34)
    assert not found.pairs["texts"]
    high = [found.pairs["candidates"][place] for place in found.pairs["high"]]
    assert high == rows["high_id"].to_list()
    assert "agreement" not in found.numbers
    tau = stored(small_run)["agreement"]["by_category"]["overall"]["tau_b"]
    assert f"{tau:.3f}" in found.words()
    assert "--data" in found.words()


@pytest.mark.usefixtures("undrawn")
def test_human_scores_alone_give_the_agreement(
    small_run: Path, small: Path, tmp_path: Path
) -> None:
    found = page_of(tmp_path, small_run, human_scores=small / "human_scores.parquet")
    assert {row["model"] for row in found.numbers["agreement"]} == set(SYSTEMS)  # as the run had it
    assert not found.pairs["texts"]


@pytest.mark.usefixtures("undrawn")
def test_models_of_several_runs_are_shown_together(small: Path, tmp_path: Path) -> None:
    runs = [write_run(tmp_path / m.name[-3:], small, [m]) for m in MODELS[:2]]
    found = page_of(tmp_path, runs, data=small, systems=dict(list(SYSTEMS.items())[:2]))
    assert {row["model"] for row in found.numbers["agreement"]} == {"zoo/ant", "zoo/bee"}
    assert found.pairs["models"] == ["ant", "bee"]


@pytest.mark.usefixtures("undrawn")
def test_likelihoods_alone_make_a_report(tmp_path: Path) -> None:
    """One model, no categories, no result.json, ties and nulls: as an older run may be."""
    found = page_of(tmp_path, write_likelihoods(tmp_path / "run", scored("x", "+-=?")))
    assert set(found.numbers) == {"pass_rates", "heat_map"}
    assert found.pairs["scores"][0]["verdicts"] == "pftu"
    assert "25.0 % of 4 tests" in found.words()
    unscored = [scored("x", "??"), scored("y", "??")]  # nothing could be scored
    found = page_of(tmp_path, write_likelihoods(tmp_path / "other", *unscored))
    assert found.pairs["scores"][1]["verdicts"] == "uu"


# One file


def test_the_page_needs_nothing_else(page: Page) -> None:
    addresses = [
        value
        for _, attrs in page.elements
        for name, value in attrs.items()
        if name in ("src", "href", "srcset", "action", "data", "poster", "xlink:href")
    ]
    assert {str(each) for each in addresses if str(each)[0] != "#"} == {PAPER}  # of a link
    assert [
        attrs["href"] for tag, attrs in page.elements if attrs.get("href") == PAPER and tag == "a"
    ]
    assert {tag for tag, _ in page.elements}.isdisjoint(
        {"link", "img", "iframe", "object", "embed", "base", "image", "foreignobject"}
    )
    (css, *_) = page.raw
    assert "url(" not in css
    assert "@import" not in css


def test_its_policy_lets_nothing_in_and_our_script_alone_run(page: Page) -> None:
    (policy,) = [
        str(attrs["content"]) for tag, attrs in page.elements if "http-equiv" in attrs and tag
    ]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    digest = base64.b64encode(hashlib.sha256(page.raw[-1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy


def test_no_two_elements_share_an_id(page: Page) -> None:
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_every_control_has_a_name(page: Page) -> None:
    """The page's skeleton: what its script adds was looked at by hand."""
    for tag, attrs in page.elements:
        if tag in ("article", "nav") or attrs.get("role") in ("region", "listbox", "img"):
            assert attrs.get("aria-label"), (tag, attrs)
    text = re.sub(r"\s+", " ", page.html)
    for control in ("model", "order", "search"):
        assert re.search(rf'<label[^>]*>\w+ <(select|input) id="{control}"', text), control


def test_the_same_run_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    """In another process, whose sets have another order."""
    program = (
        "import sys; from nnd.metric.show.reports.page.report import report;"
        "report(sys.argv[1], sys.argv[2], data=sys.argv[3], families=eval(sys.argv[4]))"
    )
    run = write_run(tmp_path / "run", small, MODELS[:3], systems=dict(list(SYSTEMS.items())[:3]))
    page, other = tmp_path / "page.html", tmp_path / "other.html"
    report(run, page, data=small, families=FAMILIES)
    subprocess.run(
        [sys.executable, "-c", program, run, other, small, repr(FAMILIES)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert other.read_bytes() == page.read_bytes()


def test_figures_are_a_png_and_an_svg_each(tmp_path: Path) -> None:
    run = write_likelihoods(tmp_path / "run", scored("x", "+-"), scored("y", "++"))
    found = report(run, tmp_path / "r.html", figures=tmp_path / "new" / "figures")
    names = {"pass_rates", "heat_map", "comparison_1"}
    assert {path.name for path in (tmp_path / "new" / "figures").iterdir()} == {
        f"{name}.{kind}" for name in names for kind in ("png", "svg")
    }
    assert set(found.figures) == set((tmp_path / "new" / "figures").iterdir())
    assert found.size == (tmp_path / "r.html").stat().st_size
    check_shown(found)
    assert found.headline() == (
        f"The report of y, x is in {found.page} ({found.size / 1e6:.1f} MB), and 6 files of "
        f"figures in {tmp_path / 'new' / 'figures'}."
    )
    paths = [str(path) for path in (found.page, *found.figures)]
    assert found.to_frame()["path"].to_list() == paths


def test_the_page_has_a_usual_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = report(write_likelihoods(tmp_path / "run", scored("x", "+-")))
    assert (found.page, found.figures) == (Path("report.html"), ())
    assert found.page.stat().st_size == found.size


# Texts are texts


def test_hostile_text_in_every_field_is_text(tmp_path: Path) -> None:
    models = HOSTILE if FULL else (HOSTILE[0], *HOSTILE[4:6])
    pairs, run = hostile_pairs(), hostile_run(tmp_path / "run", models)
    out, figures = tmp_path / "report.html", tmp_path / "figures"
    with pytest.warns(
        ScoringWarning,
        match=(
            r"the font lacks some letters of the labels; "
            r"use \w+\.svg, which has them"
        ),
    ):
        report(
            run,
            out,
            data=pairs,
            human_scores=hostile_scores(),
            systems={text: f"{text}!" for text in models},
            families=dict(zip(models, models[::-1], strict=True)),
            figures=figures,
        )
    _check_plain(out)
    allowed = {"svg", "title", "g", "path", "text", "defs", "use", "style", "clipPath", "rect"}
    for path in figures.glob("*.svg"):
        assert {e.tag.rpartition("}")[2] for e in ET.parse(path).iter()} <= allowed  # noqa: S314
    found = Page(out).pairs
    texts = [found["candidates"][place] for place in found["high"]]
    assert texts == pairs["candidate_high"].to_list()  # as they are, for the script


def _check_plain(path: Path) -> None:
    """No element, handler or control character came in with a text."""
    page = Page(path)
    assert [attrs.get("id") for tag, attrs in page.elements if tag == "script"] == [
        "numbers",
        "packed",
        None,
    ]
    assert [tag for tag, _ in page.elements].count("style") == 1
    assert [tag for tag, _ in page.elements].count("textarea") == 0
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u2028]", page.html)
    assert page.html.count("<!--") == 1  # the digest at its end
    assert page.elements[-1][0] == "script"  # nothing ended the page before its end
    page.numbers  # noqa: B018 - they are JSON still
    assert path.stat().st_size < 3e7


@pytest.mark.parametrize("name", ["<b>bold<b>", "{{ 7 * 7 }}", "&lt;b&gt;", "'\"", "$x$"])
@pytest.mark.usefixtures("undrawn")
def test_names_that_look_like_markup_can_be_read(name: str, tmp_path: Path) -> None:
    found = page_of(tmp_path, write_likelihoods(tmp_path / "run", scored(f"a{name}", "+-")))
    assert f"a{name} passes" in found.words()


# What is wrong


def test_other_data_than_what_was_scored(sample: Path, tmp_path: Path) -> None:
    pairs = pl.read_parquet(sample / "pairs.parquet")
    run, out = write_run(tmp_path / "run", sample, MODELS[:1]), tmp_path / "report.html"
    lost = pairs["pair_id"][70]
    with refusal("run.another-data", "frame") as caught:
        report(run, out, data=pairs.head(70))
    assert lost in caught.value.what
    assert "72" in caught.value.what
    changed = pairs.with_columns(candidate_low=pl.col("candidate_low") + "!")
    with refusal("run.another-data", "frame"):
        report(run, out, data=changed)
    assert not out.exists()


def test_runs_of_different_pairs_or_of_one_model(tmp_path: Path) -> None:
    verdicts = {"x": "+-+", "y": "+-"}
    runs = [write_likelihoods(tmp_path / name, scored(name, v)) for name, v in verdicts.items()]
    with refusal("run.another-data"):
        report(runs, tmp_path / "report.html")
    again = write_likelihoods(tmp_path / "again", scored("x", "+-+"))
    with refusal("name.twice"):
        report([runs[0], again], tmp_path / "report.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "x", "y"]


def test_names_that_are_not_there(sample_run: Path, sample: Path, tmp_path: Path) -> None:
    refusals: list[tuple[Any, dict[str, Any], str, str]] = [
        (sample_run, {"families": {"emu": "birds"}}, "name.unknown", "--family"),
        (sample_run, {"data": sample, "systems": {"zoo/ant": "emu"}}, "name.unknown", ""),
        (sample_run, {"systems": {"zoo/ant": "heron"}}, "option.needs-another", ""),
        ([], {}, "input.missing", ""),
    ]
    for runs, options, code, where in refusals:
        with refusal(code, where):
            report(runs, tmp_path / "report.html", **options)


def test_a_family_of_a_model_whose_size_is_not_known(tmp_path: Path) -> None:
    folder = write_likelihoods(tmp_path / "run", scored("x", "+-"))
    with refusal("run.evaluate-again", "--family") as caught:
        report(folder, tmp_path / "report.html", families={"x": "letters"})
    assert '"x"' in caught.value.what


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "contract.broken"),
        ("[]", "contract.broken"),
        ('{"results": [{"signature": "x"}]}', "run.evaluate-again"),
        ('{"results": 3}', "run.evaluate-again"),
        ('{"results": [], "agreement": {"by_category": 1}}', "run.evaluate-again"),
        ('{"results": [], "agreement": []}', "run.evaluate-again"),
        ('{"results": ["x"]}', "run.evaluate-again"),
    ],
)
def test_a_damaged_result_file(text: str, code: str, tmp_path: Path) -> None:
    folder = write_likelihoods(tmp_path / "run", scored("x", "+-"))
    write_text(folder / "result.json", text)
    with refusal(code):
        report(folder, tmp_path / "report.html")


def test_places_that_cannot_be_written_to(sample_run: Path, tmp_path: Path) -> None:
    with refusal("place.wrong-kind", str(tmp_path)):
        report(sample_run, tmp_path)
    (tmp_path / "file").touch()
    with refusal("place.wrong-kind", str(tmp_path / "file")):
        report(sample_run, tmp_path / "report.html", figures=tmp_path / "file")


def test_a_failure_leaves_what_was_there_and_no_rubbish(tmp_path: Path) -> None:
    run = write_likelihoods(tmp_path / "run", scored("x", "+-"))
    out, figures = tmp_path / "report.html", tmp_path / "figures"
    figures.mkdir()
    (figures / "heat_map.svg").mkdir()  # where a file is to go
    with refusal("place.wrong-kind", "heat_map.svg"):
        report(run, out, figures=figures)
    left = [path.name for path in (*tmp_path.iterdir(), *figures.iterdir())]
    assert not [name for name in left if name.startswith(".")]


@pytest.mark.usefixtures("undrawn")
def test_only_files_of_ours_are_replaced(tmp_path: Path) -> None:
    run = write_likelihoods(tmp_path / "run", scored("x", "+-"))
    page, figures = tmp_path / "report.html", tmp_path / "figures"
    figures.mkdir()
    (figures / "mine.svg").write_bytes(b"mine")
    for _ in range(2):
        drawn = report(run, page, figures=figures).figures
    assert (figures / "mine.svg").read_bytes() == b"mine"

    first = {path.suffix: path for path in reversed(drawn)}.values()  # of each kind
    for path in (page, *(drawn if FULL else first)):
        ours = path.read_bytes()
        path.write_bytes(b"mine")
        before = {each: each.read_bytes() for each in (page, *figures.iterdir())}
        with refusal("place.foreign-files", str(path)):
            report(run, page, figures=figures)
        assert {each: each.read_bytes() for each in (page, *figures.iterdir())} == before
        path.write_bytes(ours)


# Much of it


@pytest.mark.usefixtures("undrawn")
def test_many_pairs_make_a_page_of_bearable_size(tmp_path: Path) -> None:
    """45,000 pairs in full, of which a page shows some; random words hardly compress."""
    n = 45_000 if FULL else 3_000
    pairs = many_pairs(n)
    run = write_run(tmp_path / "run", pairs, [Pretended(name, {"": 0.6}) for name in "abc"])
    before = time.process_time()
    found = report(run, tmp_path / "report.html", data=pairs)
    assert found.size < 30e6 * n / 45_000 + 1e6
    assert time.process_time() - before < 120
    assert len(Page(tmp_path / "report.html").pairs["pair_id"]) == min(n, MOST_PAIRS)
