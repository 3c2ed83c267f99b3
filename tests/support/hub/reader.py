"""Reads the pairs named on standard input, one name a line, and answers in JSON, a line each.

A process of its own: the Hub client fixes endpoint and cache when it is imported.
"""

import json
import sys

from nnd.metric.data.pairs import read_pairs
from nnd.schemas import ScoringError

for line in sys.stdin:
    try:
        found = read_pairs(line.strip())
        answer = {
            "name": found.name,
            "version": found.version,
            "contexts": found.pairs["context"].to_list(),
            "systems": None
            if found.human_scores is None
            else found.human_scores["system"].to_list(),
        }
    except ScoringError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)  # noqa: T201
