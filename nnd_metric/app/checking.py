"""Checks of the pairs of any data."""

from pathlib import Path

from nnd.converters.check import CheckedData, CheckReport, check_pairs
from nnd.metric.data import NEEDED, PairData, find_place, is_url, load_pairs
from nnd.schemas import find_frame, find_manifest


def check(data: PairData) -> CheckReport:
    """Find mistakes in pairs: in texts, contexts and judgements.

    Looks for what went wrong in a conversion, and for what a model could use in the place of
    quality: ids for contexts, contexts of other candidates, references in the context, merged
    systems or annotators, reversed aspects, cut texts, giveaways. No model is run. Each finding is
    for a person to judge, so the exit code is 0.

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
