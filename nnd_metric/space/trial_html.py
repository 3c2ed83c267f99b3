"""What the page shows, as HTML; all that comes from data is escaped."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import Any

from nnd.metric.space.trials import Trial, Weighed

MINUS = "\u2212"

MOST_SHOWN = 50
"""Failures on the page, worst first."""

MOST_WORDS = 1_000
"""Of a text whose differing words are marked: finding them takes time."""

JUDGES = {
    "shorter_wins": "prefers the shorter text",
    "longer_wins": "prefers the longer text",
    "copy_wins": "prefers what copies more of the context",
    "unconditional": "is the same model, without the context",
}
"""What each of the metric's baselines does."""


def show(*trials: Trial, title: str = "") -> str:
    """Return what models did on the same pairs as HTML, each by itself, and two beside each other.

    Args:
        trials: One or two.
        title: What to say above it.
    """
    parts = [f'<p class="title">{escape(title)}</p>'] if title else []
    if len(trials) == 2:  # noqa: PLR2004 - nothing is compared otherwise
        parts += _beside(*trials)
    for trial in trials:
        if len(trials) > 1:
            parts.append(f"<h2>{_text(trial.result['model'])}</h2>")
        parts += _one(trial)
    return "\n".join(['<div class="nnd">', *parts, "</div>"])


def _one(trial: Trial) -> Iterator[str]:
    result = trial.result
    yield from _headline(result)
    yield "<h3>Pass rate by error category</h3>"
    yield from _chart(result)
    yield "<h3>What the tests give away</h3>"
    yield from _confounds(result)
    yield f"<h3>{_failures_title(trial)}</h3>"
    yield from map(_failure, trial.failures.head(MOST_SHOWN).iter_rows(named=True))
    yield _signature(result["signature"])


def _beside(a: Trial, b: Trial) -> Iterator[str]:
    """Return two models in one table, and how many tests each passes that the other fails."""
    names = [trial.result["model"] for trial in (a, b)]
    yield '<table class="beside"><thead><tr><th>passed</th>'
    yield from (f"<th>{_text(name)}</th>" for name in names)
    yield "<th>n</th></tr></thead><tbody>"
    rows = {"all tests": (a.result, b.result)} | {
        name: (rate, b.result["by_error_category"][name])
        for name, rate in a.result["by_error_category"].items()
    }
    for name, rates in rows.items():
        cells = "".join(f"<td>{_percent(rate['pass_rate'])}</td>" for rate in rates)
        yield f"<tr><th>{_text(name)}</th>{cells}<td>{rates[0]['n']:,}</td></tr>"
    yield "</tbody></table>"
    alone = zip(names, (b.failed - a.failed, a.failed - b.failed), strict=True)
    told = "; ".join(f"{_text(name)} alone passes {len(tests):,}" for name, tests in alone)
    yield f'<p class="quiet">{told}. <code>nnd compare</code> says whether that is significant.</p>'


def show_weighed(found: Weighed) -> str:
    """Return as HTML which of two candidates is likelier, by how much, and where they differ."""
    (first, second), (a, b) = found.candidates, found.log_likelihoods
    marked = mark_differences(first, second)
    if a is None or b is None:
        told = "A candidate without a token to score has no likelihood."
    elif a == b:
        told = "Both are equally likely."
    else:
        told = (
            f"The {'first' if a > b else 'second'} is likelier, by {abs(a - b):.3f} {found.unit}."
        )
    values = ["none" if value is None else f"{value:.3f}".replace("-", MINUS) for value in (a, b)]
    parts = [
        f"<p><em>{which} candidate, log-likelihood {value}</em><bdi>{text}</bdi></p>"
        for which, value, text in zip(("first", "second"), values, marked, strict=True)
    ]
    return (
        f'<div class="nnd"><p class="headline">{told}</p>'
        f'<article class="failure">{"".join(parts)}</article>{_signature(found.signature)}</div>'
    )


def mark_differences(first: str, second: str) -> tuple[str, str]:
    """Return two texts as HTML, with the words marked that one has and the other has not."""
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
    """Return, as HTML, why there is no result."""
    return f'<div class="nnd"><p class="problem" role="alert">{escape(message)}</p></div>'


def _headline(result: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f'<p class="headline"><strong>{_percent(result["pass_rate"])}</strong> '
        f"of {result['n']:,} tests passed{_interval(result)}</p>"
    )
    counts = {
        "equal likelihoods, counted as failures": result["ties"],
        "without a likelihood, counted as failures": result["unscored"],
        "with a context cut to fit the model's window": result["truncated"],
    }
    told = [f"{count:,} {what}" for what, count in counts.items() if count]
    if told:
        yield f'<p class="quiet">{"; ".join(told)}</p>'


