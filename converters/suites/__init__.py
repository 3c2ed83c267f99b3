"""Suites from definitions: perturbations, slices, samples and hand-made sets of one source."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .building import build_suite as build_suite
    from .definition import (
        Definition as Definition,
        built_in_definitions as built_in_definitions,
        read_definition as read_definition,
    )
    from .slicing import Slicing as Slicing
else:
    __getattr__, __dir__ = lazy_exports(__name__)
