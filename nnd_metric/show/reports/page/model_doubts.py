"""Caveats about a model's rates: baselines with similar rates, and further notes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nnd.metric.numbers import MATCHED_WITHIN, Baseline, caveats, percent
from nnd.metric.show.drawing.text_widths import MINUS
from nnd.metric.show.reports.content.report_models import ReportModel
from nnd.metric.show.reports.page.sheets import Sheet, SheetRow

_HEADS = (
    "baseline with a similar rate",
    "passes, %",
    "lead of the model, points [95 %]",
    "verdict",
)
_NAMES = {
    "shorter_wins": "always picking the shorter text",
    "longer_wins": "always picking the longer text",
    "copy_wins": "always picking the text that copies more",
    "unconditional": "the same model without any context",
}
_LENGTH = ("shorter_wins", "longer_wins")


_OF_RATES = re.compile(r" passes \d+\.\d % of ")
"""Pattern of stored sentences about baselines, from any version of nnd."""


@dataclass(frozen=True, slots=True)
class Doubts:
    """Caveats about one model's rates.

    Attributes:
        model: The model.
        sheet: The baselines that it does not significantly beat, or None.
        notes: Further caveats, a sentence each.
    """

    model: ReportModel
    sheet: Sheet | None
    notes: Sequence[str]


def find_doubts(models: Sequence[ReportModel]) -> list[Doubts]:
    """Return the caveats of each model that has some."""
    found = [_doubts(model) for model in models]
    return [each for each in found if each.sheet is not None or each.notes]


def _doubts(model: ReportModel) -> Doubts:
    overall = model.rates.overall
    rivals = {
        name: baseline
        for name, baseline in overall.baselines.items()
        if baseline is not None and overall.pass_rate is not None and baseline.verdict != "behind"
    }
    rows = [_row(name, baseline) for name, baseline in rivals.items()]
    notes = [*caveats(overall)[len(rivals) :]]  # those of the baselines come first
    if not notes and any(name in _LENGTH for name in rivals):
        matched = overall.length_matched
        if matched is not None and matched.pass_rate is not None:
            bounds = matched.interval
            interval = "" if bounds is None else f" [{percent(bounds[0])}, {percent(bounds[1])}]"
            notes.append(
                f"On tests whose lengths match within {100 * MATCHED_WITHIN:.0f} %, it passes "
                f"{percent(matched.pass_rate)} %{interval} of {matched.n:,} tests."
            )
    stored = model.facts.get("notes")
    others = [str(each) for each in stored] if isinstance(stored, list) else []
    notes += [each for each in others if not _OF_RATES.search(each)]
    sheet = Sheet(_HEADS, (False, True, True, False), rows, "") if rows else None
    return Doubts(model, sheet, [*dict.fromkeys(notes)])


def _row(name: str, baseline: Baseline) -> SheetRow:
    lead, verdict = f"{100 * baseline.lead:+.1f}", "one context, so no interval"
    if baseline.lead_interval is not None:
        low, high = (100 * bound for bound in baseline.lead_interval)
        lead += f" [{low:+.1f}, {high:+.1f}]"
        verdict = "not significant" if low <= 0 <= high else "ahead"
    return SheetRow((_NAMES[name], percent(baseline.with_coin), lead.replace("-", MINUS), verdict))
