"""Members of another library's modules, classes and objects, replaced for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(thing: Any, **members: object) -> Iterator[None]:  # noqa: ANN401 - of any kind
    """Replace members of a module, a class or an object, and restore them at the end."""
    own = {name: vars(thing)[name] for name in members if name in vars(thing)}
    for name, member in members.items():
        setattr(thing, name, member)
    try:
        yield
    finally:
        for name in members:
            if name in own:
                setattr(thing, name, own[name])
            else:
                delattr(thing, name)
