"""Runs from the logged samples of lm-evaluation-harness (tested with 0.4.13).

It writes samples_TASK_DATE.jsonl, a sample on each line, and results_DATE.json beside them. So
models behind vLLM, SGLang or an OpenAI-compatible server are measured. Its sums of log-likelihoods
are those of protocol `sum`, and by the length of the candidate, of `bytes`; it stores no counts of
tokens, which the other protocols need.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from nnd.metric.data import (
    RESULT,
    STORED,
    STORED_SETS,
    PairData,
    PairSet,
    load_pairs,
    read_table,
    splits_in,
)
from nnd.metric.likelihood import NO_WORK, Likelihoods
from nnd.metric.numbers import caveats, pass_rates
from nnd.metric.run.evaluation import Evaluation
from nnd.metric.run.model_result import ModelResult, ScoredModel
from nnd.metric.run.pair_scoring import score_pairs
from nnd.metric.run.summary import summarise_scored
from nnd.metric.run.version import VERSION
from nnd.metric.text import INSTRUCTION, NONE, Chat, Rendering, Request, find_template
from nnd.schemas import DISTINCT, ScoringError, check_replaceable, counted, one_line

Summed = Literal["sum", "bytes"]

_FILE = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")
_NEEDED = ("doc", "target", "arguments", "resps")
_TWO = 2
_ROUNDING = 0.01
"""Share by which two numbers of one pair may differ: batches in bfloat16 do."""

_CATEGORIES = ("error_category", "subset", "UID", "category")
_EXPORTED = (
    *("pair_id", "split", "context", "context_id", "high_id", "low_id", "cluster"),
    *("aspect", "category", "error_category", "error_group", "origin"),
)
"""Columns that `nnd export` writes into tasks."""


class _File(NamedTuple):
    """A file of samples, its task, and what the results beside it say (nothing without them)."""

    path: Path
    task: str
    results: Mapping[str, Any]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The configuration of the task."""
        settings: Mapping[str, Any] = self.results.get("configs", {}).get(self.task, {})
        return settings

    @property
    def exported(self) -> Mapping[str, Any]:
        """What `nnd export` wrote about the task: data, template."""
        metadata = self.settings.get("metadata") or {}
        return metadata if "nnd_version" in metadata else {}

    @property
    def model(self) -> tuple[str, str, str | None]:
        """The model, the version of the harness, and the digest of the chat template or None."""
        facts = self.results
        digest, name = facts.get("chat_template_sha"), facts.get("model_name")
        version = facts.get("lm_eval_version", "unknown")
        return str(name or ""), str(version), str(digest)[:8] if digest else None


class _Sample(NamedTuple):
    """A test as the harness scored it: a pair, the sums of both candidates in nats, its place."""

    pair: dict[str, Any]
    high: float
    low: float
    where: str


def import_samples(
    samples: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    data: PairData | None = None,
    model: str | None = None,
    protocol: Summed = "sum",
) -> Evaluation:
    """Make a run of the logged samples of lm-evaluation-harness.

    The tasks are those that `nnd export --to lm-eval` wrote, or others with two choices. No model
    is run.

    Args:
        samples: Files of one model that `lm_eval --log_samples` wrote: samples_TASK_DATE.jsonl.
            Model, version and chat template are read from results_DATE.json in their folder.
        out: Folder for result.json and log_likelihoods.parquet; it must not hold a run.
        data: The pairs that the tasks were exported from. None means those in the samples, which
            have no human scores.
        model: Name of the model in the results. None means that of results_DATE.json.
        protocol: What sums of log-likelihoods are divided by: nothing (sum), or the candidate's
            bytes. The samples do not say how many tokens there are, so there is no other.

    Raises:
        ScoringError: If a file is not one of samples, has tests of more than two choices, a sum
            that is not a number or a pair twice, or does not fit the data or the other files.
        NNDError: If `out` holds a run, or anything that nnd did not write.

    Examples:
        nnd import-samples logs/my-model/samples_*.jsonl --data quiz_design-nnd --out run
    """
    check_replaceable(Path(out), document=RESULT)
    if (Path(out) / RESULT).is_file():
        raise ScoringError(f"{out}: this folder holds a run; name another folder with --out")
    places = [Path(each) for each in ([samples] if isinstance(samples, str | Path) else samples)]
    files = _read_files(places, model)
    found = [sample for file in files for sample in _read_samples(file)]
    pairs, tests = _pairs_of(found, files, data)
    result, rows = _score(pairs, tests, files[0], model, protocol)
    scored = ScoredModel(result, rows, pl.DataFrame(schema=STORED_SETS))
    evaluation = summarise_scored(pairs, [scored], systems={}, templates={})
    evaluation.write(out)
    return evaluation


