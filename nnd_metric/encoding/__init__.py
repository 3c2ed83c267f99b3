"""Texts to token ids: protocols, templates, and which tokens are scored."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .assembly import encode as encode
    from .boundary import Known as Known, find_crossings as find_crossings
    from .chat_ids import count_neutralised as count_neutralised
    from .protocols import (
        PROTOCOLS as PROTOCOLS,
        Protocol as Protocol,
        find_protocol as find_protocol,
    )
    from .requests import (
        ChatContext as ChatContext,
        Context as Context,
        Encoded as Encoded,
        Ids as Ids,
        Keep as Keep,
        Reading as Reading,
        Request as Request,
    )
    from .targets import make_targets as make_targets
    from .templates import (
        AUTO as AUTO,
        INSTRUCTION as INSTRUCTION,
        Prompt as Prompt,
        Template as Template,
        check_plain as check_plain,
        check_template as check_template,
        choose_template as choose_template,
        family_template as family_template,
        find_plain_template as find_plain_template,
        find_template as find_template,
        instruction_templates as instruction_templates,
        render as render,
    )
    from .tokens import special_frame as special_frame
else:
    __getattr__, __dir__ = lazy_exports(__name__)
