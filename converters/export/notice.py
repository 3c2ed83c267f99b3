"""What a README beside exported pairs says of where they come from."""

from collections.abc import Mapping
from typing import Any


def source_notice(manifest: Mapping[str, Any]) -> str:
    """Return Markdown with the source, its licence and what to cite.

    Args:
        manifest: Of the converted folder.
    """
    source = manifest["source"]
    home = f", {source['homepage']}" if source.get("homepage") else ""
    allowed = {
        "allowed": "It may be redistributed.",
        "no-derivatives": "It forbids handing on what is derived from it, as these files are.",
        "unknown": "Nobody says whether the data may be handed on: ask first.",
    }
    return f"""\
## Source

{source["pretty_name"]}{home}. Licence: {source["licence"]}. {allowed[source["redistribution"]]}
Made by nnd {manifest["nnd_version"]}. Cite the people who made the human evaluation:

```bibtex
{source["citation"].strip()}
```
"""
