"""The folder of a suite: the files of the converted folder, `sets/NAME.parquet`, the manifest."""

import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import polars as pl

from nnd.converters.folder import write_manifest, write_rows
from nnd.converters.make.parents import Parents
from nnd.converters.make.suite_report import SuiteReport
from nnd.converters.pairs import report_lengths
from nnd.schemas import (
    CONTEXT,
    MANIFEST,
    FrameName,
    NNDError,
    check_replaceable,
    replace_folder,
    set_path,
)

Kind = Literal["perturbation", "slice", "shift", "negatives"]

OUTCOMES = ("changed", "unchanged", "rejected", "dropped")
"""Outcomes for a pair, or for a text that a negative is made from."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


class SuiteSet(NamedTuple):
    """A set of a suite.

    Attributes:
        facts: Its entry in the manifest.
        pairs: Rows of the pair schema.
    """

    facts: Mapping[str, Any]
    pairs: pl.DataFrame


def set_facts(
    name: str,
    kind: Kind,
    operation: str,
    pairs: pl.DataFrame,
    *,
    parameters: Mapping[str, Any],
    seed: int | None = None,
    variants: int | None = None,
    counts: Mapping[str, int] | None = None,
    refusals: Mapping[str, int] | None = None,
    note: str | None = None,
) -> dict[str, Any]:
    """Return the entry of a set in the manifest.

    Args:
        name: Its name.
        kind: The kind of set.
        operation: The operation that made it.
        pairs: Its rows.
        parameters: Parameters of the operation.
        seed: Seed of random draws; None if there were none.
        variants: Number of variants of each text; None if there are no variants.
        counts: Numbers of changed, unchanged, rejected and dropped pairs; None if pairs are chosen,
            not changed.
        refusals: Why texts were rejected → how many; None if no reasons are known.
        note: Remark on the set.
    """
    has_children = pairs["parent_id"].null_count() < pairs.height
    return {
        "name": name,
        "kind": kind,
        "operation": operation,
        "parameters": dict(parameters),
        "seed": seed,
        "variants": variants,
        "pairs": pairs.height,
        "parents": pairs["parent_id"].drop_nulls().n_unique() if has_children else None,
        "contexts": pairs.select(pl.struct(CONTEXT).n_unique()).item(),
        **(counts or dict.fromkeys(OUTCOMES)),
        "refusals": None if refusals is None else dict(refusals),
        "lengths": report_lengths(pairs) if kind == "negatives" else None,
        "note": note,
    }


def check_place(parents: Parents, out: Path) -> None:
    """Check, before long work, that a suite can be written to a folder.

    Raises:
        NNDError: If it is the folder of the parents, or cannot be replaced.
    """
    if out.resolve() == parents.folder.resolve():
        raise NNDError(
            f"{out}: is the folder that the suite is made from; name another one with --out"
        )
    check_replaceable(out, document=MANIFEST)


def check_names(names: Iterable[str]) -> None:
    """Check the names of sets.

    Raises:
        NNDError: If a name cannot be the name of a file on every system, or occurs twice.
    """
    seen = set[str]()
    for name in names:
        if not _NAME.fullmatch(name):
            raise NNDError(
                f'"{name}" is not a name for a set; write small letters, digits, ., _ and -, such '
                "as typos-0.05"
            )
        if name in get_args(FrameName):
            raise NNDError(f'"{name}" is the name of a part of every dataset; rename the set')
        if name in seen:
            raise NNDError(f'there are two sets called "{name}"; remove or rename one')
        seen.add(name)


def write_suite(parents: Parents, sets: Iterable[SuiteSet], out: str | Path) -> SuiteReport:
    """Write a suite to a new folder, or replace an older one.

    Args:
        parents: The converted folder; its files are copied unchanged.
        sets: The sets in the order of the definition; each is written before the next is made.
        out: The folder to write.

    Raises:
        NNDError: If there is no set, two have the same name, or the folder holds what nnd did not
            write there; nothing is written then.
    """
    check_place(parents, Path(out))
    with replace_folder(Path(out), document=MANIFEST) as fresh:
        for name in parents.manifest["outputs"]:
            (fresh / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(parents.folder / name, fresh / name)
        outputs, entries = dict(parents.manifest["outputs"]), list[Mapping[str, Any]]()
        for facts, pairs in sets:
            check_names([*(entry["name"] for entry in entries), facts["name"]])
            path = set_path(facts["name"])
            outputs[path] = write_rows(pairs, fresh / path)
            entries.append(facts)
        if not entries:
            raise NNDError("`sets` is empty; a suite needs at least one set")
        write_manifest({**parents.manifest, "outputs": outputs, "sets": entries}, fresh)
    return SuiteReport(Path(out), parents.manifest["source"]["name"], tuple(entries))
