"""The page: one file that needs no other, in which all that comes from data is text and no more.

Every text is escaped where it is put in, and control characters are shown as dots. The page's own
policy lets a browser load nothing and run nothing but our script, which is named by its digest.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nnd.metric import CITATION, PAPER
from nnd.metric.drawing import Drawing, svg_inline, visible, whole_name
from nnd.metric.figures import IN_WORDS, in_short
from nnd.metric.report.content import Content, Evaluated, Figures, pack_pairs
from nnd.metric.report.page.doubts import find_doubts
from nnd.metric.report.page.sheets import faded, headline, sheet, surface
from nnd.metric.results import CLUSTER, VERSION
from nnd.metric.statistics import do_all_agree
from nnd.metric.tables import (
    agreement_notes,
    agreement_table,
    comparison_table,
    extrapolation_tables,
    slices_table,
)
from nnd.schemas import ScoringError, excerpt

_FOLDER = Path(__file__).parent
_LONGEST = 2_000  # characters of one text; those of pairs are not meant
_SCRIPTS = ("report_texts.js", "report_words.js", "report_pair.js", "report.js")


class Made(NamedTuple):
    """How a report was made.

    Attributes:
        day: The day, or None.
        command: What was typed, or None.
    """

    day: date | None
    command: str | None


def render(content: Content, figures: Figures, made: Made) -> str:
    """Return the page.

    Args:
        content: What it says.
        figures: Its figures.
        made: What its foot says of how it was made.

    Raises:
        ScoringError: If the texts are not those that were scored, or the run holds an agreement
            that is none.
    """
    script = "".join((_FOLDER / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    models = content.models
    sizes = ["" if e.parameters is None else in_short(e.parameters) for e in models]
    name, _, revision = _data_name(content).rpartition("@")
    texts = content.texts
    page = _environment().get_template("report.html.jinja")
    return page.render(
        data=name or revision,
        revision=revision if name else "",
        texts=None if texts is None else f"{texts.name}@{texts.version[:12]}",
        version=VERSION,
        origin=content.origin,
        made=made,
        paper=PAPER,
        citation=CITATION,
        policy=_policy(script),
        css=Markup((_FOLDER / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - ours
        script=Markup(script),  # noqa: S704
        n=models[0].rates.overall.n,
        n_pairs=models[0].rates.n_pairs,
        n_contexts=models[0].rows.select(CLUSTER).n_unique(),
        best=_best(content),
        all_agree=any(do_all_agree(each.rates.overall.to_dict()) for each in models),
        headline=list(headline(models, sizes)),
        sized=any(sizes),
        surface={IN_WORDS[name]: share for name, share in surface(models).items()},
        doubts=find_doubts(models),
        whole_names={e.name: whole_name(e.model) for e in models if e.name != e.model},
        rates=sheet(slices_table([{"model": e.name, **e.rates.to_dict()} for e in models])),
        agreement=_agreement(content),
        comparisons=_comparisons(content, figures),
        figures={
            "rates": [_figure(each, figures) for each in figures.rates],
            "agreement": [_figure(each, figures) for each in figures.agreement],
            "scaling": [_figure(each, figures) for each in figures.scaling],
        },
        has_texts=texts is not None,
        sources=[(each, _facts(each)) for each in models],
        numbers=_json({each.name: each.data for each in figures.all()}),
        pairs=Markup(pack_pairs(models, texts)),  # noqa: S704 - base64
    )


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _finalize(value: object) -> object:
    """Return what stands in the page for a value: no text controls how others are shown."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(visible(line) for line in excerpt(value, _LONGEST).split("\n"))


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _json(value: object) -> Markup:
    """Return JSON that is no markup, whatever its texts hold."""
    text = json.dumps(value, separators=(",", ":"))  # ASCII
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - escaped above


