"""Calls commands of nnd in children that may be killed on the way: a line of JSON each, one back.

Libraries are imported once, and children are forked: nothing of ours, and no thread, runs before.
Asked is {"call": …, "arguments": …} with the function and its arguments, and, for a child that is
to die, `after` (seconds) or `at` (the number of the event, among those of `sys.addaudithook` that
name `place`: opening, making, renaming, removing). Temporary files go to `place`, too. Answered is
what became of it.
"""

import json
import os
import select
import signal
import sys
import tempfile
import time
from typing import Any

import matplotlib.backends.backend_svg  # noqa: F401
import torch
import transformers.models.auto.modeling_auto
import transformers.models.gpt2.modeling_gpt2  # noqa: F401

from nnd.converters.folder.conversion import convert
from nnd.converters.hub import hub_calls
from nnd.converters.hub.published_dataset import publish
from nnd.metric.app import judged_models, suite
from nnd.metric.likelihood import Scoring
from nnd.metric.run import merge
from nnd.metric.run.sweep import evaluate
from nnd.metric.show.reports.page.report import report
from nnd.schemas import NNDError

hub_calls.TRIES, hub_calls.FIRST_S, hub_calls.LONGEST_S = 12, 0.001, 0.01


def score_judged(judged: str, out: str, limit: int | None) -> None:
    """As `nnd evaluate --judged`."""
    found = judged_models(judged)
    chosen: dict[str, Any] = {"systems": found.systems, "templates": found.templates}
    evaluate([*found.models], [found.data], out=out, limit=limit, **chosen)


CALLS = {
    "judged": score_judged,
    "convert": convert,
    "suite": suite,
    "evaluate": lambda unconditional, **asked: evaluate(
        **asked, scoring=Scoring(unconditional=unconditional)
    ),
    "evaluate a share": evaluate,
    "merge": merge,
    "report": report,
    "publish": publish,
}


class Events:
    """Counts what happens to files in a place, and dies at one of them."""

    def __init__(self, place: str, at: int | None) -> None:
        self.seen, self._place, self._at = 0, place, at
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: tuple[object, ...]) -> None:
        if event.startswith(("open", "os.", "shutil.")) and self._place in str(arguments):
            self.seen += 1
            if self.seen == self._at:
                os.kill(os.getpid(), signal.SIGKILL)


def call(asked: dict[str, Any]) -> dict[str, Any]:
    torch.set_num_threads(1)
    tempfile.tempdir = asked["place"]
    events, start = Events(asked["place"], asked.get("at")), time.perf_counter()
    try:
        CALLS[asked["call"]](**asked["arguments"])
    except NNDError as error:
        return {"error": str(error)}
    return {"events": events.seen, "seconds": time.perf_counter() - start}


def serve(asked: dict[str, Any]) -> dict[str, Any]:
    theirs, ours = os.pipe()
    child = os.fork()
    if not child:
        os.write(ours, json.dumps(call(asked)).encode())
        os._exit(0)
    os.close(ours)
    if "after" in asked:
        select.select([theirs], [], [], asked["after"])
        os.kill(child, signal.SIGKILL)
    with open(theirs, "rb") as answer:  # noqa: PTH123 - a pipe
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {"killed": os.WTERMSIG(status)}
    told: dict[str, Any] = json.loads(text)
    return told


for line in sys.stdin:
    print(json.dumps(serve(json.loads(line))), flush=True)  # noqa: T201
