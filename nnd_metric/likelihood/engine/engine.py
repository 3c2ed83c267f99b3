"""The engine: log-likelihoods of candidates given their contexts, by a local model.

Only the distinct requests of a run are scored, and those that an earlier run left in the store are
not scored again. All are planned (`plan`), sorted by their token ids; the rest goes through the
fastest path that gives the same numbers as requests scored alone (`choice`, `proof`), and is stored
batch by batch.

Numbers are the same to the bit, on one machine, with the same number of threads and the same
libraries, if the same batches are computed: they depend neither on the order of the requests nor on
whether a run was killed and resumed. They are the same up to rounding (about 1e-6 nats per token in
float32) if batches differ: with another `token_budget` (given, or chosen by free memory), after
memory ran out, and with a store that was filled by runs of other requests, because a stored value
is never changed.
"""

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress

import numpy as np
import numpy.typing as npt

from nnd.metric.likelihood.engine.answers import Likelihoods, Work
from nnd.metric.likelihood.engine.execution import Ran
from nnd.metric.likelihood.engine.likelihood_cache import LikelihoodCache, fingerprint
from nnd.metric.likelihood.engine.path_choice import score_rows
from nnd.metric.likelihood.engine.precision import check_matmul, multiplying
from nnd.metric.likelihood.engine.proof import Evidence, Proof
from nnd.metric.likelihood.engine.scoring import Matmul
from nnd.metric.likelihood.engine.store import Store
from nnd.metric.likelihood.engine.token_reading import read_tokens
from nnd.metric.likelihood.models.load_model import evaluation_mode
from nnd.metric.likelihood.models.loaded_model import LoadedModel
from nnd.metric.text import (
    ChatTemplate,
    Encoded,
    Keep,
    Known,
    Reading,
    Request,
    RequestEncoder,
    count_end_tokens,
    find_protocol,
    is_alone,
    languages_of,
    left_out,
)
from nnd.schemas import ScoringError, check_not_forked


