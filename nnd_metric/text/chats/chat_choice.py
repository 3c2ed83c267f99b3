"""Whether a model's contexts are rendered as chats, and by which template."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from nnd.metric.text.chats.chat_options import NONE, Chat, Rendering
from nnd.metric.text.chats.chat_shape import REMEDY
from nnd.metric.text.chats.chat_template import ChatTemplate, make_chat_template
from nnd.metric.text.encoding.chat_ids import count_neutralised
from nnd.metric.text.encoding.language_choice import LanguageOptions, language_teller
from nnd.metric.text.encoding.protocols import Protocol
from nnd.metric.text.encoding.requests import TextModel, Tokenizer
from nnd.metric.text.encoding.templates import Template, choose_template, find_template
from nnd.schemas import Instruction, ScoringError, StoredContext


class ChatChoice(NamedTuple):
    """How a model's contexts are rendered: as chats, or as plain text if there is no template.

    `reason` states the choice and its reason, in a sentence that begins with "contexts are".
    `caveats` about the numbers are a sentence each.
    """

    asked: Chat
    template: ChatTemplate | None
    separator: str
    reason: str
    caveats: tuple[str, ...] = ()

    def stored(self) -> Rendering:
        """Return the choice as results store it."""
        chosen = self.template
        if chosen is None:
            return Rendering("none", self.asked.stored(), self.reason)
        return Rendering(
            template=chosen.digest,
            asked=self.asked.stored(),
            reason=self.reason,
            source=chosen.source,
            system=chosen.system,
            arguments=chosen.renderer.arguments,
            date=chosen.date,
            bos=chosen.writes_bos,
            end=chosen.end,
            end_scored=False,
            neutralised=count_neutralised(chosen.renderer.tokenizer, [*chosen.rendered.values()]),
        )


def choose_rendering(
    loaded: TextModel,
    protocol: Protocol,
    asked: Chat,
    template: str | None,
    *,
    contexts: Iterable[StoredContext] = (),
    instruction: Instruction | None = None,
    separator: str | None = None,
    has_contexts: bool = True,
    languages: LanguageOptions | None = None,
) -> tuple[Template, ChatChoice]:
    """Choose how a model's contexts become text, and whether the text becomes a chat.

    The arguments are those of `choose_template`, `choose_chat` and `language_teller`. `template` is
    None for what the model reads by itself; `separator` is None for that of the template.
    """
    as_chat = _why_plain(loaded, protocol, asked, has_contexts=has_contexts) is None
    chosen = choose_template(template, loaded.name, contexts, instruction, as_chat=as_chat)
    if chosen.as_pair and protocol.hides is None:
        raise ScoringError(
            "template.chat",
            f'template "{chosen.name}" is for masked language models, and protocol '
            f'"{protocol.name}" is not',
            loaded.name,
            "use --template default, or nnd evaluate --protocol pll",
        )
    if chosen.system is not None and asked.system is not None:
        chosen = find_template("chat-turns")  # the user's words take the place of the instruction
    if separator is not None:
        chosen = replace(chosen, separator=separator)
    if (teller := language_teller(loaded, languages, chosen.literals)) is not None:
        chosen = replace(chosen, languages=teller)
    return chosen, choose_chat(loaded, protocol, chosen, asked, has_contexts=has_contexts)


def choose_chat(
    loaded: TextModel,
    protocol: Protocol,
    template: Template,
    asked: Chat,
    *,
    has_contexts: bool = True,
) -> ChatChoice:
    """Choose how a model's contexts are rendered.

    `template` renders contexts before they become the turn of a user. Only protocols that score the
    candidate's own tokens allow a chat template. Without contexts (`has_contexts`), nothing asks
    for an answer, so texts are read from their beginning unless a chat template is asked for.
    Raises ScoringError if one was requested and cannot be used.
    """
    asked.check(protocol)
    reason = _why_plain(loaded, protocol, asked, has_contexts=has_contexts)
    if reason is not None:
        if asked.is_explicit:
            raise ScoringError(
                "template.chat",
                f"a chat template cannot be used, because {reason}",
                loaded.name,
                "leave out --chat-template, --system-prompt and --template-arg",
            )
        if template.as_turns:
            raise ScoringError(
                "template.chat",
                f'template "{template.name}" needs a chat template, but {reason}',
                loaded.name,
            )
        note = f"contexts are read as plain text, because {reason}"
        return ChatChoice(asked, None, template.separator, note)
    chosen = find_chat(loaded.tokenizer, asked, name=loaded.name, template=template)
    caveats = chosen.caveats
    if where := loaded.says_base():
        caveat = (
            f"the {where} of the model says that it is a base model, but its contexts were "
            "rendered as chats; use --chat-template none for plain text"
        )
        caveats = (*caveats, caveat)
    whose = "its tokenizer's" if asked.file is None else "the given"
    return ChatChoice(
        asked,
        chosen,
        chosen.separator,
        f"contexts are rendered as a user's turns and candidates as the answers, with {whose} "
        f"chat template (chat:{chosen.digest}); use --chat-template none for plain text",
        caveats,
    )


def _why_plain(
    loaded: TextModel, protocol: Protocol, asked: Chat, *, has_contexts: bool
) -> str | None:
    if loaded.is_encoder_decoder:
        return "the model is an encoder-decoder"
    if protocol.tokens != "native":
        return f"protocol {protocol.name} fixes how contexts are read"
    if asked.template == NONE:
        return "--chat-template is none"
    if asked.file is None and not getattr(loaded.tokenizer, "chat_template", None):
        return "its tokenizer has no chat template"
    if not (has_contexts or asked.is_explicit):
        return "the data has no contexts"
    return None


def find_chat(tokenizer: Tokenizer, asked: Chat, *, name: str, template: Template) -> ChatTemplate:
    """Return the chat template from the given file, or else the tokenizer's own."""
    if asked.file is not None:
        text = asked.read_file()
    else:
        try:
            text = tokenizer.get_chat_template()
        except ValueError as error:
            found = "several chat templates, but no default"
            if not tokenizer.chat_template:
                found = "no chat template"
            raise ScoringError(
                "template.chat", f"the tokenizer has {found}", name, REMEDY
            ) from error
    words = template.system if asked.system is None else None
    if words is None:
        return make_chat_template(tokenizer, text, asked, name=name, template=template)
    try:
        with_words = replace(asked, system=words)
        return make_chat_template(tokenizer, text, with_words, name=name, template=template)
    except ScoringError as error:
        raise ScoringError(
            "template.chat",
            f"the instruction of the data would be the turn of the system, but {error.what}",
            error.where or name,
            f"{error.remedy}, or use --template chat-turns, which leaves the instruction out",
        ) from error
