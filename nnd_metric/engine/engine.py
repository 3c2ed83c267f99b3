"""The engine: log-likelihoods of candidates given their contexts, by a local model.

Only the distinct requests of a run are scored, and those that an earlier run left in the store are
not scored again. What remains is planned (`plan`), goes through the fastest path that gives the
plain one's numbers (`paths`, `proof`), and is kept as it comes.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nnd.metric.encoding import Encoded, Keep, Request, encode, find_protocol
from nnd.metric.engine.answers import Likelihoods, Work
from nnd.metric.engine.cache import Kept, fingerprint
from nnd.metric.engine.execution import Ran, run
from nnd.metric.engine.paths import paths_of
from nnd.metric.engine.proof import Proof, prove
from nnd.metric.engine.store import Store
from nnd.metric.models import LoadedModel, evaluation_mode
from nnd.schemas import ScoringError


@dataclass(frozen=True, slots=True)
class Engine:
    """Scores requests with a local causal or encoder-decoder model.

    Attributes:
        loaded: The model and its tokenizer.
        protocol: Name of the protocol (see `protocols`).
        separator: Stands between context and candidate of decoder-only models.
        keep: Which part of a context survives a cut; None means the family's default.
        token_budget: Positions held at once; None means what memory allows. Halved when memory runs
            out. It changes speed, and the numbers by no more than rounding.
        path: Name of the only path to take (see `paths`); None means the fastest that is proven.
        store: Where likelihoods are kept as they come; None keeps them nowhere.
        version: What the weights are called in the store; None asks the model
            (`LoadedModel.version`).
        proofs: Proofs made so far; weights may change under them, code may not.
    """

    loaded: LoadedModel
    protocol: str = "native"
    separator: str = " "
    keep: Keep | None = None
    token_budget: int | None = None
    path: str | None = None
    store: Store | None = None
    version: str | None = None
    proofs: list[Proof] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.token_budget is not None and self.token_budget < 1:
            raise ScoringError(f"token_budget is {self.token_budget}; give 1 or more")

    def __call__(self, requests: Sequence[Request]) -> Likelihoods:
        """Return the log-likelihood of each candidate given its context.

        LL = (1/N) sum_i log P(w_i | context, w_<i), natural logarithm (Laban et al. 2022, eq. 1);
        the protocol says which tokens w_i are and what N counts.

        Raises:
            ScoringError: If a candidate does not fit the model's window, the protocol or the
                tokenizer does not fit the model, the model looks ahead or answers with NaN, or
                memory does not suffice for a single request.
        """
        protocol = find_protocol(self.protocol)
        distinct = list(dict.fromkeys(requests))
        encoded = encode(self.loaded, protocol, distinct, separator=self.separator, keep=self.keep)
        # Texts that differ may be one to the tokenizer: scored once, they tie exactly.
        rows = list(dict.fromkeys(encoded))
        found, work = self._sums(rows)
        sums = found[_places(encoded, rows)]
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
        return Likelihoods(values[order], tokens[order], truncated[order], work)

    def _sums(self, rows: Sequence[Encoded]) -> tuple[npt.NDArray[np.float64], Work]:
        """Return the summed log-probability of the scored targets of each request."""
        _check_vocabulary(self.loaded, rows)
        sums = np.zeros(len(rows))
        kept = self._kept()
        todo = [number for number, row in enumerate(rows) if any(row.scored)]
        sums[todo] = kept.find([rows[number] for number in todo])
        missing = np.flatnonzero(np.isnan(sums)).tolist()
        some = [rows[number] for number in missing]

        def done(found: Mapping[int, float]) -> None:
            for number, value in found.items():
                sums[missing[number]] = value
            kept.add({some[number]: value for number, value in found.items()})

        stored = len(todo) - len(missing)
        earlier = kept.find_proof() if stored else None
        ran, proof = Ran(0, 0), earlier
        if some:
            with evaluation_mode(self.loaded.model):
                proof = self._proven(some)
                kept.add_proof(proof)
                path = next(path for path in paths_of(self.loaded) if path.name == proof.path)
                ran = run(self.loaded, path, some, done, budget=self.token_budget)
        work = Work(
            path=proof.path if proof else "none",
            switched_off=proof.switched_off if proof else (),
            deviation=max((each.deviation for each in (earlier, proof) if each), default=None),
            tokens=ran.tokens,
            requests=len(todo),
            stored=stored,
            token_budget=ran.budget,
        )
        return sums, work

    def _kept(self) -> Kept:
        if self.store is None:
            return Kept(None, "")
        return Kept(self.store, fingerprint(self.loaded, self.version or self.loaded.version()))

    def _proven(self, rows: Sequence[Encoded]) -> Proof:
        """Return a proof that covers requests as long as these, made now or earlier."""
        longest = max(len(row.context) + len(row.inputs) for row in rows)
        for proof in self.proofs:
            if proof.reach >= longest:
                return proof
        proof = prove(self.loaded, rows, only=self.path)
        self.proofs.append(proof)
        return proof


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
