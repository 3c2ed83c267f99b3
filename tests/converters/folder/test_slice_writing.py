"""A slice as a folder of its own: chosen pairs, and all judgements."""

import json
from pathlib import Path

import polars as pl
from support.refusals import refusal

from nnd.cards import card
from nnd.converters.folder import convert_again, validate, write_slice
from nnd.metric.data import load_pairs


def test_a_slice_is_a_valid_folder_with_the_human_scores_of_the_whole(
    sample: Path, tmp_path: Path
) -> None:
    pairs = pl.read_parquet(sample / "pairs.parquet")
    chosen = pairs.filter(pl.col("error_category") == "wrong_fact")["pair_id"].to_list()
    out = tmp_path / "slice"
    write_slice(sample, out, name="error_category=wrong_fact", pair_ids=chosen)

    assert [str(finding) for finding in validate(out)] == []
    assert load_pairs(out).pairs["pair_id"].to_list() == chosen
    for name in ("human_scores", "annotations"):
        file = f"{name}.parquet"
        assert pl.read_parquet(out / file).equals(pl.read_parquet(sample / file))
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["slice"] == {"name": "error_category=wrong_fact"}
    assert manifest["counts"]["by_error_category"] == {"wrong_fact": len(chosen)}
    left = pairs.height - len(chosen)
    assert {"reason": "other_slice", "n": left}.items() <= manifest["dropped"][-1].items()
    card(out, out=tmp_path / "card.md")
    said = (tmp_path / "card.md").read_text()
    assert "they are not in the slice" in said
    assert f"{len(chosen)} pairs" in said

    narrower = tmp_path / "narrower"
    write_slice(out, narrower, name="split=test", pair_ids=chosen[:3])
    assert validate(narrower).ok
    told = json.loads((narrower / "manifest.json").read_text())["slice"]["name"]
    assert told == "error_category=wrong_fact & split=test"


def test_a_pair_that_was_added_to_a_slice_is_found(sample: Path, tmp_path: Path) -> None:
    pairs = pl.read_parquet(sample / "pairs.parquet")
    out = tmp_path / "slice"
    write_slice(sample, out, name="two", pair_ids=pairs["pair_id"][:2].to_list())
    strange = pairs.head(3).with_columns(
        pair_id=pl.when(pl.col("pair_id") == pairs["pair_id"][2])
        .then(pl.lit("f" * 16))
        .otherwise("pair_id")
    )
    strange.write_parquet(out / "pairs.parquet")
    found = [str(finding) for finding in validate(out)]
    assert any("row 2: this pair does not follow from the annotations" in each for each in found)


def test_what_is_no_slice_is_refused(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "slice"
    with refusal("data.no-pairs", "sample"):
        write_slice(sample, out, name="x", pair_ids=[])
    with refusal("data.invalid", "sample"):
        write_slice(sample, out, name="x", pair_ids=["0" * 16])
    assert not out.exists()
    ids = pl.read_parquet(sample / "pairs.parquet")["pair_id"][:2].to_list()
    conversion = write_slice(sample, out, name="x", pair_ids=ids)
    with refusal("data.is-a-suite", "sample"):
        convert_again(conversion.annotations, conversion.references, conversion.manifest)
