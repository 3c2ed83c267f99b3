"""Results in the form of Every Eval Ever, a shared store of evaluations (schema 0.3.0).

A JSON file per model and dataset, with the pass rate of all tests, of each slice and of each set
of a suite, and beside it a JSON Lines file with a sample per test, so that the mean of the samples
is the pass rate: evaleval/every_eval_ever on GitHub, arXiv 2606.14516. Names of files are made of
signatures, so the same run gives the same files.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from nnd.schemas import DISTINCT, few_clusters_in_words, rows_of

_LONGEST_NAME = 150
"""Bytes of a folder's name before a digest; file systems take 255."""

_SCHEMA = "0.3.0"
_SLICES = ("error_category", "aspect", "category", "error_group")


class StoredRun(NamedTuple):
    """A run of one dataset.

    Attributes:
        results: Results of the models, as result.json has them.
        scored: Scored pairs: `model`, pair_id, ll_high, ll_low, passed, tie, and what identifies
            their tests (DISTINCT).
        sets: The same of the sets of a suite, with `set`; empty without sets.
        texts: pair_id, context, candidate_high, candidate_low; without them there are no samples.
        seconds: When the run was written, in seconds since 1970.
    """

    results: Sequence[Mapping[str, Any]]
    scored: pl.DataFrame
    sets: pl.DataFrame
    texts: pl.DataFrame | None
    seconds: int

    @property
    def data(self) -> str:
        """The name of the dataset."""
        return (_field(self.results[0], "data") or "unnamed").rpartition("@")[0] or "unnamed"


def write_every_eval_ever(runs: Sequence[StoredRun], folder: Path) -> tuple[int, list[str]]:
    """Write runs into a new folder, under data/; return the number of evaluations, and remarks."""
    n = 0
    for run in runs:
        for result in run.results:
            _write(run, result, folder)
            n += 1
    check = "`python -m every_eval_ever.validate 'data/*/*/*/*'`"
    who = "write who made the evaluation into source_organization_name"
    notes = [f"before you share it, {who}, and check it with {check}"]
    for run in runs:
        first = run.results[0]
        if first.get("cluster") is not None or first.get("clusters", 0) < first.get("contexts", 0):
            few = few_clusters_in_words(first.get("clusters", 0), first.get("cluster"))
            notes += [f"{run.data}: {few}"] if few else []
    if any(run.texts is None for run in runs):
        notes.append("there are no samples, because a run has no texts; name its pairs with --data")
    return n, notes


def _write(run: StoredRun, result: Mapping[str, Any], folder: Path) -> None:
    model_id = _model_id(result["model"])
    collection = f"nnd_{_portable(run.data)}"
    developer, model = model_id.split("/")
    place = f"data/{collection}/{developer}/{model}"
    digest = hashlib.sha256(result["signature"].encode()).digest()
    stem = f"{place}/{uuid.UUID(bytes=digest[:16], version=4)}"
    evaluation = f"{collection}/{model_id}/{run.seconds}"
    own = run.scored.filter(pl.col("model") == result["model"])
    document: dict[str, Any] = {
        "schema_version": _SCHEMA,
        "evaluation_id": evaluation,
        "evaluation_timestamp": str(run.seconds),
        "retrieved_timestamp": str(run.seconds),
        "source_metadata": {
            "source_name": "nnd",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "nnd", "version": _field(result, "v") or "unknown"},
        "model_info": _model_info(result, model_id, developer),
        "evaluation_results": [*_results(run, result)],
    }
    (folder / place).mkdir(parents=True, exist_ok=True)
    if run.texts is not None:
        tests = own.unique(DISTINCT, keep="first", maintain_order=True)
        rows = tests.join(run.texts, on="pair_id", maintain_order="left")
        name = document["evaluation_results"][0]["evaluation_name"]
        about = {"evaluation_id": evaluation, "model_id": model_id, "evaluation_name": name}
        lines = [json.dumps(_sample(row, about), ensure_ascii=False) for row in rows_of(rows)]
        content = "".join(f"{line}\n" for line in lines).encode()
        (folder / f"{stem}_samples.jsonl").write_bytes(content)
        document["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{stem}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(content).hexdigest(),
            "total_rows": len(lines),
        }
    text = json.dumps(document, ensure_ascii=False, indent=2)
    (folder / f"{stem}.json").write_text(f"{text}\n", encoding="utf-8")


