"""Caveats: sentences on what a pass rate may owe to surface features rather than quality.

There is a sentence for each baseline that is `ahead` of the model or `close` to it (`baselines`;
one for length in characters is not repeated for length in tokens), and one if length alone, with
undecided tests counting half, beats chance while the model's lead over chance shrinks without its
help: on tests of matched length, the interval includes 50 %, is completely below that of all tests,
or does not exist.

Before them come sentences on what the tokenizer cannot read, if it is more than 1 %: tests that are
undecidable because both texts become the same tokens, and characters that it does not know.

One more is for protocols that average over tokens (`few_tokens`): in a tenth of the tests or more,
candidates have few and unequal numbers of tokens, and the number decides most of these.
"""

from collections.abc import Iterator, Sequence

from nnd.metric.numbers.rates.baselines import FEW_TOKENS, MATCHED_WITHIN, Baseline, LengthMatched
from nnd.metric.numbers.rates.pass_rates import Rate
from nnd.metric.numbers.statistics.interval_text import percent
from nnd.schemas import counted

LENGTH = ("shorter_wins", "longer_wins")

PICKING = {
    "shorter_wins": "always picking the shorter text",
    "longer_wins": "always picking the longer text",
    "fewer_tokens": "always picking the text with fewer tokens",
    "more_tokens": "always picking the text with more tokens",
    "copy_wins": "always picking the text that copies more",
    "unconditional": "the same model without any context",
}
"""Name of a baseline → how it is done, for the start of a sentence."""

_IN_CHARACTERS = {"fewer_tokens": "shorter_wins", "more_tokens": "longer_wins"}

_COIN = 0.5
_OFTEN, _MOSTLY = 0.1, 0.75
_SOME = 0.01


def caveats(overall: Rate) -> tuple[str, ...]:
    """Return the caveats about a model's overall pass rate, if any."""
    return (*_unread(overall), *_baselines(overall), *_shrinking(overall))


def _unread(overall: Rate) -> Iterator[str]:
    undecidable, n = overall.undecidable or 0, overall.n
    if undecidable > _SOME * n:
        yield (
            f"{undecidable:,} of {counted(n, 'test')} {'is' if undecidable == 1 else 'are'} "
            "undecidable for this model: its tokenizer reads both texts as the same tokens"
        )
    unknown = {"candidates": overall.unknown, "contexts": overall.unknown_context}
    shares = [
        f"{_percent(share)} of the characters of the {texts}"
        for texts, share in unknown.items()
        if share is not None and share > _SOME
    ]
    if shares:
        yield f"its tokenizer does not know {' and '.join(shares)}"


def few_tokens(overall: Rate) -> tuple[str, ...]:
    """Return the caveat, if any, that candidates have too few tokens for a mean over them."""
    few, won = overall.few_tokens
    if few == 0 or few < _OFTEN * overall.n or won < _MOSTLY * few:
        return ()
    sentence = (
        f"in {few:,} of {overall.n:,} tests one candidate has fewer than {FEW_TOKENS} tokens and "
        f"the other a different number; the one with more tokens wins {won:,} of them, because a "
        "mean over so few tokens depends on how words are cut into tokens: compare whole sentences"
    )
    return (sentence,)


def brief_caveat(overall: Rate, notes: Sequence[str]) -> str | None:
    """Return the sentence for below a table, or None without caveats."""
    unread = [*_unread(overall)]
    few = [note for note in few_tokens(overall) if note in notes]
    said = _brief(overall, [note for note in notes if note not in (*unread, *few)])
    return "; ".join([*unread, *([said] if said else []), *few]) or None


def _brief(overall: Rate, notes: Sequence[str]) -> str | None:
    rivals = find_rivals(overall)
    if rivals:
        best = max(rivals, key=lambda name: rivals[name].with_coin)
        others = counted(len(rivals) - 1, "other baseline")
        than = f"than {PICKING[best]} ({_percent(rivals[best].with_coin)})"
        interval = rivals[best].lead_interval
        if interval is not None and interval[1] < 0:
            also = f", and not clearly better than {others}" if len(rivals) > 1 else ""
            return f"worse {than}{also}"
        return f"not clearly better {than}{f', nor than {others}' if len(rivals) > 1 else ''}"
    if any(_shrinking(overall)):
        return "its lead over chance (50 %) may come from the length of the texts"
    return notes[0] if notes else None


def find_rivals(overall: Rate) -> dict[str, Baseline]:
    """Return the baselines that the model is not clearly better than, length only once."""
    found = {
        name: baseline
        for name, baseline in overall.baselines.items()
        if baseline is not None and overall.pass_rate is not None and baseline.verdict != "behind"
    }
    return {name: each for name, each in found.items() if _IN_CHARACTERS.get(name) not in found}


def _baselines(overall: Rate) -> Iterator[str]:
    for name, baseline in find_rivals(overall).items():
        reached = f"{_percent(baseline.with_coin)} of {overall.n:,} tests{_undecided(baseline)}"
        against = f"the model {_percent(overall.pass_rate or 0.0)}{_significance(baseline)}"
        matched = _where_matched(overall.length_matched) if name in LENGTH else ""
        yield f"{PICKING[name]} passes {reached}, {against}{matched}"


def _shrinking(overall: Rate) -> Iterator[str]:
    matched, of_length = overall.length_matched, [overall.baselines[name] for name in LENGTH]
    helped = any(baseline is not None and baseline.with_coin > _COIN for baseline in of_length)
    if not helped or matched is None or overall.pass_rate is None:
        return
    of_all, of_matched = overall.interval, matched.interval
    if of_all is None or of_all[0] <= _COIN:
        return
    start = f"the model passes {_percent(overall.pass_rate)} of all tests{_where_matched(matched)}"
    if of_matched is None:
        yield f"{start}: its lead may come from length"
    elif of_matched[0] <= _COIN:
        yield f"{start}: no clear lead over chance (50 %) without the help of length"
    elif of_matched[1] < of_all[0]:
        yield f"{start}: part of its lead may come from length"


def _undecided(baseline: Baseline) -> str:
    undecided = baseline.ties + baseline.unscored
    if not undecided:
        return ""
    verb = "counts" if undecided == 1 else "count"
    return f" ({counted(undecided, 'undecided test')} {verb} half)"


def _significance(baseline: Baseline) -> str:
    if baseline.lead_interval is None:
        return "; all tests are of one context, so there is no interval"
    low, high = baseline.lead_interval
    if low <= 0 <= high:
        shown = f"{100 * low:+.1f}, {100 * high:+.1f}"
        return f"; the difference is not significant (lead of the model {shown} points)"
    return ""


def _where_matched(matched: LengthMatched | None) -> str:
    if matched is None:
        return ""
    where = f"where lengths match within {100 * MATCHED_WITHIN:.0f} %"
    if matched.pass_rate is None:
        return f"; {where} there is no test"
    bounds = matched.interval
    interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    return f"; {where}, the model passes {_percent(matched.pass_rate)}{interval} of {matched.n:,}"


def _percent(share: float) -> str:
    return f"{percent(share)} %"
