"""Names of classes in the tables of a dataset, whose rows number them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import polars as pl

from nnd.schemas import SourceError, load_json

ClassNames: TypeAlias = Mapping[str, Mapping[str, str]]
"""Column → number of a class → its name."""


def classes_of_card(card: Mapping[str, Any], config: object) -> ClassNames:
    """Return the classes in the metadata of a card (`dataset_info`), of one configuration."""
    infos = card.get("dataset_info")
    infos = [each for each in (infos if isinstance(infos, list) else [infos]) if _is_map(each)]
    if len(infos) > 1:
        infos = [each for each in infos if each.get("config_name") == config]
    listed = infos[0].get("features") if infos else None
    columns = [each for each in listed if _is_map(each)] if isinstance(listed, list) else []
    found = {str(each.get("name")): _names(each.get("dtype"), "class_label") for each in columns}
    return {column: names for column, names in found.items() if names}


def classes_of_parquet(path: Path) -> ClassNames:
    """Return the classes that the library `datasets` noted in a Parquet file."""
    try:
        noted = pl.read_parquet_metadata(path)["huggingface"]
        features = load_json(noted, path.name)["info"]["features"]
    except (KeyError, TypeError, OSError, SourceError, pl.exceptions.PolarsError):
        return {}
    found = {
        column: _names({"class": feature}, "class")
        for column, feature in (features.items() if _is_map(features) else ())
        if _is_map(feature) and feature.get("_type") == "ClassLabel"
    }
    return {column: names for column, names in found.items() if names}


def class_name(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - whatever a cell holds
    """Return the name of a class in place of its number; a number without a name, -1, is None."""
    is_number = isinstance(value, int) or (isinstance(value, str) and value.lstrip("-").isdecimal())
    return names.get(str(value)) if is_number else value


def _names(dtype: Any, key: str) -> dict[str, str]:  # noqa: ANN401 - as a card has it
    classes = dtype.get(key) if _is_map(dtype) else None
    names = classes.get("names") if _is_map(classes) else None
    if isinstance(names, list):
        return {str(number): str(name) for number, name in enumerate(names)}
    return {str(key): str(name) for key, name in names.items()} if _is_map(names) else {}


def _is_map(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)
