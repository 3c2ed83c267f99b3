"""One's own pairs are scored without conversion, with the numbers that converting them gives."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from support.chat.rendered import CHATML
from support.refusals import refusal
from support.tiny_models import Family

from nnd.converters.folder import convert
from nnd.metric.data import load_pairs
from nnd.metric.likelihood import LoadedModel, Scoring, wrap_model
from nnd.metric.run import Evaluation, evaluate, merge
from nnd.metric.text import Chat

PLAIN = Scoring(cache=False)
LIKELIHOODS = ["ll_high", "ll_low", "ll_alone_high", "ll_alone_low", "passed", "tie"]
TEXTS = ["context", "candidate_high", "candidate_low", "error_category"]


@pytest.fixture(scope="session")
def chat_model(tiny: Callable[[str], Family]) -> LoadedModel:
    """A tiny Llama whose tokenizer has a chat template."""
    family = tiny("llama")
    tokenizer = type(family.tokenizer)(tokenizer_object=family.tokenizer.backend_tokenizer)
    tokenizer.add_special_tokens({"bos_token": "<s>", "eos_token": "</s>"})
    tokenizer.chat_template = CHATML
    return wrap_model(family.model, tokenizer, name="chatty")


def convert_rows(
    rows: list[dict[str, Any]], folder: Path, categories: list[str], **table: Any
) -> Path:
    """Convert rows by a source with a `table`, as somebody would without this door."""
    folder.mkdir()
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    source = {
        "name": "mine",
        "pretty_name": "Mine",
        "task": "preference",
        "languages": ["en"],
        "licence": "CC-BY-4.0",
        "redistribution": "allowed",
        "citation": "@misc{mine, title = {Mine}}",
        "homepage": None,
        "files": [{"name": "rows.jsonl", "url": None, "sha256": None, "bytes": None}],
        "aspects": {"preference": "Which text is better"},
        "origin": "constructed",
        "quality": {"rule": "no_error", "no_error": "better"},
        "taxonomy": {
            name: {"name": name, "group": None, "description": name} for name in categories
        },
        "table": table,
        "systems": {},
        "expected": None,
        "split": "one split",
        "notes": [],
    }
    (folder / "source.yaml").write_text(yaml.safe_dump(source), "utf-8")
    convert(folder, origin=folder / "rows.jsonl", out=folder / "converted")
    return folder / "converted"


def rows_of(result: Evaluation, data: Any) -> pl.DataFrame:
    """Likelihoods with the texts that they belong to: ids are those of two ways of reading."""
    texts = load_pairs(data).pairs.select("pair_id", *TEXTS)
    return result.scored.join(texts, on="pair_id").select(*TEXTS, *LIKELIHOODS).sort(TEXTS)


def same(model: LoadedModel, own: Any, converted: Path, scoring: Scoring = PLAIN) -> Evaluation:
    """Score both ways, and require equal likelihoods, to the bit."""
    mine, theirs = (evaluate(model, data, scoring=scoring) for data in (own, converted))
    assert rows_of(mine, own).equals(rows_of(theirs, converted))
    assert rows_of(mine, own).height > 0
    return mine


@pytest.mark.parametrize("paradigm", ["passive_1", "anaphor_number_agreement"])
def test_a_file_of_blimp(
    paradigm: str,
    nnd_data: Path,
    tmp_path: Path,
    loaded: Callable[[str], LoadedModel],
    chat_model: LoadedModel,
) -> None:
    with (nnd_data / "blimp" / f"{paradigm}.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(next(file)) for _ in range(30)]
    own = tmp_path / f"{paradigm}.jsonl"
    own.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    sides = {"high": "sentence_good", "low": "sentence_bad", "category": "UID"}
    folder = convert_rows(rows, tmp_path / "source", [paradigm], context="none", pairs=sides)
    for model in (loaded("gpt2"), chat_model):
        found = same(model, own, folder, Scoring(protocol="sum", cache=False)).results[0]
        assert found.rates.overall.contexts == found.rates.overall.n
        assert found.rates.overall.baselines["unconditional"] is None
        assert found.chat is not None
        assert found.chat.template == "none"
        assert found.request is not None
        assert found.request.context == ""
    assert "because the data has no contexts" in found.chat.reason


def test_a_chat_template_that_is_asked_for_is_used(chat_model: LoadedModel) -> None:
    rows = [{"sentence_good": "It rains.", "sentence_bad": "It rain."}]
    asked = Scoring(cache=False, chat=Chat(system="Write."))
    (found,) = evaluate(chat_model, rows, scoring=asked).results
    assert found.request is not None
    assert found.request.context.endswith("<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n")


def test_pmi_needs_contexts(loaded: Callable[[str], LoadedModel]) -> None:
    rows = [{"sentence_good": "It rains.", "sentence_bad": "It rain."}]
    with refusal("protocol.another-model", "rows"):
        evaluate(loaded("gpt2"), rows, scoring=Scoring(protocol="pmi", cache=False))


REWARDS: list[dict[str, Any]] = [
    {"id": n, "prompt": f"Who saw {n} cats?", "chosen": f"Ann saw {n}.", "rejected": "The dog."}
    | {"chosen_model": "a", "rejected_model": "b", "subset": "easy" if n % 2 else "hard"}
    for n in range(8)
]


def test_the_layout_of_rewardbench_and_a_csv_of_ones_own(
    tmp_path: Path, loaded: Callable[[str], LoadedModel], chat_model: LoadedModel
) -> None:
    sides = {"high": "chosen", "low": "rejected", "category": "subset"}
    folder = convert_rows(
        REWARDS, tmp_path / "source", ["easy", "hard"], inputs={"prompt": "prompt"}, pairs=sides
    )
    pl.DataFrame(REWARDS).write_parquet(tmp_path / "rewards.parquet")
    names = {"prompt": "question", "chosen": "good", "rejected": "bad", "subset": "kind"}
    pl.DataFrame(REWARDS).rename(names).write_csv(tmp_path / "mine.csv")
    columns = {"high": "good", "low": "bad", "context": "question", "category": "kind"}
    for model in (loaded("gpt2"), chat_model):
        same(model, tmp_path / "rewards.parquet", folder)
        same(model, load_pairs(tmp_path / "mine.csv", columns=columns), folder)
    asked = evaluate(loaded("gpt2"), tmp_path / "mine.csv", columns=columns, scoring=PLAIN)
    assert [*asked.results[0].rates.by["error_category"]] == ["easy", "hard"]


def test_messages_are_read_as_the_turns_of_a_chat(chat_model: LoadedModel) -> None:
    prompts = [
        [("user", "Ann: who?\nBob: me"), ("assistant", "Who?"), ("user", "The cat.")],
        [("system", "Be brief."), ("user", "Who wrote the book?")],
        [("user", "Where is Paris?")],
    ]
    for turns in prompts:
        prompt = [{"role": role, "content": text} for role, text in turns]
        others = [prompts[0]] if turns != prompts[0] else []  # so that all are read as turns
        rows = [
            {
                "prompt": [{"role": role, "content": text} for role, text in each],
                "chosen": [{"role": "assistant", "content": "In London."}],
                "rejected": [{"role": "assistant", "content": "In the river."}],
            }
            for each in [turns, *others]
        ]
        (found,) = evaluate(chat_model, rows, scoring=PLAIN).results
        assert found.template == "chat-turns"
        assert found.request is not None
        assert found.request.context == chat_model.tokenizer.apply_chat_template(
            prompt, tokenize=False, add_generation_prompt=True
        )


def test_messages_as_plain_text_are_the_converted_text(
    tmp_path: Path, loaded: Callable[[str], LoadedModel]
) -> None:
    rows = [
        {
            "prompt": [
                {"role": "user", "content": f"Who saw {n}?"},
                {"role": "assistant", "content": "When?"},
                {"role": "user", "content": "In 1884."},
            ],
            "chosen": [{"role": "assistant", "content": f"Tesla saw {n}."}],
            "rejected": [{"role": "assistant", "content": "Nobody."}],
            "category": "all",
        }
        for n in range(4)
    ]
    flat = [
        {
            "text": f"user: Who saw {n}?\nassistant: When?\nuser: In 1884.\nassistant:",
            "high": f"Tesla saw {n}.",
            "low": "Nobody.",
            "category": "all",
        }
        for n in range(4)
    ]
    sides = {"high": "high", "low": "low", "category": "category"}
    folder = convert_rows(flat, tmp_path / "source", ["all"], inputs={"text": "text"}, pairs=sides)
    same(loaded("gpt2"), rows, folder)


def test_pairs_and_results_become_datasets(loaded: Callable[[str], LoadedModel]) -> None:
    pairs = load_pairs(REWARDS)
    back = pairs.to_dataset()
    assert load_pairs(back).version == pairs.version
    rates = evaluate(loaded("gpt2"), back, scoring=PLAIN)
    rows = rates.to_dataset()
    assert rows.to_polars().equals(rates.to_frame())


def test_workers_give_the_same_numbers(tmp_path: Path, saved: Callable[[str], Path]) -> None:
    rows = [
        {"sentence_good": f"{n} cats sat.", "sentence_bad": f"{n} cats sits."} for n in range(9)
    ]
    own = tmp_path / "own.jsonl"
    own.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    model = str(saved("gpt2"))
    whole = evaluate(model, own, scoring=PLAIN)
    evaluate(model, own, out=tmp_path / "run", worker=(1, 1), scoring=PLAIN)
    merged = merge(tmp_path / "run")
    assert merged.results[0].rates.to_dict() == whole.results[0].rates.to_dict()
    assert merged.results[0].signature == whole.results[0].signature
