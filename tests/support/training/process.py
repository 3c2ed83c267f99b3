"""One of several processes that train one tiny model; run by test_callback.py.

Usage: training_process.py FOLDER, with torch.distributed's environment variables. Trains without
and with a callback in FOLDER; prints the SHA-256 of the weights after each, and how often this
process scored.
"""

import hashlib
import sys
from pathlib import Path

import torch
from support.training.runs import bits, make_trainer, sample_pairs

from nnd.metric.train.callback import NNDCallback


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    for watched in (False, True):
        trainer = make_trainer("bart", folder / str(watched))
        if watched:
            watcher = NNDCallback(trainer, sample_pairs(), every=2, contexts=5)
            trainer.add_callback(watcher)
        trainer.train()
        weights = b"".join(bits(trainer.model).values())
        sys.stdout.write(f"weights {hashlib.sha256(weights).hexdigest()}\n")
    scorings = sum("nnd/pass_rate" in log for log in trainer.state.log_history)
    sys.stdout.write(f"scorings {scorings}\n")


main(Path(sys.argv[1]))
