"""Tables with a row for each system: how good people found it, and how its texts look."""

import math
import re

import polars as pl

from nnd.cards.content import CardContent
from nnd.cards.markdown import Table, code, escape
from nnd.schemas import JudgedSystem, read_systems

_COLUMN = ("aspect", "category")
_MOST_COLUMNS = 5
_MODEL_ID = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)
_LOOKS = ("lower_cased", "tokenised", "doubled_spaces", "control_characters", "wrongly_decoded")


def human_score_table(content: CardContent) -> Table:
    """Return the human scores of the systems, the best first.

    Few scores have a column for each aspect and category; otherwise each aspect has one, over all
    categories. Public models have a column with their links, which says how certain it is that they
    were judged.
    """
    columns = _columns(content.human_scores)
    held = content.human_scores.select("system", *_COLUMN, "score", "n").iter_rows()
    scores = {(system, *column): (score, n) for system, *column, score, n in held}
    models = dict(content.human_scores.select("system", "model_id").iter_rows())
    known = read_systems({"systems": {}} | content.manifest["source"])
    public = any(models.values()) or any(known[name].checkpoint for name in models if name in known)
    ranked = []
    for system, model_id in models.items():
        values = [scores.get((system, *column), (None, None)) for column in columns]
        cells = ["none" if score is None else f"{score:.3f}" for score, _ in values]
        judged = [n for _, n in values if n is not None]
        low, high = min(judged, default=0), max(judged, default=0)
        model = [_model(model_id, known.get(system))] if public else []
        n = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        best = -math.inf if values[0][0] is None else values[0][0]
        ranked.append((-best, system, (code(system), *model, *cells, n)))
    rows = [row for *_, row in sorted(ranked)]
    names = ("system", "model") if public else ("system",)
    aligned = "l" * len(names) + "r" * (len(columns) + 1)
    return Table((*names, *columns.values(), "judged"), aligned, rows)


def score_definitions(human_scores: pl.DataFrame) -> list[str]:
    """Return what each column of scores holds, a line of Markdown for each definition."""
    definitions = {row[:2]: row[2] for row in human_scores.select(*_COLUMN, "definition").rows()}
    titles: dict[str, list[str]] = {}
    for column, title in _columns(human_scores).items():
        titles.setdefault(definitions[column], []).append(title)
    return [f"{', '.join(of)}: {escape(text)}." for text, of in titles.items()]


def leaves_out_scores(human_scores: pl.DataFrame) -> bool:
    """Say whether there are more scores than the table has columns."""
    return len(_columns(human_scores)) < human_scores.select(_COLUMN).n_unique()


def _columns(human_scores: pl.DataFrame) -> dict[tuple[str, str], str]:
    """Return (aspect, category) → the title of its column, overall scores first."""
    columns = sorted(
        human_scores.select(_COLUMN).unique().rows(),
        key=lambda column: (column[0], column[1] != "overall", column[1]),
    )
    if len(columns) > _MOST_COLUMNS:
        columns = [column for column in columns if column[1] == "overall"]
    several = len({aspect for aspect, _ in columns}) > 1
    return {
        (aspect, category): code(category)
        if category != "overall"
        else code(aspect)
        if several
        else "overall"
        for aspect, category in columns
    }


def _model(model_id: str | None, known: JudgedSystem | None) -> str:
    """Return the model of a system, and whether that it was judged is only likely, or a guess."""
    if model_id is None and known is not None and known.checkpoint is not None:
        return f"{code(known.checkpoint)} ({known.certainty})"
    if model_id is None:
        return "not known"
    linked = f"[{code(model_id)}](https://huggingface.co/{model_id})"
    return linked if _MODEL_ID.fullmatch(model_id) else code(model_id)


def looks_table(content: CardContent) -> Table:
    """Return the shares of candidates with a distinctive form, per system that has any."""
    report = content.manifest["hygiene"]
    contexts, forms = report["contexts"], {code(k): of for k, of in report["systems"].items()}
    if "references" in report:
        forms["(references)"] = report["references"]
    rows = [
        (name, f"{of['n']:,}", *(f"{100 * of[look]:.1f} %" for look in _LOOKS))
        for name, of in forms.items()
        if any(of[look] for look in _LOOKS)
    ]
    if contexts["wrongly_decoded"]:
        share = f"{100 * contexts['wrongly_decoded']:.1f} %"
        rows.append(("(all contexts)", f"{contexts['n']:,}", *[""] * (len(_LOOKS) - 1), share))
    titles = (look.replace("_", " ").replace("cased", "case") for look in _LOOKS)
    return Table(("candidates of", "n", *titles), "lr" + "r" * len(_LOOKS), rows)
