"""Cards and READMEs of data that are hostile in every field, as a Hub makes web pages of them."""

import json
from pathlib import Path
from typing import Any

import polars as pl
from huggingface_hub import RepoCard
from markdown_it import MarkdownIt
from support.card_folders import change_manifest, make_folder, row
from support.stored_folders import rewrite

from nnd.cards.dataset import data_card
from nnd.cards.model import ScoredOn, add_results
from nnd.converters.export.exporting import export

HOSTILE = (
    '<img src="https://evil.example/a.png" onerror="seen()">',
    "<script>seen()</script><!-- </details></td></table>",
    "<svg onload=seen()><iframe srcdoc='<b>'></iframe><style>*{display:none}</style>",
    "](https://evil.example) ![x](https://evil.example/b.png) [y](javascript:seen())",
    "https://evil.example/![z](https://evil.example/c.png) https://x/><img/src=x>",
    "&lt;img src=x&gt; &#60;b&#62; `</code><b>` ``` <https://a:b@evil.example>",
    "| --- | <form action=//evil.example><input> |",
    "# heading <base href=//evil.example> {{ 7 * 7 }} $x$ \\<b>",
)
ALL = " ".join(HOSTILE)
NAME = ALL.replace("|", "")  # no bars in the names of systems and labels

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
"""HTML in Markdown stays HTML, as on the Hub before it is sanitised."""


def hostile_folder(place: Path) -> Path:
    """A converted folder with hostile text in every field that takes a text."""
    rows: list[dict[str, Any]] = []
    for number, text in enumerate(HOSTILE):
        where = {
            "context_id": f"{text}{number}",
            "context": f"{text} {number}",
            "inputs": {text: text, "question": text},
            "category": text,
            "aspect": ALL,
        }
        rows.append(row(f"{text}h", NAME, "good", candidate=f"{text} good", **where))
        rows.append(row(f"{text}l", "wren", NAME, candidate=text, **where))
    made = make_folder(
        place,
        rows,
        pretty_name=ALL,
        licence=ALL,
        citation=f"@misc{{birds,\n  title = {{{ALL}}},\n  year = {{2021}}\n}}",
        taxonomy={NAME: {"name": ALL, "group": ALL, "description": ALL}},
        aspects={ALL: ALL},
        systems={NAME: None, "wren": None},
        split=ALL,
        texts=ALL,
        annotation_process=ALL,
        personal_information=ALL,
        instruction=ALL.replace("{", "{{").replace("}", "}}") + "\n\n{question}\n{context}",
        instruction_from=ALL,
        notes=[ALL],
        limitations=[ALL],
        published_counts=[{"what": ALL, "published": 1, "why": ALL}],
    )
    models = (pl.lit(ALL).alias(name) for name in ("model_id", "definition"))
    rewrite(made, "human_scores.parquet", *models)
    told = json.loads((made / "manifest.json").read_text())
    change_manifest(
        made,
        nnd_version=ALL,
        oddities=[ALL],
        permission=ALL,
        contacts={"kept": ALL},
        normalised=[ALL],
        dropped=[{"n": 1, "reason": "x", "what": "pairs", "why": ALL}],
        files=[one | {"name": ALL} for one in told["files"]],
    )
    return made


def documents(place: Path) -> dict[str, str]:
    """The cards and READMEs of that folder, as Markdown: by name."""
    folder = hostile_folder(place)
    for target in ("trl", "lm-eval"):
        export(folder, place / target, to=target)  # type: ignore[arg-type]
    rate = {"n": 2, "pass_rate": 0.5, "interval": None, "wilson": None}
    result = rate | {"protocol": ALL, "template": ALL, "signature": ALL}
    result["by_error_category"] = {ALL: rate}
    return {
        "data card": data_card(folder, "org/birds"),
        "trl": (place / "trl" / "README.md").read_text(encoding="utf-8"),
        "lm-eval": (place / "lm-eval" / "README.md").read_text(encoding="utf-8"),
        "model card": add_results(None, "org/__init__", result, ScoredOn(ALL, None)),
    }


NAMES = ("data card", "trl", "lm-eval", "model card")


def as_page(markdown: str) -> str:
    """A document as a page with a script that notices whether any of its code was run."""
    body = MARKDOWN.render(RepoCard(markdown, ignore_metadata_errors=True).text)
    return (
        '<!doctype html><meta charset="utf-8"><script>function seen() { window.wasSeen = true }'
        f"</script><main>{body}</main>"
    )
