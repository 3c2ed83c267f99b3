"""What the evaluation of the demo printed, rendered from its results.

python -m support.screens.stored_screen     # in the folder that holds demo/; no model is loaded
"""

from pathlib import Path

from nnd.metric.cli.evaluating import show_sweep
from nnd.metric.cli.verbs import Typed
from nnd.metric.data import PairSet, choose_part, load_pairs
from nnd.metric.likelihood import Loading, Scoring
from nnd.metric.run import Evaluation, Sweep, read_entries
from nnd.metric.run.existing_run import read_kept
from nnd.metric.run.lists.list_entries import RunEntry
from nnd.metric.run.summary import summarise_scored
from nnd.schemas import load_yaml

LIMIT = 200


def stored_sweep(runs: Path, out: Path) -> Sweep:
    """Return the sweep of a list of runs over one dataset, read from its folders."""
    document = load_yaml(runs.read_text(encoding="utf-8"))
    entries = read_entries(
        document, runs.parent, lambda _: str(runs), scoring=Scoring(), loading=Loading()
    )
    whole = load_pairs(entries[0].data[0])
    pairs = choose_part(whole, splits=(), limit=LIMIT, categories=(), held_out=None, split_seed=0)
    keys = {f"{entry.manner}/{Path(entry.data[0]).name}": entry for entry in entries}
    found = {key: _stored(out / key, pairs, entry) for key, entry in keys.items()}
    folders = {key: out / key for key in keys}
    return Sweep(found, dict.fromkeys(keys, pairs), (), folders)


def _stored(folder: Path, pairs: PairSet, entry: RunEntry) -> Evaluation:
    kept = read_kept(folder, pairs, entry.scoring, {entry.model: entry.scoring}, [])
    assert kept.models, f"{folder}: no run"
    return summarise_scored(pairs, kept.models, systems=kept.systems, templates=kept.templates)


if __name__ == "__main__":
    show_sweep(Typed({}, {}), stored_sweep(Path("demo/runs.yaml"), Path("demo/result")))
