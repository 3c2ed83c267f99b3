"""A process that was forked after nnd was used ends with a reason instead of waiting forever."""

import os
import subprocess
import sys
from pathlib import Path

from support.places import SUPPORT

PROGRAM = """
import os, sys
import torch
from pathlib import Path
from support.training.runs import make_model, sample_pairs
from nnd.metric.run import evaluate
from nnd.metric.likelihood.engine.engine import Engine
from nnd.metric.likelihood import load_model, wrap_model
from nnd.metric.data import read_run
from nnd.schemas import NNDError

torch.set_num_threads(2)
loaded, pairs, out = wrap_model(*make_model("gpt2"), name="tiny"), sample_pairs(), Path(sys.argv[1])
work = {
    "evaluate": lambda: evaluate(loaded, pairs, out=out),
    "engine": lambda: Engine(loaded)([("Who wrote it?", "the cat")]),
    "load": lambda: load_model(out),
    "read": lambda: read_run(out),
}
work["evaluate"]()
if child := os.fork():
    os.waitpid(child, 0)
    work["evaluate"]()
    print("the parent goes on")
else:
    for task in work.values():
        try:
            task()
        except NNDError as error:
            print(error, flush=True)
    os._exit(0)
"""


def test_a_forked_child_says_why_it_cannot_work(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "run"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(SUPPORT.parent), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    *reasons, parent = done.stdout.splitlines()
    assert len(reasons) == 4
    for reason in reasons:
        assert reason.startswith("this process was forked from one that has used nnd")
        assert 'multiprocessing.get_context("spawn")' in reason
    assert parent == "the parent goes on"
