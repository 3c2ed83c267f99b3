"""Evaluates Python expressions with the real clients at hand: one a line, each answered in JSON.

`api` says who it is, `stranger` does not; `load(NAME)` imports a module.
"""

import importlib
import json
import sys
from typing import Any

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi


def add(files: dict[str, str | bytes]) -> list[CommitOperationAdd]:
    """Return the operations that write some files."""
    return [
        CommitOperationAdd(path, data.encode() if isinstance(data, str) else data)
        for path, data in files.items()
    ]


def fetch(name: str, path: str, **options: Any) -> bytes:
    """Return a file of a dataset, by download."""
    with open(api.hf_hub_download(name, path, repo_type="dataset", **options), "rb") as file:  # noqa: PTH123
        return file.read()


def known(value: Any) -> Any:
    """Return what JSON can tell of a value that it does not know."""
    return value.hex() if isinstance(value, bytes) else str(value)


api, stranger = HfApi(), HfApi(token=False)
names = {
    "add": add,
    "api": api,
    "delete": CommitOperationDelete,
    "fetch": fetch,
    "load": importlib.import_module,
    "stranger": stranger,
}
for line in sys.stdin:
    try:
        answer = {"value": eval(json.loads(line), dict(names))}  # noqa: S307 - our own tests
    except Exception as error:  # noqa: BLE001 - whatever the client raises is the answer
        status = getattr(getattr(error, "response", None), "status_code", None)
        answer = {
            "error": type(error).__name__,
            "status": status,
            "message": str(error),
            "code": getattr(error, "code", None),
        }
    print(json.dumps(answer, default=known), flush=True)  # noqa: T201
