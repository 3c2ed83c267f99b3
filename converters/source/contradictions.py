"""What a source.yaml must not say at once."""

import re
from collections.abc import Mapping
from typing import Any

from nnd.schemas import NO_INSTRUCTION, ScoringError, SourceError, read_instruction

_NO_DERIVATIVES = re.compile(r"-ND\b", re.IGNORECASE)


def check_licence(facts: Mapping[str, Any]) -> None:
    """Raise an error if redistribution is allowed under a licence that does not allow it."""
    licence = facts["licence"]
    if facts["redistribution"] != "allowed":
        return
    if licence.casefold() == "unknown":
        raise SourceError(
            "source.licence", "unknown contradicts redistribution: allowed", "licence"
        )
    if _NO_DERIVATIVES.search(licence):
        raise SourceError(
            "source.licence",
            f"{licence} allows no derivatives, such as pairs, which contradicts "
            "redistribution: allowed",
            "licence",
        )


def check_instruction(facts: Mapping[str, Any]) -> None:
    """Check `instruction` and `instruction_variants` of a source.yaml."""
    variants = facts.get("instruction_variants", ())
    if variants and facts["instruction"] == NO_INSTRUCTION:
        raise SourceError(
            "source.instruction",
            "`none` cannot be paraphrased",
            "instruction_variants",
            "remove them",
        )
    try:
        instruction = read_instruction(facts)
    except ScoringError as error:
        raise error.inside("instruction", SourceError) from error
    if instruction is None:
        return
    first, *forms = (
        "one text" if isinstance(each, str) else f"a text for each of {', '.join(sorted(each))}"
        for each in (facts["instruction"], *variants)
    )
    for number, form in enumerate(forms):
        if form != first:
            raise SourceError(
                "source.instruction",
                f"is {form}, but the instruction is {first}",
                f"instruction_variants/{number}",
                "give both the same form",
            )
