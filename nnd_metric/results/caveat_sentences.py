"""Sentences that say what a pass rate may owe to the surface of the texts rather than to quality.

A sentence stands for each baseline that is `ahead` of the model or `close` to it (`confounds`), and
one where length alone, with a coin for what it cannot decide, beats a coin and the model's lead
over a coin shrinks without its help: on the tests of matched length the interval reaches 50 %, or
lies wholly below that of all tests. Where those tests give no interval, the sentence says that
nothing can be told.
"""

from collections.abc import Iterator, Sequence

from nnd.metric.results.baselines import MATCHED_WITHIN, Baseline, Matched
from nnd.metric.results.rates import Rate
from nnd.metric.statistics import interval_of, percent
from nnd.schemas import counted, excerpt

LENGTH = ("shorter_wins", "longer_wins")

_WINS = {
    "shorter_wins": "shorter wins",
    "longer_wins": "longer wins",
    "copy_wins": "more copied wins",
    "unconditional": "the same model without any context",
}

_TAKING = {
    "shorter_wins": "taking the shorter text",
    "longer_wins": "taking the longer text",
    "copy_wins": "taking the text that copies more",
    "unconditional": "itself without the context",
}

_COIN = 0.5


def caveats(overall: Rate) -> tuple[str, ...]:
    """Return what to know before believing a model's overall pass rate; nothing where all is well.

    Args:
        overall: The rate, with its baselines.
    """
    return (*_baselines(overall), *_shrinking(overall))


def brief_caveat(overall: Rate, notes: Sequence[str]) -> str | None:
    """Return the few words that stand below a table, or None where there is nothing to know.

    Args:
        overall: The rate, with its baselines.
        notes: All that is to know, a sentence each (`caveats` among them).
    """
    reached = {
        name: baseline.pass_rate
        for name, baseline in overall.baselines.items()
        if baseline is not None and overall.pass_rate is not None and baseline.verdict != "behind"
    }
    if reached:
        best = max(reached, key=lambda name: reached[name])
        others = len(reached) - 1
        also = f", nor than {counted(others, 'other baseline')}" if others else ""
        return f"not clearly better than {_TAKING[best]} ({_percent(reached[best])}){also}"
    if any(_shrinking(overall)):
        return "its lead over a coin may come from the length of the texts"
    return excerpt(notes[0]) if notes else None


def _baselines(overall: Rate) -> Iterator[str]:
    for name, baseline in overall.baselines.items():
        if baseline is None or overall.pass_rate is None or baseline.verdict == "behind":
            continue
        alone = "" if name == "unconditional" else " alone"
        reached = f"{_percent(baseline.pass_rate)} of {overall.n:,} tests{_coin(baseline)}"
        against = f"the model {_percent(overall.pass_rate)}{_told_apart(baseline)}"
        matched = _where_matched(overall.length_matched) if name in LENGTH else ""
        yield f"{_WINS[name]}{alone} passes {reached}, {against}{matched}"


def _shrinking(overall: Rate) -> Iterator[str]:
    """Tell when the lead over a coin is less, or in doubt, where length gives nothing away."""
    matched, found = overall.length_matched, [overall.baselines[name] for name in LENGTH]
    helped = any(baseline is not None and baseline.with_coin > _COIN for baseline in found)
    if not helped or matched is None or overall.pass_rate is None:
        return
    of_all, of_matched = interval_of(overall.to_dict()), interval_of(matched.to_dict())
    if of_all is None or of_all[0] <= _COIN:
        return
    told = f"the model passes {_percent(overall.pass_rate)} of all tests{_where_matched(matched)}"
    if of_matched is None:
        yield f"{told}: whether its lead is length cannot be told"
    elif of_matched[0] <= _COIN:
        yield f"{told}: no clear lead over a coin without the help of length"
    elif of_matched[1] < of_all[0]:
        yield f"{told}: part of its lead may be length"


def _coin(baseline: Baseline) -> str:
    undecided = baseline.ties + baseline.unscored
    if not undecided:
        return ""
    return f" ({_percent(baseline.with_coin)} with a coin for the {undecided:,} it cannot decide)"


def _told_apart(baseline: Baseline) -> str:
    if baseline.lead_interval is None:
        return "; all tests are of one context, which cannot tell them apart"
    low, high = baseline.lead_interval
    if low <= 0 <= high:
        shown = f"{100 * low:+.1f}, {100 * high:+.1f}"
        return f"; the data cannot tell them apart (lead of the model {shown} points)"
    return ""


def _where_matched(matched: Matched | None) -> str:
    if matched is None:
        return ""
    where = f"where lengths match within {100 * MATCHED_WITHIN:.0f} %"
    if matched.pass_rate is None:
        return f"; {where} there is no test"
    bounds = interval_of(matched.to_dict())
    interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
    return f"; {where}, the model passes {_percent(matched.pass_rate)}{interval} of {matched.n:,}"


def _percent(share: float) -> str:
    return f"{percent(share)} %"
