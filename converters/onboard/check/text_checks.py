"""Checks of texts: invented fixtures, giveaways, form, and addresses."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl

from nnd.converters.check.check_report import AT_HAND, NOT_AT_HAND, Verdict, judged
from nnd.converters.onboard.check.checked_source import Case, reviews
from nnd.converters.onboard.check.separate_run import ReadingRun
from nnd.converters.onboard.check.source_readings import is_own
from nnd.converters.pairs import Contact, find_contacts
from nnd.schemas import CONTEXT, DISTINCT, excerpt, fold, listed

_SHORTEST = 25
"""Fewest bytes of a text that two people do not write by chance; `A dog.` is shorter.

In UTF-8, since nine characters of Chinese say as much as 25 of English."""

_FROM_CHANCE = 0.1
_STANDARD_ERRORS = 2
_LOOKS = {
    **dict.fromkeys(("lower_cased", "tokenised", "doubled_spaces"), 0.05),
    "control_characters": 0.0,
    "wrongly_decoded": 0.01,
}
"""Form of texts → share of texts above which it is reported."""
_MARKS = {
    "tags": r"</?[A-Za-z][A-Za-z0-9]{0,9} ?/?>",
    "HTML entities": "&(?:[a-z]{2,6}|#x?[0-9a-fA-F]{2,5});",
}
_FEW = 0.01

_SIDES = ("high", "low")
_SAMPLE = 5_000
_WORDS = r"\w+"
_TOKENS = r"</?\w+>|\w+|[^\w\s]"
_MANY, _ALMOST_NONE, _LEAST = 0.2, 0.01, 5


def check_invented(case: Case) -> Verdict:
    """Check that no text of the fixture is in the real files."""
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


@reviews(
    "state it under `limitations`: a model that prefers such texts passes too",
    "no baseline exceeds chance by 10 points",
)
def check_confounds(result: ReadingRun) -> Iterator[str]:
    """Check how many tests the surface of the texts decides: lengths, and words of the context.

    A finding is a simple choice that passes more often than by chance, and not by accident.
    """
    tests = result.conversion.pairs.unique(DISTINCT)
    some = tests.sample(min(_SAMPLE, tests.height), seed=0)
    context = pl.col("context").str.to_lowercase().str.extract_all(_WORDS)
    lengths, shares = list[pl.Expr](), list[pl.Expr]()
    for side in _SIDES:
        text = pl.col(f"candidate_{side}")
        words = text.str.to_lowercase().str.extract_all(_WORDS).list.unique()
        lengths.append(text.str.len_chars().cast(pl.Int64))
        shares.append(words.list.set_intersection(context).list.len() / words.list.len())
    for frame, sides, names in (
        (tests, lengths, ("longer", "shorter")),
        (some, shares, ("more words of the context", "fewer words of the context")),
    ):
        signs = frame.select(sides[0] - sides[1]).to_series().cast(pl.Float64).fill_nan(0).sign()
        total = float(signs.sum())
        rate = (1 + total / max(signs.len(), 1)) / 2  # a test of equal numbers counts half
        standard_error = math.sqrt((signs != 0).sum())  # of a sum of random signs
        is_clear = abs(total) >= _STANDARD_ERRORS * standard_error
        for name, passed in zip(names, (rate, 1 - rate), strict=True):
            if is_clear and passed >= 0.5 + _FROM_CHANCE:
                yield f"{name} wins in {passed:.1%} of {signs.len():,}"


@reviews(
    "let the converter remove it if no system wrote it; otherwise see `notes`",
    "no token occurs on one side only",
    most=4,
)
def check_giveaways(result: ReadingRun) -> Iterator[str]:
    """Check for tokens that many texts of one side have, and almost none of the other."""
    tokens = list[pl.DataFrame]()
    for side in _SIDES:
        texts = result.conversion.pairs.select(*CONTEXT, text=f"candidate_{side}").unique()
        found = texts.select(pl.col("text").str.extract_all(_TOKENS).list.unique()).explode("text")
        counts = found.drop_nulls().group_by("text").len(f"n_{side}")
        tokens.append(counts.with_columns((pl.col(f"n_{side}") / texts.height).alias(side)))
    both = tokens[0].join(tokens[1], on="text", how="full", coalesce=True).fill_null(0)
    sides = (pl.min_horizontal(_SIDES) <= _ALMOST_NONE) & (pl.max_horizontal(_SIDES) >= _MANY)
    odd = both.filter(sides & (pl.max_horizontal("n_high", "n_low") >= _LEAST))
    for one in odd.sort("n_low", "n_high", "text", descending=True).iter_rows(named=True):
        better, worse = f"{one['high']:.0%}", f"{one['low']:.0%}"
        yield f'"{one["text"]}" is in {worse} of the worse and {better} of the better texts'


@reviews(
    "make sure that the converter did not cause it; the card states it, and --normalise changes it "
    "on request",
    "texts have the form of plain prose",
)
def check_hygiene(result: ReadingRun) -> Iterator[str]:
    """Count candidates that are lower-cased, tokenised, with doubled spaces or odd characters."""
    systems = result.conversion.manifest["hygiene"]["systems"].values()
    n = max(sum(entry["n"] for entry in systems), 1)
    texts = result.annotations["candidate"].unique()
    shares = {look: sum(entry["n"] * entry[look] for entry in systems) / n for look in _LOOKS}
    shares |= {kind: texts.str.contains(marks).sum() / len(texts) for kind, marks in _MARKS.items()}
    for look, share in shares.items():
        if share and share >= _LOOKS.get(look, _FEW):
            yield f"{look.replace('_', ' ')} {share:.1%}"


def check_personal_data(case: Case) -> Verdict:
    """Check that the fixture holds no e-mail or IP address, and count those of the real files."""
    if invented := _contacts(case.invented):
        shown = [f"{found.column} ({found.kind} {found.quote})" for found in invented]
        remedy = "take it out of the fixture: an invented address may belong to a real person"
        return "fail", f"in the fixture: {listed(shown, 3)}", remedy
    kinds = Counter(one.kind for one in _contacts(case.measured))
    counts = ", ".join(f"{kind} {kinds[kind]}" for kind in sorted(kinds))
    found = [f"addresses in the files: {counts}"] if kinds else []
    remedy = "publish with --redact, or with --keep-contacts and a reason"
    where = "fixture and real files" if case.measured else f"the fixture; {AT_HAND}"
    return judged("review", found, remedy, f"no e-mail or IP address in {where}")


def _contacts(results: Sequence[ReadingRun]) -> list[Contact]:
    rows = (rows for one in results for rows in (one.annotations, one.references))
    return [found for frame in rows for found in find_contacts(frame)]
