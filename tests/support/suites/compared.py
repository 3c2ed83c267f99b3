"""A suite whose negatives were compared with the pairs of people."""

from pathlib import Path
from typing import Any

import polars as pl
from support.card_folders import make_folder, row
from support.stored_folders import write_sealed

import nnd
from nnd.schemas import pairs_digest


def rate(passes: int, n: int, shorter: float) -> dict[str, Any]:
    """A pass rate as results have it, and how often the shorter text is the better one."""
    unknown = dict.fromkeys(("truncated", "interval", "wilson", "length_matched"))
    lead = {"lead": passes / n - shorter, "lead_interval": None, "verdict": "close"}
    baseline = {"pass_rate": shorter, "ties": 0, "unscored": 0, "with_coin": shorter, **lead}
    return {
        "pass_rate": passes / n,
        "n": n,
        "passes": passes,
        "ties": 0,
        "unscored": 0,
        "baselines": {
            "shorter_wins": baseline,
            **dict.fromkeys(("longer_wins", "copy_wins", "unconditional")),
        },
        **unknown,
    }


def compared_suite(place: Path) -> Path:
    """A suite of one set of negatives, with `validity.json`."""
    rows = [row("a", "heron", "good", candidate="It is a heron."), row("b", "wren", "wrong")]
    birds, folder = make_folder(place, rows), place / "suite"
    nnd.derive(birds, ["negation"], out=folder, negatives="preferred")
    made = pl.read_parquet(folder / "sets" / "negation.parquet")
    lead = {"rate": 0.75, "other": 0.25, "difference": 0.5, "interval": [-0.1, 0.75], "p": 0.2}
    unpaired = dict.fromkeys(("p_holm", "only_first", "only_second"))
    human = {"n": 4, **lead, **unpaired, "verdict": "undecided", "pairs": rate(1, 4, 0.5)}
    operation = {
        "operation": "negation",
        "digest": pairs_digest(made["pair_id"]),
        "categories": ["wrong"],
        "models": {"tiny_model": {"made": rate(3, 4, 1.0), "human": human}},
        "tau_b": {"human": None, "constructed": None},
    }
    facts = {"operations": [operation], "sentences": ["one_sentence."], "signatures": ["nnd|v:1"]}
    write_sealed(folder / "validity.json", facts)
    return folder
