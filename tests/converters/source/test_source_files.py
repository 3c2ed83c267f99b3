"""Where the files of a source come from: --from, its own folder, the cache, the URL."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.refusals import refusal

from nnd.converters.folder.conversion import convert
from nnd.converters.folder.validation import validate
from nnd.converters.reading.text_files import read_text
from nnd.converters.source.source import load_source
from nnd.converters.source.source_files import Files

MakeSource = Callable[..., Path]

NOBODY = 65534


def declare(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "url": None, "sha256": None, "bytes": None} for name in names]


@pytest.fixture
def files(make_source: MakeSource) -> Callable[[Path | None], Files]:
    """`files(origin)`: files of a source that declares answers.tsv and extra.tsv."""
    source = load_source(make_source(files=declare("answers.tsv", "extra.tsv")))
    return lambda origin: Files(source, origin)


def put(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_declared_name_wins(files: Callable[..., Files], tmp_path: Path) -> None:
    put(tmp_path / "in/answers.old.tsv")
    put(tmp_path / "in/deep/answers.tsv")
    declared = put(tmp_path / "in/answers.tsv")

    assert files(tmp_path / "in").path("answers.tsv") == declared


def test_a_nested_file_of_the_declared_name_is_found(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    put(tmp_path / "in/answers.old.tsv")
    nested = put(tmp_path / "in/a/b/answers.tsv")

    assert files(tmp_path / "in").path("answers.tsv") == nested


def test_a_file_of_a_similar_name_is_taken_where_it_is_the_only_one(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    put(tmp_path / "in/answers.txt")
    put(tmp_path / "in/other.tsv")
    similar = put(tmp_path / "in/answers.58169e8.tsv")

    assert files(tmp_path / "in").path("answers.tsv") == similar


def test_two_equally_good_files_are_an_error_that_names_both(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    put(tmp_path / "in/a/answers.tsv")
    put(tmp_path / "in/b/answers.tsv")

    with refusal("source.several-files", "in") as caught:
        files(tmp_path / "in").path("answers.tsv")

    assert "a/answers.tsv, b/answers.tsv" in caught.value.what


def test_of_many_equally_good_files_three_are_named(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    for number in range(45):
        put(tmp_path / f"in/{number:02}/answers.tsv")

    with refusal("source.several-files", "in") as caught:
        files(tmp_path / "in").path("answers.tsv")

    assert "02/answers.tsv, and 42 more" in caught.value.what


def test_a_file_that_is_named_is_taken_whatever_it_is_called(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    named = put(tmp_path / "in/my copy.txt")

    assert files(named).path("answers.tsv") == named


def test_beside_a_file_that_is_named_the_others_are_looked_for(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    named = put(tmp_path / "in/my copy.txt")
    extra = put(tmp_path / "in/extra.tsv")

    assert files(named).path("extra.tsv") == extra


def test_a_folder_called_like_the_file_is_not_the_file(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    inside = put(tmp_path / "in/answers.tsv/answers.tsv")

    assert files(tmp_path / "in").path("answers.tsv") == inside


def test_a_name_with_brackets_is_no_pattern(make_source: MakeSource, tmp_path: Path) -> None:
    source = load_source(make_source(files=declare("answers[1].tsv")))
    put(tmp_path / "in/answers1.tsv")
    right = put(tmp_path / "in/deep/answers[1].tsv")

    assert Files(source, tmp_path / "in").path("answers[1].tsv") == right


def test_nothing_that_fits_is_an_error_with_the_way_out(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    put(tmp_path / "in/other.jsonl")

    with refusal("file.not-found", "in"):
        files(tmp_path / "in").path("answers.tsv")


def test_the_way_out_names_the_url(make_source: MakeSource, tmp_path: Path) -> None:
    url = "https://example.org/a.tsv"
    source = load_source(make_source(files=[declare("a.tsv")[0] | {"url": url}]))

    with refusal("file.not-found", "toy_source"):
        Files(source, tmp_path / "toy_source").path("a.tsv")


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        ("missing", "file.not-found"),
        ("a" * 300, "file.not-readable"),
        ("nul\0byte", "file.not-found"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(
    files: Callable[..., Files], tmp_path: Path, origin: str, code: str
) -> None:
    with refusal(code, origin) as caught:
        files(tmp_path / origin).path("answers.tsv")

    assert "--from" in caught.value.remedy
    assert str(caught.value).isprintable()


def test_a_folder_without_permission_is_an_error(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    locked = tmp_path / "locked"
    put(locked / "answers.tsv")
    locked.chmod(0)
    asked = files(locked)
    was_root = os.geteuid() == 0
    if was_root:  # whom no permission stops
        os.seteuid(NOBODY)
    try:
        with refusal("file.not-readable", "locked"):
            asked.path("answers.tsv")
    finally:
        if was_root:
            os.seteuid(0)
        locked.chmod(0o700)


def test_a_file_without_permission_is_an_error(tmp_path: Path) -> None:
    path = put(tmp_path / "secret.jsonl")
    path.chmod(0)
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(NOBODY)
    try:
        with refusal("file.not-readable", "secret.jsonl"):
            read_text(path)
    finally:
        if was_root:
            os.seteuid(0)


def test_without_from_the_own_file_of_a_source_is_taken(make_source: MakeSource) -> None:
    folder = make_source()

    assert Files(load_source(folder)).path("toy.jsonl") == folder / "toy.jsonl"


def test_from_goes_before_the_own_file_of_a_source(make_source: MakeSource, tmp_path: Path) -> None:
    source = load_source(make_source())
    given = put(tmp_path / "in/toy.jsonl")

    assert Files(source, tmp_path / "in").path("toy.jsonl") == given


def test_what_lies_at_hand_is_there(files: Callable[..., Files], tmp_path: Path) -> None:
    put(tmp_path / "in/answers.tsv")
    given = files(tmp_path / "in")

    assert given.has("answers.tsv")
    assert not given.has("extra.tsv")
    assert not given.has("undeclared.tsv")
    assert given.opened == {}


def test_the_own_file_of_a_source_is_there(make_source: MakeSource) -> None:
    assert Files(load_source(make_source())).has("toy.jsonl")


def test_a_file_that_is_not_declared_is_an_error(make_source: MakeSource) -> None:
    with refusal("source.definition", "source.yaml"):
        Files(load_source(make_source())).path("other.jsonl")


def test_digests_are_of_the_files_that_were_opened(make_source: MakeSource, tmp_path: Path) -> None:
    # printf abc | sha256sum
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    declared = [declare("a.txt")[0] | {"sha256": digest}, *declare("b.txt", "c.txt")]
    files = Files(load_source(make_source(files=declared)), tmp_path / "in")
    for name in ("b.txt", "a.txt", "c.txt"):
        put(tmp_path / "in" / name, "abc")
    files.path("b.txt")
    files.path("a.txt")

    assert files.digests() == [
        {"name": "a.txt", "sha256": digest, "bytes": 3, "verified": True},
        {"name": "b.txt", "sha256": digest, "bytes": 3, "verified": False},
    ]


def test_a_file_may_be_known_by_its_id_in_git(make_source: MakeSource, tmp_path: Path) -> None:
    # printf abc | git hash-object --stdin
    declared = [declare("a.txt")[0] | {"git_blob": "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f"}]
    source = load_source(make_source(files=declared))
    for content, verified in (("abc", True), ("abd", False)):
        files = Files(source, tmp_path / content)
        put(tmp_path / content / "a.txt", content)
        files.path("a.txt")
        found = files.digests()
        assert [entry["verified"] for entry in found] == [verified]
    with refusal("source.another-file", "a.txt") as caught:
        files.check_declared(found)
    assert declared[0]["git_blob"] in caught.value.what


def test_the_declared_file_must_give_what_the_source_expects(make_source: MakeSource) -> None:
    # The three rows of the toy give 2 pairs. A converter that gives 3 of the same file is wrong.
    digest = hashlib.sha256((make_source() / "toy.jsonl").read_bytes()).hexdigest()
    expected = {
        "annotations": 3,
        "contexts": 1,
        "systems": 3,
        "pairs": 3,
        "by_error_category": {"rude": 1, "wrong": 1},
    }
    file = declare("toy.jsonl")[0] | {"sha256": digest}
    folder = make_source(folder="wrong", files=[file], expected=expected)

    with refusal("source.counts", "wrong"):
        convert(folder)


EXPECTED = {  # of the three rows of the toy
    "annotations": 3,
    "contexts": 1,
    "systems": 3,
    "pairs": 2,
    "by_error_category": {"rude": 1, "wrong": 1},
}


@pytest.fixture
def changed(make_source: MakeSource) -> Path:
    """A source that declares another file of the name of the one that lies in it."""
    return make_source(files=[declare("toy.jsonl")[0] | {"sha256": "0" * 64, "bytes": 1000}])


def test_another_file_than_the_declared_one_is_refused(changed: Path, tmp_path: Path) -> None:
    raw = (changed / "toy.jsonl").read_bytes()

    with refusal("source.another-file", "toy.jsonl") as caught:
        convert(changed, out=tmp_path / "out")

    assert f"{len(raw)} bytes, SHA-256 {hashlib.sha256(raw).hexdigest()}" in caught.value.what
    assert f"1,000 bytes, SHA-256 {'0' * 64}" in caught.value.what
    assert not (tmp_path / "out").exists()


def test_another_file_than_the_declared_one_may_be_accepted(changed: Path) -> None:
    manifest = convert(changed, accept_changed="Typing errors corrected.").manifest

    assert manifest["accept_changed"] == "Typing errors corrected."
    assert [file["verified"] for file in manifest["files"]] == [False]


def test_the_declared_file_needs_no_reason(make_source: MakeSource) -> None:
    digest = hashlib.sha256((make_source() / "toy.jsonl").read_bytes()).hexdigest()
    folder = make_source(folder="b", files=[declare("toy.jsonl")[0] | {"sha256": digest}])

    assert "accept_changed" not in convert(folder, accept_changed="It is new.").manifest


@pytest.mark.parametrize("why", ["", " \n"])
def test_a_reason_says_something(changed: Path, why: str) -> None:
    with refusal("option.reason-missing", "--accept-changed"):
        convert(changed, accept_changed=why)


def test_a_file_named_by_another_name_is_unverified(changed: Path, tmp_path: Path) -> None:
    named = tmp_path / "mine.jsonl"
    (changed / "toy.jsonl").rename(named)

    assert [file["verified"] for file in convert(changed, origin=named).manifest["files"]] == [
        False
    ]


def test_a_fixture_is_unverified(changed: Path) -> None:
    (changed / "fixture").mkdir()
    (changed / "toy.jsonl").rename(changed / "fixture/toy.jsonl")

    manifest = convert(changed, origin=changed / "fixture").manifest

    assert [file["verified"] for file in manifest["files"]] == [False]


def with_version(make_source: MakeSource, folder: str, **counts: int) -> Path:
    """A source whose file is another version of the declared one, with its own counts."""
    digest = hashlib.sha256((make_source(folder=f"of-{folder}") / "toy.jsonl").read_bytes())
    version = {"version": "v1", "sha256": digest.hexdigest(), "expected": EXPECTED | counts}
    main = declare("toy.jsonl")[0] | {"sha256": "0" * 64, "versions": [version]}
    return make_source(folder=folder, files=[main], expected=EXPECTED | {"annotations": 99})


def test_a_file_may_have_several_versions_each_with_its_counts(make_source: MakeSource) -> None:
    manifest = convert(with_version(make_source, "right")).manifest

    (file,) = manifest["files"]
    assert (file["verified"], file["version"]) == (True, "v1")
    assert manifest["source"]["expected"] == EXPECTED
    with refusal("source.counts", "wrong"):
        convert(with_version(make_source, "wrong", pairs=3))


def test_a_folder_of_another_version_is_valid(make_source: MakeSource, tmp_path: Path) -> None:
    convert(with_version(make_source, "right"), out=tmp_path / "out")

    assert list(validate(tmp_path / "out")) == []


def test_nobody_counted_another_version_in_a_variant(make_source: MakeSource) -> None:
    folder = with_version(make_source, "wrong", pairs=3)
    path = folder / "source.yaml"
    variants = {"variants": {"late": {"description": "Late rows"}}}
    path.write_text(path.read_text() + yaml.safe_dump(variants))

    assert convert(folder, variant="late").manifest["source"]["expected"] is None


TABLES = {
    "a.csv": 'id,text\n1,"a, ""b"""\n',
    "a.tsv": 'id\ttext\n1\ta, "b"\n',
    "a.jsonl": '{"id": "1", "text": "a, \\"b\\""}\n',
    "a.json": '[{"id": "1", "text": "a, \\"b\\""}]',
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_a_table_by_column(name: str, make_source: MakeSource, tmp_path: Path) -> None:
    put(tmp_path / "in" / name, TABLES[name])
    files = Files(load_source(make_source(files=declare(name))), tmp_path / "in")

    (row,) = files.table(name)
    assert dict(row.fields) == {"id": "1", "text": 'a, "b"'}
    assert row.where.startswith(name)
    assert row.spelled_number("id") == 1
    with refusal("cell.not-a-number"):
        row.spelled_number("text")


def test_a_table_with_a_column_twice_is_refused(make_source: MakeSource, tmp_path: Path) -> None:
    put(tmp_path / "in/a.csv", "id,id\n1,2\n")
    files = Files(load_source(make_source(files=declare("a.csv"))), tmp_path / "in")

    with refusal("header.wrong-names", "a.csv:1"):
        list(files.table("a.csv"))
