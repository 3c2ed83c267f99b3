"""The JSON Schemas themselves, whichever lie in the folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.records import RECORDS

import nnd.schemas
from nnd.schemas import SCHEMA_NAMES, check_rows, load_schema

FOLDER = Path(nnd.schemas.__file__).parent / "contract"
WRITTEN = [name for name in SCHEMA_NAMES if name not in RECORDS]
"""Those that are written by hand, with examples."""


def whole(schema: Any, root: Mapping[str, Any]) -> Any:
    """Return a schema with what its references stand for in their place; its own words win."""
    if isinstance(schema, list):
        return [whole(part, root) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    own = {key: whole(part, root) for key, part in schema.items() if key not in ("$ref", "$defs")}
    if "$ref" not in schema:
        return own
    name, _, place = schema["$ref"].partition("#")
    other: Any = load_schema(name.removeprefix("urn:nnd:schema:")) if name else root
    referred = other
    for key in place.split("/")[1:]:
        referred = referred[key]
    return whole(referred, other) | own


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


def resolved(name: Any) -> Mapping[str, Any]:
    schema = load_schema(name)
    return whole(schema, schema)  # type: ignore[no-any-return]


def properties_of(name: Any) -> dict[str, Mapping[str, Any]]:
    return dict(described(resolved(name)))


def example(spec: Mapping[str, Any]) -> Any:
    """Return the first example of a property, or one made from those of its parts."""
    if "examples" in spec:
        return spec["examples"][0]
    if "oneOf" in spec:
        return example(spec["oneOf"][0])
    if "items" in spec:
        return [example(spec["items"])]
    if "properties" in spec:
        return {name: example(part) for name, part in spec["properties"].items()}
    return {"some": example(spec["additionalProperties"])}


def test_the_files_are_the_schema_names() -> None:
    found = {path.name.removesuffix(".schema.json") for path in FOLDER.glob("*.schema.json")}

    assert found == set(SCHEMA_NAMES)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_it_is_closed_valid_draft_2020_12_and_named_after_its_file(name: Any) -> None:
    schema = load_schema(name)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)
    assert (schema["title"], schema["$id"]) == (name, f"urn:nnd:schema:{name}")
    assert resolved(name)["additionalProperties"] is False


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_every_property_has_a_description(name: Any) -> None:
    properties = properties_of(name)

    assert properties
    assert [path for path, spec in properties.items() if not spec.get("description")] == []


@pytest.mark.parametrize("name", WRITTEN)
def test_every_property_without_parts_has_examples(name: Any) -> None:
    lacking = [
        path
        for path, spec in properties_of(name).items()
        if "examples" not in spec and not dict(described(spec))
    ]

    assert lacking == []


@pytest.mark.parametrize("name", WRITTEN)
def test_every_example_is_valid(name: Any) -> None:
    wrong = [
        (path, error.message)
        for path, spec in properties_of(name).items()
        for one in spec.get("examples", ())
        for error in Draft202012Validator(spec).iter_errors(one)
    ]

    assert wrong == []


@pytest.mark.parametrize("name", WRITTEN)
def test_the_first_examples_together_make_a_valid_row(name: Any) -> None:
    properties = resolved(name)["properties"]
    row = {column: example(spec) for column, spec in properties.items()}

    assert list(check_rows(name, [row])) == []


def test_the_walk_over_properties_goes_into_items_and_branches() -> None:
    # Or the tests above would pass by looking at nothing.
    paths = {path for path, _ in described(load_schema("source"))}

    assert {
        "/name",
        "/files/items/sha256",
        "/$defs/rule/rule",
        "/$defs/rule/allOf/then/minimum",
    } <= paths
    assert "/taxonomy/additionalProperties/group" in paths
    rates = "/results/items/by_aspect/additionalProperties"  # behind two references
    assert f"{rates}/baselines/shorter_wins/oneOf/pass_rate" in properties_of("result")
