"""The card of the metric: the README of its Space, and the page that the Space shows."""

from pathlib import Path

import yaml
from jinja2 import Environment, StrictUndefined

TEMPLATE = Path(__file__).with_name("metric_card.md.jinja")

DESCRIPTION = (
    "Near-Negative Distinction (NND) reuses human evaluations of generated text to test other "
    "language models: a model passes a test if it gives the text that people found better the "
    "higher log-likelihood."
)

_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Near-Negative Distinction</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font-family: system-ui, sans-serif; }}
</style>
<h1>Near-Negative Distinction</h1>
<p>{description}</p>
<pre>metric = evaluate.load("{repo_id}")</pre>
<p><a href="https://huggingface.co/spaces/{repo_id}/blob/main/README.md">What it takes and gives</a></p>
"""  # noqa: E501 - HTML


def metric_card(repo_id: str, *, version: str) -> str:
    """Return the card as Markdown with the metadata of a Space."""
    metadata = {
        "title": "Near-Negative Distinction",
        "emoji": "⚖️",
        "colorFrom": "blue",
        "colorTo": "yellow",
        "sdk": "static",
        "app_file": "index.html",
        "pinned": False,
        "license": "apache-2.0",
        "tags": ["evaluate", "metric"],
        "short_description": "Tests for language models from human judgements",
        "description": DESCRIPTION,
    }
    front = yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True, width=100)
    # What is rendered is Markdown of our own, not HTML.
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return f"---\n{front}---\n\n{template.render(repo_id=repo_id, version=version)}"


def metric_page(repo_id: str) -> str:
    """Return the page of a Space: what the metric is, and where its card is."""
    return _PAGE.format(description=DESCRIPTION, repo_id=repo_id)
