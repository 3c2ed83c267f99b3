"""Results of the page as HTML; all texts from data and models are escaped."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import Any

from nnd.metric.space.trials import Trial

MINUS = "\u2212"

MOST_SHOWN = 50
"""Largest number of failures on the page, worst first."""

MOST_WORDS = 1_000
"""Longest text, in words, whose differences are marked, because finding them takes time."""

BASELINES = {
    "shorter_wins": "picking the shorter text",
    "longer_wins": "picking the longer text",
    "copy_wins": "picking the text that copies more of the context",
    "unconditional": "the model without the context",
}
"""The metric's baselines in words."""

_REMARKS = {
    "ties": "equal likelihoods, counted as failures",
    "unscored": "without a likelihood, counted as failures",
    "truncated": "with a context cut to fit the model's window",
}


def show(*trials: Trial, title: str = "") -> str:
    """Return the results of one model as HTML, or those of two with a comparison.

    Args:
        trials: One or two trials on the same pairs.
        title: A line above the results.
    """
    parts = [f'<p class="title">{escape(title)}</p>'] if title else []
    if len(trials) == 2:  # noqa: PLR2004 - two models are compared
        parts += _comparison(*trials)
    for trial in trials:
        if len(trials) > 1:
            parts.append(f"<h2>{_isolated(trial.result['model'])}</h2>")
        parts += _results(trial)
    return "\n".join(['<div class="nnd">', *parts, "</div>"])


def _results(trial: Trial) -> Iterator[str]:
    result = trial.result
    yield (
        f'<p class="headline"><strong>{_percent(result["pass_rate"])}</strong> '
        f"of {result['n']:,} tests passed{_interval(result)}</p>"
    )
    remarks = [f"{result[key]:,} {remark}" for key, remark in _REMARKS.items() if result[key]]
    if remarks:
        yield f'<p class="quiet">{"; ".join(remarks)}</p>'
    yield "<h3>Pass rate by error category</h3>"
    chart = [
        (
            _isolated(name),
            _track(rate),
            _percent(rate["pass_rate"]),
            _bounds(rate),
            f"<span>n = </span>{rate['n']:,}",
        )
        for name, rate in {"all tests": result, **result["by_error_category"]}.items()
    ]
    axis = "0 to 100 %, line at chance (50 %)"
    yield _table("chart", ("category", axis, "passed", "95 % interval", "n"), chart)
    if not result["by_error_category"]:
        yield '<p class="quiet">These pairs have no error categories.</p>'
    yield "<h3>Baselines</h3>"
    yield from _baselines(result)
    n, tests = trial.failures.height, trial.failures["tests"].sum()
    title = f"{tests:,} failed {'test' if tests == 1 else 'tests'}" if n else "No test failed"
    yield f"<h3>{title if n <= MOST_SHOWN else f'{title}: the {MOST_SHOWN} worst'}</h3>"
    yield from map(_failure, trial.failures.head(MOST_SHOWN).iter_rows(named=True))
    yield _signature(result["signature"])


