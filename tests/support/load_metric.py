"""Loads the metric with `evaluate.load` and computes, in a process of its own.

Standard input: {"path", "without_package", "calls": [arguments of compute]}. Standard output:
{"module": where the class is, "package": whether nnd can be imported, "answers": [results]}.
"""

import importlib.util
import json
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


def main() -> None:
    plan = json.load(sys.stdin)
    if plan["without_package"]:
        sys.meta_path.insert(0, Refuser())
    import evaluate  # noqa: PLC0415 - after the package is hidden

    found: dict[str, Any] = {"package": has_package()}
    try:
        metric = evaluate.load(plan["path"])
        found["module"] = type(metric).__module__
        found["answers"] = [metric.compute(**call) for call in plan["calls"]]
    except Exception as error:  # noqa: BLE001 - whatever it is, the test will look at it
        found["error"] = f"{type(error).__name__}: {error}"
    json.dump(found, sys.stdout, allow_nan=False)


if __name__ == "__main__":
    main()
