"""Finding the form of a text."""

from nnd.converters.make.forms.data_values import data_form
from nnd.converters.make.forms.embedded import embedded_form
from nnd.converters.make.forms.form import Form
from nnd.converters.make.forms.labelled_lines import dialogue_form, keyed_form
from nnd.converters.make.forms.prose import prose_form
from nnd.converters.make.forms.tables import table_form


def form_of(text: str) -> Form:
    """Return the form of a text."""
    return whole_form(text) or embedded_form(text, whole_form) or prose_form(text)


def whole_form(text: str) -> Form | None:
    """Return the form of a text that is data, or a dialogue, from beginning to end, or None."""
    for find in (data_form, table_form, keyed_form, dialogue_form):
        if found := find(text):
            return found
    return None
