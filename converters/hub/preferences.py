"""Pairs as preferences in messages (prompt, chosen, rejected), as training libraries read them.

The prompt is the request as the source's instruction words it; without one, the context itself.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from nnd.schemas import DISTINCT, StoredContext, fill_wording, read_instruction, rows_of

_MESSAGES = pl.List(pl.Struct({"role": pl.String, "content": pl.String}))

PREFERENCES = pl.Schema(
    {
        "prompt": _MESSAGES,
        "chosen": _MESSAGES,
        "rejected": _MESSAGES,
        "pair_id": pl.String(),
        "split": pl.String(),
    }
)
"""Columns of `preferences`."""


def preferences(pairs: pl.DataFrame, source: Mapping[str, Any]) -> pl.DataFrame:
    """Return a row for each two candidates: columns of PREFERENCES."""
    instruction = read_instruction(source)
    rows = []
    for pair in rows_of(pairs.unique(DISTINCT, keep="first", maintain_order=True)):
        kinds = (pair["category"], pair["language"])
        context = StoredContext.of(pair["context"], pair["inputs"], *kinds)
        words = () if instruction is None else fill_wording(instruction.wordings[0], context)
        if len(words) == 1:  # which has no place for the context: it is what the system says
            prompt = [_message("system", words[0]), _message("user", context.text)]
        else:
            prompt = [_message("user", "".join(words) or context.text)]
        sides = {"chosen": pair["candidate_high"], "rejected": pair["candidate_low"]}
        answers = {side: [_message("assistant", text)] for side, text in sides.items()}
        rows.append(
            {"prompt": prompt, **answers, **{key: pair[key] for key in ("pair_id", "split")}}
        )
    return pl.DataFrame(rows, schema=PREFERENCES)


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
