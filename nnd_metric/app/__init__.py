"""One function for each verb that needs the converters and the metric."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .any_data import (
        find_data as find_data,
    )
    from .checking import (
        check as check,
    )
    from .describing import (
        describe as describe,
    )
    from .exporting import (
        export as export,
    )
    from .listed_runs import (
        estimate_runs as estimate_runs,
        evaluate_runs as evaluate_runs,
    )
    from .models_of_systems import (
        JudgedModels as JudgedModels,
        judged_models as judged_models,
    )
    from .selftesting import (
        selftest as selftest,
    )
    from .showing import (
        show as show,
    )
    from .slicing import (
        slice as slice,  # noqa: A004 - as the command
    )
    from .suites import (
        suite as suite,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
