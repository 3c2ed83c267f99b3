"""The page: one self-contained file, in which data is shown only as text.

Every text is escaped when it is inserted, and control characters are shown as dots. The page's
security policy lets a browser load nothing, and run only our script, which is named by its digest.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from nnd.metric.data import describe_splits
from nnd.metric.numbers import (
    CITATION,
    PAPER,
    PublishedPasses,
    Rate,
    do_all_agree,
    few_clusters,
    find_protocols,
    manner_of,
    mean_ranking,
    over_clusters,
    tests_of,
    visible,
    whole_name,
)
from nnd.metric.run import VERSION
from nnd.metric.show.drawing.marks import Drawing
from nnd.metric.show.drawing.svg import svg_inline
from nnd.metric.show.figures.scaling import in_short
from nnd.metric.show.reports.content.packed_pairs import MOST_PAIRS, pack_pairs
from nnd.metric.show.reports.content.report_content import ReportContent
from nnd.metric.show.reports.content.report_figures import Figures
from nnd.metric.show.reports.content.report_models import ReportModel
from nnd.metric.show.reports.page.model_doubts import find_doubts
from nnd.metric.show.reports.page.sheets import faded, headline, sheet, surface
from nnd.metric.show.tables.agreement import (
    agreement_notes,
    agreement_table,
    extrapolation_tables,
    people_table,
)
from nnd.metric.show.tables.cells import deviation
from nnd.metric.show.tables.comparisons import comparison_table
from nnd.metric.show.tables.effects import category_effects_table, effects_table
from nnd.metric.show.tables.pass_rates import slices_table, sweep_table
from nnd.metric.show.tables.published import PublishedModel, published_details, published_notes
from nnd.metric.show.tables.slices import from_rest_table, slice_rates_table
from nnd.schemas import ScoringError, excerpt

_FOLDER = Path(__file__).parent
_LONGEST = 2_000  # characters of one text, except texts of pairs
_POLICY = (
    "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
_SCRIPTS = ("report_texts.js", "report_words.js", "report_pair.js", "report.js")


def render(
    contents: Sequence[tuple[ReportContent, Figures]], day: date | None, command: str | None
) -> str:
    """Return the HTML of the page.

    Raises ScoringError if the texts are not those that were scored, or if the stored agreement
    cannot be read.
    """
    script = "".join((_FOLDER / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    several = len(contents) > 1
    parts = [
        _part(content, figures, f"-{number}" if several else "")
        for number, (content, figures) in enumerate(contents, start=1)
    ]
    return _template().render(
        parts=parts,
        summary=_summary({p["data"]: c for p, (c, _) in zip(parts, contents, strict=True)})
        if several
        else None,
        version=VERSION,
        day=day,
        command=command,
        paper=PAPER,
        citation=CITATION,
        policy=_POLICY.format(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()),
        css=(_FOLDER / "report.css").read_text(encoding="utf-8"),
        script=script,
        whole_names={
            each.name: whole_name(each.model)
            for content, _ in contents
            for each in content.models
            if each.name != each.model
        },
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.jinja")


def _part(content: ReportContent, figures: Figures, suffix: str) -> dict[str, Any]:
    """Return the part of the page for one dataset; its ids end in `suffix`."""
    models, texts = content.models, content.texts
    sizes = ["" if e.parameters is None else in_short(e.parameters) for e in models]
    rates, facts = models[0].rates, models[0].facts
    n = rates.overall.n
    n_whole = facts.get("n_whole") if facts.get("n") == n else None  # else of fewer splits
    signed = (models[0].signature or "").split("|")
    known_as = [part.removeprefix("data:") for part in signed if part.startswith("data:")]
    known_as.append("pairs" if texts is None else texts.name)
    name, _, revision = known_as[0].rpartition("@")
    shown = {
        part: [_figure(drawing, figures, suffix) for drawing in drawings]
        for part, drawings in figures.parts.items()
    }
    return {
        "suffix": suffix,
        "data": _title(content, name or revision),
        "notes": content.notes,
        "revision": revision if name else "",
        "texts": None if texts is None else f"{texts.name}@{texts.version[:12]}",
        "origin": content.origin,
        "n": n,
        "tests": tests_of(n, n_whole),
        "n_pairs": rates.n_pairs,
        "n_shown": min(rates.n_pairs, MOST_PAIRS),
        "n_contexts": rates.overall.contexts,
        "over": over_clusters(rates.overall, content.cluster),
        "few": few_clusters(rates.overall, content.cluster),
        "best": _best(content),
        "all_agree": any(_all_agree(each.rates.overall) for each in models),
        "headline": list(headline(models, sizes)),
        "sized": any(sizes),
        "surface": surface(models),
        "doubts": [*find_doubts(models)],
        "rates": sheet(slices_table({each.name: each.rates for each in models})),
        "slices": (slices := content.slices)
        and {
            "headline": slices.headline(),
            "sheets": [sheet(slice_rates_table(slices)), sheet(from_rest_table(slices))],
            "notes": slices.remarks(),
        },
        "published": _published(models),
        "agreement": _agreement(content),
        "effects": (effects := content.effects)
        and {
            "headline": effects.headline(),
            "remarks": effects.remarks(),
            "sheet": sheet(effects_table(effects)),
            "categories": sheet(category_effects_table(effects)),
        },
        "comparisons": [
            {
                **figure,
                "sentences": comparison.sentences,
                "sheet": sheet(comparison_table(comparison)),
            }
            for (_, _, comparison), figure in zip(
                content.comparisons, shown["comparisons"], strict=True
            )
        ],
        "figures": shown,
        "has_texts": texts is not None,
        "sources": [(each, _provenance(each)) for each in models],
        "numbers": _json({each.name: each.data for each in figures.all()}),
        "pairs": pack_pairs(models, texts),  # base64
    }


def _summary(contents: Mapping[str, ReportContent]) -> dict[str, Any]:
    rates = {
        name: {model.name: model.rates.overall for model in content.models}
        for name, content in contents.items()
    }
    shares = [{name: rate.pass_rate for name, rate in each.items()} for each in rates.values()]
    means = mean_ranking(shares)
    return {
        "sentence": f"{means}." if means else "No model is on all datasets.",
        "sheet": sheet(sweep_table(rates)),
    }


def _finalize(value: object) -> object:
    if not isinstance(value, str) or hasattr(value, "__html__"):  # which the template calls safe
        return value
    return "\n".join(visible(line) for line in excerpt(value, _LONGEST).split("\n"))


def _json(value: object) -> str:
    text = json.dumps(value, separators=(",", ":"))  # ASCII
    escapes = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&"})
    return text.translate(escapes)


def _figure(drawing: Drawing, figures: Figures, suffix: str) -> dict[str, Any]:
    prefix = f"dataset{suffix}-" if suffix else ""
    stacked = figures.stacked.get(drawing.name)
    return {
        "name": drawing.name,
        "title": drawing.title,
        "caption": drawing.caption,
        "width": round(72 * drawing.figure.get_figwidth(), 1),
        "svg": svg_inline(drawing, prefix=prefix),  # escaped by ElementTree
        "stacked": None if stacked is None else svg_inline(stacked, prefix=f"{prefix}stacked-"),
    }


def _title(content: ReportContent, name: str) -> str:
    """Return the name of the data with its splits, and the protocols, where there are several."""
    splits = [describe_splits(content.splits)] if content.splits else []
    protocols = find_protocols(manner_of(each.facts) for each in content.models)
    mixed = [f"protocols {' and '.join(protocols)}"] if len(protocols) > 1 else []
    return f"{name} ({', '.join(splits + mixed)})" if splits + mixed else name


def _best(content: ReportContent) -> dict[str, Any]:
    """Return the best models, their rate, and those without a significant difference from it."""
    rates = [each.rates.overall for each in content.models]
    names = [each.name for each in content.models]
    most = max(rate.passes for rate in rates)
    best = [place for place, rate in enumerate(rates) if rate.passes == most]
    undecided = {
        b if a == best[0] else a
        for a, b, comparison in content.comparisons
        if best[0] in (a, b) and comparison.overall.verdict == "undecided"
    }
    rate = rates[best[0]]
    return {
        "names": [names[place] for place in best],
        "pass_rate": rate.pass_rate,
        "interval": rate.interval,
        "by": f"95 % interval{' with one test per context' if _all_agree(rate) else ''}",
        "alike": [names[place] for place in sorted(undecided.difference(best))],
    }


def _all_agree(rate: Rate) -> bool:
    return do_all_agree(rate.pass_rate, rate.interval)


def _published(models: Sequence[ReportModel]) -> dict[str, Any] | None:
    """Return what others published for the models beside our numbers, if the runs state it."""
    known = [
        PublishedModel(
            each.name, "", each.rates, PublishedPasses.from_dict(each.facts["published"])
        )
        for each in models
        if "published" in each.facts
    ]
    return (
        {"sheet": sheet(published_details(known)), "notes": published_notes(known)}
        if known
        else None
    )


def _agreement(content: ReportContent) -> dict[str, Any]:
    agreement = content.agreement
    if agreement is None:
        return {"reason": content.agreement_reason, "sheets": [], "notes": []}
    try:
        named = _briefly(agreement, {each.model: each.name for each in content.models})
        correlations = faded(sheet(agreement_table(named)), named)
        beside = people_table(named)
        more = [*([] if beside is None else [beside]), *extrapolation_tables(named)]
        sheets = [correlations, *map(sheet, more)]
        return {"reason": None, "sheets": sheets, "notes": agreement_notes(named)}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ScoringError(
            "run.evaluate-again",
            f"the agreement that the run holds cannot be read ({error!r})",
            remedy="evaluate again, or pass --data or --human-scores",
        ) from error


def _briefly(agreement: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return an agreement whose models have short names."""

    def name(model: str) -> str:
        return names.get(model, model)

    def named(category: Mapping[str, Any]) -> dict[str, Any]:
        predicted = category["extrapolation"]
        predictions = [p | {"model": name(p["model"])} for p in predicted["predictions"]]
        return {**category, "extrapolation": {**predicted, "predictions": predictions}}

    by_model = {
        key: agreement[key] and {name(model): each for model, each in agreement[key].items()}
        for key in ("systems", "unscored")
    }
    by_category = {value: named(each) for value, each in agreement["by_category"].items()}
    unmatched = [name(model) for model in agreement["unmatched"]]
    return {**agreement, **by_model, "by_category": by_category, "unmatched": unmatched}


def _provenance(model: ReportModel) -> Mapping[str, str]:
    engine = model.facts.get("engine")
    engine = engine if isinstance(engine, Mapping) else {}
    named = {"version": "version", "protocol": "protocol", "template": "template"}
    named |= {"precision": "dtype", "device": "device"}
    facts = {
        "model": model.model,
        **{key: model.facts.get(name) for key, name in named.items()},
        "engine": engine.get("path"),
        "deviation": deviation(engine.get("deviation"), engine.get("deviation_requests")),
        "close": model.facts.get("n_close"),
    }
    return {key: str(value) for key, value in facts.items() if value is not None}
