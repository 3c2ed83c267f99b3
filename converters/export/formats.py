"""Pairs for other tools: TRL, lm-evaluation-harness, JSON Lines, CSV."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from nnd.converters.export.flat import write_csv, write_jsonl
from nnd.converters.export.lm_eval import write_lm_eval
from nnd.converters.export.rendering import STORED, Exported, Rendering
from nnd.converters.export.trl import write_trl
from nnd.schemas import (
    NNDError,
    SchemaError,
    check_frame,
    check_rows,
    polars_schema,
    read_frame,
    read_manifest,
)

Target = Literal["trl", "lm-eval", "jsonl", "csv"]


def export(
    folder: str | Path, out: str | Path, *, to: Target, rendering: Rendering = STORED
) -> Exported:
    """Write the pairs of a converted folder in the form that another tool takes.

    Args:
        folder: What `convert` wrote, or the same as it lies on the Hub (pairs/*.parquet).
        out: File (jsonl, csv) or folder (trl, lm-eval) to make; nothing may be there yet. The same
            pairs give the same bytes.
        to: `trl`: a preference dataset (see `export_trl`); `lm-eval`: tasks for
            lm-evaluation-harness (see `export_lm_eval`); `jsonl`, `csv`: the pairs as they are.
        rendering: How contexts become prompts (trl, lm-eval).

    Raises:
        NNDError: If there is no such target, it takes no rendering, or `out` is there already or
            cannot be written.
        SchemaError: If `folder` holds no pairs, or not as the contract has them.
    """
    if to not in get_args(Target):
        raise NNDError(f'there is no target "{to}"; choose one of {", ".join(get_args(Target))}')
    if to in ("jsonl", "csv") and rendering.name != STORED.name:
        raise NNDError(
            f'"{to}" keeps contexts and their parts as they are; a template is for trl and lm-eval'
        )
    pairs, manifest = _read(Path(folder))
    with _made_beside(Path(out)) as place:
        match to:
            case "jsonl":
                write_jsonl(pairs, place)
            case "csv":
                write_csv(pairs, place)
            case "trl":
                return write_trl(pairs, place, manifest=manifest, rendering=rendering)
            case "lm-eval":
                name = Path(folder).resolve().name
                return write_lm_eval(
                    pairs, place, manifest=manifest, rendering=rendering, data_name=name
                )
    return Exported(pairs.height)


def _read(folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return pairs and manifest, with all that a writer relies on."""
    manifest, pairs = read_manifest(folder), read_frame(folder, "pairs")
    found = chain(
        check_frame("pair", pairs),
        check_rows("source", [manifest.get("source", {})]),
    )
    for problem in found:
        raise SchemaError(f"{folder}: {problem}; `nnd validate` lists all that is wrong with it")
    if pairs.is_empty():
        raise SchemaError(f"{folder}: there are no pairs to export")
    return pairs.select(polars_schema("pair").names()), manifest


@contextlib.contextmanager
def _made_beside(out: Path) -> Iterator[Path]:
    """Hand out a free place beside `out`; on leaving without an error, what is there becomes `out`.

    Unlike `replace_folder` it replaces nothing: what was exported may have been worked on since.
    """
    if os.path.lexists(out):
        raise NNDError(f"{out}: is there already; name another place with --out, or remove it")
    fresh = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        yield fresh
        fresh.rename(out)
    except OSError as error:
        raise NNDError(
            f"{out}: cannot be written: {error.strerror or error}; make room, or name another "
            "place with --out"
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        with contextlib.suppress(OSError):
            fresh.unlink()
