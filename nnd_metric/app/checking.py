"""Checks of the pairs of any data."""

from pathlib import Path

from nnd.converters.check import CheckedData, CheckReport, check_pairs
from nnd.metric.data import NEEDED, PairData, find_place, is_url, load_pairs
from nnd.schemas import find_frame, find_manifest


def check(data: PairData) -> CheckReport:
    """Check whether texts, contexts and judgements belong together.

    Looks for what went wrong in a conversion, and for what a model could use instead of quality:
    ids in place of contexts, candidates of another context, references in the context, merged
    systems or annotators, reversed aspects, cut texts, giveaways. No model is run. What it finds is
    to be looked at by a person; the exit code is 0.

    Args:
        data: What to check. A converted folder also has annotations and references, which more
            checks can use.

    Raises:
        ScoringError: If the data cannot be read.

    Examples:
        nnd check quiz_design
    """
    pairs = load_pairs(data)
    if not isinstance(data, str | Path) or is_url(data):
        return check_pairs(CheckedData(pairs.name, pairs.pairs))
    folder = find_place(data, (*NEEDED, "annotations*", "references*")).path
    return check_pairs(
        CheckedData(
            pairs.name,
            pairs.pairs,
            find_frame(folder, "annotations"),
            find_frame(folder, "references"),
            find_manifest(folder).get("source", {}),
        )
    )