def _model_info(result: Mapping[str, Any], model_id: str, developer: str) -> dict[str, Any]:
    name, _, version = (_field(result, "engine") or f"nnd@{_field(result, 'v')}").partition("@")
    keys = ("version", "dtype", "device", "quantised", "parameters")
    is_here = name == "nnd"
    details = {key: str(result[key]) for key in keys if result.get(key) not in (None, "unknown")}
    return {
        "name": str(result["model"]),
        "id": model_id,
        "developer": developer,
        "inference_engine": {"name": name, "version": version},
        "additional_details": {
            "deployment_type": "self_deployed" if is_here else "unknown",
            "model_availability": "open_weights" if developer != "local" else "unknown",
            **details,
        },
    }


def _results(run: StoredRun, result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the pass rate of all tests, of each slice, and of each set of a suite."""
    yield _rate(run, result, "overall", result)
    for column in _SLICES:
        for label, rate in (result.get(f"by_{column}") or {}).items():
            if rate["pass_rate"] is not None:
                yield _rate(run, result, f"{column}={label}", rate)
    sets = run.sets.filter(pl.col("model") == result["model"]) if run.sets.height else run.sets
    for name in sets["set"].unique(maintain_order=True) if sets.height else ():
        own = sets.filter(pl.col("set") == name).unique(DISTINCT)
        counts = {"n": own.height, "ties": int(own["tie"].sum()), "unscored": 0}
        rate = {"pass_rate": own["passed"].sum() / own.height, "interval": None, **counts}
        yield _rate(run, result, f"set {name}", rate)


def _rate(
    run: StoredRun, result: Mapping[str, Any], part: str, rate: Mapping[str, Any]
) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": rate["n"]}
    if rate.get("interval"):
        uncertainty["confidence_interval"] = {
            "lower": rate["interval"][0],
            "upper": rate["interval"][1],
            "confidence_level": 0.95,
            "method": rate.get("interval_method") or "unknown",
        }
    version = (_field(result, "data") or "").rpartition("@")[2]
    is_on_hub = re.fullmatch(r"[\w.-]+/[\w.-]+", run.data) is not None
    source = {"source_type": "hf_dataset", "hf_repo": run.data} if is_on_hub else {}
    return {
        "evaluation_name": f"{run.data} / {part}",
        "source_data": {
            "dataset_name": run.data,
            **(source or {"source_type": "other"}),
            "additional_details": {"version": version},
        },
        "evaluation_timestamp": str(run.seconds),
        "metric_config": {
            "evaluation_description": "share of pairs of texts of which the model gives the better "
            "one, as judged by people, the strictly higher likelihood",
            "metric_id": "nnd.pass_rate",
            "metric_name": "NND pass rate",
            "metric_kind": "accuracy",
            "metric_unit": "proportion",
            "metric_parameters": {"protocol": result["protocol"], "template": result["template"]},
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {
            "score": rate["pass_rate"],
            "details": {
                "signature": result["signature"],
                "ties": str(rate["ties"]),
                "unscored": str(rate["unscored"]),
            },
            "uncertainty": uncertainty,
        },
    }


def _sample(row: Mapping[str, Any], about: Mapping[str, str]) -> dict[str, Any]:
    high, low = row["candidate_high"], row["candidate_low"]
    preferred = [high] if row["passed"] else [] if row["tie"] or row["ll_low"] is None else [low]
    values = {name: row[name] for name in ("ll_high", "ll_low", "tokens_high", "tokens_low")}
    return {
        "schema_version": _SCHEMA,
        **about,
        "sample_id": row["pair_id"],
        "sample_hash": hashlib.sha256((row["context"] + high).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": row["context"], "reference": [high], "choices": [high, low]},
        "output": {"raw": preferred},
        "answer_attribution": [],
        "evaluation": {"score": float(row["passed"]), "is_correct": row["passed"]},
        "metadata": {name: repr(value) for name, value in values.items() if value is not None},
    }


def _model_id(name: str) -> str:
    """Return ORG/NAME as the store writes it; a model of this machine is of `local`."""
    bare = name.partition("@")[0]
    if re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", bare):
        return "/".join(map(_portable, bare.split("/"))) if len(bare) > _LONGEST_NAME else bare
    return f"local/{_portable(Path(bare).name)}"


def _portable(name: str) -> str:
    """Return a name that any file system takes; of a long one, its beginning and its digest."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip("._") or "unnamed"
    raw = plain.encode()
    if len(raw) <= _LONGEST_NAME:
        return plain
    return f"{raw[:_LONGEST_NAME].decode(errors='ignore')}_{hashlib.sha256(raw).hexdigest()[:8]}"


def _field(result: Mapping[str, Any], name: str) -> str | None:
    """Return a field of the signature."""
    fields = (part.partition(":") for part in result["signature"].split("|"))
    return next((value for key, _, value in fields if key == name), None)
