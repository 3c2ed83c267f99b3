"""Publishes what it is asked to, with the real client: a line of JSON each, answered by one.

A process of its own, as a client of the Hub fixes its endpoint when it is imported. Asked is
{"call": "publish" or "push", …} with the arguments of that function.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nnd.converters.hub import hub_calls
from nnd.converters.hub.published_dataset import publish
from nnd.converters.hub.repository_state import Repository
from nnd.converters.hub.upload import push, put_tag
from nnd.schemas import NNDError

hub_calls.TRIES, hub_calls.FIRST_S, hub_calls.LONGEST_S = 12, 0.001, 0.01


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    call = asked.pop("call")
    if call == "publish":
        return publish(**asked).to_dict()
    repository = Repository("dataset", asked.pop("name"), private=asked.pop("private", False))
    files = {name: Path(path) for name, path in asked.pop("files").items()}
    if call == "put_tag":
        put_tag(repository, asked["tag"], files, asked["commit"])
        return {}
    gone = asked.pop("gone", [])
    return asdict(push(repository, files, obsolete=lambda _: gone, message="ours", **asked))


for line in sys.stdin:
    try:
        told = answer(json.loads(line))
    except NNDError as error:
        told = {"error": error.to_dict()}
    print(json.dumps(told), flush=True)  # noqa: T201
