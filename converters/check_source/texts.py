"""Checks of texts: is the fixture invented, what do texts give away, do they hold addresses."""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from nnd.converters.check_source.case import Case, Result
from nnd.converters.check_source.outcome import AT_HAND, Check, listed
from nnd.converters.check_source.reading import is_own
from nnd.converters.pairs import fold
from nnd.converters.texts import Contact, find_contacts
from nnd.schemas import CONTEXT, DISTINCT, excerpt

INVENTED, CONFOUNDS, GIVEAWAYS = "invented", "confounds", "giveaways"
HYGIENE, PERSONAL_DATA = "hygiene", "personal data"

_SHORTEST = 25
"""Bytes of a text that two people do not write by chance; `A dog.` they do.

In bytes of UTF-8, since nine characters of Chinese say as much as 25 of English."""

_FROM_CHANCE = 0.1
_LOOKS = {
    **dict.fromkeys(("lower_cased", "tokenised", "doubled_spaces"), 0.05),
    "control_characters": 0.0,
    "wrongly_decoded": 0.01,
}
_MARKS = {
    "tags": r"</?[A-Za-z][A-Za-z0-9]{0,9} ?/?>",
    "HTML entities": "&(?:[a-z]{2,6}|#x?[0-9a-fA-F]{2,5});",
}
_LOOKS_AND_MARKS = _LOOKS | dict.fromkeys(_MARKS, 0.01)
"""How a text may look → the share of texts from which on it is worth a look."""

_SIDES = ("high", "low")
_SAMPLE = 5_000
_WORDS = r"\w+"
_TOKENS = r"</?\w+>|\w+|[^\w\s]"
_MANY, _ALMOST_NONE, _LEAST = 0.2, 0.01, 5


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
    """Check how many tests the surface of the texts decides: lengths, and words of the context."""
    if not case.measured:
        return Check(CONFOUNDS, "skipped", "the real files are not at hand", AT_HAND)
    found = [
        f"{one.label}: {name} in {rate:.1%} of {n:,}"
        for one in case.measured
        if one.conversion is not None
        for name, rate, n in _baselines(one.conversion.pairs.unique(DISTINCT))
        if rate >= 0.5 + _FROM_CHANCE
    ]
    if found:
        remedy = "say so under `limitations`: a model that likes such texts passes as well"
        return Check(CONFOUNDS, "review", listed(found), remedy)
    return Check(CONFOUNDS, "pass", "no baseline is better than chance by 10 points")


def _baselines(tests: pl.DataFrame) -> Iterator[tuple[str, float, int]]:
    """Yield what always picking one kind of text passes: name, share of tests, tests."""
    lengths = (pl.col(f"candidate_{side}").str.len_chars().cast(pl.Int64) for side in _SIDES)
    tests = tests.with_columns(longer=_difference(lengths))
    some = tests.sample(min(_SAMPLE, tests.height), seed=0)
    context = pl.col("context").str.to_lowercase().str.extract_all(_WORDS)
    words = (
        pl.col(f"candidate_{side}").str.to_lowercase().str.extract_all(_WORDS).list.unique()
        for side in _SIDES
    )
    shares = (each.list.set_intersection(context).list.len() / each.list.len() for each in words)
    some = some.with_columns(copying=_difference(shares))
    for name, frame, sign in (
        ("shorter wins", tests["longer"], -1),
        ("longer wins", tests["longer"], 1),
        ("more words of the context wins", some["copying"], 1),
        ("fewer words of the context wins", some["copying"], -1),
    ):
        if frame.len():
            won = (frame * sign > 0).to_list().count(True)
            yield name, won / frame.len(), frame.len()


def _difference(sides: Iterable[pl.Expr]) -> pl.Expr:
    high, low = sides
    return high - low


def check_giveaways(case: Case) -> Check:
    """Check for tokens that many texts of one side have, and almost none of the other."""
    if not case.measured:
        return Check(GIVEAWAYS, "skipped", "the real files are not at hand", AT_HAND)
    found = [
        f"{one.label}: {what}"
        for one in case.measured
        if one.conversion is not None
        for what in _giveaways(one.conversion.pairs)
    ]
    if found:
        remedy = "have the converter take it out, if it is no word of the systems; else see `notes`"
        return Check(GIVEAWAYS, "review", listed(found, 4), remedy)
    return Check(GIVEAWAYS, "pass", "no token is on one side only")


def _giveaways(pairs: pl.DataFrame) -> Iterator[str]:
    counts, totals = list[pl.DataFrame](), dict[str, int]()
    for side in _SIDES:
        texts = pairs.select(*CONTEXT, text=f"candidate_{side}").unique()
        tokens = texts.select(pl.col("text").str.extract_all(_TOKENS).list.unique()).explode("text")
        counts.append(tokens.drop_nulls().group_by("text").len(side))
        totals[side] = texts.height
    both = counts[0].join(counts[1], on="text", how="full", coalesce=True).fill_null(0)
    for token, *n in both.sort("low", "high", "text", descending=True).rows():
        shares = [n / totals[side] for n, side in zip(n, _SIDES, strict=True)]
        if max(shares) >= _MANY and min(shares) <= _ALMOST_NONE and max(n) >= _LEAST:
            better, worse = (f"{share:.0%}" for share in shares)
            yield f'"{token}" is in {worse} of the worse and {better} of the better texts'


def check_hygiene(case: Case) -> Check:
    """Count candidates that are lower-cased, tokenised, with doubled spaces or odd characters."""
    if not case.measured:
        return Check(HYGIENE, "skipped", "the real files are not at hand", AT_HAND)
    told = []
    for one in case.measured:
        systems = one.conversion.manifest["hygiene"]["systems"] if one.conversion else {}
        n = sum(entry["n"] for entry in systems.values())
        shares = {
            look: sum(entry["n"] * entry[look] for entry in systems.values()) / max(n, 1)
            for look in _LOOKS
        } | _marked(one.annotations["candidate"].unique())
        told += [
            f"{one.label}: {look.replace('_', ' ')} {share:.1%}"
            for look, share in shares.items()
            if share >= _LOOKS_AND_MARKS[look] and share
        ]
    if told:
        remedy = (
            "see that the converter did not do it; the card says it, and --normalise changes it "
            "for those who ask"
        )
        return Check(HYGIENE, "review", listed(told), remedy)
    return Check(HYGIENE, "pass", "texts look as people write them")


def _marked(texts: pl.Series) -> dict[str, float]:
    """Return kind of mark → share of texts that hold one."""
    return {kind: texts.str.contains(marks).mean() or 0.0 for kind, marks in _MARKS.items()}  # type: ignore[misc]


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
