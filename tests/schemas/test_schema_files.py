"""The JSON Schemas themselves, whichever lie in the folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import nnd.schemas
from nnd.schemas import SCHEMA_NAMES, check_rows, load_schema

FOLDER = Path(nnd.schemas.__file__).parent
PRESENT = [name for name in SCHEMA_NAMES if (FOLDER / f"{name}.schema.json").is_file()]


def described(schema: object, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every property of a schema, at any depth, with its path."""
    if isinstance(schema, Mapping):
        for name, spec in schema.get("properties", {}).items():
            # `true` (checked elsewhere) and a bare `const` (a condition) describe nothing.
            if isinstance(spec, Mapping) and set(spec) != {"const"}:
                yield f"{path}/{name}", spec
        for key, part in schema.items():
            yield from described(part, f"{path}/{key}" if key != "properties" else path)
    if isinstance(schema, list):
        for part in schema:
            yield from described(part, path)


def has_parts(spec: Mapping[str, Any]) -> bool:
    """Whether the parts of a value are described, and have the examples."""
    return "properties" in spec or "$ref" in str(spec)


def first_example(spec: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    """The first example of a value, put together from those of its parts."""
    match spec:
        case {"examples": [first, *_]}:
            return first
        case {"$ref": str(place)}:
            return first_example(schema["$defs"][place.removeprefix("#/$defs/")], schema)
        case {"oneOf": [part, *_]} | {"anyOf": [part, *_]}:
            return first_example(part, schema)
        case {"properties": parts}:
            return {name: first_example(part, schema) for name, part in parts.items()}
        case {"items": part}:
            return [first_example(part, schema)]
        case {"additionalProperties": Mapping() as part}:
            return {"some name": first_example(part, schema)}
    raise AssertionError(f"there is no example in {spec}")


def test_the_files_are_the_schema_names() -> None:
    found = {path.name.removesuffix(".schema.json") for path in FOLDER.glob("*.schema.json")}

    assert found == set(SCHEMA_NAMES)


@pytest.mark.parametrize("name", PRESENT)
def test_it_is_valid_draft_2020_12(name: Any) -> None:
    schema = load_schema(name)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", PRESENT)
def test_it_is_named_after_its_file(name: Any) -> None:
    schema = load_schema(name)

    assert (schema["title"], schema["$id"]) == (name, f"urn:nnd:schema:{name}")


@pytest.mark.parametrize("name", PRESENT)
def test_every_property_has_a_description_and_every_leaf_an_example(name: Any) -> None:
    properties = dict(described(load_schema(name)))

    assert properties
    lacking = [
        path
        for path, spec in properties.items()
        if not (spec.get("description") and ("examples" in spec or has_parts(spec)))
    ]
    assert lacking == []


@pytest.mark.parametrize("name", PRESENT)
def test_every_example_is_valid(name: Any) -> None:
    schema = load_schema(name)
    shared = {"$defs": schema.get("$defs", {})}
    wrong = [
        (path, error.message)
        for path, spec in described(schema)
        for example in spec.get("examples", [])
        for error in Draft202012Validator(shared | dict(spec)).iter_errors(example)
    ]

    assert wrong == []


@pytest.mark.parametrize("name", PRESENT)
def test_the_first_examples_together_make_a_valid_row(name: Any) -> None:
    schema = load_schema(name)
    row = first_example(schema, schema)

    assert list(check_rows(name, [row])) == []


@pytest.mark.parametrize("name", PRESENT)
def test_nothing_but_the_named_columns_is_allowed(name: Any) -> None:
    assert load_schema(name)["additionalProperties"] is False


def test_the_walk_over_properties_goes_into_items_and_branches() -> None:
    # Or the tests above would pass by looking at nothing.
    paths = {path for path, _ in described(load_schema("source"))}

    assert {"/name", "/files/items/sha256", "/quality/rule", "/quality/allOf/then/minimum"} <= paths
    assert "/taxonomy/additionalProperties/group" in paths
