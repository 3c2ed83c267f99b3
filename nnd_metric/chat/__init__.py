"""Chat templates: a context as the turn of a user, the candidate as that of the assistant."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .choice import (
        ChatChoice as ChatChoice,
        choose_chat as choose_chat,
        choose_rendering as choose_rendering,
        find_chat as find_chat,
    )
    from .options import (
        AUTO as AUTO,
        NONE as NONE,
        Chat as Chat,
        describe_options as describe_options,
    )
    from .template import ChatTemplate as ChatTemplate
else:
    __getattr__, __dir__ = lazy_exports(__name__)
