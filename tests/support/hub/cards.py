"""The metadata of a README, and what the Hub finds wrong with it."""

import re
from typing import Any

import yaml

MOST = {"*": 50, "[": 1_000, "{": 1_000}
"""Signs in metadata that is read: aliases are written out in JSON, and brackets take long."""

FRONT = re.compile(r"\A\s*---[ \t]*\r?\n(.*?)(\r?\n)?---[ \t]*(\r?\n|\Z)", re.DOTALL)


def metadata(readme: bytes) -> dict[str, Any]:
    """Return the metadata of a README; of one whose metadata is wrong, none."""
    try:
        front = _front(readme.decode()) or ""
        found = (
            yaml.safe_load(front) if all(front.count(each) < MOST[each] for each in MOST) else {}
        )
    except (ValueError, RecursionError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}


def faults(readme: str) -> list[str]:
    """Return what keeps the Hub from accepting a README."""
    front = _front(readme)
    if front is None:
        return []
    try:
        found = yaml.safe_load(front)
    except yaml.YAMLError as error:
        return [f"YAML Metadata Error: {error}"]
    if not isinstance(found, dict):
        return ["YAML Metadata Error: metadata must be a mapping"]
    wrong = [name for name in ("license", "language", "tags") if not _words(found.get(name, []))]
    problems = [f'"{name}" must be a string or a list of strings' for name in wrong]
    if not _configs(found.get("configs", [])):
        problems.append('"configs" must be a list of mappings that have a "config_name"')
    return problems


def warnings(readme: str) -> list[str]:
    """Return what the Hub would like better in a README."""
    return [] if _front(readme) else ["empty or missing yaml metadata in repo card"]


def _front(readme: str) -> str | None:
    found = FRONT.match(readme)
    return None if found is None else found[1]


def _words(value: object) -> bool:
    # YAML reads the language code `no` as false, which the Hub refuses too.
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(word, str) for word in value)
    )


def _configs(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(config, dict) and isinstance(config.get("config_name"), str) for config in value
    )
