"""Checks of the form of a manifest."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nnd.schemas import Problem, check_rows


def check_form(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with a manifest; the path of a problem is the part of the manifest.

    Args:
        manifest: The manifest of a converted or published folder.
    """
    for problem in check_rows("manifest", [manifest]):
        yield replace(problem, row=None)