def _table(kind: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    titles = "".join(f"<th>{head}</th>" for head in heads)
    lines = (f"<th>{name}</th>{''.join(map('<td>{}</td>'.format, cells))}" for name, *cells in rows)
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f'<table class="{kind}"><thead><tr>{titles}</tr></thead><tbody>\n{body}</tbody></table>'


def _comparison(a: Trial, b: Trial) -> Iterator[str]:
    names = [_isolated(trial.result["model"]) for trial in (a, b)]
    others = b.result["by_error_category"]
    both = {name: (of, others[name]) for name, of in a.result["by_error_category"].items()}
    rows = [
        (_isolated(name), *(_percent(rate["pass_rate"]) for rate in rates), f"{rates[0]['n']:,}")
        for name, rates in {"all tests": (a.result, b.result), **both}.items()
    ]
    yield _table("beside", ("passed", *names, "n"), rows)
    alone = zip(names, (b.failed - a.failed, a.failed - b.failed), strict=True)
    counts = ", ".join(f"{name} {len(tests):,}" for name, tests in alone)
    yield (
        f'<p class="quiet">Tests that only one of them passes: {counts}. '
        "<code>nnd compare</code> tests whether the difference is significant.</p>"
    )


def show_weighing(
    candidates: tuple[str, str],
    log_likelihoods: tuple[float | None, float | None],
    protocol: str,
    signature: str,
) -> str:
    """Return as HTML which of two candidates is more likely, by how much, and how they differ."""
    a, b = log_likelihoods
    if a is None or b is None:
        verdict = "A candidate without scored tokens has no likelihood."
    elif a == b:
        verdict = "Both candidates are equally likely."
    else:
        likelier = "first" if a > b else "second"
        unit = {"sum": "nats", "bytes": "nats per byte"}.get(protocol, "nats per token")
        verdict = f"The {likelier} candidate is more likely, by {abs(a - b):.3f} {unit}."
    values = ["none" if value is None else f"{value:.3f}".replace("-", MINUS) for value in (a, b)]
    parts = [
        f"<p><em>{which} candidate, log-likelihood {value}</em><bdi>{text}</bdi></p>"
        for which, value, text in zip(
            ("first", "second"), values, mark_differences(*candidates), strict=True
        )
    ]
    return (
        f'<div class="nnd"><p class="headline">{verdict}</p>'
        f'<article class="failure">{"".join(parts)}</article>{_signature(signature)}</div>'
    )


def mark_differences(first: str, second: str) -> tuple[str, str]:
    """Return two texts as HTML, in which the words that differ are marked."""
    words = [re.findall(r"\s+|\w+|[^\w\s]", text) for text in (first, second)]
    if max(map(len, words)) > MOST_WORDS:
        return escape(first), escape(second)
    marked: tuple[list[str], list[str]] = ([], [])
    for kind, i, j, k, m in SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes():
        for out, part in zip(marked, (words[0][i:j], words[1][k:m]), strict=True):
            text = escape("".join(part))
            out.append(text if kind == "equal" or not text.strip() else f"<mark>{text}</mark>")
    return "".join(marked[0]), "".join(marked[1])


def show_problem(message: str) -> str:
    """Return an error message as HTML."""
    return f'<div class="nnd"><p class="problem" role="alert">{escape(message)}</p></div>'


def _track(rate: Mapping[str, Any]) -> str:
    """Return a bar for the interval with a dot at the pass rate."""
    if rate["pass_rate"] is None:
        return ""
    low, high = (100 * end for end in rate["interval"] or [rate["pass_rate"]] * 2)
    return (
        '<div class="track" aria-hidden="true">'
        f'<i style="left:{low:.2f}%;width:{high - low:.2f}%"></i>'
        f'<b style="left:{100 * rate["pass_rate"]:.2f}%"></b></div>'
    )


def _baselines(result: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (BASELINES[name], _percent(of["with_coin"]), _verdict(of["lead_interval"]))
        for name, of in result["baselines"].items()
        if of is not None
    ]
    yield _table("baselines", ("baseline", "passes", "compared with the model"), rows)
    matched = result["length_matched"]
    if matched is not None and matched["pass_rate"] is not None:
        yield (
            "<p>Where the lengths of the two texts differ by at most 10 %, the model passes "
            f"{_percent(matched['pass_rate'])} of {matched['n']:,} tests{_interval(matched)}.</p>"
        )
    yield from (f'<p class="note">{escape(note)}</p>' for note in result["notes"])


def _verdict(lead: Sequence[float] | None) -> str:
    low, high = lead or (-1.0, 1.0)
    if low > 0:
        return "worse"
    return "better" if high < 0 else "no significant difference"


def _failure(row: Mapping[str, Any]) -> str:
    margin = row["margin"]
    measured = "no likelihood" if margin is None else f"margin {margin:.3f}".replace("-", MINUS)
    if row["tests"] > 1:
        measured += f" in {row['tests']} tests"
    high, low = mark_differences(row["candidate_high"], row["candidate_low"])
    return (
        f'<article class="failure"><header><span>{_isolated(row["error_category"] or "")}</span>'
        f"<span>{measured}</span></header>"
        f'<p class="context" tabindex="0">{_isolated(row["context"])}</p>'
        f"<p><em>better according to people</em><bdi>{high}</bdi></p>"
        f"<p><em>worse, but not according to the model</em><bdi>{low}</bdi></p></article>"
    )


def _signature(signature: str) -> str:
    return f'<p class="signature">Signature<br><code>{escape(signature)}</code></p>'


def _isolated(text: str) -> str:
    """Return a text as HTML that does not change the writing direction of its surroundings."""
    return f"<bdi>{escape(text)}</bdi>"


def _interval(rate: Mapping[str, Any]) -> str:
    return f", 95 % interval {_bounds(rate)}" if rate["interval"] else ""


def _bounds(rate: Mapping[str, Any]) -> str:
    return " to ".join(f"{100 * end:.1f}" for end in rate["interval"] or ())


def _percent(share: float | None) -> str:
    return "no test" if share is None else f"{100 * share:.1f} %"
