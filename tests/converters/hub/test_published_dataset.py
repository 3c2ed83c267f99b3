"""From a converted folder to a dataset on the Hub that the real clients read, or a reason."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from support.hub.asking import console
from support.hub.clients import IMPATIENT, environment
from support.hub.publishing import TOKEN, Client, client
from support.hub.server import Hub
from support.refusals import refusal
from support.stored_folders import write_sealed
from support.suites.compared import compared_suite

from nnd.cards import check_card
from nnd.converters.folder.conversion import Conversion, convert
from nnd.converters.folder.validation import validate
from nnd.converters.hub.release_folder import check_release, read_release, write_release
from nnd.metric.data.pairs import load_pairs
from nnd.metric.other_metrics.judged_candidates import read_judged
from nnd.schemas import NNDError, nnd_version, seal
from nnd.schemas.files.folder import FrameName, read_frame

MakeSource = Callable[..., Path]
Row = Callable[..., dict[str, Any]]

FRAMES: tuple[FrameName, ...] = ("pairs", "human_scores", "annotations")


@dataclass(frozen=True)
class There:
    """A repository of a test's own, which is not there at first, and who publishes to it."""

    hub: Hub
    publisher: Client
    name: str
    convert: Callable[..., Path]

    def publish(self, folder: Path, **options: Any) -> dict[str, Any]:
        answer = self.publisher.ask("publish", folder=folder, repo_id=self.name, **options)
        assert "error" not in answer, answer["error"]
        return answer

    def refused(self, folder: Path, code: str, where: object = "", **options: Any) -> NNDError:
        """Return the error of publishing a folder, after checking its code and place."""
        asked = {"folder": folder, "repo_id": self.name, **options}
        return self.publisher.refused((code, str(where)), "publish", **asked)

    def files(self, revision: str = "main") -> dict[str, bytes]:
        return self.hub.files("datasets", self.name, revision)

    def commit(self, files: dict[str, bytes]) -> None:
        """Let somebody else add or change files."""
        self.hub.commit("datasets", self.name, files)

    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads(self.files()["manifest.json"])
        return manifest

    def titles(self) -> list[str]:
        """Titles of all commits on main, oldest first."""
        return [commit.title for commit in self.hub.commits("datasets", self.name)][::-1]

    def exists(self) -> bool:
        return self.hub.exists("datasets", self.name)

    def fetch(self, folder: Path, revision: str = "main") -> Path:
        """Write all that the Hub holds into a folder, as somebody who fetches it has it."""
        for path, data in self.files(revision).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        return folder


@pytest.fixture(scope="module")
def converted() -> dict[str, Conversion]:
    """What `convert_rows` has converted so far, by rows and facts."""
    return {}


@pytest.fixture
def convert_rows(
    make_source: MakeSource, converted: dict[str, Conversion], tmp_path: Path
) -> Callable[..., Path]:
    """`convert_rows(rows, folder="a", **facts)`: a converted folder of those rows."""

    def make(rows: Any = None, folder: str = "out", **facts: Any) -> Path:
        asked = repr((rows, facts))
        if asked not in converted:
            plain = {"expected": None, "citation": "@misc{toy, title={Toys}, year={2020}}"}
            source = make_source(rows, folder=f"{folder}-source", declared=True, **plain | facts)
            converted[asked] = convert(source)
        (tmp_path / folder).mkdir()
        converted[asked].write(tmp_path / folder)
        return tmp_path / folder

    return make


@pytest.fixture
def there(
    request: pytest.FixtureRequest, hub: Hub, publisher: Client, convert_rows: Callable[..., Path]
) -> There:
    digits = hashlib.sha256(request.node.name.encode()).hexdigest()[:12]
    return There(hub, publisher, f"org/r{digits}", convert_rows)


@pytest.fixture
def two_splits(toy: Row) -> list[dict[str, Any]]:
    """Two splits of one context each: one pair in `test`, two in `train.easy`."""
    return [
        toy("a", "heron", "good"),
        toy("b", "wren", "wrong"),
        *(
            toy(name, system, label, split="train.easy", context_id="c2", context="Who flies?")
            for name, system, label in (
                ("d", "heron", "good"),
                ("e", "wren", "wrong"),
                ("f", "plover", "rude"),
            )
        ),
    ]


def with_address(toy: Row) -> list[dict[str, Any]]:
    """A context with an e-mail address, and candidates that differ in nothing but addresses."""
    context = {"context": "Ask jo@x.org", "inputs": {"question": "Ask jo@x.org"}}
    return [
        toy("a", "heron", "good", **context, candidate="It is al@x.org"),
        toy("b", "wren", "wrong", **context, candidate="It is ed@x.org"),
        toy("c", "plover", "rude", **context, candidate="From 8.8.8.8"),
    ]


