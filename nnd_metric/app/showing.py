"""Pairs and annotations of any data, for reading."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from nnd.converters.folder import Examples, annotation_examples, convert, pair_examples
from nnd.metric.data import PairData, PairSet, choose_categories, load_pairs, read_tokens
from nnd.metric.likelihood import Model
from nnd.metric.numbers import PairTokens, pair_tokens
from nnd.schemas import ScoringError, read_frame


def show(
    data: PairData | None = None,
    *,
    origin: str | Path | None = None,
    category: Sequence[str] = (),
    n: int = 5,
    annotations: bool = False,
    whole: bool = False,
    pair: str | None = None,
    run: str | Path | None = None,
    models: Model | Sequence[Model] = (),
    context: str | None = None,
    high: str | None = None,
    low: str | None = None,
) -> Examples | PairTokens:
    """Show a few pairs; the words that differ are marked.

    Error categories take turns, the most frequent first; within each, pairs are ordered by id.

    Args:
        data: What to show. In Python, it can also be a folder with a source.yaml, which is
            converted in memory: its convert.py runs with your permissions.
        origin: Folder or file with the annotations of a source, which is converted in memory.
        category: Only pairs of this error category.
        n: Largest number of pairs.
        annotations: Whether to show the annotations of candidates instead of pairs, aspects and
            labels in turn. In Python, this needs a converted folder or a source.
        whole: Whether to show long texts in full.
        pair: Only the pair with this id.
        run: Folder that `nnd evaluate --keep-tokens` wrote, to show the tokens of the pair with
            their log-likelihoods: which tokens decide.
        models: Models that score the tokens of the pair now, as `nnd evaluate` does by default.
        context: Context of two texts that are given instead of data.
        high: The better text.
        low: The worse text.

    Raises:
        NNDError: If the data cannot be read, or the source cannot be converted.
        ScoringError: If no pair has one of the error categories or the id, the run has no tokens of
            it, or a model cannot score it.

    Examples:
        nnd show quiz_design -n 3
        nnd show ./my_source --from ratings.csv --annotations
        nnd show ragtruth-nnd --pair 3f0c9a --run run
        nnd show --model gpt2 --context "Two and two is" --high four --low five
    """
    data = _one_of(data, context, high, low)
    if n < 1:
        raise ScoringError("option.bad-value", where=f"-n {n}", remedy="give 1 pair or more")
    is_source = isinstance(data, str | Path) and (Path(data) / "source.yaml").is_file()
    converted = None
    if isinstance(data, str | Path) and (is_source or origin is not None):
        converted = convert(data, origin=origin)
    if annotations:
        if category:
            raise ScoringError(
                "option.conflict",
                "--category applies to pairs only",
                remedy="leave out --category or --annotations",
            )
        if converted is not None:
            name, rows = converted.manifest["source"]["name"], converted.annotations
        else:
            name, rows = _annotations(data)
        return annotation_examples(name, rows, n, whole=whole)
    pairs = load_pairs(data if converted is None else converted.pairs)
    if converted is not None:
        pairs = replace(pairs, name=converted.manifest["source"]["name"])
    chosen = choose_categories(pairs, category)
    rows = chosen.pairs if pair is None else _find_pair(chosen, pair)
    if run is not None or models:
        return _show_tokens(chosen, rows, run, models)
    return pair_examples(chosen.title, rows, n, whole=whole)


def _one_of(
    data: PairData | None, context: str | None, high: str | None, low: str | None
) -> PairData:
    """Return the data, or a table of two texts that are given instead."""
    if data is not None:
        if (context, high, low) != (None, None, None):
            raise ScoringError(
                "option.conflict", "DATA has texts, and so have --context, --high and --low"
            )
        return data
    if high is None or low is None:
        raise ScoringError(
            "input.missing",
            "DATA is missing",
            remedy="name it, or give two texts with --high and --low",
        )
    return pl.DataFrame({"context": [context], "candidate_high": [high], "candidate_low": [low]})


def _show_tokens(
    pairs: PairSet,
    rows: pl.DataFrame,
    run: str | Path | None,
    models: Model | Sequence[Model],
) -> PairTokens:
    if run is not None and models:
        raise ScoringError(
            "option.conflict",
            "--run has the tokens that --model would score",
            remedy="leave one of them out",
        )
    if rows.height != 1:
        raise ScoringError(
            "option.needs-another",
            "tokens are shown of one pair",
            pairs.title,
            "name it with --pair",
        )
    if run is not None:
        return pair_tokens(rows.row(0, named=True), read_tokens(Path(run)))
    from nnd.metric.likelihood import Scoring
    from nnd.metric.run import evaluate  # only here: it loads torch

    scoring = Scoring(keep_tokens=True, unconditional=False)
    one = replace(pairs, pairs=rows, sets=())
    return pair_tokens(rows.row(0, named=True), evaluate(models, one, scoring=scoring).tokens)


def _find_pair(pairs: PairSet, pair: str) -> pl.DataFrame:
    rows = pairs.pairs.filter(pl.col("pair_id").str.starts_with(pair)).head(2)
    if rows.height != 1:
        found = "several pairs" if rows.height else "no pair"
        raise ScoringError(
            "name.unknown", f"{found} with the id {pair}", pairs.title, "give the whole id of one"
        )
    return rows


def _annotations(data: PairData) -> tuple[str, pl.DataFrame]:
    if not isinstance(data, str | Path):
        raise ScoringError("data.not-converted", "a table of pairs has no annotations")
    return Path(data).resolve().name, read_frame(Path(data), "annotations")
