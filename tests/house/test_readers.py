"""Data is read by one reader of JSON and one of cells; every other call is listed."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
ROOMS = ("schemas", "converters", "nnd_metric", "cards")

JSON = {
    "cards/guide/build.py": "a notebook of the guide",
    "converters/make/forms/data_values.py": "a text in the form of JSON, to be written again",
    "converters/onboard/check/separate_run.py": "lines of our own process, with any character",
    "nnd_metric/likelihood/engine/likelihood_cache.py": "a sealed proof, compared as a text",
    "nnd_metric/likelihood/models/model_digests.py": "what the library tokenizers has just written",
    "nnd_metric/run/parts/run_plan.py": "what was written in the same line",
    "nnd_metric/run/sealed_rows.py": "facts under a digest that has been checked",
    "nnd_metric/run/stored_results.py": "a proof under the store's digest",
    "nnd_metric/text/encoding/tokens.py": "what the library tokenizers has just written",
    "nnd_metric/text/encoding/unknown_characters.py": "what tokenizers has just written",
    "nnd_metric/train/training_folder.py": "what was written two lines above",
    "schemas/contract/schemas.py": "a schema of this package",
    "schemas/files/documents.py": "what was written in the same line",
}
"""Files that call `json.load` or `json.loads`, none of them on data, and what each reads."""

CELLS = {"schemas/reading/records.py": "the reader"}


def callers(*names: str) -> set[str]:
    return {path for path, found in names_in_code().items() if not found.isdisjoint(names)}


@cache
def names_in_code() -> dict[str, set[str]]:
    paths = [path for room in ROOMS for path in (REPOSITORY / room).rglob("*.py")]
    return {path.relative_to(REPOSITORY).as_posix(): {*names_in(path)} for path in paths}


def names_in(path: Path) -> Iterator[str]:
    """Yield names such as `json.loads`, called or handed on, and those imported from a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_json_of_others_has_one_reader() -> None:
    assert callers("json.loads", "json.load") == JSON.keys()


def test_no_file_of_json_is_read_through_another_library() -> None:
    others = ("pl.read_json", "pl.read_ndjson", "pl.scan_ndjson", "orjson.loads", "pd.read_json")
    assert not callers(*others)
    decoders = {"schemas/reading/records.py", "converters/make/forms/embedded.py"}
    assert callers("json.JSONDecoder") == decoders


def test_cells_have_one_reader() -> None:
    assert callers("csv.reader", "csv.DictReader", "pl.read_csv", "pl.scan_csv") == CELLS.keys()
