"""Options that several commands share, as they are read."""

import pytest

from nnd.metric.cli.options import read_templates
from nnd.schemas import ScoringError

MODELS = ["gpt2", "gpt2=x", "org/bart"]


@pytest.mark.parametrize(
    ("entries", "for_all", "own"),
    [
        ([], None, {}),
        (["mixqg"], "mixqg", {}),
        (["Input={context}"], "Input={context}", {}),
        (["gpt2=mixqg"], None, {"gpt2": "mixqg"}),
        (["gpt2=Q={question}", "macaw"], "macaw", {"gpt2": "Q={question}"}),
        (["gpt2=x=mixqg", "org/bart=macaw"], None, {"gpt2=x": "mixqg", "org/bart": "macaw"}),
    ],
)
def test_templates_are_of_one_model_or_of_all(
    entries: list[str], for_all: str | None, own: dict[str, str]
) -> None:
    assert read_templates(entries, MODELS) == (for_all, own)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            ["gtp2=mixqg"],
            '--template "gtp2=mixqg": there is no model "gtp2" to evaluate; did you mean "gpt2"?',
        ),
        (["mixqg", "macaw"], "--template: there are two for all models; give one, and "),
        (["org/bart=a", "org/bart=b"], '--template: there are two for model "org/bart"; '),
    ],
)
def test_templates_that_are_not_clear_are_refused(entries: list[str], message: str) -> None:
    with pytest.raises(ScoringError) as caught:
        read_templates(entries, MODELS)
    assert str(caught.value).startswith(message)
