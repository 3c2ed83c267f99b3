"""Results in a model's README: what the Hub's own reader makes of it, and what stays as it was."""

from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard, parse_eval_result_entries
from support.refusals import refusal

from nnd.cards.model import ScoredOn, add_results, results_file

QUIZ = ScoredOn("org/quiz", "5503434ddd753f426f4b38109466949a1217c2bb")
HERE = ScoredOn("quiz-nnd", None)


def result(
    pass_rate: float = 0.75, *, protocol: str = "native", template: str = "default", **rates: float
) -> dict[str, Any]:
    """A result over four tests, with error categories of two tests each."""
    return {
        "pass_rate": pass_rate,
        "n": 4,
        "interval": [0.5, 1.0],
        "protocol": protocol,
        "template": template,
        "signature": f"nnd|v:0.1.0|model:org/tiny@607a30d|protocol:{protocol}|n:4",
        "by_error_category": {
            name: {"pass_rate": rate, "n": 2, "interval": None} for name, rate in rates.items()
        },
    }


def found(readme: str) -> dict[tuple[str, str | None, str | None], Any]:
    """Dataset, name and configuration of every result, as the Hub's client reads them → value."""
    card = ModelCard(readme)
    return {
        (each.dataset_type, each.metric_name, each.metric_config): each.metric_value
        for each in card.data.eval_results or []
    }


OVERALL = ("org/quiz", "NND pass rate", "native")
FACT = ("org/quiz", "NND pass rate: wrong_fact", "native")
TOPIC = ("org/quiz", "NND pass rate: off_topic", "native")

ACCURACY = """\
model-index:
- name: tiny
  results:
  - task: {type: text-classification}
    dataset: {type: imdb, name: IMDb, args: {a: 1}}
    # measured by hand
    metrics:
    - {type: accuracy, value: 0.5, unknown: kept}
"""
README = f"""\
---
license: mit   # as the data
{ACCURACY}
tags: [a,   b]
language:
- no
---

# Tiny

model-index: is a word in the text, too
---
"""


def test_a_readme_is_made_where_there_is_none() -> None:
    readme = add_results(None, "org/tiny", result(wrong_fact=1.0), QUIZ)
    assert found(readme) == {OVERALL: 0.75, FACT: 1.0}
    card = ModelCard(readme)
    assert card.data.model_name == "tiny"
    assert card.text.strip() == "# tiny"


def test_a_result_tells_data_commit_interval_n_signature_and_source() -> None:
    card = ModelCard(add_results(None, "org/tiny", result(wrong_fact=1.0), QUIZ))
    overall, category = card.data.eval_results
    assert (overall.dataset_revision, overall.metric_type) == (QUIZ.commit, "nnd")
    assert overall.metric_args == {
        "n": 4,
        "interval": [0.5, 1.0],
        "signature": "nnd|v:0.1.0|model:org/tiny@607a30d|protocol:native|n:4",
    }
    assert overall.source_url.endswith(f"/datasets/org/quiz/tree/{QUIZ.commit}")
    assert category.metric_args["n"] == 2


def test_data_that_is_not_on_the_hub_has_no_commit_and_no_source() -> None:
    (only,) = ModelCard(add_results(None, "org/tiny", result(), HERE)).data.eval_results
    assert (only.dataset_type, only.dataset_revision, only.source_url) == ("quiz-nnd", None, None)


def test_other_metadata_stay_byte_for_byte() -> None:
    readme = add_results(README, "org/tiny", result(), QUIZ)
    before, after = README.split(ACCURACY)
    assert readme.startswith(before)
    assert readme.endswith(after.lstrip("\n"))
    assert found(readme) == {OVERALL: 0.75, ("imdb", None, None): 0.5}
    (model,) = yaml.safe_load(readme.split("\n---\n")[0])["model-index"]
    others = yaml.safe_load(ACCURACY)["model-index"][0]["results"]
    assert model["results"][:-1] == others  # what the client does not know included


MIT = "license: mit\n"


@pytest.mark.parametrize(
    ("readme", "begin", "end"),
    [
        *(
            (readme, "---\n", f"\n---\n\n{readme}")
            for readme in ("", "# Tiny\n\ntext\n", "text\n---\nmore: text\n---\n")
        ),
        ("---\n\n---\nbody", "---\n", "\n---\nbody"),
        (f"---\n{MIT}---\nbody", f"---\n{MIT}model-index:\n", "\n---\nbody"),
    ],
)
def test_results_are_put_at_the_end_of_the_metadata(readme: str, begin: str, end: str) -> None:
    changed = add_results(readme, "org/tiny", result(), QUIZ)
    assert found(changed) == {OVERALL: 0.75}
    assert changed.startswith(begin)
    assert changed.endswith(end)


def test_windows_line_ends_stay_and_a_byte_order_mark_hides_no_metadata() -> None:
    changed = add_results(README, "org/tiny", result(), QUIZ)
    windows = add_results(README.replace("\n", "\r\n"), "org/tiny", result(), QUIZ)
    assert windows == changed.replace("\n", "\r\n")
    assert add_results(f"\ufeff{README}", "org/tiny", result(), QUIZ) == changed


def test_twice_is_once() -> None:
    once = add_results(README, "org/tiny", result(wrong_fact=1.0), QUIZ)
    assert add_results(once, "org/tiny", result(wrong_fact=1.0), QUIZ) == once


