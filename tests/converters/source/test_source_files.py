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
from nnd.converters.source.source import load_source
from nnd.converters.source.source_files import Files
from nnd.schemas.reading.text_files import read_text

MakeSource = Callable[..., Path]

NOBODY = 65534


def declare(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "url": None, "sha256": None, "bytes": None} for name in names]


@pytest.fixture
def files(make_source: MakeSource) -> Callable[[Path | None], Files]:
    """`files(origin)`: files of a source that declares answers.tsv, extra.tsv and a[1].tsv."""
    source = load_source(make_source(files=declare("answers.tsv", "extra.tsv", "a[1].tsv")))
    return lambda origin: Files(source, origin)


def put(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("there", "origin", "asked", "found"),
    [
        (["answers.old.tsv", "deep/answers.tsv"], "", "answers.tsv", "answers.tsv"),
        (["answers.old.tsv"], "", "answers.tsv", "a/b/answers.tsv"),
        (["answers.txt", "other.tsv"], "", "answers.tsv", "answers.58169e8.tsv"),
        ([], "my copy.txt", "answers.tsv", "my copy.txt"),
        (["my copy.txt"], "my copy.txt", "extra.tsv", "extra.tsv"),
        ([], "", "answers.tsv", "answers.tsv/answers.tsv"),
        (["a1.tsv"], "", "a[1].tsv", "deep/a[1].tsv"),
    ],
    ids=[
        "the declared name wins",
        "in a folder below",
        "the only one of a similar name",
        "a file that is named, whatever it is called",
        "others beside a file that is named",
        "a folder called like the file",
        "brackets are no pattern",
    ],
)
def test_a_file_is_found(
    *,
    files: Callable[..., Files],
    tmp_path: Path,
    there: list[str],
    origin: str,
    asked: str,
    found: str,
) -> None:
    for name in (*there, found):
        put(tmp_path / "in" / name)

    assert files(tmp_path / "in" / origin).path(asked) == tmp_path / "in" / found


@pytest.mark.parametrize(
    ("there", "code", "named"),
    [
        (
            ["a/answers.tsv", "b/answers.tsv"],
            "source.several-files",
            "a/answers.tsv, b/answers.tsv",
        ),
        (
            [f"{number:02}/answers.tsv" for number in range(45)],
            "source.several-files",
            "02/answers.tsv, and 42 more",
        ),
        (["other.jsonl"], "file.not-found", ""),
    ],
    ids=["two equally good ones", "many", "nothing that fits"],
)
def test_no_single_file_fits(
    files: Callable[..., Files], tmp_path: Path, there: list[str], code: str, named: str
) -> None:
    for name in there:
        put(tmp_path / "in" / name)

    with refusal(code, "in") as caught:
        files(tmp_path / "in").path("answers.tsv")

    assert named in caught.value.what


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


def test_what_there_is_no_permission_for_is_an_error(
    files: Callable[..., Files], tmp_path: Path
) -> None:
    locked = put(tmp_path / "locked/answers.tsv").parent
    secret = put(tmp_path / "secret.jsonl")
    asked = files(locked)
    for path in (locked, secret):
        path.chmod(0)
    was_root = os.geteuid() == 0
    if was_root:  # whom no permission stops
        os.seteuid(NOBODY)
    try:
        with refusal("file.not-readable", "locked"):
            asked.path("answers.tsv")
        with refusal("file.not-readable", "secret.jsonl"):
            read_text(secret)
    finally:
        if was_root:
            os.seteuid(0)
        locked.chmod(0o700)


def test_the_own_file_of_a_source_is_there_unless_another_is_given(
    make_source: MakeSource, tmp_path: Path
) -> None:
    source = load_source(make_source())
    given = put(tmp_path / "in/toy.jsonl")

    assert Files(source).has("toy.jsonl")
    assert Files(source).path("toy.jsonl") == source.folder / "toy.jsonl"
    assert Files(source, tmp_path / "in").path("toy.jsonl") == given


def test_what_lies_at_hand_is_there(files: Callable[..., Files], tmp_path: Path) -> None:
    put(tmp_path / "in/answers.tsv")
    given = files(tmp_path / "in")

    assert given.has("answers.tsv")
    assert not given.has("extra.tsv")
    assert not given.has("undeclared.tsv")
    assert given.opened == {}


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


EXPECTED = {  # of the three rows of the toy
    "annotations": 3,
    "contexts": 1,
    "systems": 3,
    "pairs": 2,
    "by_error_category": {"rude": 1, "wrong": 1},
}


def test_the_declared_file_must_give_what_the_source_expects(make_source: MakeSource) -> None:
    folder = make_source(folder="wrong", declared=True, expected=EXPECTED | {"pairs": 3})

    with refusal("source.counts", "wrong"):
        convert(folder)


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
    manifest = convert(make_source(declared=True), accept_changed="It is new.").manifest

    assert "accept_changed" not in manifest


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