def test_what_is_published(there: There, two_splits: list[dict[str, Any]], tmp_path: Path) -> None:
    folder = there.convert(two_splits)

    published = there.publish(folder)

    commit = there.hub.commits("datasets", there.name)[0]
    paths = [
        "README.md",
        "annotations/test-00000-of-00001.parquet",
        "annotations/train.easy-00000-of-00001.parquet",
        "human_scores.parquet",
        "manifest.json",
        "pairs/test-00000-of-00001.parquet",
        "pairs/train.easy-00000-of-00001.parquet",
        "preferences/test-00000-of-00001.parquet",
        "preferences/train.easy-00000-of-00001.parquet",
        "schemas/annotation.schema.json",
        "schemas/human_score.schema.json",
        "schemas/pair.schema.json",
        "schemas/source.schema.json",
    ]
    held = there.files()
    assert sorted(held) == [".gitattributes", *paths]
    assert published == {
        "repo_id": there.name,
        "url": f"{there.hub.endpoint}/datasets/{there.name}",
        "commit": commit.id,
        "changed": True,
        "pull_request": None,
        "tag": None,
        "files": [{"path": p, "bytes": len(held[p]), "change": "added"} for p in paths],
        "card_diff": "",
        "unasked": None,
        "doubts": published["doubts"],
    }
    assert [doubt.partition(": ")[2][:9] for doubt in published["doubts"]] == [
        "contexts:",
        "form: low",
    ]
    assert "\n- `nnd check` found: contexts: " in held["README.md"].decode()
    assert there.titles() == ["initial commit", f"Publish toy with nnd {nnd_version()}"]
    assert not there.hub.repository("datasets", there.name).private
    outputs = there.manifest()["outputs"]
    assert set(outputs) == {path for path in paths if path.endswith((".parquet", ".schema.json"))}
    for path, entry in outputs.items():
        assert entry["sha256"] == hashlib.sha256(held[path]).hexdigest()

    fetched = there.fetch(tmp_path / "fetched")
    assert list(validate(fetched)) == []
    for frame in FRAMES:
        assert read_frame(fetched, frame).equals(pl.read_parquet(folder / f"{frame}.parquet"))
    assert load_pairs(fetched).pairs.equals(load_pairs(folder).pairs)
    assert read_judged(fetched).human.equals(read_judged(folder).human)


def test_pairs_are_also_preferences_unless_that_is_declined(
    there: There, two_splits: list[dict[str, Any]]
) -> None:
    folder = there.convert(two_splits)
    there.publish(folder, eval_yaml=True)
    held = there.files()
    benchmark = yaml.safe_load(held["eval.yaml"])
    assert "evaluation_framework" not in benchmark
    assert benchmark["tasks"] == [
        {"id": f"toy_{split}", "config": "pairs", "split": split}
        for split in ("test", "train.easy")
    ]
    there.publish(folder, preferences=False)
    fewer = there.files()
    gone = {path for path in held if path.startswith("preferences/")} | {"eval.yaml"}
    assert held.keys() - fewer.keys() == gone
    assert b"config_name: preferences" in held["README.md"]
    assert b"config_name: preferences" not in fewer["README.md"]


def test_the_real_clients_read_it_row_for_row(
    there: There, two_splits: list[dict[str, Any]], tmp_path: Path
) -> None:
    folder = there.convert(two_splits)
    commit = there.publish(folder)["commit"]

    load = f"load('datasets').load_dataset({there.name!r}"
    with console(there.hub.endpoint, tmp_path / "home", TOKEN) as ask:
        everything = f"{{split: rows.to_list() for split, rows in {load}).items()}}"
        default = ask(everything)
        lists = {
            (config, streaming): ask(
                f"{{split: list(rows) for split, rows in "
                f"{load}, {config!r}, streaming={streaming}).items()}}"
            )
            for config in FRAMES
            for streaming in (False, True)
        }
        asked = len(there.hub.requests)
        pairs = ask(
            f"load('nnd.metric.data.pairs').load_pairs('{there.name}@{commit}').pairs"
            ".select('pair_id', 'context', 'candidate_high', 'candidate_low').rows()"
        )
        fetched = {
            line.split("/")[-2] for line in there.hub.requests[asked:] if "/resolve/" in line
        }

    for config in FRAMES:
        frame = pl.read_parquet(folder / f"{config}.parquet")
        if config == "human_scores":
            (split,) = lists[config, False]
            expected = {split: frame.to_dicts()}
        else:
            expected = {
                split: frame.filter(pl.col("split") == split).to_dicts()
                for split in ("test", "train.easy")
            }
        assert lists[config, False] == expected
        assert lists[config, True] == expected
    assert default == lists["pairs", False]
    columns = ("pair_id", "context", "candidate_high", "candidate_low")
    rows = pl.read_parquet(folder / "pairs.parquet").select(columns).rows()
    assert [tuple(row) for row in pairs] == rows
    assert not any("resolve" in line and "annotations" in line for line in fetched)