def test_a_new_result_takes_the_place_of_the_old_one_of_its_kind() -> None:
    old = add_results(README, "org/tiny", result(0.25, wrong_fact=0.5), QUIZ)
    later = ScoredOn("org/quiz", "f" * 40)
    new = add_results(old, "org/tiny", result(0.5, off_topic=1.0), later)
    assert found(new) == {OVERALL: 0.5, TOPIC: 1.0, ("imdb", None, None): 0.5}


def test_other_protocols_templates_and_data_stand_beside_it() -> None:
    readme = None
    for protocol, template in (("native", "default"), ("sum", "default"), ("native", "Q: {q}")):
        each = result(protocol=protocol, template=template)
        readme = add_results(readme, "org/tiny", each, QUIZ)
    readme = add_results(readme, "org/tiny", result(), HERE)
    assert set(found(readme)) == {
        OVERALL,
        ("org/quiz", "NND pass rate", "sum"),
        ("org/quiz", "NND pass rate", "native, template Q: {q}"),
        ("quiz-nnd", "NND pass rate", "native"),
    }


def test_the_split_is_stated_if_only_one_was_scored() -> None:
    on = ScoredOn(QUIZ.name, QUIZ.commit, "test")
    index = yaml.safe_load(add_results(None, "org/tiny", result(), on).split("---")[1])
    (entry,) = index["model-index"][0]["results"]
    assert entry["dataset"]["split"] == "test"
    assert "split:" not in add_results(None, "org/tiny", result(), QUIZ)


def test_of_several_models_it_goes_to_the_one_of_that_name() -> None:
    both = "---\nmodel-index:\n- {name: other, results: []}\n- {name: tiny, results: []}\n---\n"
    index = yaml.safe_load(add_results(both, "org/tiny", result(), QUIZ).split("---")[1])
    assert [(each["name"], len(each["results"])) for each in index["model-index"]] == [
        ("other", 0),
        ("tiny", 1),
    ]


@pytest.mark.parametrize(
    ("metadata", "code", "where"),
    [
        ("model-index: later", "hub.model-card", "README.md: model-index"),
        ("model-index: [{name: tiny}]", "hub.model-card", "README.md: model-index"),
        ("model-index: [{name: tiny, results: [1]}]", "hub.model-card", "README.md: model-index"),
        ("model-index: [{results: [}]", "file.not-yaml", "org/tiny: README.md"),
        ("- a list", "file.not-yaml", "org/tiny: README.md"),
        ("model-index: &x []\nb: *x", "hub.model-card", "README.md: model-index"),
        ("{license: mit}", "hub.model-card", "README.md: model-index"),
        ("? model-index\n: []", "hub.model-card", "README.md: model-index"),
    ],
)
def test_metadata_that_cannot_be_changed_safely_are_refused(
    metadata: str, code: str, where: str
) -> None:
    with refusal(code, where):
        add_results(f"---\n{metadata}\n---\nbody\n", "org/tiny", result(), QUIZ)


@pytest.mark.parametrize(
    ("metadata", "others"),
    [
        ("a: &x []\nmodel-index: [{name: tiny, results: *x}]\nb: 2", {"a": [], "b": 2}),
        ("a: 1\n'model-index' : []\n# a remark\nb: 2", {"a": 1, "b": 2}),
        ("model-index: null\n\nb: 2", {"b": 2}),
        ("model-index:\n    - name: tiny\n\n      results: []\nb: 2", {"b": 2}),
        ("note: |\n  model-index: []\nb: 2", {"note": "model-index: []\n", "b": 2}),
    ],
)
def test_the_list_is_found_however_it_is_written(metadata: str, others: dict[str, Any]) -> None:
    changed = add_results(f"---\n{metadata}\n---\nbody\n", "org/tiny", result(), QUIZ)
    assert found(changed) == {OVERALL: 0.75}
    after = yaml.safe_load(changed.split("---")[1])
    assert {name: value for name, value in after.items() if name != "model-index"} == others


def test_the_file_of_results_is_read_by_the_hubs_client() -> None:
    path, text = results_file(result(wrong_fact=1.0), QUIZ)
    assert path == ".eval_results/nnd-org--quiz-native.yaml"
    overall, category = parse_eval_result_entries(yaml.safe_load(text))
    assert (overall.dataset_id, overall.dataset_revision) == ("org/quiz", QUIZ.commit)
    assert (overall.task_id, overall.value) == ("pass_rate", 0.75)
    assert (category.task_id, category.value) == ("pass_rate.wrong_fact", 1.0)
    assert overall.notes == (
        "n = 4, 95 % interval 0.5000 to 1.0000; "
        "nnd|v:0.1.0|model:org/tiny@607a30d|protocol:native|n:4"
    )
    assert category.notes.startswith("n = 2; nnd|")


def test_a_chat_template_stands_beside_plain_text() -> None:
    plain, chat = result(), result() | {"chat": {"template": "1f2e3d4c"}}
    assert results_file(plain | {"chat": {"template": "none"}}, QUIZ) == results_file(plain, QUIZ)
    path, _ = results_file(chat, QUIZ)
    assert path == ".eval_results/nnd-org--quiz-native-chat-template-1f2e3d4c.yaml"


def test_a_template_of_ones_own_makes_a_plain_file_name() -> None:
    path, _ = results_file(result(template="Q: {q}\n../A:"), QUIZ)
    assert path == ".eval_results/nnd-org--quiz-native-template-Q-q-..-A-.yaml"