@dataclass(frozen=True, slots=True)
class Engine:
    """Scores requests with a local causal, encoder-decoder or masked model.

    Attributes:
        protocol: Name of the protocol (see `text.encoding.protocols`).
        separator: Text between context and candidate, unless the model is an encoder-decoder.
        chat: The chat template that contexts are rendered by; None means plain text.
        keep: Which part of a context remains after a cut; None means the family's default.
        token_budget: Positions held at once; None means what memory allows. Halved when memory runs
            out. It changes the speed, and the numbers only by rounding.
        path: Name of the only path to use (see `paths`); None means the fastest that is proved
            right.
        store: None stores no likelihoods.
        version: Version of the weights in the store; None means `LoadedModel.version`.
        matmul: How float32 matrices are multiplied; "high" allows TF32 on a GPU.
        evidence: What it learnt in earlier calls.
        tokenised: Tokens of the candidates so far.
        read: The requests that the model has read in the last call.
    """

    loaded: LoadedModel
    protocol: str = "native"
    separator: str = " "
    chat: ChatTemplate | None = None
    keep: Keep | None = None
    token_budget: int | None = None
    path: str | None = None
    store: Store | None = None
    version: str | None = None
    matmul: Matmul = "highest"
    evidence: Evidence = field(default_factory=Evidence, repr=False, compare=False)
    tokenised: Known = field(default_factory=dict, repr=False, compare=False)
    read: list[Encoded] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.token_budget is not None and self.token_budget < 1:
            raise ScoringError(
                "option.bad-value", f"token_budget is {self.token_budget}", remedy="give 1 or more"
            )
        check_matmul(self.loaded, self.matmul)

    @property
    def encoder(self) -> RequestEncoder:
        """How the model reads requests."""
        return RequestEncoder(
            self.loaded, self.protocol, self.separator, self.chat, self.keep, self.tokenised
        )

    def __call__(self, requests: Sequence[Request]) -> Likelihoods:
        """Return the log-likelihood of each candidate given its context.

        LL = (1/N) sum_i log P(w_i | context, w_<i), natural logarithm (Laban et al. 2022, eq. 1);
        the protocol says which tokens w_i are and what N counts. Under `pmi` the LL of the
        candidate without its context is subtracted; for a request without a context, that LL is the
        result. Candidates without contexts are read once, in the same rows as all others.

        Raises:
            ScoringError: If a candidate does not fit the model's window, the protocol or the
                tokenizer does not fit the model, the model looks ahead or returns NaN, or memory
                does not suffice for a single request.
            NNDError: If this process was forked (`check_not_forked`).
        """
        check_not_forked()
        if not find_protocol(self.protocol).minus_alone:
            return self._given(requests)
        n = len(requests)
        alone: list[Request] = [(left_out(context), candidate) for context, candidate in requests]
        both = self._given([*requests, *alone])
        given = np.array([not is_alone(context) for context, _ in requests], dtype=np.bool_)
        gain = both.log_likelihood[:n] - np.where(given, both.log_likelihood[n:], 0.0)
        return replace(
            both,
            log_likelihood=gain,
            tokens=both.tokens[:n],
            truncated=both.truncated[:n],
            divisors=None if both.divisors is None else both.divisors[:n],
            reading=both.reading and both.reading.head(n),
        )

    def _given(self, requests: Sequence[Request]) -> Likelihoods:
        protocol = find_protocol(self.protocol)
        readings = self.encoder.as_read(requests)
        distinct = list(dict.fromkeys(readings))
        encoded = self.encoder.encode(distinct)
        # Different texts may have the same tokens: they are scored once and tie exactly.
        parts = list(chain.from_iterable(encoded))
        rows = sorted(set(parts))  # the order decides the batches
        sums, work = self.sum_rows(rows)
        numbers = _places(parts, rows)
        sums = np.add.reduceat(sums[numbers], _starts(encoded))
        tokens = np.array([_count_scored(own) for own in encoded], dtype=np.int64)
        divisors = {
            "tokens": tokens,
            "one": np.ones(len(distinct), dtype=np.int64),
            "bytes": np.array([len(text.encode()) for _, text in distinct], dtype=np.int64),
        }[protocol.normaliser]
        empty = (tokens == 0) | (divisors == 0)
        values = np.where(empty, np.nan, sums / np.where(empty, 1, divisors))
        truncated = np.array([own[0].truncated for own in encoded], dtype=np.bool_)
        order = _places(readings, distinct)
        told = next((languages_of(context) for context, _ in readings), None)
        ends = count_end_tokens(self.loaded, protocol, told)
        work = replace(work, baseline=self._baseline_share(requests, readings, encoded, work))
        return Likelihoods(
            values[order],
            tokens[order],
            truncated[order],
            work,
            ends,
            divisors[order],
            read_tokens(self.loaded.tokenizer, requests, encoded, numbers, order),
        )

    def sum_rows(self, rows: Sequence[Encoded]) -> tuple[npt.NDArray[np.float64], Work]:
        """Return the summed log-probability of the scored targets of each request."""
        _check_vocabulary(self.loaded, rows)
        scored = np.array([True in row.scored for row in rows], dtype=np.bool_)
        todo = list(compress(rows, scored))
        cache = self._cache(todo)
        known = self.evidence.proof = cache.find_proof() or self.evidence.proof
        values = cache.find()
        missing = frozenset(np.flatnonzero(np.isnan(values)).tolist())
        stored = len(todo) - len(missing)

        def done(proof: Proof, sums: Mapping[int, float]) -> None:
            for number, value in sums.items():
                values[number] = value
            cache.add(sums, proof)

        ran, start = Ran(known or Proof("none", 0.0, 0), 0, 0), time.perf_counter()
        self.read[:] = [todo[number] for number in sorted(missing)]
        if missing:
            with evaluation_mode(self.loaded.model), multiplying(self.matmul):
                ran = score_rows(
                    self.loaded,
                    todo,
                    done,
                    self.evidence,
                    missing=missing,
                    only=self.path,
                    budget=self.token_budget,
                )
            cache.add({}, ran.proof)
            self.evidence.proof = ran.proof
            if known and known.path != ran.proof.path:
                stored = 0  # the stored numbers come from a path that has just failed
                self.read[:] = todo
        sums = np.zeros(len(rows))
        sums[scored] = values
        work = Work(
            path=ran.proof.path,
            switched_off=ran.proof.switched_off,
            deviation=ran.proof.deviation if missing or known else None,
            deviation_requests=ran.proof.measured if missing or known else 0,
            tokens=ran.tokens,
            requests=len(todo),
            stored=stored,
            token_budget=ran.budget,
            fingerprint=cache.fingerprint,
            seconds=time.perf_counter() - start - ran.proof_seconds if missing else 0.0,
            proof_seconds=ran.proof_seconds,
        )
        return sums, work

    def _baseline_share(
        self,
        requests: Sequence[Request],
        readings: Sequence[Reading],
        encoded: Sequence[tuple[Encoded, ...]],
        work: Work,
    ) -> float:
        """Return the share of the tokens just read in requests without a context."""
        rows_of = dict(zip(dict.fromkeys(readings), encoded, strict=True))
        both = zip(requests, readings, strict=True)
        asked = {reading for (context, _), reading in both if not is_alone(context)}
        given = set(chain.from_iterable(rows_of[reading] for reading in asked))
        alone = sum(row.length for row in self.read if row not in given)
        return alone / max(1, work.tokens)

    def _cache(self, rows: Sequence[Encoded]) -> LikelihoodCache:
        if self.store is None or self.loaded.changes().code:
            return LikelihoodCache(None, "", rows)
        name = fingerprint(self.loaded, self.version or self.loaded.version(), self.matmul)
        name = name if self.path is None else f"{name}:{self.path}"
        return LikelihoodCache(self.store, name, rows)


def _places(items: Sequence[Hashable], among: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    place = {item: number for number, item in enumerate(among)}
    return np.array([place[item] for item in items], dtype=np.int64)


def _starts(encoded: Sequence[Sequence[Encoded]]) -> npt.NDArray[np.int64]:
    """Return the place of the first row of each request among the rows of all."""
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return np.cumsum(lengths) - lengths


def _count_scored(rows: Sequence[Encoded]) -> int:
    return sum(row.scored.count(True) for row in rows)


def _check_vocabulary(loaded: LoadedModel, encoded: Sequence[Encoded]) -> None:
    """Refuse token ids without an embedding, which come from another model's tokenizer."""
    size = getattr(loaded.model.get_input_embeddings(), "num_embeddings", None)
    # A decoder may have a vocabulary of its own.
    read = {row.context for row in encoded}
    if not loaded.is_encoder_decoder:
        read.update(row.targets for row in encoded)
    largest = max((max(ids, default=0) for ids in read), default=0)
    if size is not None and largest >= size:
        raise ScoringError(
            "model.tokenizer",
            f"the tokenizer produces the token id {largest}, but the model has embeddings "
            f"for {size} tokens only",
            loaded.name,
        )
