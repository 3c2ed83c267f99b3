"""The engine: log-likelihoods of candidates given their contexts, by a local model.

Plain batches. Contexts are padded on the right, which moved no family under test by more than
float32 rounding (models that attend in blocks, such as BigBird, are not among them); decoder inputs
are not padded. Nothing is scored twice: only the distinct requests of a run reach the model.
"""

import inspect
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm

from .encoding import Encoded, Keep, Request, encode
from .errors import ScoringError
from .models import LoadedModel, evaluation_mode
from .protocols import find_protocol

# Two texts that part after 4 tokens. How far may the predictions before that move, in shares of
# how far those behind it do? Causal models: not at all; untrained masked ones: from 0.006.
_PARTING_TEXTS, _SHARED = ([0, 1, 2, 3] + [1] * 12, [0, 1, 2, 3] + [2] * 12), 4
_LOOK_AHEAD = 0.005


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """What an engine says of n requests.

    Attributes:
        log_likelihood: float64 [n], in nats as the protocol normalises them; NaN where the protocol
            leaves no token to score.
        tokens: int64 [n], tokens scored.
        truncated: bool [n], whether the context was cut to fit the window.
    """

    log_likelihood: npt.NDArray[np.float64]
    tokens: npt.NDArray[np.int64]
    truncated: npt.NDArray[np.bool_]


Scorer: TypeAlias = Callable[[Sequence[Request]], Likelihoods]
"""Whatever gives every (context, candidate) a number: an engine, or a baseline of your own."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Scores requests with a local causal or encoder-decoder model.

    Attributes:
        loaded: The model and its tokenizer.
        protocol: Name of the protocol (see `protocols`).
        batch_size: Requests per forward pass; changes speed and memory, not the numbers.
        separator: Stands between context and candidate of decoder-only models.
        keep: Which part of a context survives a cut; None means the family's default.
    """

    loaded: LoadedModel
    protocol: str = "native"
    batch_size: int = 16
    separator: str = " "
    keep: Keep | None = None

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise ScoringError(f"batch_size is {self.batch_size}; give 1 or more")

    def __call__(self, requests: Sequence[Request]) -> Likelihoods:
        """Return the log-likelihood of each candidate given its context.

        LL = (1/N) sum_i log P(w_i | context, w_<i), natural logarithm (Laban et al. 2022, eq. 1);
        the protocol says which tokens w_i are and what N counts.

        Raises:
            ScoringError: If a candidate does not fit the model's window, the protocol or the
                tokenizer does not fit the model, or the model looks ahead or answers with NaN.
        """
        protocol = find_protocol(self.protocol)
        distinct = list(dict.fromkeys(requests))
        encoded = encode(self.loaded, protocol, distinct, separator=self.separator, keep=self.keep)
        # Texts that differ may be one to the tokenizer: scored once, they tie exactly.
        rows = list(dict.fromkeys(encoded))
        sums = self._sums(rows)[_places(encoded, rows)]
        tokens = np.array([sum(item.scored) for item in encoded], dtype=np.int64)
        divisors = {
            "tokens": tokens.astype(np.float64),
            "one": np.ones(len(distinct)),
            "bytes": np.array([len(text.encode()) for _, text in distinct], dtype=np.float64),
        }[protocol.normaliser]
        empty = (tokens == 0) | (divisors == 0)
        values = np.where(empty, np.nan, sums / np.where(empty, 1.0, divisors))
        truncated = np.array([item.truncated for item in encoded], dtype=np.bool_)
        order = _places(requests, distinct)
        return Likelihoods(values[order], tokens[order], truncated[order])

    def _sums(self, encoded: Sequence[Encoded]) -> npt.NDArray[np.float64]:
        """Return the summed log-probability of the scored targets of each request."""
        forward = _seq2seq_logits if self.loaded.is_encoder_decoder else _causal_logits
        sums = np.zeros(len(encoded))
        _check_vocabulary(self.loaded, encoded)
        with evaluation_mode(self.loaded.model):
            if not self.loaded.is_encoder_decoder:
                _check_causal(self.loaded)
            for batch in self._batches(encoded):
                rows = [encoded[number] for number in batch]
                for number, row, logits in zip(
                    batch, rows, forward(self.loaded, rows), strict=True
                ):
                    sums[number] = _sum_scored(logits, row)
        if np.isnan(sums).any():
            raise ScoringError(
                f"{self.loaded.name}: the model answers with NaN in {self.loaded.dtype}; load it "
                "in another dtype (float32, bfloat16), or check its weights"
            )
        return sums

    def _batches(self, encoded: Sequence[Encoded]) -> Iterator[list[int]]:
        """Yield the numbers of requests that have something to score, longest first."""
        todo = [number for number, item in enumerate(encoded) if any(item.scored)]
        if self.loaded.is_encoder_decoder:
            # Decoder inputs are never padded: ProphetNet lets later positions change earlier ones.
            todo.sort(key=lambda n: (-len(encoded[n].inputs), -len(encoded[n].context)))
            groups = [list(same) for _, same in groupby(todo, lambda n: len(encoded[n].inputs))]
        else:
            todo.sort(key=lambda n: -len(encoded[n].context) - len(encoded[n].inputs))
            groups = [todo]
        with tqdm(total=len(todo), desc=self.loaded.name, disable=None, leave=False) as bar:
            for group in groups:
                for start in range(0, len(group), self.batch_size):
                    batch = group[start : start + self.batch_size]
                    yield batch
                    bar.update(len(batch))


