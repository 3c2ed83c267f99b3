"""The tokenizer of a checkpoint or of an adapter."""

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from nnd.metric.likelihood.models.adapters import Adapter
from nnd.metric.likelihood.models.checkpoint import Checkpoint
from nnd.metric.likelihood.models.checkpoint_files import find_file
from nnd.metric.likelihood.models.fitness import check_vocabulary
from nnd.schemas import ScoringError

_SUBFOLDER, _CONFIG = "tokenizer", "tokenizer_config.json"


def read_tokenizer(checkpoint: Checkpoint, adapter: Adapter | None) -> PreTrainedTokenizerBase:
    """Return the adapter's own tokenizer, else that of the base.

    If there is none beside the weights, it may be in a subfolder called tokenizer.

    Raises:
        ScoringError: If the tokenizer is missing or cannot be loaded.
    """
    if adapter is not None and find_file(adapter.name, _CONFIG, adapter.commit):
        checkpoint = Checkpoint(adapter.name, checkpoint.options | {"revision": adapter.commit})
    try:
        return _read(checkpoint)
    except ScoringError:
        file = f"{_SUBFOLDER}/{_CONFIG}"
        if find_file(checkpoint.name, file, checkpoint.options["revision"]) is None:
            raise
    return _read(checkpoint, subfolder=_SUBFOLDER)


def _read(checkpoint: Checkpoint, **options: str) -> PreTrainedTokenizerBase:
    tokenizer: PreTrainedTokenizerBase = checkpoint.read(
        AutoTokenizer, "the model has no usable tokenizer", **options
    )
    check_vocabulary(tokenizer, checkpoint.name)
    return tokenizer
