"""What a test after training can show: that a rule was learnt, or that something carries over."""

from collections.abc import Iterator, Sequence

from nnd.metric.data import PairSet
from nnd.schemas import ScoringError, context_keys, excerpt

_HUMAN = "human"


def check_apart(training: PairSet, test: PairSet) -> None:
    """Check that no test is about a context that the model was trained on.

    A derived context counts as the human context that it was derived from.
    """
    seen = {*_contexts(training)}
    for source, key in _contexts(test):
        if (source, key) in seen:
            raise ScoringError(
                "train.leak",
                f'context "{excerpt(key)}" is among those that the model is trained on',
                test.title,
                "test on data with other contexts (the held-out contexts of --data are "
                "tested in any case)",
            )


def _contexts(data: PairSet) -> Iterator[tuple[str | None, str]]:
    """Yield contexts as texts, which count wherever they are, and as ids within their source."""
    for source, (cluster, text) in zip(_sources(data), context_keys(data.pairs), strict=True):
        yield source, cluster
        yield None, text


def circularity(training: PairSet, tests: Sequence[PairSet]) -> list[str]:
    """Return what to know before believing that training made a model better, a sentence each."""
    learnt, transfer = _origins(training), False
    found = []
    for test in tests:
        origins = _origins(test)
        if shared := sorted(learnt & origins):
            found.append(
                f"{test.title} has the origin of the training pairs ({', '.join(shared)}): a "
                "higher pass rate may only show that the model has learnt how such pairs are made"
            )
        transfer = transfer or any(each.startswith(_HUMAN) for each in origins - learnt)
    if not transfer:
        found.append(
            "No test is on human pairs of another origin: before you report that the model is "
            "better, test with --test whether the gain transfers to errors that people found"
        )
    return found


def _origins(data: PairSet) -> set[str]:
    """Return where pairs come from: an operation, or human pairs of a source.

    References have no origin, because they are not pairs.
    """
    columns = zip(_sources(data), _column(data, "origin"), data.pairs["candidate_low"], strict=True)
    return {
        f"{_HUMAN} pairs of {source}" if origin in (None, _HUMAN) else str(origin)
        for source, origin, worse in columns
        if worse is not None
    }


def _sources(data: PairSet) -> Sequence[str]:
    """Return the source of each pair; data that names none is one."""
    return [source or data.name for source in _column(data, "source")]


def _column(data: PairSet, name: str) -> Sequence[str | None]:
    pairs = data.pairs
    return pairs[name].to_list() if name in pairs.columns else [None] * pairs.height