def test_publishing_again_makes_no_commit(there: There, two_splits: list[dict[str, Any]]) -> None:
    folder = there.convert()
    first = there.publish(folder, tag="v1", unverified="no need")

    # There is nothing to redact, and all is verified.
    for options in ({}, {"tag": "v1"}, {"redact": True}, {"keep_contacts": "x"}):
        again = there.publish(folder, **options)

        assert (again["commit"], again["changed"]) == (first["commit"], False)
        assert again["tag"] == options.get("tag")
        assert {file["change"] for file in again["files"]} == {"same"}
    assert len(there.titles()) == 2
    assert {"contacts", "unverified"}.isdisjoint(there.manifest())
    assert there.hub.refs("datasets", there.name)["refs/tags/v1"] == first["commit"]
    # A tag that is taken is told before anything is sent.
    there.refused(there.convert(two_splits, folder="other"), "hub.tag", there.name, tag="v1")
    assert len(there.titles()) == 2


def test_what_was_fetched_can_be_published_elsewhere(there: There, tmp_path: Path) -> None:
    there.publish(there.convert())
    fetched = there.fetch(tmp_path / "fetched")

    copy = replace(there, name=f"{there.name}-copy")
    copy.publish(fetched)

    ours, theirs = there.files(), copy.files()
    assert {path for path in ours if ours[path] != theirs.get(path)} == {"README.md"}


def test_what_people_added_stays_and_what_is_no_longer_made_goes(
    there: There, two_splits: list[dict[str, Any]]
) -> None:
    there.publish(there.convert(two_splits))
    card = there.files()["README.md"].decode().replace("- nnd\n", "- nnd\n- birds\n", 1)
    card += "\n## Thanks\n\nTo all birds.\n"
    foreign = {"photo.png": b"p", "docs/more.md": b"m", "schemas/old.schema.json": b"{}"}
    there.commit({"README.md": card.encode(), **foreign})

    again = there.publish(there.convert(two_splits, folder="same"), tag="v1")
    less = there.convert(two_splits[:2], folder="less")
    diff = there.publish(less, dry_run=True)["card_diff"]
    published = there.publish(less)

    assert not again["changed"]
    gone = {file["path"] for file in published["files"] if file["change"] == "deleted"}
    assert gone == {
        "annotations/train.easy-00000-of-00001.parquet",
        "pairs/train.easy-00000-of-00001.parquet",
        "preferences/train.easy-00000-of-00001.parquet",
    }
    files = there.files()
    assert {*foreign, ".gitattributes"} < set(files)
    assert gone.isdisjoint(files)
    held = files["README.md"].decode()
    assert held.endswith("\n## Thanks\n\nTo all birds.\n")
    assert "- birds\n" in held
    assert "train.easy" in card
    assert "train.easy" not in held
    assert {"-- birds", "+- birds", "-To all birds."}.isdisjoint(diff.splitlines())
    assert any("train.easy" in line for line in diff.splitlines() if line[:1] == "-")
    assert list(check_card(held, less)) == []


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"train.csv": b"a,b"}, "train.csv"),
        ({"manifest.json": b"not json"}, "toy"),
        ({"manifest.json": b"[1]"}, "toy"),
        ({"manifest.json": b'{"source": 1}'}, "toy"),
        (
            {"manifest.json": b'{"source": {"name": "frank", "set": "factuality"}}'},
            "frank, set factuality",
        ),
    ],
)
def test_a_repository_of_something_else_is_left_alone(
    there: There, files: dict[str, bytes], found: str
) -> None:
    there.hub.commit("datasets", there.name, files, title="theirs")

    error = there.refused(there.convert(), "hub.foreign-files", there.name)

    assert found in error.what
    assert there.files() == files
    assert there.titles() == ["theirs"]


def test_a_repository_with_a_stub_of_a_card_is_empty_enough(there: There) -> None:
    there.hub.commit(
        "datasets", there.name, {"README.md": b"---\nlicense: mit\n---\n", "LICENSE": b"MIT"}
    )

    assert there.publish(there.convert())["changed"]


def test_outputs_that_make_no_sense_delete_nothing(there: There) -> None:
    folder = there.convert()
    there.publish(folder)
    strange = seal(there.manifest() | {"outputs": ["README.md", 3, None]})
    there.commit({"manifest.json": json.dumps(strange).encode(), "a.png": b"a"})

    there.publish(folder)

    assert "a.png" in there.files()
    assert there.manifest()["outputs"] != strange["outputs"]


