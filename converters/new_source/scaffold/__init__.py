"""Writing the folder of a new source from a guess."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .facts import TO_FILL as TO_FILL, UNDETERMINED as UNDETERMINED
    from .outcome import NewSource as NewSource
    from .scaffolding import new_source as new_source
    from .yaml import LEFT as LEFT
else:
    __getattr__, __dir__ = lazy_exports(__name__)
