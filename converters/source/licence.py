"""Whether a source's licence and what it says of redistribution contradict each other."""

import re
from collections.abc import Mapping
from typing import Any

from nnd.schemas import SourceError

_NO_DERIVATIVES = re.compile(r"-ND\b", re.IGNORECASE)


def check_licence(facts: Mapping[str, Any]) -> None:
    """Raise an error if redistribution is allowed under a licence that does not allow it."""
    licence = facts["licence"]
    if facts["redistribution"] != "allowed":
        return
    if licence.casefold() == "unknown":
        raise SourceError(
            "licence: unknown contradicts redistribution: allowed; name the licence that allows "
            "it, or write `redistribution: unknown`"
        )
    if _NO_DERIVATIVES.search(licence):
        raise SourceError(
            f"licence: {licence} allows no derivatives, such as pairs, which contradicts "
            "redistribution: allowed; write `redistribution: no-derivatives`"
        )