def _read_files(places: Sequence[Path], model: str | None) -> list[_File]:
    """Return the files, which must be of one model, read in one way, and of a task each."""
    files: dict[str, _File] = {}
    for path in places:
        named = _FILE.fullmatch(path.name)
        task = named["task"] if named else path.stem
        if task in files:
            raise ScoringError(
                f"{path}: the samples of {task} are also in {files[task].path}; name the files of "
                "one run"
            )
        results = path.with_name(f"results_{named['date']}.json") if named else None
        facts = _read_results(results) if results is not None and results.is_file() else {}
        files[task] = file = _File(path, task, facts)
        if not (file.model[0] or model):
            raise ScoringError(
                f"{path}: results_DATE.json is not beside it, so the model is unknown; name it "
                "with --model"
            )
    if not files:
        raise ScoringError("no files of samples; name some, such as logs/*/samples_*.jsonl")
    first, *others = files.values()
    for other in others:
        if other.model != first.model or other.exported.get("data") != first.exported.get("data"):
            raise ScoringError(
                f"{other.path} and {first.path} differ in model, harness, chat template or data; "
                "import each run into a folder of its own"
            )
    return [*files.values()]


def _read_results(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ScoringError(f"{path}: cannot be read: {error}") from error
    if not isinstance(facts, dict):
        raise ScoringError(f"{path}: not the results of lm-evaluation-harness")
    return facts


def _read_samples(file: _File) -> Iterator[_Sample]:
    table = read_table(file.path)
    missing = [name for name in _NEEDED if name not in table.columns]
    if missing:
        raise ScoringError(
            f"{file.path}: {missing[0]} is missing; name a file that `lm_eval --log_samples` wrote"
        )
    rows = zip(*(table.columns[name] for name in _NEEDED), strict=True)
    for number, (doc, target, arguments, answers) in enumerate(rows):
        where = table.where(number)
        try:
            sums = [float(answer[0][0]) for answer in answers]
            read = [[*arguments[f"gen_args_{place}"].values()] for place in range(len(sums))]
            texts = [(str(context), str(text)) for context, text in read]
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ScoringError(f"{where}: not a sample with log-likelihoods of choices") from error
        if len(texts) != _TWO:
            raise ScoringError(f"{where}: {counted(len(texts), 'choice')}; a test has two")
        if not all(map(math.isfinite, sums)):
            raise ScoringError(f"{where}: a log-likelihood is {sums[0] + sums[1]}; run it again")
        if not isinstance(doc, Mapping):
            raise ScoringError(f"{where}: doc is not an object")
        high = _better(target, doc, texts, where)
        yield _Sample(_pair(doc, texts, high, file), sums[high], sums[1 - high], where)


def _is_exported(doc: Mapping[str, Any]) -> bool:
    """Whether a sample is of a task that `nnd export` wrote."""
    return "pair_id" in doc and "choices" in doc


def _better(
    target: object, doc: Mapping[str, Any], texts: Sequence[tuple[str, str]], where: str
) -> int:
    """Return the number of the choice that the task calls right."""
    if _is_exported(doc):
        choices = zip(texts, doc["choices"], strict=True)
        in_order = all(text.endswith(choice) for (_, text), choice in choices)
        if str(target) != "1" or not in_order:
            raise ScoringError(
                f"{where}: the choices of pair {doc['pair_id']} are not in the order that `nnd "
                "export` wrote, worse and better; run the exported task as it is"
            )
    stripped = [text.strip() for _, text in texts]
    if str(target) in ("0", "1"):
        return int(str(target))
    if str(target).strip() in stripped:
        return stripped.index(str(target).strip())
    raise ScoringError(f'{where}: the target "{target}" is neither 0, 1 nor one of the choices')


def _pair(
    doc: Mapping[str, Any], texts: Sequence[tuple[str, str]], high: int, file: _File
) -> dict[str, Any]:
    """Return the pair of a sample: that of an exported task, or one made of what was read."""
    if _is_exported(doc):
        low_text, high_text = doc["choices"]
        own = {name: doc[name] for name in _EXPORTED if name in doc}
        return own | {"candidate_high": high_text, "candidate_low": low_text}
    contexts = [context for context, _ in texts]
    is_one = contexts[0] == contexts[1]
    delimiter = str(file.settings.get("target_delimiter", " "))
    candidates = [
        text.removeprefix(delimiter) if is_one else context + text for context, text in texts
    ]
    named = (doc[name] for name in _CATEGORIES if isinstance(doc.get(name), str))
    return {
        "context": contexts[0] if is_one else "",
        "candidate_high": candidates[high],
        "candidate_low": candidates[1 - high],
        "error_category": next(named, file.task),
    }


def _pairs_of(
    samples: Sequence[_Sample], files: Sequence[_File], data: PairData | None
) -> tuple[PairSet, pl.DataFrame]:
    """Return the pairs that have samples, each once, and in the same order sum_high and sum_low."""
    sums = [
        sample.pair | {"sum_high": sample.high, "sum_low": sample.low, "where": sample.where}
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
        pairs = replace(named, pairs=tests.drop("sum_high", "sum_low", "where"))
    else:
        pairs = load_pairs(data)
        lost = tests.join(pairs.pairs, on="pair_id", how="anti")
        if lost.height:
            raise ScoringError(
                f"{lost['where'][0]}: pair {lost['pair_id'][0]} is not in {pairs.name}; name the "
                "data that the tasks were exported from, or leave out --data"
            )
        chosen = pairs.pairs.join(tests, on="pair_id", how="semi", maintain_order="left")
        n_whole = pairs.pairs.select(DISTINCT).n_unique()
        is_whole = chosen.height == pairs.pairs.height
        pairs = replace(pairs, pairs=chosen, n_whole=None if is_whole else n_whole)
        tests = chosen.select("pair_id").join(tests, on="pair_id", maintain_order="left")
    pairs = replace(pairs, sets=(), splits=tuple(splits_in(pairs.pairs)))
    return pairs, tests.select("sum_high", "sum_low")


def _check_repeated(rows: pl.DataFrame) -> None:
    """Refuse a pair with two numbers, unless they differ by rounding: tasks may share a pair."""
    for side in ("sum_high", "sum_low"):
        least, most = pl.col(side).min(), pl.col(side).max()
        spread = rows.group_by("pair_id", maintain_order=True).agg(
            "where", apart=most - least, allowed=_ROUNDING * (1 + least.abs())
        )
        wrong = spread.filter(pl.col("apart") > pl.col("allowed"))
        if wrong.height:
            pair, places, apart, _ = wrong.row(0)
            raise ScoringError(
                f"pair {pair} is at {places[0]} and at {places[1]}, with log-likelihoods that are "
                f"{apart:.3g} apart; name the samples of one run"
            )


def _name(files: Sequence[_File]) -> str:
    """Return a name for tasks that `nnd export` did not write."""
    return files[0].task if len(files) == 1 else "samples"


def _score(
    pairs: PairSet, tests: pl.DataFrame, file: _File, model: str | None, protocol: Summed
) -> tuple[ModelResult, pl.DataFrame]:
    """Return the result of the model, and its rows: columns of STORED."""

    def scorer(requests: Sequence[Request]) -> Likelihoods:
        sums = np.concatenate([tests["sum_high"].to_numpy(), tests["sum_low"].to_numpy()])
        sizes = np.array([max(len(text.encode()), 1) for _, text in requests], dtype=np.float64)
        n = len(requests)
        values = sums / sizes if protocol == "bytes" else sums
        return Likelihoods(values, np.zeros(n, np.int64), np.zeros(n, np.bool_), NO_WORK)

    unknown = {
        name: pl.lit(None, STORED[name]) for name in ("tokens_high", "tokens_low", "truncated")
    }
    scored = score_pairs(pairs, scorer, find_template("default")).with_columns(**unknown)
    rates = pass_rates(scored)
    known, version, digest = file.model
    name = model or known
    template, _, rendered = str(file.exported.get("template", "default")).partition(", chat:")
    digest = digest or rendered or None
    config = file.results.get("config", {})
    facts = {
        key: str(config.get(key) or "unknown") for key in ("model_sha", "model_dtype", "device")
    }
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
        parameters=int(config.get("model_num_parameters") or 0),
        rates=rates,
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
