"""Reads the data named on standard input, one name a line, and answers in JSON, a line each.

Asked for `scores NAME`, it reads the human scores alone; for `split NAME`, the overall ones of the
split that is scored by default; else the pairs.

A process of its own: the Hub client fixes endpoint and cache when it is imported.
"""

import json
import sys
from typing import Any

from nnd.metric.data import choose_splits, load_pairs, read_human_scores
from nnd.schemas import ScoringError


def read(name: str) -> dict[str, Any]:
    what, _, rest = name.rpartition(" ")
    if what == "scores":
        return {"systems": read_human_scores(rest)["system"].to_list()}
    if what == "split":
        chosen = choose_splits(load_pairs(rest))
        assert chosen.human_scores is not None
        overall = chosen.human_scores.filter(category="overall")
        return {"title": chosen.title, **dict(overall.select("system", "score").iter_rows())}
    found = load_pairs(name)
    judged = found.human_scores
    return {
        "name": found.name,
        "version": found.version,
        "contexts": found.pairs["context"].to_list(),
        "systems": None if judged is None else judged["system"].to_list(),
    }


for line in sys.stdin:
    try:
        answer = read(line.strip())
    except ScoringError as error:
        answer = {"error": error.to_dict()}
    print(json.dumps(answer), flush=True)  # noqa: T201