def test_a_forged_manifest_deletes_nothing_that_nnd_did_not_write(there: There) -> None:
    folder = there.convert()
    there.publish(folder)
    theirs = {"thesis.tex": b"t", "pairs/mine-00000-of-00001.parquet": b"p", "LICENSE": b"l"}
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in theirs.items()}
    forged = there.manifest()
    forged["outputs"] |= {
        "thesis.tex": {"rows": 1, "sha256": digests["thesis.tex"]},
        "LICENSE": {"rows": 1, "sha256": digests["LICENSE"]},
        "pairs/mine-00000-of-00001.parquet": {"rows": 1, "sha256": digests["thesis.tex"]},
    }
    there.commit(theirs | {"manifest.json": json.dumps(seal(forged)).encode()})

    there.publish(folder)

    held = there.files()
    assert {path: held.get(path) for path in theirs} == theirs
    assert there.manifest()["outputs"] != forged["outputs"]


def test_a_manifest_that_was_changed_there_is_refused(there: There) -> None:
    folder = there.convert()
    there.publish(folder)
    changed = there.manifest()
    changed["outputs"]["thesis.tex"] = {"rows": 1, "bytes": 1, "sha256": "0" * 64}
    there.commit({"thesis.tex": b"t", "manifest.json": json.dumps(changed).encode()})
    held = there.files()

    there.refused(folder, "hub.foreign-files", f"{there.name}/manifest.json")

    assert there.files() == held


def test_a_file_that_was_changed_there_is_refused_by_name(there: There, tmp_path: Path) -> None:
    suite = compared_suite(tmp_path)
    there.publish(suite, unverified="invented")
    ours = there.files()
    for path in ("schemas/pair.schema.json", "pairs/test-00000-of-00001.parquet", "validity.json"):
        there.commit({path: ours[path].replace(b"a", b"b")})
        held = there.files()

        where = f"{there.name}/{path}"
        there.refused(suite, "hub.foreign-files", where, unverified="invented")
        assert there.files() == held != ours
        there.commit({path: ours[path]})


@pytest.mark.parametrize("listed", [True, False])
def test_a_schema_of_an_earlier_version_is_replaced_and_one_of_somebody_else_is_not(
    there: There, *, listed: bool
) -> None:
    folder, path = there.convert(), "schemas/pair.schema.json"
    there.publish(folder)
    present, earlier = there.files()[path], b'{"type": "object"}'
    manifest = there.manifest()
    manifest["outputs"][path] = {
        "bytes": len(earlier),
        "sha256": hashlib.sha256(earlier).hexdigest(),
    }
    if not listed:
        del manifest["outputs"][path]
    there.commit({path: earlier, "manifest.json": json.dumps(seal(manifest)).encode()})

    if listed:
        there.publish(folder)
        assert there.files()[path] == present
    else:
        there.refused(folder, "hub.foreign-files", f"{there.name}/{path}")
        assert there.files()[path] == earlier


def test_what_was_compared_is_replaced_or_goes_unless_it_was_changed_there(
    there: There, tmp_path: Path
) -> None:
    suite = compared_suite(tmp_path)
    path = suite / "validity.json"
    there.publish(suite, unverified="invented")
    write_sealed(path, json.loads(path.read_bytes()) | {"sentences": ["Another one."]})
    there.publish(suite, unverified="invented")
    replaced = json.loads(there.files()["validity.json"])
    path.unlink()
    there.publish(suite, unverified="invented")
    held = there.files()
    there.commit({"validity.json": json.dumps(replaced | {"sentences": ["Mine."]}).encode()})
    changed = there.files()
    there.publish(suite, unverified="invented")

    assert replaced["sentences"] == ["Another one."]
    assert "validity.json" not in held
    assert there.files() == changed


def test_what_people_changed_in_our_part_of_the_card_is_shown(there: There) -> None:
    folder = there.convert()
    there.publish(folder)
    card = there.files()["README.md"].replace(b"## Counts", b"## My counts")
    there.hub.commit("datasets", there.name, {"README.md": card}, title="theirs")

    error = there.refused(folder, "card.marks", f"{there.name}/README.md")

    assert '"## My counts"' in error.what
    assert there.files()["README.md"] == card


@pytest.mark.parametrize("redistribution", ["no-derivatives", "unknown"])
def test_what_may_not_be_handed_on_is_refused(there: There, redistribution: str) -> None:
    folder = there.convert(redistribution=redistribution)

    error = there.refused(folder, "licence.forbids", folder)

    assert "CC0-1.0" in error.what
    assert "--private" in error.remedy
    assert "--i-have-permission" in error.remedy
    assert not there.exists()
    there.publish(folder, private=True)  # those who are let in may see it
    assert there.hub.repository("datasets", there.name).private


