"""Chat templates that tests write themselves, and how tests encode by one."""

from nnd.metric.likelihood import LoadedModel
from nnd.metric.text import Chat, ChatTemplate, Encoded, Ids, Request, find_protocol, find_template
from nnd.metric.text.chats.chat_choice import choose_chat
from nnd.metric.text.encoding.assembly import encode

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def chosen(
    loaded: LoadedModel, asked: Chat | None = None, *, template: str = "default"
) -> ChatTemplate:
    """Return the chat template that is used, and fail where none is."""
    native = find_protocol("native")
    found = choose_chat(loaded, native, find_template(template), asked or Chat()).template
    assert found is not None
    return found


def encoded(loaded: LoadedModel, chat: ChatTemplate, requests: list[Request]) -> list[Encoded]:
    """Return requests in token ids, rendered by a chat template."""
    chats = chat.render([context for context, _ in requests])
    rendered = [(made, candidate) for made, (_, candidate) in zip(chats, requests, strict=True)]
    return encode(loaded, find_protocol("native"), rendered, separator=chat.separator)


def whole(row: Encoded) -> Ids:
    """Return context and candidate of a decoder-only model as one row of ids."""
    return row.context + row.inputs + row.targets[-1:]
