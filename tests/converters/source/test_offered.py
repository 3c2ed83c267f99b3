"""CONTRIBUTING lists what a convert.py can ask of `Files` and of a `Record`, and nothing else."""

import inspect
import re

import pytest
from support.places import ROOT

from nnd.converters.source import Files
from nnd.schemas import FileRecord

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
OF_CONVERT = {"digests", "check_declared"}
"""Methods of `Files` that `nnd convert` calls once the converter has run."""


@pytest.mark.parametrize(("kind", "name"), [(Files, "files"), (FileRecord, "record")])
def test_the_page_lists_every_method_with_its_parameters(kind: type, name: str) -> None:
    listed = re.findall(rf"^\| `{name}\.(\w+)(\(.*?\))` \| (.+) \|$", PAGE, re.MULTILINE)
    methods = inspect.getmembers(kind, inspect.isfunction)

    assert {(method, parameters) for method, parameters, _ in listed} == {
        (method, _parameters(function))
        for method, function in methods
        if not method.startswith("_") and method not in OF_CONVERT
    }


def _parameters(function: object) -> str:
    """The parameters as they are written, without annotations and `self`."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    plain = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in list(signature.parameters.values())[1:]
    ]
    return str(inspect.Signature(plain))
