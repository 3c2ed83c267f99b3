"""Operations that change texts, each a plain function of a text and a random generator."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .falsification import (
        Falsification as Falsification,
        Refusal as Refusal,
        Statement as Statement,
    )
    from .listing import Operations as Operations, operations as operations
    from .operation import (
        Change as Change,
        FailedChangeError as FailedChangeError,
        Operation as Operation,
        Target as Target,
    )
    from .spelling import (
        find_falsification as find_falsification,
        find_operation as find_operation,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
