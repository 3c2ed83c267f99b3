"""The card of the metric: the README of its Space, and the page of a static Space."""

from pathlib import Path
from typing import Any, Literal

import yaml
from huggingface_hub import RepoCard
from jinja2 import Environment, StrictUndefined
from markdown_it import MarkdownIt

TEMPLATE = Path(__file__).with_name("metric_card.md.jinja")

DESCRIPTION = (
    "Near-Negative Distinction (NND) reuses human evaluations of generated text to test other "
    "language models: a model passes a test if it gives the text that people found better the "
    "higher log-likelihood."
)

_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.5;
  font-family: system-ui, sans-serif; overflow-wrap: break-word; }
h1 { line-height: 1.2; }
pre { overflow-x: auto; padding: 0.8rem; background: color-mix(in srgb, currentColor 7%, transparent); }
code { font: 0.92em ui-monospace, monospace; }
table { border-collapse: collapse; }
th, td { padding: 0.3rem 0.8rem 0.3rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
th { white-space: nowrap; }
"""  # noqa: E501 - CSS


def metric_card(
    repo_id: str,
    *,
    sdk: Literal["static", "gradio"] = "static",
    sdk_version: str | None = None,
    version: str,
) -> str:
    """Return the card as Markdown with the metadata of a Space.

    Args:
        repo_id: ORG/name of the Space, which is how `evaluate.load` knows the metric.
        sdk: What runs the Space.
        sdk_version: Version of Gradio; None for a static Space.
        version: Version of nnd.
    """
    metadata: dict[str, Any] = {
        "title": "Near-Negative Distinction",
        "emoji": "⚖️",
        "colorFrom": "blue",
        "colorTo": "yellow",
        "sdk": sdk,
        "sdk_version": sdk_version,
        "app_file": "app.py" if sdk == "gradio" else "index.html",
        "pinned": False,
        "license": "apache-2.0",
        "tags": ["evaluate", "metric"],
        "short_description": "Tests for language models from human judgements",
        "description": DESCRIPTION,
    }
    stated = {key: value for key, value in metadata.items() if value is not None}
    front = yaml.safe_dump(stated, sort_keys=False, allow_unicode=True, width=100)
    # What is rendered is Markdown of our own, not HTML.
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return f"---\n{front}---\n\n{template.render(repo_id=repo_id, version=version)}"


def metric_page(card: str) -> str:
    """Return a card as a standalone web page.

    Args:
        card: A card by `metric_card`.
    """
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(RepoCard(card).text)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Near-Negative Distinction</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}</body>\n</html>\n"
    )
