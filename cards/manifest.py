"""The form of a manifest, as far as a card is made of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from nnd.schemas import Problem, check_rows, excerpt

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_NUMBER = {"type": "number"}
_COUNT = {"type": "integer", "minimum": 0}


def _object(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - schemas
    return {"type": "object", "required": list(properties), "properties": properties}


def _objects(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - schemas
    return {"type": "array", "items": _object(**properties)}


_LENGTHS = _object(
    n=_COUNT,
    mean_characters_high=_NUMBER,
    mean_characters_low=_NUMBER,
    longer_wins=_NUMBER,
    shorter_wins=_NUMBER,
)
_LOOKS = _object(
    n=_COUNT,
    lower_cased=_NUMBER,
    tokenised=_NUMBER,
    doubled_spaces=_NUMBER,
    control_characters=_NUMBER,
    wrongly_decoded=_NUMBER,
)
_FORM = _object(
    nnd_version=_TEXT,
    files=_objects(
        name=_TEXT,
        bytes=_COUNT,
        sha256=_TEXT,
        verified={"type": "boolean"},
    ),
    dropped=_objects(n=_COUNT, what=_TEXT, why=_TEXT),
    oddities=_TEXTS,
    normalised=_TEXTS,
    hygiene=_object(
        systems={"type": "object", "additionalProperties": _LOOKS},
        contexts=_object(n=_COUNT, wrongly_decoded=_NUMBER),
        pairs=_object(
            overall=_LENGTHS, by_error_category={"type": "object", "additionalProperties": _LENGTHS}
        ),
    ),
)
_RELEASED = {
    "accept_changed": _TEXT,
    "permission": _TEXT,
    "unverified": _TEXT,
    "contacts": {
        "oneOf": [
            _object(redacted=_object(email=_COUNT, ip=_COUNT)),
            _object(kept=_TEXT),
        ]
    },
}
"""What publishing adds, and converting where a reason was given."""

_VALIDATOR = Draft202012Validator({**_FORM, "properties": {**_FORM["properties"], **_RELEASED}})


def check_form(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what a card cannot be made of; the path of a problem is the part of the manifest.

    Args:
        manifest: Of a converted or published folder.
    """
    for error in _VALIDATOR.iter_errors(manifest):
        path = "/".join(str(part) for part in error.absolute_path)
        yield Problem(None, path, excerpt(error.message, 200), "convert the source again")
    for problem in check_rows("source", [manifest.get("source", {})]):
        yield Problem(None, f"source/{problem.path}", problem.message, problem.remedy)
