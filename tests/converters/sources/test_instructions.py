"""What the systems were asked: the instruction of every built-in source, on its real files too."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.recounts.built_in_sources import SOURCES
from support.recounts.counted_again import workbooks_parsed_once
from support.recounts.readings import READINGS

from nnd.converters import Annotation
from nnd.converters.source import Files, Source, choose_converter, load_source
from nnd.schemas import (
    NO_INSTRUCTION,
    StoredContext,
    fill_wording,
    placeholders_in,
    read_instruction,
)

EVERY = [
    pytest.param(source, id="-".join([each.name, *([name] if name else [])]))
    for each in SOURCES
    for name in ["", *each.facts.get("sets", {})]
    for source in [each.choose("set", name) if name else each]
]

REQUESTS: dict[str, dict[str, str]] = {
    "bump": {"": "86e08c323066"},
    "challenge300": {},
    "confit_samsum": {"": "8a76bc74014b"},
    "d2t_eval": {
        "football": "a2634abba432",
        "gsmarena": "20d00477a240",
        "openweather": "4c9dce877c43",
    },
    "demetr": {"": "3a9c81458495"},
    "dialsummeval": {"": "1e44ddbf9abb"},
    "faithbench": {"": "d08e3859ee9f"},
    "fib": {"": "34ca74b66ddf"},
    "frank/factuality": {"cnndm": "e4a965606bf0"},
    "frank/typed": {"cnndm": "e4a965606bf0"},
    "goyal_gpt3_news": {"bbc": "fd066a6073b2", "cnn": "23743260d004"},
    "goyal_gpt3_news/loose": {"bbc": "fd066a6073b2", "cnn": "23743260d004"},
    "llmbar": {},
    "qgeval": {"": "f9076236cb3a"},
    "qgeval/hotpotqa": {"": "d60fa6c0d9f8"},
    "qgeval/squad": {"": "f9076236cb3a"},
    "quintd": {},
    "quiz_design": {"": "4931872179ef"},
    "ragtruth/faithjudge": {
        "Data2txt": "1dfe459272b7",
        "QA": "a7233a2b6e4d",
        "Summary": "97e83032e723",
    },
    "simplification": {"": "23e320a2a328"},
    "simplification/da": {"": "ced530f28705"},
    "summedits": {
        "ectsum": "05dffc0ab20e",
        "news": "ab2a5b171425",
        "podcast": "8bad7269c222",
        "qmsumm": "f937ef6c47bb",
        "sales_call": "c5052beca092",
        "sales_email": "73c33c6ccef7",
        "samsum": "ce2916cc8a93",
        "scitldr": "8ebc2941b2f5",
    },
    "summeval": {"": "2e1a8a0395e9"},
    "wmt23_mqm_sxs/ende": {"": "53e3e5ffc1f3"},
    "wmt23_mqm_sxs/zhen": {"": "22e2e51adc21"},
    "wmt24_esa/en-cs": {"cs": "e1b6f8bffdb1"},
    "wmt24_esa/en-hi": {"hi": "e732f031022c"},
    "wmt24_esa/en-ja": {"ja": "57a7d07e2795"},
    "wmt24_esa/en-zh": {"zh": "243123f60ff4"},
    "wmt_mqm/ted/ende": {"de": "69c3a53b70ae"},
    "wmt_mqm/ted/zhen": {"": "a734e14d059e"},
    "wmt_qe_2022": {"": "27199b3f002a"},
}
"""Source or set → category or language → digest of the first request of its real files."""

PLACES = {
    "/".join([each.source, *([name] if name else [])]): each
    for each in reversed(READINGS)
    for name in [each.options.get("set_name", "")]
}


@pytest.mark.parametrize("source", EVERY)
def test_every_source_says_what_was_asked_and_who_worded_it(source: Source) -> None:
    facts = source.facts
    instruction = read_instruction(facts)

    assert facts["instruction_from"].endswith(".")
    if facts["instruction"] == NO_INSTRUCTION:
        assert instruction is None
        return
    assert instruction is not None
    assert len(instruction.wordings) == 3
    for key in instruction.wordings[0]:
        texts = [wording[key] for wording in instruction.wordings]
        assert len({*texts}) == 3
        assert len({frozenset(placeholders_in(text)) for text in texts}) == 1
        assert all("\n\n" in text and text == text.strip() for text in texts)
        assert {text.endswith("}") for text in texts} == {True, False}, "the context is never first"


def requests_of(source: Source, origin: Path) -> Mapping[str, str]:
    """The first request of each category of contexts and language of candidates."""
    instruction = read_instruction(source.facts)
    files = Files(source, origin)
    found: dict[str, str] = {}
    if instruction is None:
        return found
    (wording, *_) = instruction.wordings
    for row in choose_converter(source).annotations(files):
        kinds = kinds_of(source, row)
        key = next((kind for kind in kinds if kind in wording), "")
        if key not in found:
            found[key] = "".join(
                fill_wording(wording, StoredContext(row.context, row.inputs, kinds))
            )
            if found.keys() == wording.keys():
                break
    return found


def kinds_of(source: Source, row: Annotation) -> tuple[str, ...]:
    kinds = (row.category, row.language or source.facts["languages"][0])
    return tuple(kind for kind in kinds if kind is not None)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PLACES)
def test_the_first_requests_of_the_real_files(place: str, nnd_data: Path) -> None:
    reading = PLACES[place]
    source = load_source(reading.source)
    if name := reading.options.get("set_name"):
        source = source.choose("set", name)

    with workbooks_parsed_once():
        found = requests_of(source, reading.place(nnd_data) / reading.origin)

    assert {key: digest(text) for key, text in found.items()} == REQUESTS[place]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
