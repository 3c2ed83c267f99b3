"""`instruction` in source.yaml: what is refused, and what it leaves as it is."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refusal
from support.table_files import refused

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.slice_writing import write_slice
from nnd.converters.folder.validation import validate
from nnd.converters.make import derive
from nnd.converters.source import load_source
from nnd.schemas import read_instruction, read_manifest

MakeSource = Callable[..., Path]
Toy = Callable[..., dict[str, Any]]

ASKED: dict[str, Any] = {
    "instruction": "Answer this.\n\n{question}",
    "instruction_from": "Invented.",
    "instruction_variants": ["{question}\n\nWhat is the answer?", "What is it?\n\n{context}"],
}


def asked(given: Any, *variants: Any) -> dict[str, Any]:
    more = {"instruction_variants": [*variants]} if variants else {}
    return {"instruction": given, "instruction_from": "Invented.", **more}


def test_an_instruction_changes_nothing_but_the_manifest(
    make_source: MakeSource, tmp_path: Path
) -> None:
    plain, told = tmp_path / "plain", tmp_path / "told"

    convert(make_source(folder="a"), out=plain)
    convert(make_source(folder="b", **ASKED), out=told)

    names = {path.name for path in plain.iterdir()}
    assert names == {path.name for path in told.iterdir()}
    for name in names - {"manifest.json"}:
        assert (plain / name).read_bytes() == (told / name).read_bytes(), name
    manifests = [json.loads((each / "manifest.json").read_bytes()) for each in (plain, told)]
    assert {**manifests[0]["source"], **ASKED} == manifests[1]["source"]
    own = {"source", "digest"}  # the manifest's digest of itself
    assert {name: value for name, value in manifests[0].items() if name not in own} == {
        name: value for name, value in manifests[1].items() if name not in own
    }
    assert validate(told).ok


def test_slices_and_suites_keep_it(make_source: MakeSource, tmp_path: Path) -> None:
    whole = convert(make_source(**ASKED), out=tmp_path / "whole")

    one = {whole.pairs["pair_id"][0]}
    part = write_slice(tmp_path / "whole", tmp_path / "part", name="one", pair_ids=one)

    derive(tmp_path / "whole", ["case"], out=tmp_path / "suite")
    suite = read_manifest(tmp_path / "suite")
    assert suite["sets"]
    for manifest in (part.manifest, suite):
        assert read_instruction(manifest["source"]) == read_instruction(ASKED)
    assert validate(tmp_path / "part").ok
    assert validate(tmp_path / "suite").ok


def test_a_set_and_a_variant_have_their_own(make_source: MakeSource) -> None:
    other = asked("Say it.\n\n{question}", "{context}\n\nSay it.", "{question}\n\nSo?")
    folder = make_source(
        **ASKED,
        sets={"other": {"description": "Another.", **other}},
        variants={"same": {"description": "The same.", "instruction_from": "Elsewhere."}},
    )

    assert convert(folder, set_name="other").manifest["source"].items() >= other.items()
    found = convert(folder, variant="same").manifest["source"]
    assert found.items() >= {**ASKED, "instruction_from": "Elsewhere."}.items()


BAD: dict[str, list[dict[str, Any]]] = {
    "source.instruction": [
        asked("none", "{question}?", "So, {question}"),
        asked("{question}", {"en": "{question}"}, "{context}"),
        asked({"en": "{question}"}, {"en": "{question}?"}, {"de": "{question}?"}),
    ],
    "template.placeholder": [
        asked("Answer {question", "{question}", "{context}"),
        asked("Answer {question!r}"),
        asked("{question}", "{context}", "Go on."),
    ],
    "source.definition": [asked("{question}", "{context}"), {"instruction": "{question}"}],
}


@pytest.mark.parametrize(
    ("code", "facts"), [(code, facts) for code, some in BAD.items() for facts in some]
)
def test_what_cannot_be_read_is_refused(
    make_source: MakeSource, facts: dict[str, Any], code: str
) -> None:
    folder = make_source(**facts)

    with refusal(code, "source.yaml"):
        load_source(folder)


def test_dialogues_may_have_words_without_a_placeholder(make_source: MakeSource) -> None:
    folder = make_source(**asked("Be kind.", "Be nice.", "Do be kind."))

    assert convert(folder).manifest["source"]["instruction"] == "Be kind."


def test_words_that_do_not_fit_a_context_are_refused(make_source: MakeSource, toy: Toy) -> None:
    def rows(**fields: Any) -> Iterable[dict[str, Any]]:
        yield from (toy("a", "heron", "good"), toy("b", "wren", "wrong"))
        other = {"context_id": "c2", **fields}
        yield from (toy("d", "heron", "good", **other), toy("e", "wren", "wrong", **other))

    unknown = make_source(folder="unknown", **asked("{question}{answer}"))
    missing = make_source(rows(inputs={"text": "?"}), folder="missing", **ASKED)
    category = make_source(
        rows(category="birds"), folder="category", **asked({"bees": "{context}"})
    )
    language = make_source(rows(language="de"), folder="language", **asked({"en": "{context}"}))

    refused(unknown, "row.wrong-shape", "toy.jsonl:1: instruction")
    refused(missing, "row.wrong-shape", "toy.jsonl:3: instruction")
    refused(category, "row.wrong-shape", "toy.jsonl:1: instruction")
    refused(language, "row.wrong-shape", "toy.jsonl:3: instruction")


def test_a_folder_whose_instruction_was_broken_is_invalid(
    make_source: MakeSource, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    convert(make_source(**ASKED), out=folder)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["source"]["instruction"] = "{question"
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    found = validate(folder)

    assert not found.ok
    assert any("instruction: " in finding.problem.message for finding in found.findings)