def _chart(result: Mapping[str, Any]) -> Iterator[str]:
    rates = {"all tests": result, **result["by_error_category"]}
    yield '<table class="chart">'
    yield "<thead><tr><th>category</th><th>0 to 100 %, line at chance (50 %)</th>"
    yield "<th>passed</th><th>95 % interval</th><th>n</th></tr></thead><tbody>"
    for name, rate in rates.items():
        yield (
            f"<tr><th>{_text(name)}</th><td>{_track(rate)}</td>"
            f"<td>{_percent(rate['pass_rate'])}</td><td>{_bounds(rate)}</td>"
            f"<td><span>n = </span>{rate['n']:,}</td></tr>"
        )
    yield "</tbody></table>"
    if not result["by_error_category"]:
        yield '<p class="quiet">These pairs name no error categories.</p>'


def _track(rate: Mapping[str, Any]) -> str:
    """Return a dot at the pass rate on its interval, or nothing where there is no test."""
    if rate["pass_rate"] is None:
        return ""
    low, high = (100 * end for end in rate["interval"] or [rate["pass_rate"]] * 2)
    return (
        '<div class="track" aria-hidden="true">'
        f'<i style="left:{low:.2f}%;width:{high - low:.2f}%"></i>'
        f'<b style="left:{100 * rate["pass_rate"]:.2f}%"></b></div>'
    )


def _confounds(result: Mapping[str, Any]) -> Iterator[str]:
    yield '<table class="confounds"><thead><tr><th>a judge that …</th><th>passes</th>'
    yield "<th>stands</th></tr></thead><tbody>"
    for name, baseline in result["baselines"].items():
        if baseline is not None:
            yield (
                f"<tr><th>{JUDGES[name]}</th><td>{_percent(baseline['with_coin'])}</td>"
                f"<td>{_stands(baseline['lead_interval'])}</td></tr>"
            )
    yield "</tbody></table>"
    matched = result["length_matched"]
    if matched is not None and matched["pass_rate"] is not None:
        yield (
            "<p>Where the two texts are equally long, within 10 %, the model passes "
            f"{_percent(matched['pass_rate'])} of {matched['n']:,} tests{_interval(matched)}.</p>"
        )
    yield from (f'<p class="note">{escape(note)}</p>' for note in result["notes"])


def _stands(lead: Sequence[float] | None) -> str:
    """Say where a judge stands, from the interval of the model's lead over it."""
    low, high = lead or (-1.0, 1.0)
    if low > 0:
        return "behind the model"
    return "ahead of the model" if high < 0 else "cannot be told apart"


def _failures_title(trial: Trial) -> str:
    failed = trial.failures
    if failed.is_empty():
        return "No test failed"
    title = f"{failed['tests'].sum():,} failed tests"
    return title if failed.height <= MOST_SHOWN else f"{title}, the worst of them"


def _failure(row: Mapping[str, Any]) -> str:
    margin = row["margin"]
    told = "no likelihood" if margin is None else f"margin {margin:.3f}".replace("-", MINUS)
    if row["tests"] > 1:
        told += f" in {row['tests']} tests"
    high, low = mark_differences(row["candidate_high"], row["candidate_low"])
    return (
        f'<article class="failure"><header><span>{_text(row["error_category"] or "")}</span>'
        f'<span>{told}</span></header><p class="context" tabindex="0">{_text(row["context"])}</p>'
        f"<p><em>people preferred</em><bdi>{high}</bdi></p>"
        f"<p><em>the model did not prefer it to</em><bdi>{low}</bdi></p></article>"
    )


def _signature(signature: str) -> str:
    return f'<p class="signature">Signature<br><code>{escape(signature)}</code></p>'


def _text(text: str) -> str:
    """Isolate a text: its direction of writing must not turn what stands beside it."""
    return f"<bdi>{escape(text)}</bdi>"


def _interval(rate: Mapping[str, Any]) -> str:
    return f", 95 % interval {_bounds(rate)}" if rate["interval"] else ""


def _bounds(rate: Mapping[str, Any]) -> str:
    return " to ".join(f"{100 * end:.1f}" for end in rate["interval"] or ())


def _percent(share: float | None) -> str:
    return "no test" if share is None else f"{100 * share:.1f} %"
