"""Forms of messages and classes that libraries write: ShareGPT, content parts, `datasets`."""

from pathlib import Path
from typing import Any

import datasets
import polars as pl
import pytest
from support.refusals import refusal

from nnd.metric.data import load_pairs, open_pairs, parts_of


def message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def said(name: str, value: str) -> dict[str, str]:
    return {"from": name, "value": value}


def part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


PLAIN = {
    "prompt": [message("system", "Be brief."), message("user", "Sky?")],
    "chosen": [message("assistant", "Blue.")],
    "rejected": [message("assistant", "Green.")],
}

FORMS: dict[str, dict[str, Any]] = {
    "ShareGPT": {
        "prompt": [said("system", "Be brief."), said("human", "Sky?")],
        "chosen": [said("gpt", "Blue.")],
        "rejected": [said("gpt", "Green.")],
    },
    "ShareGPT, a single answer": {
        "conversations": [said("system", "Be brief."), said("human", "Sky?")],
        "chosen": said("gpt", "Blue."),
        "rejected": said("gpt", "Green."),
    },
    "ShareGPT with OpenAI's roles": {
        "prompt": [said("system", "Be brief."), said("user", "Sky?")],
        "chosen": [said("assistant", "Blue.")],
        "rejected": [said("assistant", "Green.")],
    },
    "a single message as answer": PLAIN
    | {"chosen": PLAIN["chosen"][0], "rejected": PLAIN["rejected"][0]},
    "content parts": {
        "prompt": [message("system", [part("Be brief.")]), message("user", [part("Sky?")])],
        "chosen": [message("assistant", [part("Bl"), part("ue.")])],
        "rejected": [message("assistant", [part("Green.")])],
    },
    "the system only in the answers": {
        "prompt": "Sky?",
        "chosen": [*PLAIN["prompt"], *PLAIN["chosen"]],
        "rejected": [*PLAIN["prompt"], *PLAIN["rejected"]],
    },
    "an object of lists": {
        name: {"role": [m["role"] for m in ms], "content": [m["content"] for m in ms]}
        for name, ms in PLAIN.items()
    },
    "the prompt within the answers": {
        "prompt": PLAIN["prompt"],
        "chosen": [*PLAIN["prompt"], *PLAIN["chosen"]],
        "rejected": [*PLAIN["prompt"], *PLAIN["rejected"]],
    },
}


def read(data: Any) -> tuple[Any, ...]:
    pairs = load_pairs(data).pairs
    texts = pairs.select("context", "candidate_high", "candidate_low").row(0)
    return (*texts, parts_of(pairs)[0])


EXPECTED = (
    "system: Be brief.\nuser: Sky?\nassistant:",
    "Blue.",
    "Green.",
    {"system": "Be brief.", "turn_1": "Sky?"},
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["rows", "jsonl", "parquet", "dataset", "disk"])
def test_every_form_is_the_same_pair(form: str, kind: str, tmp_path: Path) -> None:
    rows = [FORMS[form]]
    data: Any = rows
    match kind:
        case "jsonl":
            data = tmp_path / "pairs.jsonl"
            pl.DataFrame(rows).write_ndjson(data)
        case "parquet":
            data = tmp_path / "pairs.parquet"
            pl.DataFrame(rows).write_parquet(data)
        case "dataset" | "disk":
            data = datasets.Dataset.from_list(rows)
        case _:
            pass
    if kind == "disk":
        data.save_to_disk(tmp_path / "saved")
        data = tmp_path / "saved"
    assert read(data) == EXPECTED


def test_a_sequence_of_messages_in_datasets() -> None:
    messages = datasets.Sequence(
        {"role": datasets.Value("string"), "content": datasets.Value("string")}
    )
    features = datasets.Features(dict.fromkeys(PLAIN, messages))
    rows = [FORMS["an object of lists"]]
    assert read(datasets.Dataset.from_list(rows, features=features)) == EXPECTED


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ([{"type": "image"}, part("What is it?")], '"image"'),
        ([{"type": "image_url", "image_url": {"url": "x"}}], '"image_url"'),
        ([part("Listen:"), {"type": "input_audio", "text": None}], '"input_audio"'),
    ],
)
def test_parts_that_are_not_text_are_named(content: Any, fact: str) -> None:
    with refusal("row.wrong-shape", "row 0") as caught:
        load_pairs([PLAIN | {"prompt": [message("user", content)]}])
    assert fact in caught.value.what


@pytest.mark.parametrize(
    "prompt",
    [
        [said("human", "Sky?"), said("tool", "look")],
        [said("human", "")],
        [{"from": "human"}],
        {"role": ["user", "assistant"], "content": ["Sky?"]},
        {"role": "user", "content": []},
        [message("user", ["Sky?"])],
    ],
)
def test_other_messages_are_refused_in_a_sentence(prompt: Any) -> None:
    with refusal("row.wrong-shape", "row 0"):
        load_pairs([PLAIN | {"prompt": prompt}])


def test_answers_with_different_systems_do_not_begin_with_the_prompt() -> None:
    other = [message("system", "Be long."), *PLAIN["prompt"][1:]]
    row = {
        "prompt": "Sky?",
        "chosen": [*PLAIN["prompt"], *PLAIN["chosen"]],
        "rejected": [*other, *PLAIN["rejected"]],
    }
    with refusal("row.wrong-shape", "row 0"):
        load_pairs([row])


# Classes


NAMES = ["grammar", "meaning", "style"]
ROWS = {
    "prompt": ["Sky?", "Sum?", "Sea?"],
    "chosen": ["Blue.", "Two.", "Wet."],
    "rejected": ["Green.", "Nine.", "Dry."],
}


@pytest.mark.parametrize("kind", ["dataset", "disk", "splits", "view"])
@pytest.mark.parametrize("column", ["category", "subset", "error_category"])
def test_a_class_is_its_name(kind: str, column: str, tmp_path: Path) -> None:
    data: Any = datasets.Dataset.from_dict(ROWS | {column: [2, 0, -1]}).cast_column(
        column, datasets.ClassLabel(names=NAMES)
    )
    if kind in {"disk", "splits"}:
        whole = datasets.DatasetDict(test=data) if kind == "splits" else data
        whole.save_to_disk(tmp_path / "saved")
        data = tmp_path / "saved"
    if kind == "view":
        data = data.select([0, 1, 2])
    pairs = load_pairs(data).pairs
    assert pairs["error_category"].to_list() == ["style", "grammar", None]
    assert (pairs["split"].to_list() == ["test"] * 3) == (kind == "splits")


def test_a_saved_dataset_is_read_in_parts_too(tmp_path: Path) -> None:
    datasets.Dataset.from_dict(ROWS).save_to_disk(tmp_path / "saved")
    assert open_pairs(tmp_path / "saved").sizes()[""] == 3
    assert load_pairs(tmp_path / "saved").name == "saved"


def test_a_saved_dataset_without_its_rows_is_refused(tmp_path: Path) -> None:
    datasets.Dataset.from_dict(ROWS).save_to_disk(tmp_path / "saved")
    (tmp_path / "saved" / "data-00000-of-00001.arrow").unlink()
    with refusal("file.not-a-table", "saved"):
        load_pairs(tmp_path / "saved")