def _places(items: Sequence[Hashable], among: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    place = {item: number for number, item in enumerate(among)}
    return np.array([place[item] for item in items], dtype=np.int64)


def _check_vocabulary(loaded: LoadedModel, encoded: Sequence[Encoded]) -> None:
    """A foreign tokenizer gives ids that the model has no embedding for, if we are lucky."""
    size = getattr(loaded.model.get_input_embeddings(), "num_embeddings", None)
    # A decoder may have a vocabulary of its own.
    read = [r.context if loaded.is_encoder_decoder else r.context + r.targets for r in encoded]
    largest = max((max(ids, default=0) for ids in read), default=0)
    if size is not None and largest >= size:
        raise ScoringError(
            f"{loaded.name}: the tokenizer gives token {largest}, and the model knows {size} "
            "tokens; use the model's own tokenizer"
        )


def _check_causal(loaded: LoadedModel) -> None:
    """Masked language models load as causal ones without complaint, and see what they predict."""
    ids = torch.tensor(_PARTING_TEXTS, device=loaded.model.device)
    mask = torch.ones_like(ids)
    one, other = loaded.model(input_ids=ids, attention_mask=mask, use_cache=False).logits.float()
    moved = (one - other).abs().amax(-1)
    if moved[:_SHARED].max() > _LOOK_AHEAD * moved[_SHARED:].max():
        raise ScoringError(
            f"{loaded.name}: {type(loaded.model).__name__} looks ahead: later tokens change its "
            "earlier predictions, so it gives texts no likelihood; use a causal language model"
        )


def _causal_logits(loaded: LoadedModel, rows: Sequence[Encoded]) -> Iterator[torch.Tensor]:
    """Yield, for each row, the logits [targets, vocabulary] that predict its targets."""
    ids, mask = _pad(loaded, [row.context + row.inputs for row in rows])
    first = min(len(row.context) for row in rows)
    options: dict[str, Any] = {}
    if "logits_to_keep" in inspect.signature(loaded.model.forward).parameters:
        options["logits_to_keep"] = ids.shape[1] - first
    else:
        first = 0
    logits = loaded.model(input_ids=ids, attention_mask=mask, use_cache=False, **options).logits
    for row, row_logits in zip(rows, logits, strict=True):
        start = len(row.context) - first
        yield row_logits[start : start + len(row.targets)]


def _seq2seq_logits(loaded: LoadedModel, rows: Sequence[Encoded]) -> Iterator[torch.Tensor]:
    """Yield, for each row, the logits [targets, vocabulary] that predict its targets."""
    ids, mask = _pad(loaded, [row.context for row in rows])
    decoder_ids, _ = _pad(loaded, [row.inputs for row in rows])
    logits = loaded.model(
        input_ids=ids, attention_mask=mask, decoder_input_ids=decoder_ids, use_cache=False
    ).logits
    yield from logits


def _pad(loaded: LoadedModel, rows: Sequence[tuple[int, ...]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids and mask [rows, longest], padded on the right."""
    filler = loaded.tokenizer.pad_token_id or 0
    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), filler)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, : len(row)] = 1
    return ids.to(loaded.model.device), mask.to(loaded.model.device)


def _sum_scored(logits: torch.Tensor, row: Encoded) -> float:
    """Sum log P over the scored targets, in float32 or better whatever the model's dtype."""
    precise = logits if logits.dtype == torch.float64 else logits.float()
    targets = torch.tensor(row.targets, device=logits.device)
    chosen = precise.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    log_probabilities = (chosen - precise.logsumexp(-1)).double()
    return float(log_probabilities[torch.tensor(row.scored, device=logits.device)].sum())
