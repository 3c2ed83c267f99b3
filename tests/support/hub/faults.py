"""What goes wrong between a client and the Hub: by chance, from a seed, or as a script says.

A storm strikes each request with the same chance, decided by the seed, the request and how often it
has been made, so that neither threads nor timing change what happens:

    Hub(faults=Faults(seed=3, rate=0.2))

A script strikes the next requests that match:

    hub.faults.script(r"POST .*/commit/", "lost-answer")
    hub.faults.script(r"PUT /lfs/", 500, times=2)
    hub.faults.script(r"POST .*/commit/", lambda: hub.commit("datasets", "org/quiz", rival))
"""

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Literal

from support.hub.answers import Answer, Refusal

Fault = (
    Literal["drop", "half-upload", "lost-answer", "slow", "truncate", "wrong-hash", "corrupt"] | int
)

WHERE: Mapping[Fault, str] = {
    "drop": "",  # nothing done, nothing answered
    "half-upload": "(POST|PUT) ",  # dropped while the body is on its way
    "lost-answer": "(POST|PUT|DELETE) ",  # done, but the answer does not arrive
    "slow": "",  # answered after `delay`
    "truncate": "GET .*/resolve/",  # half a file, then the end of the connection
    "wrong-hash": "GET .*/tree/|POST .*/paths-info/|(GET|HEAD) .*/resolve/",
    "corrupt": "PUT /lfs/",  # taken as if in order, but damaged in the storage
    409: "POST .*/commit/",
    412: "POST .*/commit/",
    429: "",
    500: "",
    503: "",
}
"""Every fault, and the requests (`METHOD /path`) that a storm strikes with it."""

MESSAGES = {
    402: "Payment required",
    409: "Another commit is in progress, please retry later",
    412: "A commit has happened since. Please refresh and try again.",
    429: "We had to rate limit you, please retry later",
}


class Faults:
    """What goes wrong.

    Args:
        seed: Of chance.
        rate: The chance of each request to be struck, 0 to 1.
        kinds: The faults among which chance chooses, where they suit the request.
        limit: How many requests chance strikes at most: the first to arrive.
        delay: Seconds by which a `slow` answer is late.
        retry_after: Seconds that a 429 names; the client waits one more.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        rate: float = 0.0,
        kinds: Collection[Fault] = tuple(WHERE),
        limit: int | None = None,
        delay: float = 0.05,
        retry_after: int = 1,
    ) -> None:
        self.delay = delay
        self.retry_after = retry_after
        self.struck: list[tuple[str, Fault | Callable[[], object]]] = []
        self._seed, self._rate, self._kinds, self._left = seed, rate, kinds, limit
        self._scripts: list[tuple[re.Pattern[str], Fault | Callable[[], object]]] = []
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def script(self, pattern: str, fault: Fault | Callable[[], object], *, times: int = 1) -> None:
        """Strike the next requests that match.

        Args:
            pattern: Searched for in `METHOD /path?query`.
            fault: One of `WHERE`, another status, or what is to be done before the request is
                answered as usual.
            times: How many requests.
        """
        self._scripts += [(re.compile(pattern), fault)] * times

    def strike(self, line: str) -> Fault | Callable[[], object] | None:
        """Return what is to happen to a request, `METHOD /path?query`."""
        with self._lock:
            self._asked[line] += 1
            fault = self._scripted(line)
            if fault is None:
                fault = self._chance(line)
            if fault is not None:
                self.struck.append((line, fault))
            return fault

    def _scripted(self, line: str) -> Fault | Callable[[], object] | None:
        for number, (pattern, _) in enumerate(self._scripts):
            if pattern.search(line):
                return self._scripts.pop(number)[1]
        return None

    def _chance(self, line: str) -> Fault | None:
        chance = random.Random(f"{self._seed}:{line}:{self._asked[line]}")
        suitable = [fault for fault in self._kinds if re.match(WHERE[fault], line)]
        if self._left == 0 or not suitable or chance.random() >= self._rate:
            return None
        if self._left is not None:
            self._left -= 1
        return chance.choice(suitable)


def refusal(status: int, retry_after: int) -> Answer:
    """Return the answer with a status that stands for a fault."""
    headers = {"Retry-After": str(retry_after)} if status == HTTPStatus.TOO_MANY_REQUESTS else {}
    phrase = HTTPStatus(status).phrase
    return Refusal(
        status, phrase.replace(" ", ""), MESSAGES.get(status, phrase), headers=headers
    ).answer


def with_wrong_hashes(answer: Answer) -> Answer:
    """Return an answer whose hashes of files are other files'."""
    headers = {
        name: f'"{value[-2:0:-1]}"' if name.lower().endswith("etag") else value
        for name, value in answer.headers.items()
    }
    if answer.headers.get("Content-Type") != "application/json":
        return replace(answer, headers=headers)
    body = json.dumps(_mirrored(json.loads(answer.body))).encode()
    return replace(answer, headers=headers, body=body)


def _mirrored(value: Any) -> Any:
    if isinstance(value, list):
        return [_mirrored(one) for one in value]
    if not isinstance(value, dict):
        return value
    hashes = {"oid", "sha256", "blobId"}
    return {
        name: one[::-1] if name in hashes and isinstance(one, str) else _mirrored(one)
        for name, one in value.items()
    }