def _figure(drawing: Drawing, figures: Figures) -> dict[str, Any]:
    stacked = figures.stacked.get(drawing.name)
    return {
        "name": drawing.name,
        "title": drawing.title,
        "caption": drawing.caption,
        "width": round(72 * drawing.figure.get_figwidth(), 1),
        "svg": Markup(svg_inline(drawing)),  # noqa: S704 - escaped by ElementTree
        "stacked": None if stacked is None else Markup(svg_inline(stacked, prefix="stacked-")),  # noqa: S704
    }


def _data_name(content: Content) -> str:
    for part in (content.models[0].signature or "").split("|"):
        if part.startswith("data:"):
            return part.removeprefix("data:")
    return "pairs" if content.texts is None else content.texts.name


def _best(content: Content) -> dict[str, Any]:
    """Return the models that pass most, their rate, and those that the data cannot tell from it."""
    rates = [each.rates.overall.to_dict() for each in content.models]
    names = [each.name for each in content.models]
    most = max(rate["passes"] for rate in rates)
    best = [place for place, rate in enumerate(rates) if rate["passes"] == most]
    undecided = {
        each.b if each.a == best[0] else each.a
        for each in content.comparisons
        if best[0] in (each.a, each.b) and each.found.differences.overall.verdict == "undecided"
    }
    rate = rates[best[0]]
    return {
        "names": [names[place] for place in best],
        "pass_rate": rate["pass_rate"],
        "interval": rate["interval"],
        "by": "95 % interval with one test per context" if do_all_agree(rate) else "95 % interval",
        "alike": [names[place] for place in sorted(undecided.difference(best))],
    }


def _agreement(content: Content) -> dict[str, Any]:
    found = content.agreement
    if found is None:
        return {"reason": content.agreement_reason, "sheets": [], "notes": []}
    try:
        named = _briefly(found, {each.model: each.name for each in content.models})
        correlations = faded(sheet(agreement_table(named)), named)
        others = [sheet(each) for each in extrapolation_tables(named)]
        return {
            "reason": None,
            "sheets": [correlations, *others],
            "notes": agreement_notes(named),
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ScoringError(
            f"the agreement that the run holds cannot be read ({error!r}); evaluate anew, or pass "
            "--data or --human-scores"
        ) from error


def _briefly(agreement: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return an agreement whose models have short names."""

    def name(model: str) -> str:
        return names.get(model, model)

    def named(category: Mapping[str, Any]) -> dict[str, Any]:
        found = category["extrapolation"]
        predictions = [p | {"model": name(p["model"])} for p in found["predictions"]]
        return {**category, "extrapolation": {**found, "predictions": predictions}}

    by_model = {
        key: agreement[key] and {name(model): each for model, each in agreement[key].items()}
        for key in ("systems", "unscored")
    }
    by_category = {value: named(each) for value, each in agreement["by_category"].items()}
    unmatched = [name(model) for model in agreement["unmatched"]]
    return {**agreement, **by_model, "by_category": by_category, "unmatched": unmatched}


def _comparisons(content: Content, figures: Figures) -> list[dict[str, Any]]:
    return [
        {
            **_figure(drawing, figures),
            "sentences": each.found.sentences,
            "sheet": sheet(comparison_table(each.found.to_dict())),
        }
        for each, drawing in zip(content.comparisons, figures.comparisons, strict=True)
    ]


def _facts(model: Evaluated) -> Mapping[str, str]:
    """Return where a model's numbers come from."""
    engine = model.facts.get("engine")
    engine = engine if isinstance(engine, Mapping) else {}
    deviation = engine.get("deviation")
    told = {
        "model": model.model,
        "version": model.facts.get("version"),
        "protocol": model.facts.get("protocol"),
        "template": model.facts.get("template"),
        "precision": model.facts.get("dtype"),
        "device": model.facts.get("device"),
        "engine": engine.get("path"),
        "deviation": f"{deviation:.1e} nats" if isinstance(deviation, float) else None,
        "close": model.facts.get("n_close"),
    }
    return {key: str(value) for key, value in told.items() if value is not None}