@pytest.mark.parametrize("licence", ["unknown", "CC-BY-NC-ND-4.0"])
def test_a_licence_that_contradicts_the_redistribution_is_refused(
    convert_rows: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, licence: str
) -> None:
    """As earlier versions of nnd converted it."""
    with monkeypatch.context() as earlier:
        earlier.setattr("nnd.converters.source.source.check_licence", lambda _: None)
        folder = convert_rows(licence=licence)

    with refusal("data.invalid", "out"):
        read_release(folder)


def test_it_may_not_go_privately_to_where_all_can_see(there: There) -> None:
    there.hub.create("datasets", there.name)

    folder = there.convert(redistribution="unknown")
    there.refused(folder, "hub.public-already", there.name, private=True)

    assert there.titles() == ["initial commit"]


UNDECLARED = {"name": "toy.jsonl", "url": None, "sha256": None, "bytes": None}
EXPECTED = {
    "annotations": 9,
    "contexts": 1,
    "systems": 3,
    "pairs": 6,
    "by_error_category": {"rude": 3, "wrong": 3},
}


def test_what_is_unverified_is_refused(there: There) -> None:
    folder = there.convert(files=[UNDECLARED], expected=EXPECTED)

    error = there.refused(folder, "publish.unverified", folder)
    assert "toy.jsonl" in error.what
    assert re.findall(r"\d+ [a-z]+", error.what) == ["3 annotations", "2 pairs"]
    assert not there.exists()


def test_reasons_stand_in_manifest_and_card(there: There, toy: Row, tmp_path: Path) -> None:
    facts = {"redistribution": "no-derivatives", "files": [UNDECLARED], "expected": EXPECTED}
    folder = there.convert(with_address(toy), **facts)
    reasons = {
        "permission": "the authors wrote so on 3 May",
        "keep_contacts": "they are invented",
        "unverified": "its first third",
    }

    there.publish(folder, **reasons)

    manifest, card = there.manifest(), there.files()["README.md"].decode()
    assert manifest["permission"] == reasons["permission"]
    assert manifest["contacts"] == {"kept": reasons["keep_contacts"]}
    assert manifest["unverified"] == reasons["unverified"]
    assert reasons["permission"] in card
    assert reasons["keep_contacts"] in card
    assert "Published although not all files are verified: \u201cits first third\u201d" in card
    assert "declared files: 3 annotations instead of 9, 2 pairs instead of 6." in card
    # That it is unverified what was fetched says itself.
    fetched = there.fetch(tmp_path / "fetched")
    del reasons["unverified"]
    assert not there.publish(fetched, **reasons)["changed"]


MISSING = "option.reason-missing"


@pytest.mark.parametrize(
    ("facts", "options", "code", "where"),
    [
        ({}, {"permission": " "}, MISSING, "--i-have-permission"),
        ({}, {"keep_contacts": " "}, MISSING, "keep-contacts"),
        ({}, {"unverified": " "}, MISSING, "unverified"),
        ({}, {"redact": True, "keep_contacts": "why"}, "option.conflict", ""),
        ({}, {"pr": True, "tag": "v1"}, "option.conflict", "--pr and --tag"),
        ({"citation": "@misc{toy}"}, {}, "card.problems", "README.md"),
        *(
            ({}, {"tag": tag}, "hub.tag", "--tag")
            for tag in ("", "a b", "main", "v1..2", "v1.lock", "-v", ".v", "v.")
        ),
    ],
)
def test_what_is_refused_before_anything_is_sent(
    there: There, facts: dict[str, str], options: dict[str, Any], code: str, where: str
) -> None:
    there.refused(there.convert(**facts), code, where, **options)
    assert not there.exists()


def test_addresses_are_refused_with_their_rows(there: There, toy: Row) -> None:
    folder = there.convert(with_address(toy))

    error = there.refused(folder, "publish.contacts", folder)

    assert error.what.endswith(
        ": row 0 context (email j…@x…), row 0 candidate (email a…@x…), row 1 candidate (email "
        "e…@x…), row 2 candidate (ip 8…), row 0 inputs/question (email j…@x…)"
    )
    assert "--redact" in error.remedy
    assert "--keep-contacts" in error.remedy
    assert not there.exists()


