"""What transformers warns of while a model is loaded or runs, for the notes of its numbers.

Its log is shown at terminals only, and each warning once in a process.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from nnd.schemas import excerpt

_DROPPED: Final = {
    r"is deprecated|will be (removed|deprecated)": "names of arguments in code",
    r"generation|generate\(|`?use_cache": "concerns writing text, and nnd reads it",
    r"fast path is not available|not installed|install (the )?kernels": "concerns speed",
    r"gradient checkpointing|loss_type|fine-tun|num_labels|id2label": "concerns training",
    r"tokenizer\.json` is ByteLevel": "the tokenizer is that of the file in any case",
    r"the same type as the class this function": "as above: nnd reads the file without a class",
    r"token_id must be `None` or": "special tokens are those of the tokenizer",
    r"Token indices sequence length": "nnd cuts contexts to the window, and counts them",
    r"[Cc]ould not cache|[Cc]onnection|[Rr]etry": "concerns the way of a file to this machine",
    r"not initialized|newly initialized|TRAIN this model": "weights are checked (`read_weights`)",
}
"""Warnings that say nothing about numbers, and why; every other one becomes a note."""

_SAID_SHORTER: Final = {
    "fix_mistral_regex": "the pre-tokenizer of this tokenizer.json is known to be wrong (digits "
    "are not split), and it was used as it is; to use the right one, set "
    '"fix_mistral_regex": true in the tokenizer_config.json of the folder',
}
"""Warnings whose remedy is an argument in code, as a sentence with one for a folder."""

_LONGEST = 300


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        text = " ".join(record.getMessage().split())
        if not any(re.search(pattern, text) for pattern in _DROPPED):
            known = (said for part, said in _SAID_SHORTER.items() if part in text)
            self.heard[next(known, f"transformers warns: {excerpt(text, _LONGEST)}")] = None


@contextmanager
def listening() -> Iterator[dict[str, None]]:
    """Collect warnings that concern numbers, as sentences in their order, however loud the log is.

    What is shown does not change, but a warning that is given once in a process is given again.
    """
    logger, listener = logging.getLogger("transformers"), _Listener()
    level = logger.getEffectiveLevel()
    shown = [(handler, handler.level) for handler in logger.handlers]
    once = getattr(logging.Logger, "warning_once", None)
    if once is not None:
        once.cache_clear()
    try:
        for handler, own in shown:
            handler.setLevel(max(own, level))
        logger.addHandler(listener)
        logger.setLevel(min(level, logging.WARNING))
        yield listener.heard
    finally:
        logger.setLevel(level)
        logger.removeHandler(listener)
        for handler, own in shown:
            handler.setLevel(own)
