"""Checks of texts: is the fixture invented, what do texts give away, do they hold addresses."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from nnd.converters.check_source.case import Case, Result
from nnd.converters.check_source.outcome import AT_HAND, Check, listed
from nnd.converters.check_source.reading import is_own
from nnd.converters.pairs import fold
from nnd.converters.texts import Contact, find_contacts
from nnd.schemas import excerpt

INVENTED, CONFOUNDS, HYGIENE = "invented", "confounds", "hygiene"
PERSONAL_DATA = "personal data"

_SHORTEST = 25
"""Bytes of a text that two people do not write by chance; `A dog.` they do.

In bytes of UTF-8, since nine characters of Chinese say as much as 25 of English."""

_FROM_THE_COIN = 0.1
_LOOKS = ("lower_cased", "tokenised", "doubled_spaces", "control_characters", "wrongly_decoded")
_TYPICAL = 0.05


def check_invented(case: Case) -> Check:
    """Check that no text of the fixture is in the real files."""
    if is_own(case.source):
        message = "the source's own files lie in its folder"
        return Check(INVENTED, "review", message, "see that they are invented, or free to be there")
    if not case.measured:
        return Check(INVENTED, "skipped", "the real files are not at hand", AT_HAND)
    copied = sorted(_texts(case.invented) & _texts(case.measured))
    if copied:
        shown = [f'"{excerpt(text, 40)}"' for text in copied]
        remedy = "write texts of your own into the fixture: real data stays out of the repository"
        message = f"{len(copied)} texts of the fixture are of the source: {listed(shown, 2)}"
        return Check(INVENTED, "fail", message, remedy)
    return Check(INVENTED, "pass", "no text of the fixture is in the real files")


def _texts(results: Sequence[Result]) -> set[str]:
    found = set[str]()
    for one in results:
        parts = one.annotations.select(pl.col("inputs").explode()).drop_nulls().unnest("inputs")
        for texts in (one.annotations["candidate"], one.annotations["context"], parts["value"]):
            frame = pl.DataFrame({"text": texts.unique()})
            folded = frame.select(fold(pl.col("text")).str.to_lowercase())
            found |= set(folded.filter(pl.col("text").str.len_bytes() >= _SHORTEST)["text"])
    return found


def check_confounds(case: Case) -> Check:
    """Check how far who looks at lengths alone comes; a coin passes one test of two."""
    if not case.measured:
        return Check(CONFOUNDS, "skipped", "the real files are not at hand", AT_HAND)
    told = [
        f"{one.label}: {name.replace('_', ' ')} in {rate:.1%} of {overall['n']:,}"
        for one in case.measured
        for overall in [_overall(one)]
        for name in ("shorter_wins", "longer_wins")
        for rate in [overall[name]]
        if rate is not None and rate >= 0.5 + _FROM_THE_COIN
    ]
    if told:
        remedy = "say so under `limitations`: a model that likes such lengths passes as well"
        return Check(CONFOUNDS, "review", listed(told), remedy)
    return Check(CONFOUNDS, "pass", "lengths decide no better than chance, within 10 points")


def _overall(result: Result) -> dict[str, Any]:
    if result.conversion is None:
        return {"n": 0, "shorter_wins": None, "longer_wins": None}
    return result.conversion.manifest["hygiene"]["pairs"]["overall"]  # type: ignore[no-any-return]


def check_hygiene(case: Case) -> Check:
    """Count candidates that are lower-cased, tokenised, with doubled spaces or odd characters."""
    if not case.measured:
        return Check(HYGIENE, "skipped", "the real files are not at hand", AT_HAND)
    told = []
    for one in case.measured:
        systems = one.conversion.manifest["hygiene"]["systems"] if one.conversion else {}
        n = sum(entry["n"] for entry in systems.values())
        for look in _LOOKS:
            share = sum(entry["n"] * entry[look] for entry in systems.values()) / max(n, 1)
            if share >= _TYPICAL or (share and look == "control_characters"):
                told.append(f"{one.label}: {look.replace('_', ' ')} {share:.1%}")
    if told:
        remedy = (
            "see that the converter did not do it; the card says it, and --normalise changes it "
            "for those who ask"
        )
        return Check(HYGIENE, "review", listed(told), remedy)
    return Check(HYGIENE, "pass", "texts look as people write them")


def check_personal_data(case: Case) -> Check:
    """Check that the fixture holds no e-mail or IP address, and count those of the real files."""
    invented = _contacts(case.invented)
    if invented:
        shown = [f"{found.column} ({found.kind} {found.quote})" for found in invented]
        remedy = "take it out of the fixture: an invented address may be somebody's"
        return Check(PERSONAL_DATA, "fail", f"in the fixture: {listed(shown, 3)}", remedy)
    if found := _contacts(case.measured):
        kinds = [f"{kind} {sum(one.kind == kind for one in found)}" for kind in ("email", "ip")]
        remedy = "publish with --redact, or with --keep-contacts and a reason"
        return Check(PERSONAL_DATA, "review", f"addresses in the files: {', '.join(kinds)}", remedy)
    where = (
        "fixture and real files" if case.measured else f"the fixture; {AT_HAND} to look there too"
    )
    return Check(PERSONAL_DATA, "pass", f"no e-mail or IP address in {where}")


def _contacts(results: Sequence[Result]) -> list[Contact]:
    return [
        found
        for one in results
        for rows in (one.annotations, one.run.references)
        for found in find_contacts(rows)
    ]
