"""The path for masked models: padded rows side by side, each with logits at its scored tokens only.

Nothing is shared: every token of a row sees the hidden one.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import compress

import torch

from nnd.metric.likelihood.engine.batch_plan import Batch
from nnd.metric.likelihood.engine.head import log_probabilities, most_rows, sum_each
from nnd.metric.likelihood.engine.packed_path import Score
from nnd.metric.likelihood.engine.padded_paths import pad, whole_reading
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import Encoded


def open_masked(loaded: LoadedModel) -> AbstractContextManager[Score]:
    """Prepare nothing; scoring raises what a model raises whose head cannot run alone."""
    return nullcontext(partial(_score, loaded, most_rows(loaded)))


def _score(loaded: LoadedModel, most: int, rows: Sequence[Encoded], batch: Batch) -> torch.Tensor:
    members = [rows[number] for number in batch.requests]
    ids, mask = pad(loaded, [member.context + member.inputs for member in members])
    trunk = loaded.model.base_model
    options = whole_reading(loaded, members)
    hidden = trunk(input_ids=ids, attention_mask=mask, **options).last_hidden_state
    places = [
        (number, len(member.context) + at)
        for number, member in enumerate(members)
        for at in compress(range(len(member.scored)), member.scored)
    ]
    of, at = torch.tensor(places, device=hidden.device).unbind(1)
    scored = [target for each in members for target in compress(each.targets, each.scored)]
    targets = torch.tensor(scored, device=hidden.device)
    made = log_probabilities(loaded, trunk, hidden[of, at], targets, most)
    return sum_each(made, [sum(member.scored) for member in members])
