"""Models without likelihoods: some see the tokens they predict, some compute at random."""

from collections.abc import Sequence

import torch

from nnd.metric.likelihood.engine.memory import room_for
from nnd.metric.likelihood.engine.model_state import as_found
from nnd.metric.likelihood.engine.precision import precision_of
from nnd.metric.likelihood.engine.proof import score_alone
from nnd.metric.likelihood.models.checkpoint_files import reason_of
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded
from nnd.schemas import ScoringError

# Two texts that differ after 4 tokens: earlier predictions may differ only by rounding.
_PARTING_TEXTS, _SHARED = ([0, 1, 2, 3] + [1] * 12, [0, 1, 2, 3] + [2] * 12), 4


def check_causal(loaded: LoadedModel) -> None:
    """Refuse models that fail, or see what they predict, such as a masked one in a causal class."""
    ids = torch.tensor(_PARTING_TEXTS, device=loaded.device)
    mask = torch.ones_like(ids)
    try:
        with room_for(loaded, len(_PARTING_TEXTS[0])), as_found(loaded.model):
            answer = loaded.model(input_ids=ids, attention_mask=mask, use_cache=False)
    except ScoringError:
        raise
    except Exception as error:  # models may raise anything on input they were not written for
        raise fails(loaded, error) from error
    one, other = answer.logits[:, -ids.shape[1] :].float()  # without the logits of virtual tokens
    moved = (one - other).abs().amax(-1)
    if moved[:_SHARED].max() > precision_of(loaded).spill * moved[_SHARED:].max():
        raise _looks_ahead(loaded)


def check_unshared(loaded: LoadedModel, rows: Sequence[Encoded]) -> None:
    """Check on the longest request what a path that shares contexts would have shown.

    Reformer's hashes are random unless its config has a seed, and in long texts it looks ahead,
    because it sorts all tokens into buckets.

    Raises:
        ScoringError: If the model scores the same request differently each time, or the last token
            of a decoder-only model changes earlier predictions.
    """
    chosen = [row for row in rows if any(row.scored[:-1])]
    if not chosen:
        return
    row = max(chosen, key=lambda row: row.length)
    if not loaded.is_masked:  # which sees all tokens
        row = row._replace(scored=(*row.scored[:-1], False))
    most = precision_of(loaded).bound * sum(row.scored)
    value = score_alone(loaded, row)
    if abs(score_alone(loaded, row) - value) > most:
        raise ScoringError(
            "model.damaged",
            f"{type(loaded.model).__name__} scores the same request differently each time",
            loaded.name,
            "if its config has a seed (Reformer: hash_seed), set it",
        )
    if loaded.is_encoder_decoder or loaded.is_masked:
        return
    another = next(token for token in (*row.inputs, 0, 1) if token != row.inputs[-1])
    changed = row._replace(inputs=(*row.inputs[:-1], another))
    if abs(score_alone(loaded, changed) - value) > most:
        raise _looks_ahead(loaded)


def check_window(loaded: LoadedModel, rows: Sequence[Encoded], error: Exception) -> None:
    """Refuse rows that are too long for a model whose settings do not say so.

    `error` is what the model raised; it is one of lengths if the shortest row can be scored and the
    longest cannot.
    """
    shortest, *_, longest = sorted([*rows, *rows], key=lambda row: row.length)
    if _can_score(loaded, longest) or not _can_score(loaded, shortest):
        return
    raise ScoringError(
        "model.window",
        f"{type(loaded.model).__name__} fails on a request of {longest.length} tokens, and its "
        f"configuration states no window: {reason_of(error)}",
        loaded.name,
    ) from error


def fails(loaded: LoadedModel, error: Exception) -> ScoringError:
    """Return the error of a model that cannot read even one text as transformers would."""
    return ScoringError(
        "model.damaged",
        f"the model fails on a text that is read alone: {reason_of(error)}",
        loaded.name,
        "check its configuration, and that this version of transformers can run it",
    )


def _can_score(loaded: LoadedModel, row: Encoded) -> bool:
    try:
        score_alone(loaded, row)
    except Exception:  # noqa: BLE001 - models may raise anything on input they were not written for
        return False
    return True


def _looks_ahead(loaded: LoadedModel) -> ScoringError:
    return ScoringError(
        "model.not-a-language-model",
        f"{type(loaded.model).__name__} looks ahead: later tokens change its earlier "
        "predictions, so it defines no likelihood of a text",
        loaded.name,
        "use a causal language model",
    )