def test_redacted_addresses_are_counted_and_everything_is_derived_again(
    there: There, toy: Row, tmp_path: Path
) -> None:
    folder = there.convert(with_address(toy))

    there.publish(folder, redact=True)

    for path, data in there.files().items():
        assert b"@x.org" not in data, path
    fetched = there.fetch(tmp_path / "fetched")
    assert list(validate(fetched)) == []
    # One text `Ask …`, as context and as its part; two candidates; one IP address.
    manifest = there.manifest()
    assert manifest["contacts"] == {"redacted": {"email": 3, "ip": 1}}
    # `It is <email>` twice is no pair any more.
    before, after = read_frame(folder, "pairs"), read_frame(fetched, "pairs")
    assert before["candidate_low"].to_list() == ["It is ed@x.org", "From 8.8.8.8"]
    assert after["candidate_low"].to_list() == ["From <ip>"]
    assert after["context"].to_list() == ["Ask <email>"]
    assert set(after["pair_id"]).isdisjoint(before["pair_id"])
    assert manifest["counts"]["pairs"] == 1
    assert {drop["reason"]: drop["n"] for drop in manifest["dropped"]} == {"same_text": 1}
    # Nobody's judgement has changed.
    assert read_frame(fetched, "human_scores").equals(read_frame(folder, "human_scores"))
    card = there.files()["README.md"].decode()
    assert "&lt;email&gt;" in card or "<email>" in card


def test_what_the_source_expects_holds_for_texts_as_they_were(
    convert_rows: Callable[..., Path], toy: Row, tmp_path: Path
) -> None:
    counts = {"annotations": 3, "contexts": 1, "systems": 3, "pairs": 2}
    expected = {**counts, "by_error_category": {"rude": 1, "wrong": 1}}
    folder = convert_rows(with_address(toy), expected=expected)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][0]["verified"] = True  # as for a file whose declared digest it has
    manifest["source"]["files"][0]["sha256"] = manifest["files"][0]["sha256"]
    write_sealed(folder / "manifest.json", manifest)
    assert list(validate(folder)) == []
    (tmp_path / "release").mkdir()

    release = read_release(folder, redact=True)
    write_release(release, tmp_path / "release", "org/n")

    assert release.pairs.height == 1
    assert list(validate(tmp_path / "release")) == []


def test_addresses_are_reviewed_once(convert_rows: Callable[..., Path], toy: Row) -> None:
    why = "they are invented"
    folder = convert_rows(with_address(toy), contacts={"reviewed": why})

    assert read_release(folder).manifest["contacts"] == {"kept": why}
    assert read_release(folder, keep_contacts="I saw").manifest["contacts"] == {"kept": "I saw"}
    assert "redacted" in read_release(folder, redact=True).manifest["contacts"]
    # Nobody has reviewed other files.
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][0] |= {"verified": False, "sha256": "0" * 64}
    write_sealed(folder / "manifest.json", manifest)
    with refusal("publish.contacts", "out"):
        read_release(folder, unverified="mine")


def test_an_address_in_a_name_cannot_be_redacted(
    convert_rows: Callable[..., Path], toy: Row
) -> None:
    rows = [toy("a", "heron", "good"), toy("jo@x.org", "wren", "wrong", candidate="other")]
    folder = convert_rows(rows)

    with refusal("publish.contacts", "out"):
        read_release(folder, redact=True)


def test_what_the_manifest_quotes_is_looked_at_too(there: There) -> None:
    folder = there.convert(files=[UNDECLARED])
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["oddities"] = ["toy.jsonl:3: judged by jane@x.org, from 8.8.8.8"]
    manifest["files"][0]["name"] = "ed@x.org.jsonl"
    write_sealed(folder / "manifest.json", manifest)

    error = there.refused(folder, "publish.contacts", folder, unverified="a test")
    there.publish(folder, redact=True, unverified="a test")

    assert "manifest.json/oddities (email j…@x…)" in error.what
    assert "manifest.json/oddities (ip" in error.what
    assert "manifest.json/files (email e…@x…)" in error.what
    assert there.manifest()["contacts"] == {"redacted": {"email": 2, "ip": 1}}
    for path, data in there.files().items():
        assert b"@x.org" not in data, path
        assert b"8.8.8.8" not in data, path


@pytest.mark.parametrize("split", ["all", "a b", "train/easy", "a-b", "ALL", "a..b"])
def test_a_split_that_nobody_could_load_is_refused(
    convert_rows: Callable[..., Path], toy: Row, split: str
) -> None:
    rows = [toy("a", "heron", "good", split=split), toy("b", "wren", "wrong", split=split)]

    with refusal("data.split-name"):
        read_release(convert_rows(rows))


def test_a_folder_with_problems_is_refused(convert_rows: Callable[..., Path]) -> None:
    folder = convert_rows()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["counts"] |= {"pairs": 7, "contexts": 7}
    write_sealed(folder / "manifest.json", manifest)

    with refusal("data.invalid", "out") as caught:
        read_release(folder)

    assert "counts/contexts" in caught.value.what
    assert caught.value.what.endswith(", and 1 more")
    assert str(folder) in caught.value.remedy


