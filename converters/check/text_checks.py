"""Checks of texts: cut ones, giveaways, form, addresses, and the rights of others."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import polars as pl

from nnd.converters.check.check_report import Verdict, judged
from nnd.converters.check.checked_data import CheckedData
from nnd.converters.pairs import find_contacts, report_form
from nnd.schemas import counted

_SIDES = ("high", "low")

_LONG_ENOUGH, _LEAST_TEXTS, _MANY_EQUAL = 40, 50, 0.1
"""Characters of a text that may be cut, number of such texts, and share of one length."""

_SAMPLE = 1_000
_LEAST_TESTS = 30
_LEAST_SEEN = 5
_TELLING, _LEARNED = 0.4, 0.85
"""Share of tests that one mark may tell, and that all of them together may."""

_FROM_CHANCE = 0.1
_STANDARD_ERRORS = 2
_WORDS = r"\w+"

_LOOKS: Final = {
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


def check_lengths(data: CheckedData) -> Verdict:
    """Check that texts were not cut: few of them have exactly one length."""
    texts = data.texts["candidate"].unique()
    lengths = texts.str.len_chars()
    long = lengths.filter(lengths >= _LONG_ENOUGH)
    if len(long) < _LEAST_TEXTS:
        return "pass", f"{counted(len(long), 'long text')}, too few to compare", ""
    length, most = long.value_counts(sort=True).row(0)
    found = []
    if most > _MANY_EQUAL * len(long):
        found.append(f"{most / len(long):.0%} of {len(long):,} texts have {length} characters")
    remedy = "look for the whole texts: these seem to be cut"
    fine = f"at most {most / len(long):.0%} of texts have one length"
    return judged("review", found, remedy, fine)


class _Marks(NamedTuple):
    """In how many tests a mark is on one side only: of the better text, and of the worse one."""

    high: Counter[str]
    low: Counter[str]


def check_giveaways(data: CheckedData) -> Verdict:
    """Check that the characters of texts do not give away which one is better.

    A classifier of groups of up to three characters, trained on half of the contexts, chooses on
    the other half, and the other way round.
    """
    tests = data.tests
    half = tests.select(pl.col("context_id").hash(0) % 2).to_series() == 0
    halves = [
        rows.sample(min(_SAMPLE, rows.height), seed=0).select("candidate_high", "candidate_low")
        for rows in (tests.filter(half), tests.filter(~half))
    ]
    pairs = [[(_grams(high), _grams(low)) for high, low in rows.iter_rows()] for rows in halves]
    n = sum(map(len, pairs))
    if n < _LEAST_TESTS or not all(pairs):
        return "pass", f"{counted(n, 'test')}, too few to learn from", ""
    marks = [_count_marks(rows) for rows in pairs]
    passed = _passes(marks[0], pairs[1]) + _passes(marks[1], pairs[0])
    seen = f"a classifier of characters passes {passed / n:.0%} of the tests it was not trained on"
    found = [*_telling_marks(_Marks(marks[0].high + marks[1].high, marks[0].low + marks[1].low), n)]
    found += [seen] if passed >= _LEARNED * n else []
    remedy = "let the converter remove it if no system wrote it; otherwise see `notes`"
    return judged("review", found, remedy, seen)


def _grams(text: str) -> set[str]:
    whole = f"\x02{text}\x03"  # its beginning and its end are marks, too
    return {whole[at : at + n] for n in (1, 2, 3) for at in range(len(whole) - n + 1)}


def _count_marks(pairs: Sequence[tuple[set[str], set[str]]]) -> _Marks:
    marks = _Marks(Counter(), Counter())
    for high, low in pairs:
        marks.high.update(high - low)
        marks.low.update(low - high)
    return marks


def _passes(marks: _Marks, pairs: Sequence[tuple[set[str], set[str]]]) -> float:
    """Return how many tests are passed by the log odds of marks; no difference counts half."""
    weights = {
        mark: math.log((marks.high[mark] + 1) / (marks.low[mark] + 1))
        for mark in marks.high.keys() | marks.low.keys()
        if marks.high[mark] + marks.low[mark] >= _LEAST_SEEN
    }
    passed = 0.0
    for high, low in pairs:
        difference = math.fsum(weights.get(mark, 0.0) for mark in high - low)
        difference -= math.fsum(weights.get(mark, 0.0) for mark in low - high)
        passed += 1.0 if difference > 0 else 0.5 if difference == 0 else 0.0
    return passed


def _telling_marks(marks: _Marks, n: int) -> Iterator[str]:
    """Yield the mark that tells most tests apart, if it tells many."""
    apart = {mark: abs(marks.high[mark] - marks.low[mark]) for mark in marks.high | marks.low}
    mark = max(
        apart,
        key=lambda one: (apart[one], "\x03" in one or "\x02" in one, len(one), one),
        default="",
    )
    if apart.get(mark, 0) >= _TELLING * n:
        where = " at the end" if mark.endswith("\x03") else ""
        where = " at the beginning" if mark.startswith("\x02") else where
        yield (
            f'"{mark.strip(chr(2) + chr(3))}"{where} is in the better text alone in '
            f"{marks.high[mark] / n:.0%} of tests, and in the worse one alone in "
            f"{marks.low[mark] / n:.0%}"
        )


def check_surface(data: CheckedData) -> Verdict:
    """Check how many tests the surface of texts decides: lengths, and words of the context.

    A finding is a simple choice that passes more often than by chance, and not by accident.
    """
    found = [*_surface_choices(data.tests)]
    remedy = "state it under `limitations`: a model that prefers such texts passes too"
    return judged("review", found, remedy, "no simple choice exceeds chance by 10 points")


def _surface_choices(tests: pl.DataFrame) -> Iterator[str]:
    some = tests.sample(min(5 * _SAMPLE, tests.height), seed=0)
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


def check_form(data: CheckedData) -> Verdict:
    """Count texts that are lower-cased, tokenised, with doubled spaces or odd characters."""
    texts = data.candidates["candidate"].unique()
    shares = report_form(texts)
    marks = {kind: texts.str.contains(mark).sum() / len(texts) for kind, mark in _MARKS.items()}
    found = [
        f"{look.replace('_', ' ')} {share:.1%}"
        for look, share in {**shares, **marks}.items()
        if look != "n" and share and share >= _LOOKS.get(look, _FEW)
    ]
    remedy = (
        "make sure that the converter did not cause it; the card states it, and --normalise "
        "changes it on request"
    )
    return judged("review", found, remedy, "texts have the form of plain prose")


def check_personal_data(data: CheckedData) -> Verdict:
    """Count e-mail and IP addresses in the texts."""
    frames = (data.candidates, data.all_references)
    kinds = Counter(one.kind for rows in frames for one in find_contacts(rows))
    if not kinds:
        return "pass", "no e-mail or IP address", ""
    found = f"addresses: {', '.join(f'{kind} {kinds[kind]}' for kind in sorted(kinds))}"
    if reviewed := data.facts.get("contacts", {}).get("reviewed"):
        return "pass", f"{found}; reviewed: {reviewed}", ""
    remedy = (
        "publish with --redact or --keep-contacts and a reason; or state once, under `contacts` in "
        "source.yaml, who reviewed them and why they may stay"
    )
    return "review", found, remedy


class _Corpus(NamedTuple):
    """Texts that many sets reuse: their name, what it looks like, and whose rights they are."""

    name: str
    pattern: str
    rights: str
    allows: bool = False


_CORPORA = (
    _Corpus("SAMSum", "samsum", "CC-BY-NC-ND-4.0"),
    _Corpus("XSum", "xsum", "articles of the BBC, without a licence"),
    _Corpus("CNN/DailyMail", "cnn[ _/-]?(dm|daily)", "articles of their publishers, not licensed"),
    _Corpus("Newsela", "newsela", "for research under a licence agreement"),
    _Corpus("MS MARCO", r"ms[ _-]?marco", "for non-commercial research only"),
    _Corpus("DailyDialog", "daily[ _-]?dialog", "CC-BY-NC-SA-4.0"),
    _Corpus("TED talks", r"\bted(?![a-z])", "CC-BY-NC-ND-4.0"),
)


def check_rights(data: CheckedData) -> Verdict:
    """Compare the licence with what is known of texts that many sets reuse."""
    if not data.facts:
        return "pass", "no source.yaml states a licence", ""
    licence, redistribution = data.facts["licence"], data.facts["redistribution"]
    stated = f"{licence}, redistribution: {redistribution}"
    about = [str(data.facts.get(key, "")) for key in ("name", "texts", "source_datasets", "notes")]
    found = [
        f"texts of {corpus.name} ({corpus.rights})"
        for corpus in _CORPORA
        if re.search(corpus.pattern, " ".join(about), re.IGNORECASE)
    ]
    if redistribution != "allowed" or not found:
        return "pass", stated, ""
    message = f"{stated}, but it has {' and '.join(found)}"
    remedy = "make sure that the licence covers the texts too, and say so under `limitations`"
    return "review", message, remedy
