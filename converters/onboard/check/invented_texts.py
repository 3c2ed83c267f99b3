"""Check that a fixture is invented."""

from collections.abc import Sequence

import polars as pl

from nnd.converters.check import Verdict
from nnd.converters.onboard.check.checked_source import Case
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import AT_HAND, NOT_AT_HAND, is_own
from nnd.converters.pairs import find_contacts
from nnd.schemas import excerpt, fold, listed

_SHORTEST = 25
"""Fewest bytes of a text that two people do not write by chance; `A dog.` is shorter.
In UTF-8, since nine characters of Chinese say as much as 25 of English."""


def check_invented(case: Case) -> Verdict:
    """Check that the fixture has no address, and no text of the real files."""
    rows = (rows for one in case.invented for rows in (one.annotations, one.references))
    if invented := [found for frame in rows for found in find_contacts(frame)]:
        shown = [f"{found.column} ({found.kind} {found.quote})" for found in invented]
        remedy = "take it out of the fixture: an invented address may belong to a real person"
        return "fail", f"in the fixture: {listed(shown, 3)}", remedy
    if not case.fixture:
        return "skipped", "there is no fixture", ""
    if is_own(case.source):
        message = "the source's own files are in its folder"
        return (
            "review",
            message,
            "make sure that they are invented, or that their licence allows them to be there",
        )
    if not case.measured:
        return "skipped", NOT_AT_HAND, AT_HAND
    copied = sorted(_texts(case.invented) & _texts(case.measured))
    if copied:
        shown = [f'"{excerpt(text, 40)}"' for text in copied]
        remedy = "write texts of your own into the fixture; real data stays out of the repository"
        message = f"{len(copied)} texts of the fixture are from the source: {listed(shown, 2)}"
        return "fail", message, remedy
    return "pass", "no text of the fixture is in the real files", ""


def _texts(results: Sequence[ReadingRun]) -> set[str]:
    found = set[str]()
    for rows in (one.annotations for one in results):
        parts = rows.select(pl.col("inputs").explode()).drop_nulls().unnest("inputs")
        texts = pl.concat([rows["candidate"], rows["context"], parts["value"]])
        folded = texts.unique().to_frame("text").select(fold(pl.col("text")).str.to_lowercase())
        found |= {*folded.filter(pl.col("text").str.len_bytes() >= _SHORTEST)["text"]}
    return found
