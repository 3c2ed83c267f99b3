"""Tables with a row for each system: how good people found it, and how its texts look."""

import re

import polars as pl

from nnd.cards.content import Content
from nnd.cards.markdown import Table, code, escape

_COLUMN = ("aspect", "category")
_MOST_COLUMNS = 5
_MODEL_ID = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)
_LOOKS = ("lower_cased", "tokenised", "doubled_spaces", "control_characters", "wrongly_decoded")


def human_score_table(content: Content) -> Table:
    """Return the human scores of the systems, the best first.

    Few scores have a column for each aspect and category; otherwise each aspect has one, over all
    categories. Public models have a column with their links.
    """
    columns = _columns(content.human_scores)
    scores = {row[:3]: row[3] for row in _rows(content.human_scores, "score")}
    judged = {row[:3]: row[3] for row in _rows(content.human_scores, "n")}
    models = dict(content.human_scores.select("system", "model_id").iter_rows())
    found = [(system, [scores.get((system, *column)) for column in columns]) for system in models]
    found.sort(key=lambda row: (-(row[1][0] if row[1][0] is not None else -1e300), row[0]))
    public = any(models.values())
    rows = []
    for system, values in found:
        n = {judged[system, *column] for column in columns if (system, *column) in judged}
        cells = ["none" if value is None else f"{value:.3f}" for value in values]
        model = (_model(models[system]),) if public else ()
        rows.append((code(system), *model, *cells, _between(n)))
    names = ("system", "model") if public else ("system",)
    aligned = "l" * len(names) + "r" * (len(columns) + 1)
    return Table((*names, *columns.values(), "judged"), aligned, tuple(rows))


def score_definitions(human_scores: pl.DataFrame) -> list[str]:
    """Return what each column of scores holds, a line of Markdown for each definition."""
    columns = _columns(human_scores)
    definitions = {row[:2]: row[2] for row in human_scores.select(*_COLUMN, "definition").rows()}
    titles: dict[str, list[str]] = {}
    for column, title in columns.items():
        titles.setdefault(definitions[column], []).append(title)
    return [f"{', '.join(of)}: {escape(text)}." for text, of in titles.items()]


def leaves_out_scores(human_scores: pl.DataFrame) -> bool:
    """Say whether there are more scores than the table has columns."""
    return len(_columns(human_scores)) < human_scores.select(_COLUMN).n_unique()


def _columns(human_scores: pl.DataFrame) -> dict[tuple[str, str], str]:
    """Return (aspect, category) → the title of its column, overall scores first."""
    found = sorted(
        human_scores.select(_COLUMN).unique().rows(),
        key=lambda column: (column[0], column[1] != "overall", column[1]),
    )
    if len(found) > _MOST_COLUMNS:
        found = [column for column in found if column[1] == "overall"]
    several = len({aspect for aspect, _ in found}) > 1
    return {column: _title(*column, several=several) for column in found}


def _rows(human_scores: pl.DataFrame, value: str) -> list[tuple[str, str, str, float]]:
    return human_scores.select("system", "aspect", "category", value).rows()


def _title(aspect: str, category: str, *, several: bool) -> str:
    if category != "overall":
        return code(category)
    return code(aspect) if several else "overall"


def _model(model_id: str | None) -> str:
    if model_id is None:
        return "not known"
    linked = f"[{code(model_id)}](https://huggingface.co/{model_id})"
    return linked if _MODEL_ID.fullmatch(model_id) else code(model_id)


def _between(numbers: set[float]) -> str:
    low, high = min(numbers, default=0), max(numbers, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def looks_table(content: Content) -> Table:
    """Return the shares of texts of a distinctive form, for whatever has such texts."""
    report = content.manifest["hygiene"]
    contexts = report["contexts"]
    found = {code(name): row for name, row in report["systems"].items()}
    if "references" in report:
        found["(references)"] = report["references"]
    rows = [
        (name, f"{row['n']:,}", *(f"{100 * row[look]:.1f} %" for look in _LOOKS))
        for name, row in found.items()
        if any(row[look] for look in _LOOKS)
    ]
    if contexts["wrongly_decoded"]:
        share = f"{100 * contexts['wrongly_decoded']:.1f} %"
        rows.append(("(all contexts)", f"{contexts['n']:,}", *[""] * (len(_LOOKS) - 1), share))
    titles = (look.replace("_", " ").replace("cased", "case") for look in _LOOKS)
    return Table(("candidates of", "n", *titles), "lr" + "r" * len(_LOOKS), tuple(rows))
