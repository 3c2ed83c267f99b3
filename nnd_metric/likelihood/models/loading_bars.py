"""Progress bars of other libraries, which load models, shown as ours are."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partialmethod

from tqdm.auto import tqdm


@contextmanager
def modest_bars() -> Iterator[None]:
    """Show bars on a terminal only, one line each, which goes when it is done.

    transformers has no option for this, and does not ask what the Hub's client asks of its own.
    """
    create = tqdm.__init__
    tqdm.__init__ = partialmethod(create, disable=None, leave=False)  # type: ignore[assignment]
    try:
        yield
    finally:
        tqdm.__init__ = create  # type: ignore[method-assign]
