"""What a model is asked, as a card shows it: the instruction, its origin, and a request."""

from nnd.cards.content import CardContent
from nnd.cards.markdown import Table, code, escape, prose
from nnd.schemas import StoredContext, choose_examples, counted, fill_wording

ASKED = "What a model is asked"
"""Title of the section."""

_HEAD, _TAIL = 600, 300
"""Number of characters at both ends of a long request that are shown."""


def asked_sentences(content: CardContent) -> list[str]:
    """Return who worded the instruction, or why there is none."""
    origin, alone = content.source.get("instruction_from"), "Models read the context alone."
    if origin is None:
        return [f"The source does not say what people asked the systems. {alone}"]
    if content.instruction is None:
        return [f"The contexts are the requests themselves. {prose(origin)}"]
    paraphrases = counted(len(content.instruction.wordings) - 1, "paraphrase")
    words = "A chat model is asked in these words; names in braces stand for parts of the context."
    return [f"{words} {prose(origin)} `manifest.json` has {paraphrases} as well."]


def instruction_table(content: CardContent) -> Table:
    """Return the words for each kind of context that the data has."""
    rows = [(code(kind) if kind else "all", escape(text)) for kind, text in _words(content).items()]
    return Table(("contexts", "words"), "ll", rows)


def _words(content: CardContent) -> dict[str, str]:
    """Return kind of contexts → words, for the kinds in the data; "" means all."""
    kinds = {"", *content.pairs["category"], *content.pairs["language"]}
    words = content.instruction.wordings[0] if content.instruction is not None else {}
    return {kind: text for kind, text in words.items() if kind in kinds}


def description(content: CardContent) -> str | None:
    """Return the instruction as plain text, which `datasets` shows; None without one."""
    words = _words(content)
    return "\n\n".join(f"{kind}:\n{text}" if kind else text for kind, text in words.items()) or None


def example_request(content: CardContent) -> list[str]:
    """Return lines of Markdown that quote what is asked of one pair; a long text is cut."""
    if content.instruction is None or content.pairs.is_empty():
        return []
    (pair,) = choose_examples(content.pairs, 1).iter_rows(named=True)
    parts = {part["key"]: part["value"] for part in pair["inputs"]}
    context = StoredContext.of(pair["context"], parts, pair["category"], pair["language"])
    text = "".join(fill_wording(content.instruction.wordings[0], context))
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD].rstrip()} …\n\n… {text[-_TAIL:].lstrip()}"
    lines = [escape(line) for line in text.strip().split("\n")]
    # A backslash at the end of a line keeps the line break.
    return [
        f"> {line}" + ("\\" if after else "") if line else ">"
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    ]
