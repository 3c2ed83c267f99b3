"""Pairs in the formats of other tools."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .every_eval_ever import (
        StoredRun as StoredRun,
        write_every_eval_ever as write_every_eval_ever,
    )
    from .exporting import (
        Export as Export,
        export as export,
    )
    from .prompt_rendering import (
        STORED as STORED,
        PromptRendering as PromptRendering,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