def test_what_is_no_converted_folder_is_refused(tmp_path: Path) -> None:
    with refusal("data.convert-again", "test_what_is_no_converted_fold0"):
        read_release(tmp_path)


def test_the_same_folder_gives_the_same_files(
    convert_rows: Callable[..., Path], tmp_path: Path
) -> None:
    folder, made = convert_rows(), []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        files = write_release(read_release(folder), tmp_path / place, "org/n")
        made.append({path: file.read_bytes() for path, file in files.items()})

    assert made[0] == made[1]


def test_a_problem_is_found_in_the_file_of_its_split(
    convert_rows: Callable[..., Path], two_splits: list[dict[str, Any]], tmp_path: Path
) -> None:
    write_release(read_release(convert_rows(two_splits)), tmp_path, "org/n")
    path = "pairs/train.easy-00000-of-00001.parquet"
    rows = pl.read_parquet(tmp_path / path)
    assert rows.height == 2
    other = pl.Series("candidate_high", [rows["candidate_high"][0], "never said"])
    rows.with_columns(other, pl.Series("split", ["train.easy", "test"])).write_parquet(
        tmp_path / path
    )

    found = [str(finding) for finding in validate(tmp_path)]

    assert f"{path}: its SHA-256 is not the one in the manifest (convert the source again)" in found
    assert any(line.startswith(f"{path}: row 1: this pair does not follow") for line in found)
    assert (
        f'{path}: split: "test" belongs in pairs/test-00000-of-00001.parquet (publish again)'
        in found
    )


def test_a_pull_request(there: There, two_splits: list[dict[str, Any]], tmp_path: Path) -> None:
    there.publish(there.convert(two_splits))
    folder = there.convert(folder="other")

    published = there.publish(folder, pr=True)
    again = there.publish(folder, pr=True)

    assert published["pull_request"] == f"{there.hub.endpoint}/datasets/{there.name}/discussions/1"
    assert again["pull_request"] == published["pull_request"]
    assert not again["changed"]
    assert len(there.titles()) == 2
    fetched = there.fetch(tmp_path / "fetched", "refs/pr/1")
    assert list(validate(fetched)) == []
    assert read_frame(fetched, "pairs").equals(read_frame(folder, "pairs"))


def test_a_dry_run_refuses_what_publishing_does(there: There) -> None:
    folder = there.convert()

    for dry_run in (True, False):
        there.refused(folder, "hub.not-found", there.name, pr=True, dry_run=dry_run)
    assert not there.exists()
    there.publish(folder)
    there.refused(folder, "hub.public-already", there.name, private=True, dry_run=True)


def snapshot(*folders: Path) -> dict[Path, tuple[int, int]]:
    """Size and time of everything in some folders."""
    return {
        path: (path.stat().st_size, path.stat().st_mtime_ns)
        for folder in folders
        for path in folder.rglob("*")
        if path.name != "stderr"
    }


def test_a_dry_run_writes_nothing_anywhere(
    there: There, two_splits: list[dict[str, Any]], tmp_path: Path
) -> None:
    there.publish(there.convert())
    folder = there.convert(two_splits, folder="other")
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    scratch.mkdir()
    # Nobody needs to say who they are in order to look.
    with client(there.hub.endpoint, home, token=None, TMPDIR=str(scratch)) as stranger:
        no_token, asked = ("hub.no-token", "org/x"), len(there.hub.requests)
        stranger.refused(no_token, "push", name="org/x", files={})  # all is imported
        assert len(there.hub.requests) == asked
        before = snapshot(folder, home, scratch)
        plan = stranger.ask("publish", folder=folder, repo_id=there.name, dry_run=True)
        assert snapshot(folder, home, scratch) == before

    assert {line.split()[0] for line in there.hub.requests[asked:]} <= {"GET", "HEAD"}
    assert (plan["commit"], plan["changed"]) == (None, False)
    changes = {file["path"]: file["change"] for file in plan["files"]}
    assert changes["pairs/train.easy-00000-of-00001.parquet"] == "added"
    assert changes["pairs/test-00000-of-00001.parquet"] == "changed"
    assert changes["schemas/pair.schema.json"] == "same"
    diff = plan["card_diff"].splitlines()
    assert diff[:2] == [f"--- {there.name}/README.md", "+++ README.md"]
    assert any("train.easy" in line for line in diff if line.startswith("+"))


def test_a_dry_run_of_something_new_shows_the_whole_card(there: There) -> None:
    plan = there.publish(there.convert(), dry_run=True)

    assert {file["change"] for file in plan["files"]} == {"added"}
    assert not any(line.startswith("-") for line in plan["card_diff"].splitlines()[1:])
    assert not there.exists()


