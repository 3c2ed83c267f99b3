"""Texts to token ids: templates, instructions, chats and protocols."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .chats.chat_choice import (
        ChatChoice as ChatChoice,
        choose_rendering as choose_rendering,
        find_chat as find_chat,
    )
    from .chats.chat_options import (
        NONE as NONE,
        Chat as Chat,
        Rendering as Rendering,
        describe_options as describe_options,
    )
    from .chats.chat_template import (
        ChatTemplate as ChatTemplate,
    )
    from .encoding.boundary import (
        Known as Known,
        find_crossings as find_crossings,
    )
    from .encoding.chat_ids import (
        chat_ids as chat_ids,
        cut_chat as cut_chat,
    )
    from .encoding.language_choice import (
        LanguageOptions as LanguageOptions,
        LanguageTeller as LanguageTeller,
        ToldLanguages as ToldLanguages,
        language_teller as language_teller,
    )
    from .encoding.languages import (
        LanguageTokens as LanguageTokens,
        language_tokens as language_tokens,
    )
    from .encoding.protocols import (
        PROTOCOLS as PROTOCOLS,
        find_protocol as find_protocol,
    )
    from .encoding.requests import (
        ChatContext as ChatContext,
        Context as Context,
        Encoded as Encoded,
        Ids as Ids,
        Keep as Keep,
        Languages as Languages,
        PairContext as PairContext,
        Reading as Reading,
        Request as Request,
        TextModel as TextModel,
        Tokenizer as Tokenizer,
        ToldContext as ToldContext,
        is_alone as is_alone,
        languages_of as languages_of,
        left_out as left_out,
    )
    from .encoding.stored_tokenizer import (
        StoredTokenizer as StoredTokenizer,
    )
    from .encoding.targets import (
        count_end_tokens as count_end_tokens,
    )
    from .encoding.templates import (
        AUTO as AUTO,
        INSTRUCTION as INSTRUCTION,
        Prompt as Prompt,
        Template as Template,
        check_template as check_template,
        choose_template as choose_template,
        family_template as family_template,
        find_plain_template as find_plain_template,
        find_template as find_template,
        instruction_templates as instruction_templates,
        render as render,
    )
    from .encoding.token_places import (
        TokenPlace as TokenPlace,
        place_tokens as place_tokens,
    )
    from .encoding.tokenizer_panics import (
        panics_refused as panics_refused,
    )
    from .encoding.tokens import (
        special_frame as special_frame,
    )
    from .encoding.unknown_characters import (
        count_unknown as count_unknown,
        knows_all as knows_all,
        unknown_token as unknown_token,
    )
    from .request_encoder import (
        RequestEncoder as RequestEncoder,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
