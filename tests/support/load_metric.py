"""Loads the metric with `evaluate.load` and computes, each time in a process of its own.

Libraries are imported once, and children are forked. Standard input: a list of {"path", "folder":
where it runs, "first": a folder whose modules go first, or null, "without_package", "calls":
[arguments of compute]}. Standard output: of each {"module": where the class is, "package": whether
nnd can be imported, "answers": [results]}.
"""

import gc
import importlib.util
import json
import os
import sys
from typing import Any


class Refuser:
    """Stands before all other finders and finds nothing that the distribution installs."""

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] in ("nnd", "near_negative"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def has_package() -> bool:
    try:
        return importlib.util.find_spec("nnd.metric") is not None
    except ModuleNotFoundError:
        return False


def load(plan: dict[str, Any]) -> dict[str, Any]:
    import evaluate  # noqa: PLC0415 - of this module, others need but the class above

    os.chdir(plan["folder"])
    if plan["first"] is not None:
        sys.path.insert(0, plan["first"])
    if plan["without_package"]:
        sys.meta_path.insert(0, Refuser())
    found: dict[str, Any] = {"package": has_package()}
    try:
        metric = evaluate.load(plan["path"])
        found["module"] = type(metric).__module__
        found["answers"] = [metric.compute(**call) for call in plan["calls"]]
    except Exception as error:  # noqa: BLE001 - whatever it is, the test will look at it
        found["error"] = f"{type(error).__name__}: {error}"
    return found


def load_in_child(plan: dict[str, Any]) -> dict[str, Any]:
    theirs, ours = os.pipe()
    child = os.fork()
    if not child:
        os.close(theirs)
        with open(ours, "w", encoding="utf-8") as answer:  # noqa: PTH123 - a pipe
            json.dump(load(plan), answer, allow_nan=False)
        os._exit(0)
    os.close(ours)
    with open(theirs, encoding="utf-8") as answer:  # noqa: PTH123
        text = answer.read()
    os.waitpid(child, 0)
    found: dict[str, Any] = json.loads(text)
    return found


def main() -> None:
    import evaluate  # noqa: F401, PLC0415 - once for all children
    import transformers.models.auto.modeling_auto  # noqa: F401, PLC0415 - which imports torch

    gc.freeze()  # a collection in a child would copy all that it visits
    json.dump([load_in_child(plan) for plan in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
