"""Loading in one thread at a time, because transformers replaces its own methods while it loads.

Two threads that load at the same time restore each other's replacements: from then on, tied weights
are missing in every model that the process loads.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partialmethod

from tqdm.auto import tqdm
from transformers import PreTrainedModel

from nnd.metric.likelihood.models.replacement import replaced
from nnd.schemas import ScoringError, check_not_forked

_LOADING = threading.RLock()
_REPLACED_BY = "transformers.initialization"


@contextmanager
def loading_alone() -> Iterator[None]:
    """Wait until no other thread loads through nnd, and hide bars that are not for a terminal.

    It can be used as a decorator.

    Raises:
        ScoringError: If another thread loads a model otherwise, or did so and broke transformers.
        NNDError: If this process was forked (`check_not_forked`).
    """
    check_not_forked()
    # Bars on a terminal only, one line each, which goes when it is done, as ours are: transformers
    # has no option for this, and does not ask what the Hub's client asks of its own.
    modest = partialmethod(tqdm.__init__, disable=None, leave=False)
    with _LOADING, replaced(tqdm, __init__=modest):
        _check_tying()
        try:
            yield
        except ScoringError as error:
            _check_tying(error)
            raise


def _check_tying(error: ScoringError | None = None) -> None:
    if PreTrainedModel.tie_weights.__module__ == _REPLACED_BY:
        raise ScoringError(
            "model.two-threads",
            "models cannot be loaded now, because another thread loads one with "
            "transformers, or two did so at the same time, after which transformers ties "
            "no weights in this process",
            remedy="load models in one thread or only through nnd, and start the process again",
        ) from error
