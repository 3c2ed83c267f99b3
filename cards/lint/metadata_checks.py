"""Checks of a card's metadata: what the Hub would refuse, and what contradicts the data."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nnd.cards.content import CardContent
from nnd.cards.front_matter import configs, metadata
from nnd.cards.vocabulary import ANNOTATORS, LICENCES, SOURCE_DATASET, TASK_CATEGORIES
from nnd.schemas import Problem, load_yaml

_WHERE = "metadata"
_DERIVED = ("license", "size_categories", "language", "language_details")
_STATED = ("pretty_name", "tags")
_ENUMS = {"task_categories": TASK_CATEGORIES, "annotations_creators": ANNOTATORS}
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_BCP_47 = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_SIZE = re.compile(r"n<1K|\d+[KMB]?<n<\d+[KMBT]|n>1T")


def check_metadata(head: str | None, content: CardContent) -> Iterator[Problem]:
    """Yield every problem of the YAML at the head of a card."""
    if head is None:
        remedy = "begin the card with metadata between two lines of ---"
        yield Problem(None, _WHERE, "the metadata is missing", remedy)
        return
    try:
        stated = load_yaml(head)
    except Exception as error:  # noqa: BLE001 - PyYAML lets ValueError, KeyError and others through
        yield Problem(None, _WHERE, f"not valid YAML: {error}", "fix it")
        return
    if isinstance(stated, dict):
        yield from _check_values(stated, content)
        yield from _check_stated(stated)
        yield from _check_configs(stated.get("configs"), configs(content))
    else:
        yield Problem(None, _WHERE, "is not a mapping", "write a line `key: value` for each key")


def _check_values(found: Mapping[str, Any], content: CardContent) -> Iterator[Problem]:
    expected = metadata(content).to_dict()  # type: ignore[no-untyped-call]
    for key in _DERIVED:
        if found.get(key) != expected.get(key):
            path = f"{_WHERE}/{key}"
            remedy = f"write {expected.get(key) or 'nothing'}, as follows from the data"
            yield Problem(None, path, _fault(key, found.get(key)), remedy)
    for key in _STATED:
        if not found.get(key):
            yield Problem(None, f"{_WHERE}/{key}", "is missing", f"write {expected[key]}")
    if "dataset_info" in found:
        remedy = "leave it out: the Parquet files state it, and loading fails if it is wrong"
        yield Problem(None, f"{_WHERE}/dataset_info", "is not needed", remedy)


def _check_stated(found: Mapping[str, Any]) -> Iterator[Problem]:
    """Check facts that only people know: they may be missing, but must be in the Hub's terms."""
    for key, known in _ENUMS.items():
        for value in _listed(found.get(key)):
            if str(value) not in known:
                remedy = f"known: {', '.join(sorted(known))}"
                yield Problem(None, f"{_WHERE}/{key}", f"the Hub knows no {value!r}", remedy)
    for value in _listed(found.get("source_datasets")):
        if not SOURCE_DATASET.fullmatch(str(value)):
            message = f"{value!r} does not have the right form"
            remedy = "write original, extended|NAME or ORG/NAME"
            yield Problem(None, f"{_WHERE}/source_datasets", message, remedy)


def _fault(key: str, value: Any) -> str:  # noqa: ANN401 - whatever the YAML held
    forms = {"language": _LANGUAGE, "language_details": _BCP_47, "size_categories": _SIZE}
    if value is None:
        return "is missing"
    if key == "license" and str(value) not in LICENCES:
        return f"the Hub knows no licence {value!r}"
    if key in forms and not all(forms[key].fullmatch(str(each)) for each in _listed(value)):
        return f"{value!r} is not in the form that the Hub accepts"
    return f"{value!r} does not follow from the data"


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - whatever the YAML held
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _check_configs(
    found: Any,  # noqa: ANN401 - whatever the YAML held
    expected: list[dict[str, Any]],
) -> Iterator[Problem]:
    """Check the default, its description, and that each published file is under its split."""
    path = f"{_WHERE}/configs"
    if not isinstance(found, list) or not all(isinstance(config, dict) for config in found):
        yield Problem(None, path, "is not a list of configurations", f"write {expected}")
        return
    defaults = [config.get("config_name") for config in found if config.get("default")]
    first = expected[0]["config_name"]
    if defaults != [first]:
        message = f"the default is {' and '.join(map(str, defaults)) or 'none'}"
        remedy = f"write `default: true` for {first} and for nothing else"
        yield Problem(None, path, message, remedy)
    words = expected[0].get("description")
    if any(
        config.get("config_name") == first and config.get("description") != words
        for config in found
    ):
        message = f"the description of {first} is not the instruction of the data"
        yield Problem(None, path, message, f"write {words or 'none'}")
    files, wanted = _files(found), _files(expected)
    for key in sorted(wanted.keys() | files.keys()):
        name = " ".join(key)
        if key not in files:
            yield Problem(None, path, f"{name} is missing", f"give it as {wanted[key]}")
        elif key not in wanted:
            yield Problem(None, path, f"{name} does not exist", "leave it out")
        elif files[key] != wanted[key]:
            message = f"{name} is not published as {files[key]}"
            yield Problem(None, path, message, f"write {wanted[key]}")


def _files(listed: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Return (configuration, split) → path."""
    return {
        (str(config.get("config_name")), str(entry.get("split"))): str(entry.get("path"))
        for config in listed
        for entry in _listed(config.get("data_files"))
        if isinstance(entry, dict)
    }
