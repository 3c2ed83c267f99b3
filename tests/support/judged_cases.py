"""A small converted folder for tests of meta-evaluation, every number of which is worked out here.

Two contexts, three systems, scores of 0 to 3 by people (rule `gap`, minimum 1):

    context  candidate  system  text              people
    1        1/a        a       "the cat sat"     3
    1        1/b        b       "the cat"         2
    1        1/c        c       "a dog"           0
    2        2/a        a       "two birds sing"  1
    2        2/b        b|c     "birds"           1
    2        2/d        c       ""                null

Pairs: 1/a over 1/b, 1/a over 1/c, 1/b over 1/c. Human scores, means: a 2, b 1.5, c 0.5.
"""

import json
from pathlib import Path

import polars as pl
from support.stored_folders import write_sealed

from nnd.metric.other_metrics.scorers.scorer import TextScorer
from nnd.schemas import polars_schema

CONTEXTS = {"1": "The cat sat on the mat.", "2": "Two birds sing."}
REFERENCES = {"1": ["the cat sat", "one cat sat down"], "2": ["two birds sing"]}
CANDIDATES = [
    ("1", "1/a", "a", "the cat sat", 3.0),
    ("1", "1/b", "b", "the cat", 2.0),
    ("1", "1/c", "c", "a dog", 0.0),
    ("2", "2/a", "a", "two birds sing", 1.0),
    ("2", "2/b", "b|c", "birds", 1.0),
    ("2", "2/d", "c", "", None),
]
HUMAN_SCORES = {"a": 2.0, "b": 1.5, "c": 0.5}
PAIRS = [("1/a", "1/b"), ("1/a", "1/c"), ("1/b", "1/c")]


def annotations() -> pl.DataFrame:
    rows = [
        {
            "source": "made_up",
            "split": "test",
            "language": "en",
            "context_id": context,
            "context": CONTEXTS[context],
            "inputs": [{"key": "text", "value": CONTEXTS[context]}],
            "candidate_id": candidate_id,
            "candidate": text,
            "system": system,
            "aspect": "quality",
            "score": score,
        }
        for context, candidate_id, system, text, score in CANDIDATES
    ]
    return pl.DataFrame(rows, polars_schema("annotation"))


def pairs() -> pl.DataFrame:
    known = {row[1]: row for row in CANDIDATES}
    rows = [
        {
            "pair_id": f"{number:016x}",
            "source": "made_up",
            "split": "test",
            "language": "en",
            "context_id": known[high][0],
            "context": CONTEXTS[known[high][0]],
            "inputs": [{"key": "text", "value": CONTEXTS[known[high][0]]}],
            "aspect": "quality",
            "candidate_high": known[high][3],
            "candidate_low": known[low][3],
            "high_id": high,
            "low_id": low,
            "system_high": known[high][2],
            "system_low": known[low][2],
            "error_category": "quality",
            "origin": "human",
        }
        for number, (high, low) in enumerate(PAIRS)
    ]
    return pl.DataFrame(rows, polars_schema("pair"))


def human_scores() -> pl.DataFrame:
    rows = [
        {
            "source": "made_up",
            "system": system,
            "aspect": "quality",
            "category": "overall",
            "score": score,
            "n": 2,
            "definition": "invented",
        }
        for system, score in HUMAN_SCORES.items()
    ]
    return pl.DataFrame(rows, polars_schema("human_score"))


def by_candidate(name: str, values: dict[str, float]) -> TextScorer:
    """A scorer that knows its answers by text; None for others."""
    answers = {text: values.get(key) for _, key, _, text, _ in CANDIDATES}
    return TextScorer(name, lambda texts: [answers[text.candidate] for text in texts])


def write_judged(folder: Path) -> Path:
    """Write what `nnd metrics` reads of a converted folder."""
    folder.mkdir(parents=True, exist_ok=True)
    annotations().write_parquet(folder / "annotations.parquet")
    pairs().write_parquet(folder / "pairs.parquet")
    human_scores().write_parquet(folder / "human_scores.parquet")
    manifest = {"source": {"quality": {"rule": "gap", "minimum": 1, "tolerance": 1e-6}}}
    write_sealed(folder / "manifest.json", manifest)
    return folder


def write_references(path: Path) -> Path:
    """Write the references as a table."""
    rows = [{"context_id": key, "references": texts} for key, texts in REFERENCES.items()]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path
