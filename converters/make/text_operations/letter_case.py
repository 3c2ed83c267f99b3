"""Writing all letters in one case."""

from random import Random

from nnd.converters.make.text_operations.protected import free_spans

CASES = ("lower", "upper")


def change_case(text: str, _random: Random, *, case: str) -> str:
    """Return a text in lower or upper case; names of speakers and addresses stay as they are."""
    pieces, after = list[str](), 0
    for start, end in free_spans(text):
        inside = text[start:end]
        pieces += [text[after:start], inside.lower() if case == "lower" else inside.upper()]
        after = end
    return "".join([*pieces, text[after:]])
