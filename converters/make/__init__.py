"""Pairs made from pairs: perturbations, negatives, slices and suites."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .deriving import (
        derive as derive,
    )
    from .suite_folder import (
        SuiteReport as SuiteReport,
    )
    from .suites.definition import (
        read_definition as read_definition,
    )
    from .suites.suite_building import (
        Slicing as Slicing,
        build_suite as build_suite,
    )
    from .text_operations.operation_list import (
        operations as operations,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
