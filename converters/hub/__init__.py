"""Commits to the Hub, with retries and a final check; independent of NND."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .asking import ask as ask
    from .errors import UnreachableError as UnreachableError
    from .patience import Patience as Patience
    from .state import (
        Adapt as Adapt,
        Change as Change,
        Obsolete as Obsolete,
        Repository as Repository,
        State as State,
        check_name as check_name,
        check_token as check_token,
        compare as compare,
        digest as digest,
        digests as digests,
        fetch as fetch,
        is_same as is_same,
        look as look,
    )
    from .upload import (
        Pushed as Pushed,
        check_place as check_place,
        push as push,
        put_tag as put_tag,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
