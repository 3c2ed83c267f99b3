"""The tables of `cards/guide/results-smollm2.md`, from runs of its recipe.

    PYTHONPATH=tests python -m support.real_results RUNS…

reads the folders that `nnd evaluate --runs` wrote, keeps their numbers in
`cards/guide/results-smollm2.json`, and writes the tables into the page.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from support.places import ROOT

from nnd.metric.data import open_result
from nnd.metric.numbers import compare

PAGE = ROOT / "cards/guide/results-smollm2.md"
NUMBERS = ROOT / "cards/guide/results-smollm2.json"

RECIPES = [ROOT / f"cards/guide/results-smollm2{part}.yaml" for part in ("", "-parts")]
READINGS = {"asked": "native", "bare": "native+default", "plain": "native+chat-none"}
_KEPT = ("pass_rate", "interval", "n", "n_whole", "contexts", "instruction", "signature")
_BASELINES = {
    "shorter_wins": "the shorter text",
    "longer_wins": "the longer text",
    "copy_wins": "the text that copies more",
    "unconditional": "no context",
}
_REGION = r"(?<=<!-- {0} -->\n).*?(?=<!-- /{0} -->)"


def read_numbers(runs: Sequence[Path]) -> dict[str, Any]:
    """Return for each dataset the numbers of its three readings, and what asking changes."""
    found: dict[str, Any] = {}
    for run in runs:
        for folder in sorted((run / READINGS["asked"]).iterdir()):
            folders = {key: run / name / folder.name for key, name in READINGS.items()}
            readings = {key: _numbers(place) for key, place in folders.items()}
            found[folder.name] = {"readings": readings, "asking": None}
            if readings["asked"]["instruction"] is not None:
                (both,) = compare([folders["asked"], folders["bare"]])
                overall = both.to_dict()["overall"]
                kept = ("difference", "interval", "only_first", "only_second", "p", "verdict")
                found[folder.name]["asking"] = {name: overall[name] for name in kept}
    return found


def _numbers(folder: Path) -> dict[str, Any]:
    with open_result(folder) as whole:
        (result,) = whole["results"]
    kept = {name: result.get(name) for name in _KEPT}
    found = {name: result["baselines"].get(name) for name in _BASELINES}
    baselines = {name: each["with_coin"] for name, each in found.items() if each is not None}
    return kept | {"baselines": baselines}


def rates_table(numbers: Mapping[str, Any]) -> str:
    """Return the pass rates of the readings: a row per dataset."""
    lines = [
        "| data | tests | chat, asked | chat, bare context | plain text | best baseline |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for data, found in sorted(numbers.items()):
        readings = found["readings"]
        asked, bare, plain = (_rate(readings[name]) for name in READINGS)
        asked = asked if readings["asked"]["instruction"] else "is the request"
        baselines = readings["asked"]["baselines"]
        best = max(baselines, key=baselines.__getitem__)
        lines.append(
            f"| `{data}` | {_tests(readings['asked'])} | {asked} | {bare} | {plain} | "
            f"{_BASELINES[best]} {_percent(baselines[best])} |"
        )
    return "\n".join([*lines, ""])


def asking_table(numbers: Mapping[str, Any]) -> str:
    """Return what asking changes: a row per dataset with an instruction."""
    lines = [
        "| data | what asking adds, points | only asked passes | only bare passes | p |",
        "|---|---:|---:|---:|---:|",
    ]
    for data, found in sorted(numbers.items()):
        if (asking := found["asking"]) is None:
            continue
        low, high = asking["interval"]
        lines.append(
            f"| `{data}` | {100 * asking['difference']:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}] "
            f"| {asking['only_first']:,} | {asking['only_second']:,} | {_p(asking['p'])} |"
        )
    return "\n".join([*lines, ""])


def signatures_block(numbers: Mapping[str, Any]) -> str:
    """Return the signatures of all readings."""
    lines = [
        found["readings"][reading]["signature"]
        for _, found in sorted(numbers.items())
        for reading in READINGS
        if reading != "asked" or found["readings"]["asked"]["instruction"]
    ]
    return "\n".join(["", *(f"    {line}" for line in lines), "", ""])


def with_tables(page: str, numbers: Mapping[str, Any]) -> str:
    """Return the page with the tables of these numbers."""
    tables = {
        "rates": rates_table(numbers),
        "asking": asking_table(numbers),
        "read": _read_so_far(numbers),
        "signatures": signatures_block(numbers),
    }
    for name, table in tables.items():
        page = re.sub(_REGION.format(name), lambda _, table=table: table, page, flags=re.DOTALL)
    return page


def _read_so_far(numbers: Mapping[str, Any]) -> str:
    listed = [line for recipe in RECIPES for line in _data_of(recipe)]
    return f"Of the {len(listed)} sources of the recipe below, {len(numbers)} have been read.\n"


def _data_of(recipe: Path) -> list[str]:
    """Return the names of the datasets in a list of runs."""
    entries = yaml.load(recipe.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return [Path(data).name for data in entries[0]["data"]]


def _tests(reading: Mapping[str, Any]) -> str:
    n = f"{reading['n']:,}"
    return n if reading["n_whole"] is None else f"{n} of {reading['n_whole']:,}"


def _rate(reading: Mapping[str, Any]) -> str:
    low, high = reading["interval"]
    return f"{_percent(reading['pass_rate'])} [{100 * low:.1f}, {100 * high:.1f}]"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _p(p: float | None) -> str:
    if p is None:  # computed by McNemar's test, and the run is gone
        return "n/a"
    return "<0.0001" if p < 1e-4 else f"{p:.4f}"


def main(runs: Sequence[str]) -> None:
    """Write the numbers and the page."""
    numbers = read_numbers([Path(run) for run in runs])

    NUMBERS.write_text(json.dumps(numbers, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), numbers), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
