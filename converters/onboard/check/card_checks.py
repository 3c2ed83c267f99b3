"""Checks of what would be published: the folder against its contract, the card by its linter."""

from pathlib import Path
from tempfile import TemporaryDirectory

from nnd.cards import check_card as lint, data_card
from nnd.converters.folder import validate
from nnd.converters.onboard.check.check_result import Check
from nnd.converters.onboard.check.checked_source import Case
from nnd.schemas import NNDError, listed

CARD = "card"


def check_card(case: Case) -> Check:
    """Check that each reading gives a valid folder and a card without problems."""
    for one in case.results:
        if one.conversion is None or one.problems:  # other checks report the problem
            continue
        with TemporaryDirectory(prefix="nnd-check-") as place:
            folder = Path(place) / one.source.name
            folder.mkdir()
            one.conversion.write(folder)
            try:
                findings = [str(found) for found in validate(folder)]
                text = data_card(folder, f"ORG/{one.source.name}")
                findings += [str(problem) for problem in lint(text, folder)]
            except NNDError as error:
                findings = [str(error)]
        # Another check compares the counts that source.yaml expects of the real files.
        findings = [found for found in findings if "source expects" not in found]
        if findings:
            remedy = "fix source.yaml, or what the converter yields"
            return Check(CARD, "fail", f"{one.label}: {listed(findings, 3)}", remedy)
    return Check(CARD, "pass", "the folder and its card are valid")
