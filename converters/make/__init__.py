"""Pairs made from pairs: perturbations, negatives, slices and suites."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .deriving import (
        derive as derive,
    )
    from .perturbing import (
        perturb as perturb,
    )
    from .suite_folder import (
        SuiteReport as SuiteReport,
        read_parents as read_parents,
        write_suite as write_suite,
    )
    from .suites.definition import (
        built_in_definitions as built_in_definitions,
        read_definition as read_definition,
    )
    from .suites.suite_building import (
        Slicing as Slicing,
        build_suite as build_suite,
    )
    from .text_operations.operation_list import (
        operations as operations,
    )
    from .text_operations.spelling import (
        find_operation as find_operation,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
