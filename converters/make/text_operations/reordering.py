"""Reordering the components of a text, as its form has them."""

from random import Random

from nnd.converters.make.forms.form import Components
from nnd.converters.make.forms.parsing import form_of
from nnd.converters.make.forms.protected import splice
from nnd.converters.make.text_operations.operation import RefusalError


def permute(text: str, random: Random) -> str:
    """Return a text with the components of each of its lists in another order.

    Separators do not move. Every other order of a list is equally likely; a list of one component,
    or of equal ones, does not change. Raises RefusalError if the only data are of an unknown form.
    """
    form = form_of(text)
    lists = [*form.lists()]
    if form.has_unknown and not lists:
        raise RefusalError("data of an unknown form")
    for components in lists:  # lists inside others come first, and keep their length
        text = _permuted(text, components, random)
    return text


def _permuted(text: str, spans: Components, random: Random) -> str:
    components = [text[start:end] for start, end in spans]
    if len(set(components)) <= 1:
        return text
    shuffled = components.copy()
    while shuffled == components:
        random.shuffle(shuffled)
    return splice(text, ((*span, new) for span, new in zip(spans, shuffled, strict=True)))
