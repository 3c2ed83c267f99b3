"""The section of a README of exported pairs about their source."""

from collections.abc import Mapping
from typing import Any

from nnd.cards import REDISTRIBUTION, escape, fence


def source_notice(manifest: Mapping[str, Any]) -> str:
    """Return Markdown with the source, its licence and what to cite."""
    source = manifest["source"]
    licence, allowed = escape(source["licence"]), REDISTRIBUTION[source["redistribution"]]
    home = f", <{source['homepage']}>" if source.get("homepage") else ""
    return f"""\
## Source

{escape(source["pretty_name"])}{home}. Licence: {licence}. {allowed}
Made by nnd {escape(manifest["nnd_version"])}. Cite the people who made the human evaluation:

{fence(source["citation"], "bibtex")}
"""
