"""Watching the forward passes of an engine from outside: a hook would make another model of it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from nnd.metric.likelihood import replaced
from nnd.metric.likelihood.engine import execution, proof, refused_models
from nnd.metric.likelihood.engine.model_state import as_found


@contextmanager
def watching(each: Callable[[], object]) -> Iterator[None]:
    """Call `each` before every batch that a model reads, and before every request alone."""

    def watched(model: Any) -> AbstractContextManager[None]:
        each()
        return as_found(model)

    with ExitStack() as stack:
        for module in (execution, proof, refused_models):
            stack.enter_context(replaced(module, as_found=watched))
        yield
