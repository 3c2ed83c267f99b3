"""Reward models: the number of a literal forward pass over transformers' own chat tokens."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from support.refusals import refusal
from support.tiny_models import llama_tokenizer, randomised, rope_shape, seeded

from nnd.metric.likelihood import load_classifier
from nnd.metric.other_metrics.scorers.reward_models import rewards
from nnd.metric.other_metrics.scorers.scorer import Text, score_texts
from nnd.metric.other_metrics.scorers.scorer_names import find_scorers
from nnd.schemas import Instruction, ScoringError

CHAT = (
    "{{ bos_token }}{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }} </s>\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)
ASKED = "Who wrote the book about the river?"
TEXTS = [
    Text("The lazy dog.", ASKED),
    Text("The cat sat on the mat </s>, in London in 1884.", ASKED),
    Text("Paris", "What is the capital of France?"),
]


def save(folder: Path, *, labels: int = 1, pad: int | None = 0, chat: str | None = CHAT) -> Path:
    tokenizer = llama_tokenizer()
    tokenizer.chat_template = chat
    shape = rope_shape(len(tokenizer), 160) | {"pad_token_id": pad}
    with seeded():
        model = hf.LlamaForSequenceClassification(hf.LlamaConfig(**shape, num_labels=labels))
        randomised(model).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("reward"))


def by_hand(folder: Path, question: str, answer: str) -> float:
    """Return the logit of a chat: one BOS, control tokens by the template only, no padding."""
    model = hf.LlamaForSequenceClassification.from_pretrained(folder).eval()
    tokenizer: Any = hf.AutoTokenizer.from_pretrained(folder)
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    ids = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False)
    assert [at for at, token in enumerate(ids) if token == tokenizer.bos_token_id] == [0]
    with torch.inference_mode():
        return float(model(input_ids=torch.tensor([ids])).logits[0, 0])


def test_a_reward_is_the_raw_logit_of_the_chat(folder: Path) -> None:
    (scorer,) = find_scorers([f"reward={folder}"])
    found = score_texts(scorer, TEXTS).to_list()
    for text, value in zip([TEXTS[0], TEXTS[2]], [found[0], found[2]], strict=True):
        assert value == pytest.approx(by_hand(folder, text.context, text.candidate), abs=1e-5)
    # "</s>" in a candidate is text: the template's own ends the turn.
    assert abs(found[1] - by_hand(folder, ASKED, TEXTS[1].candidate)) > 1e-3
    assert scorer.made_with is not None
    assert scorer.made_with().startswith(f"{folder}@")


def test_the_number_does_not_depend_on_the_batch(folder: Path, tmp_path: Path) -> None:
    (scorer,) = find_scorers([f"reward={folder}"])
    (lonely,) = find_scorers([f"reward={save(tmp_path / 'no pad', pad=None)}"])
    together = score_texts(scorer, TEXTS * 2).to_list()
    alone = [score_texts(scorer, [text]).item() for text in TEXTS]
    assert together == pytest.approx(alone * 2, abs=1e-6)
    assert score_texts(lonely, TEXTS).to_list() == pytest.approx(alone, abs=1e-6)


def test_the_instruction_of_the_data_is_the_turn_of_the_user(folder: Path) -> None:
    instruction = Instruction(({"": "Answer: {context}"},), "tests")
    (scorer,) = find_scorers([f"reward={folder}"], instruction=instruction)
    (value,) = score_texts(scorer, TEXTS[:1])
    assert value == pytest.approx(by_hand(folder, f"Answer: {ASKED}", TEXTS[0].candidate), abs=1e-5)


def test_long_contexts_are_cut_and_counted(folder: Path) -> None:
    values, cut = rewards(load_classifier(folder), [Text("Paris", f"{ASKED} " * 20)], None)
    assert (len(values), cut) == (1, 1)
    with refusal("candidate.too-long"):
        rewards(load_classifier(folder), [Text("Paris " * 160, ASKED)], None)


def test_several_labels_need_a_name(tmp_path: Path) -> None:
    folder = save(tmp_path / "two", labels=2)
    (scorer,) = find_scorers([f"reward={folder}"])
    with pytest.raises(
        ScoringError, match=r"the model has 2 labels .* \(known: LABEL_0, LABEL_1\)$"
    ):
        score_texts(scorer, TEXTS)
    both = [find_scorers([f"reward={folder}:LABEL_{number}"])[0] for number in (0, 1)]
    first, second = (score_texts(each, TEXTS[:1]).item() for each in both)
    assert first == pytest.approx(by_hand(folder, ASKED, TEXTS[0].candidate), abs=1e-5)
    assert first != second


def test_what_is_no_reward_model_is_refused(folder: Path, tmp_path: Path) -> None:
    model = hf.LlamaForCausalLM(hf.LlamaConfig(**rope_shape(400, 160)))
    model.save_pretrained(tmp_path / "causal")
    llama_tokenizer().save_pretrained(tmp_path / "causal")
    refused = {
        f"reward={tmp_path / 'causal'}": "model.damaged",
        f"reward={save(tmp_path / 'plain', chat=None)}": "template.chat",
        f"reward={folder}:best": "option.needs-another",
    }
    for name, code in refused.items():
        with refusal(code):
            score_texts(find_scorers([name])[0], TEXTS)
    with refusal("option.needs-another"):
        find_scorers(["reward"])
