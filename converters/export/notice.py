"""The section of a README of exported pairs about their source."""

from collections.abc import Mapping
from typing import Any

from nnd.cards import escape, fence


def source_notice(manifest: Mapping[str, Any]) -> str:
    """Return Markdown with the source, its licence and what to cite."""
    source = manifest["source"]
    licence = escape(source["licence"])
    home = f", <{source['homepage']}>" if source.get("homepage") else ""
    allowed = {
        "allowed": "It may be redistributed.",
        "no-derivatives": "It forbids the redistribution of derived data, such as these files.",
        "unknown": "Whether the data may be redistributed is not known; ask the authors first.",
    }
    return f"""\
## Source

{escape(source["pretty_name"])}{home}. Licence: {licence}. {allowed[source["redistribution"]]}
Made by nnd {escape(manifest["nnd_version"])}. Cite the people who made the human evaluation:

{fence(source["citation"], "bibtex")}
"""
