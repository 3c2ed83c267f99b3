"""The Hugging Face Hub: commits with retries and a final check; published datasets."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .hub_calls import (
        ask as ask,
    )
    from .model_results import (
        check_pushable as check_pushable,
        push_results as push_results,
    )
    from .published_dataset import (
        Publication as Publication,
        publish as publish,
    )
    from .repository_state import (
        Repository as Repository,
        State as State,
        check_access as check_access,
        compare as compare,
        digests as digests,
        fetch as fetch,
        look as look,
    )
    from .upload import (
        push as push,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
