"""Every source can be fetched, or says by which commands; a nightly job fetches them all."""

import json
import runpy
from pathlib import Path

import pytest
from support.recounts.built_in_sources import SOURCES
from support.refusals import refusal

from nnd.converters.folder.conversion import convert
from nnd.converters.source.source import Source

ROOT = Path(__file__).parents[3]
SUMMEVAL = next(source for source in SOURCES if source.name == "summeval")
PAIRED = "model_annotations.aligned.paired.jsonl"
READINGS = [
    (source.name, source if name is None else source.choose("set", name), name)
    for source in SOURCES
    for name in (None, *source.facts.get("sets", {}))
]


@pytest.mark.parametrize(("name", "source", "set_name"), READINGS, ids=lambda each: str(each)[:20])
def test_a_file_without_a_url_is_here_or_has_commands(
    name: str, source: Source, set_name: str | None
) -> None:
    for file in source.files:
        is_here = (source.folder / file.name).is_file()
        assert file.url or file.obtain or is_here or (name, file.name) == ("summeval", PAIRED), (
            set_name
        )
        if file.obtain:
            assert file.url is None
            assert file.has_digest


def test_the_commands_are_said_where_the_file_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NND_CACHE", str(tmp_path / "cache"))

    with refusal("source.cannot-fetch") as found:
        convert("quintd", out=tmp_path / "out")
    assert "git clone https://github.com/kasnerz/quintd.git && git -C" in str(found.value)
    assert str(found.value).endswith("then add --from quintd/data/quintd-1")


@pytest.mark.parametrize("lacks_one", [False, True])
def test_summeval_of_two_published_files_is_summeval_of_the_paired_one(
    tmp_path: Path,
    lacks_one: bool,  # noqa: FBT001
) -> None:
    """The annotations without articles, and those of one system with them."""
    lines = (SUMMEVAL.folder / "fixture" / PAIRED).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    articles = {row["id"]: {"id": row["id"], "text": row.pop("text")} for row in rows}
    if lacks_one:
        articles.popitem()
    for name, content in (
        ("model_annotations.aligned.jsonl", rows),
        ("M8_outputs_annotations.jsonl", articles.values()),
    ):
        text = "".join(f"{json.dumps(row)}\n" for row in content)
        (tmp_path / name).write_text(text, encoding="utf-8")
    changed = {"accept_changed": "parts of the fixture"}
    if lacks_one:
        with refusal("source.no-articles"):
            convert("summeval", origin=tmp_path, **changed)
        return
    one = convert("summeval", origin=tmp_path, **changed)
    other = convert("summeval", origin=SUMMEVAL.folder / "fixture")

    assert one.pairs.equals(other.pairs)
    assert one.pairs.height
    assert one.references.equals(other.references)


def test_the_nightly_job_fetches_every_source_in_each_of_its_sets() -> None:
    script = runpy.run_path(str(ROOT / ".ci/fetch_sources.py"))
    found = {each.name: each.commands for each in script["fetches"]()}
    labels = [
        name if chosen is None else f"{name}-{chosen.replace('/', '-')}"
        for name, _, chosen in READINGS
    ]

    assert [*found] == labels
    assert found["summedits"] == [["nnd", "convert", "summedits", "--out", "summedits"]]
    assert [command[:2] for command in found["quintd"]] == [
        ["git", "clone"], ["git", "-C"], ["nnd", "convert"],
    ]  # fmt: skip
    workflow = (ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8")
    assert "python .ci/fetch_sources.py " in workflow
