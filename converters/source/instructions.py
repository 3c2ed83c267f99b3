"""Whether an instruction and its paraphrases can be read, and have one form."""

from collections.abc import Mapping
from typing import Any

from nnd.schemas import NO_INSTRUCTION, ScoringError, SourceError, read_instruction


def check_instruction(facts: Mapping[str, Any]) -> None:
    """Check `instruction` and `instruction_variants` of a source.yaml.

    Raises:
        SourceError: If there are paraphrases of `none`, or some of another form than the
            instruction; braces do not match; or some texts have placeholders and others have none.
    """
    variants = facts.get("instruction_variants", ())
    if variants and facts["instruction"] == NO_INSTRUCTION:
        raise SourceError("instruction_variants: `none` cannot be paraphrased; remove them")
    try:
        instruction = read_instruction(facts)
    except ScoringError as error:
        raise SourceError(f"instruction: {error}") from error
    if instruction is None:
        return
    forms = [_form(each) for each in (facts["instruction"], *variants)]
    for number, form in enumerate(forms[1:]):
        if form != forms[0]:
            raise SourceError(
                f"instruction_variants/{number}: is {form}, but the instruction is {forms[0]}; "
                "give both the same form"
            )


def _form(wording: str | Mapping[str, str]) -> str:
    if isinstance(wording, str):
        return "one text"
    return f"a text for each of {', '.join(sorted(wording))}"