@pytest.mark.parametrize(
    ("endpoint", "variables", "reason"),
    [
        ("http://127.0.0.1:9", {}, "the Hub cannot be reached at http://127.0.0.1:9"),
        ("https://huggingface.co", {"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set"),
    ],
    ids=["no network", "offline"],
)
def test_a_dry_run_without_the_hub_lists_the_files_and_says_what_is_not_known(
    convert_rows: Callable[..., Path],
    tmp_path: Path,
    endpoint: str,
    variables: dict[str, str],
    reason: str,
) -> None:
    folder, forbidden = convert_rows(), convert_rows(folder="b", redistribution="unknown")
    release = tmp_path / "release"
    release.mkdir()
    files = write_release(check_release(read_release(folder))[0], release, "org/a")
    with client(endpoint, tmp_path / "home", token=None, **variables) as alone:
        plan = alone.ask("publish", folder=folder, repo_id="org/a", dry_run=True, tag="v1")
        alone.refused(
            ("licence.forbids", str(forbidden)),
            "publish",
            folder=forbidden,
            repo_id="org/a",
            dry_run=True,
        )

    sizes = {path: file.stat().st_size for path, file in files.items()}
    assert {file["path"]: file["bytes"] for file in plan["files"]} == sizes
    assert {file["change"] for file in plan["files"]} == {"unknown"}
    assert (plan["commit"], plan["changed"], plan["tag"]) == (None, False, "v1")
    assert plan["unasked"].startswith(f"org/a: {reason}")
    added = [line[1:] for line in plan["card_diff"].splitlines()[3:]]
    assert added == files["README.md"].read_text(encoding="utf-8").splitlines()


@pytest.fixture
def run(hub: Hub, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run("publish", …)`: the installed command."""

    def run(*arguments: object, token: str | None = TOKEN) -> subprocess.CompletedProcess[str]:
        nnd = str(Path(sys.executable).with_name("nnd"))
        variables = environment(hub.endpoint, tmp_path / "home", token=token)
        del variables["HF_HUB_DISABLE_PROGRESS_BARS"]  # they are for a terminal anyway
        done = subprocess.run(
            [sys.executable, IMPATIENT, nnd, *map(str, arguments)],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert TOKEN not in done.stdout + done.stderr
        return done

    return run


def test_the_command(run: Callable[..., subprocess.CompletedProcess[str]], there: There) -> None:
    folder = there.convert()

    dry = run("publish", folder, there.name, "--dry-run")
    assert (dry.returncode, dry.stderr) == (0, "")
    assert dry.stdout.splitlines()[0] == (
        f"Dry run: nothing was written to {there.hub.endpoint}/datasets/{there.name}."
    )
    assert "+++ README.md" in dry.stdout

    done = run("publish", folder, there.name)
    assert (done.returncode, done.stderr) == (0, "")
    commit = there.hub.commits("datasets", there.name)[0].id
    headline, *_, loading, scoring = done.stdout.splitlines()
    assert headline == f"Published: {there.hub.endpoint}/datasets/{there.name} at {commit}."
    assert loading == f'  load_dataset("{there.name}", "pairs", revision="{commit}")'
    assert scoring == f"  nnd evaluate --data {there.name}@{commit} --model MODEL"

    again = run("publish", folder, there.name, "--json")
    assert json.loads(again.stdout)["changed"] is False


def test_the_command_refuses_in_one_line(
    run: Callable[..., subprocess.CompletedProcess[str]], there: There
) -> None:
    done = run("publish", there.convert(redistribution="unknown"), there.name)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("nnd: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "source", ["goyal_gpt3_news", pytest.param("frank", marks=pytest.mark.full)]
)
def test_real_data_with_addresses(nnd_data: Path, tmp_path: Path, source: str) -> None:
    folder, place = tmp_path / "out", tmp_path / "release"
    place.mkdir()
    set_name = "typed" if source == "frank" else None
    convert(source, origin=nnd_data / source, set_name=set_name, out=folder)
    # No digest of FRANK's texts is known.
    options = {"unverified": "a test"} if source == "frank" else {}
    if source == "frank":
        with refusal("publish.contacts", "out"):
            read_release(folder, **options)
    else:
        assert "newsrooms" in read_release(folder).manifest["contacts"]["kept"]

    write_release(read_release(folder, redact=True, **options), place, f"org/{source}")

    assert list(validate(place)) == []
    before, after = (
        [" ".join(row) for row in read_frame(one, "annotations")["context", "candidate"].rows()]
        for one in (folder, place)
    )
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed
    assert all("@" in old and "<email>" in new for old, new in changed)
    assert read_frame(place, "pairs").height == read_frame(folder, "pairs").height
    assert read_frame(place, "human_scores").equals(read_frame(folder, "human_scores"))
