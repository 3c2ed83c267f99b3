"""Pairs as a task folder that lm-evaluation-harness can run (tested with 0.4.13).

A task is a choice between the two candidates of a pair. The low one comes first: the harness
chooses the first of equals, so a tie is a failure, as in the metric. For decoder-only models its
`acc` (summed log-likelihoods) is the pass rate of protocol `sum`, and its `acc_bytes` (divided by
UTF-8 bytes) that of `bytes`. Its `acc_norm` divides by characters, which no protocol does, and it
cannot divide by tokens, as `native` does; neither is exported.

The harness resolves paths of data files from the working folder, but Python files from the folder
of the task. So a small Python file reads the pairs next to it, and the folder can be moved.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml

from nnd.cards import escape
from nnd.converters.export.notice import source_notice
from nnd.converters.export.prompt_rendering import PromptRendering, render_pairs
from nnd.converters.export.safe_names import distinct_names
from nnd.converters.folder import write_parquet
from nnd.schemas import rows_of

_COMMON = "_common"  # without .yaml, so that the harness does not list it as a task

_LOADER = '''\
"""Load the pairs next to this file for lm-evaluation-harness, wherever the folder is."""

from pathlib import Path

import datasets
import pyarrow.parquet as pq


def load(split, error_category=None, **_):
    """Return the pairs of a split with an error category, or each two candidates once."""
    wanted = [("split", "=", split), ("distinct", "=", True)]
    if error_category is not None:
        wanted[1] = ("error_category", "=", error_category)
    pairs = pq.read_table(Path(__file__).with_name("pairs.parquet"), filters=wanted)
    return datasets.DatasetDict({"test": datasets.Dataset(pairs)})
'''


class _Task(NamedTuple):
    """A task of the harness, or a group if it has members: their numbers among the tasks."""

    name: str
    data: dict[str, str]
    members: Sequence[int] = ()


def write_lm_eval(
    pairs: pl.DataFrame,
    folder: Path,
    *,
    manifest: Mapping[str, Any],
    rendering: PromptRendering,
    data_name: str,
) -> tuple[int, list[str]]:
    """Write a task folder for lm-evaluation-harness into a new folder.

    Returns the number of pairs in it, and remarks. `data_name` is the name of the data in the
    metric's signature.

    The group `nnd_SOURCE` has a task over distinct pairs of candidates and one per error category;
    if the data has several splits, it is a group of groups.
    """
    rendered = render_pairs(pairs, rendering)
    usable = rendered.filter(_can_be_scored())
    source = manifest["source"]
    # Names of tasks distinguish sets and variants of a source.
    chosen = [source[kind] for kind in ("set", "variant") if source.get(kind)]
    tasks = _tasks("_".join(["nnd", source["name"], *chosen]), usable)
    notes = [*_notes(tasks[0].name, pairs.height - usable.height, usable), *rendering.notes]
    metadata = {
        "version": 1.0,
        "nnd_version": manifest["nnd_version"],
        "data": f"{data_name}@{data_version(pairs)[:6]}",
        "template": rendering.name,
        "left_out": pairs.height - usable.height,
    }
    folder.mkdir()
    table = usable.select(
        "pair_id",
        "split",
        "context",
        *("context_id", "high_id", "low_id", "cluster", "aspect", "category"),
        *("error_category", "error_group", "origin", "distinct"),
        choices=pl.concat_list("candidate_low", "candidate_high"),
    )
    write_parquet(table, folder / "pairs.parquet")
    texts = {
        "pairs.py": _LOADER,
        _COMMON: _common(rendering.separator, metadata),
        "README.md": _readme(manifest, notes),
    }
    for task in tasks:
        settings: dict[str, Any] = {
            "include": _COMMON,
            "task": task.name,
            "dataset_kwargs": task.data,
        }
        if task.members:
            members = [tasks[number].name for number in task.members]
            settings = {"group": task.name, "task": members, "metadata": metadata}
        texts[f"{task.name}.yaml"] = _yaml(settings)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return usable.height, notes


def data_version(pairs: pl.DataFrame) -> str:
    """Return the digest of the texts that the metric's signature shows of local data.

    The metric has its own implementation (`nnd.metric.data`); a test compares the two.
    """
    texts = ("context", "candidate_high", "candidate_low", "aspect", "error_category")
    lines = (
        f"{hashlib.sha256(chr(0).join(row[name] for name in texts).encode()).hexdigest()[:16]} "
        f"{json.dumps(row['inputs'], sort_keys=True)}"
        for row in rows_of(pairs)
    )
    digests = (hashlib.sha256(line.encode()).digest() for line in lines)
    return f"{sum(int.from_bytes(digest, 'little') for digest in digests) % 2**256:064x}"


def _can_be_scored() -> pl.Expr:
    """Say which pairs the harness can score: it stops at texts without tokens."""
    blank = [pl.col(c).str.strip_chars() == "" for c in ("candidate_high", "candidate_low")]
    unread = (pl.col("context") != "") & (pl.col("context").str.strip_chars() == "")
    return ~pl.any_horizontal(*blank, unread)


def _tasks(prefix: str, pairs: pl.DataFrame) -> list[_Task]:
    """Return the tasks, the top group first, with distinct names."""
    splits = pairs["split"].unique().sort().to_list()
    groups: list[int] = []
    tasks = [_Task(prefix, {}, groups)] if len(splits) > 1 else []
    for split in splits:
        name = prefix if len(splits) == 1 else f"{prefix}_{split}"
        groups.append(len(tasks))
        categories = pairs.filter(pl.col("split") == split)["error_category"].unique().sort()
        first = len(tasks) + 1
        tasks += [
            _Task(name, {}, range(first, first + 1 + len(categories))),
            _Task(f"{name}_overall", {"split": split}),
            *(
                _Task(f"{name}_{category}", {"split": split, "error_category": category})
                for category in categories
            ),
        ]
    names = distinct_names(task.name.lower() for task in tasks)
    return [task._replace(name=name) for name, task in zip(names, tasks, strict=True)]


def _common(separator: str, metadata: dict[str, Any]) -> str:
    settings = {
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "context",
        "doc_to_choice": "choices",
        "doc_to_target": 1,  # the high candidate is the second
        "target_delimiter": separator,
        "num_fewshot": 0,
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": True}
            for metric in ("acc", "acc_bytes")
        ],
        "metadata": metadata,
    }
    return f"custom_dataset: !function pairs.load\n{_yaml(settings)}"


def _yaml(value: dict[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


def _notes(name: str, left_out: int, usable: pl.DataFrame) -> list[str]:
    trailing = usable.filter(pl.col("context").str.contains(r"\s$")).height
    remarks = {
        f"pairs left out, as the harness stops at a blank text: {left_out}; the metric counts "
        "a pair with a blank candidate as failed": left_out,
        "pairs whose context ends in white space, which the harness scores with the candidate "
        f"and the metric does not: {trailing}": trailing,
    }
    command = f"lm_eval --model hf --model_args pretrained=MODEL --tasks {name}"
    return [f"`{command} --include_path FOLDER`", *(text for text, n in remarks.items() if n)]


def _readme(manifest: Mapping[str, Any], notes: Sequence[str]) -> str:
    listed = "\n".join(f"- {note}" for note in notes)
    return f"""\
# {escape(manifest["source"]["pretty_name"])} for lm-evaluation-harness

Near-negative distinction: a model passes a test when the candidate that people found better is more
likely than the worse one. There is one task per error category, and `overall`, in which two
candidates that differ by several errors count once.

{listed}

| the harness | is the pass rate of |
|---|---|
| `acc` | `nnd evaluate --protocol sum` |
| `acc_bytes` | `nnd evaluate --protocol bytes` |

For decoder-only models they are equal in the same precision, up to candidates closer than its
rounding, because both score every token after those of the context. Differences remain where

- a tokenizer joins the end of a context and the beginning of a candidate into one token (the metric
  keeps them apart, and counts such tests as `n_crossing`);
- a context ends in white space, which the harness scores with the candidate;
- a context is empty, and the tokenizer starts its texts with another token than its bos;
- a context is cut to the model's window;
- a text contains the string of a special token.

The default protocol, `native`, takes the mean over tokens, which the harness cannot; its `acc_norm`
divides by characters, which no protocol does. For encoder-decoders the numbers differ: the harness
scores no end token and gives the decoder no start-of-text token (BART's `<s>`).

{source_notice(manifest)}"""
