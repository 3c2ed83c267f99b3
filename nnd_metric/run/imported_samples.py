"""Runs from the logged samples of lm-evaluation-harness.

So models behind vLLM, SGLang or an OpenAI-compatible server are measured. The sums of
log-likelihoods are those of protocol `sum`, and by the bytes of the texts that were summed over, of
`bytes`; there are no counts of tokens, which the other protocols need.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from nnd.metric.data import (
    RESULT,
    STORED,
    STORED_SETS,
    PairData,
    PairSet,
    load_pairs,
    splits_in,
)
from nnd.metric.likelihood import NO_WORK, Likelihoods
from nnd.metric.numbers import caveats, pass_rates
from nnd.metric.run.evaluation import Evaluation
from nnd.metric.run.harness.choices import ROUNDING
from nnd.metric.run.harness.samples import (
    Sample,
    SampleFile,
    as_object,
    read_files,
    read_samples,
)
from nnd.metric.run.model_result import ModelResult, ScoredModel
from nnd.metric.run.pair_scoring import score_pairs
from nnd.metric.run.summary import summarise_scored
from nnd.metric.run.version import VERSION
from nnd.metric.text import INSTRUCTION, NONE, Chat, Rendering, Request, find_template
from nnd.schemas import DISTINCT, ScoringError, check_replaceable, one_line

Summed = Literal["sum", "bytes"]

_SUMS = ("sum_high", "sum_low", "bytes_high", "bytes_low")


def import_samples(
    samples: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    data: PairData | None = None,
    model: str | None = None,
    protocol: Summed = "sum",
) -> Evaluation:
    """Make a run of samples of lm-evaluation-harness.

    The tasks are those that `nnd export --to lm-eval` wrote, or others with two choices. No model
    is run.

    Args:
        samples: Files of one model that `lm_eval --log_samples` wrote: samples_TASK_DATE.jsonl.
            Model, version and chat template are read from results_DATE.json in their folder.
        out: Folder for result.json and log_likelihoods.parquet; it must not hold a run.
        data: The pairs that the tasks were exported from. None means those in the samples, which
            have no human scores.
        model: Name of the model in the results. None means that of results_DATE.json.
        protocol: What sums of log-likelihoods are divided by: nothing (sum), or the bytes of the
            text that was summed over, which is the candidate unless the choices differ in contexts.
            The samples do not say how many tokens there are, so there is no other.

    Raises:
        ScoringError: If a file is not one of samples, has tests of more than two choices, a sum
            that is not a number or is above 0, a verdict of the harness that contradicts its
            numbers, or a pair twice, lacks documents, or does not fit the data or the other files.
        NNDError: If `out` holds a run, or anything that nnd did not write.

    Examples:
        nnd import-samples logs/m/samples_*.jsonl --data quiz_design-nnd --out run
    """
    check_replaceable(Path(out), document=RESULT)
    if (Path(out) / RESULT).is_file():
        raise ScoringError("place.holds-a-run", "this folder holds a run", out)
    places = [Path(each) for each in ([samples] if isinstance(samples, str | Path) else samples)]
    files = read_files(places, model)
    found = [sample for file in files for sample in read_samples(file)]
    pairs, tests = _pairs_of(found, files, data)
    result, rows = _score(pairs, tests, files[0], model, protocol)
    scored = ScoredModel(result, rows, pl.DataFrame(schema=STORED_SETS))
    evaluation = summarise_scored(pairs, [scored], systems={}, templates={})
    evaluation.write(out)
    return evaluation


def _pairs_of(
    samples: Sequence[Sample], files: Sequence[SampleFile], data: PairData | None
) -> tuple[PairSet, pl.DataFrame]:
    """Return the pairs that have samples, each once, and in the same order the columns of _SUMS."""
    sums = [
        sample.pair
        | dict(zip(_SUMS, (*sample.sums, *sample.sizes), strict=True))
        | {"where": sample.where}
        for sample in samples
    ]
    own = load_pairs(sums)
    _check_repeated(own.pairs)
    tests = own.pairs.unique("pair_id", keep="first", maintain_order=True)
    if data is None:
        name, _, version = str(files[0].exported.get("data", "")).rpartition("@")
        named = (
            replace(own, name=name, version=version) if name else replace(own, name=_name(files))
        )
        pairs = replace(named, pairs=tests.drop(*_SUMS, "where"))
    else:
        pairs = load_pairs(data)
        lost = tests.join(pairs.pairs, on="pair_id", how="anti")
        if lost.height:
            raise ScoringError(
                "run.another-data",
                f"pair {lost['pair_id'][0]} is not in {pairs.name}",
                lost["where"][0],
                "name the data that the tasks were exported from, or leave out --data",
            )
        chosen = pairs.pairs.join(tests, on="pair_id", how="semi", maintain_order="left")
        n_whole = pairs.pairs.select(DISTINCT).n_unique()
        is_whole = chosen.height == pairs.pairs.height
        pairs = replace(pairs, pairs=chosen, n_whole=None if is_whole else n_whole)
        tests = chosen.select("pair_id").join(tests, on="pair_id", maintain_order="left")
    pairs = replace(pairs, sets=(), splits=tuple(splits_in(pairs.pairs)))
    return pairs, tests.select(_SUMS)


def _check_repeated(rows: pl.DataFrame) -> None:
    """Refuse a pair with two numbers, unless they differ by rounding: tasks may share a pair."""
    for side in ("sum_high", "sum_low"):
        least, most = pl.col(side).min(), pl.col(side).max()
        spread = rows.group_by("pair_id", maintain_order=True).agg(
            "where", apart=most - least, allowed=ROUNDING * (1 + least.abs())
        )
        wrong = spread.filter(pl.col("apart") > pl.col("allowed"))
        if wrong.height:
            pair, places, apart, _ = wrong.row(0)
            raise ScoringError(
                "samples.mixed",
                f"pair {pair} is at {places[0]} and at {places[1]}, with log-likelihoods "
                f"that are {apart:.3g} apart",
                remedy="name the samples of one run",
            )


def _name(files: Sequence[SampleFile]) -> str:
    """Return a name for tasks that `nnd export` did not write."""
    return files[0].task if len(files) == 1 else "samples"


def _score(
    pairs: PairSet, tests: pl.DataFrame, file: SampleFile, model: str | None, protocol: Summed
) -> tuple[ModelResult, pl.DataFrame]:
    """Return the result of the model, and its rows: columns of STORED."""

    def scorer(requests: Sequence[Request]) -> Likelihoods:
        sums = np.concatenate([tests["sum_high"].to_numpy(), tests["sum_low"].to_numpy()])
        sizes = np.concatenate([tests["bytes_high"].to_numpy(), tests["bytes_low"].to_numpy()])
        divisors = sizes if protocol == "bytes" else np.ones_like(sizes)
        values = np.where(divisors > 0, sums / np.maximum(divisors, 1), np.nan)
        n = len(requests)
        counts, cut = np.zeros(n, np.int64), np.zeros(n, np.bool_)
        return Likelihoods(values, counts, cut, NO_WORK, divisors=divisors)

    counts = ("tokens_high", "tokens_low", "end_tokens", "truncated")
    unknown = {name: pl.lit(None, STORED[name]) for name in counts}
    scored = score_pairs(pairs, scorer, find_template("default")).with_columns(**unknown)
    rates = pass_rates(scored)
    known, version, digest = file.model
    name = model or known
    template, _, rendered = str(file.exported.get("template", "default")).partition(", chat:")
    digest = digest or rendered or None
    config = as_object(file.results.get("config"))
    facts = {
        key: str(config.get(key) or "unknown") for key in ("model_sha", "model_dtype", "device")
    }
    parameters = config.get("model_num_parameters")
    dtype = facts["model_dtype"].removeprefix("torch.")
    has_words = pairs.instruction is not None and template.startswith(INSTRUCTION)
    words = find_template(template, pairs.instruction).instruction if has_words else None
    how = file.results.get("model_source", "its own loader")
    signature = {
        "v": VERSION,
        "engine": f"lm-eval@{version}",
        "model": f"{name}@{facts['model_sha'][:7]}",
        "data": f"{pairs.name}@{pairs.version[:6]}",
        "protocol": protocol,
        "template": template,
        **({} if digest is None else {"chat": digest}),
        "dtype": dtype,
        "ties": "fail",
        "n": rates.overall.n,
    }
    result = ModelResult(
        model=name,
        version=facts["model_sha"],
        protocol=protocol,
        template=template,
        instruction=words,
        chat=_rendering(digest),
        dtype=dtype,
        device=facts["device"],
        parameters=parameters if isinstance(parameters, int) else 0,
        rates=rates,
        cluster=pairs.cluster,
        n_whole=pairs.n_whole,
        notes=(
            *caveats(rates.overall),
            f"the log-likelihoods were computed by lm-evaluation-harness {version} ({how})",
        ),
        n_close=None,
        n_crossing=None,
        work=NO_WORK,
        signature=one_line(
            "|".join(["nnd", *(f"{key}:{value}" for key, value in signature.items())])
        ),
    )
    return result, scored.select(pl.lit(name).alias("model"), pl.all()).select(STORED.names())


def _rendering(digest: str | None) -> Rendering:
    if digest is None:
        return Rendering(
            NONE, Chat(NONE).stored(), "contexts were read as plain text by lm-evaluation-harness"
        )
    return Rendering(
        digest,
        Chat().stored(),
        "contexts were rendered as a user's turns, before or by lm-evaluation-harness",
        source="lm-evaluation-harness",
    )
