"""The self-test of a model on any data."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nnd.metric.app.any_data import find_data
from nnd.metric.data import PairData, load_pairs
from nnd.metric.likelihood import Loading, Model
from nnd.metric.selftest import SelfTest
from nnd.schemas import NNDError, ScoringError


def selftest(
    model: Model,
    data: PairData = "quiz_design",
    *,
    protocols: Sequence[str] = (),
    pairs: int = 12,
    out: str | Path | None = None,
    loading: Loading = Loading(),
) -> SelfTest:
    """Hold a model against an independent computation.

    Scores a few pairs as `evaluate` does, without stored likelihoods, and once more: token ids from
    the tokenizer or `apply_chat_template` alone, one request at a time in float64, without batches,
    padding, masks or caches. The model agrees if no number is off by more than 5e-5 nats per scored
    token, no token id differs, and no verdict; else the exit code is 1. Loading, and the choice of
    a template or chat, are not tested.

    Args:
        model: Hub id, NAME or NAME@REVISION, or folder of a causal model or an encoder-decoder. In
            Python, a loaded model, too.
        data: Where the pairs are from. By default, quiz_design, which is part of nnd.
        protocols: Protocols to test. Empty means all that fit the model.
        pairs: How many tests.
        out: Folder to store selftest.json in, such as that of a result.
        loading: How the model is loaded; by default in float32.

    Raises:
        ScoringError: If the model or the data cannot be read, the model cannot compute in float64
            (quantised weights, half precision, mps), or a protocol does not fit it.
        NNDError: If `out` is not a folder, or has a file of that name that nnd did not write.

    Examples:
        nnd selftest --model gpt2
        nnd selftest --model gpt2 --data summeval --protocol native --out run
    """
    from nnd.metric.likelihood import LoadedModel, load_model
    from nnd.metric.selftest import run_self_test

    if pairs < 1:
        raise ScoringError(
            "option.bad-value", f"there are {pairs} pairs to test", remedy="give 1 or more"
        )
    if out is not None and not Path(out).is_dir():
        raise NNDError("place.wrong-kind", "is not a folder", out)
    read = load_pairs(find_data(data) if isinstance(data, str) else data)
    if not isinstance(model, LoadedModel):
        model = load_model(model, replace(loading, dtype=loading.dtype or "float32"))
    tested = run_self_test(model, read, [*protocols], pairs)
    if out is not None:
        tested.write(out)
    return tested
