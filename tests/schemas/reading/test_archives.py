"""Reading a zip: what is in it, and every way in which it may be out to harm."""

import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.archives import refused_archive
from support.refusals import refusal

from nnd.schemas import SourceError
from nnd.schemas.reading.archives import find_member, read_members

MIB = 2**20
MakeZip = Callable[..., Path]


def entry(
    name: str, *, mode: int = 0o100644, method: int = zipfile.ZIP_DEFLATED
) -> zipfile.ZipInfo:
    """An entry with a Unix mode, as Info-ZIP writes it."""
    info = zipfile.ZipInfo(name)
    info.filename = info.orig_filename = name  # the constructor tidies names
    info.external_attr = mode << 16
    info.compress_type = method
    return info


@pytest.fixture
def make_zip(tmp_path: Path) -> MakeZip:
    """`make_zip((name or entry, raw), …)`: a zip of these members, `in/a.zip`."""

    def make(*members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
        path = tmp_path / "in" / "a.zip"
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, raw in members:
                archive.writestr(name, raw)
        return path

    return make


refused = partial(refused_archive, read_members)


def test_the_files_of_a_zip(make_zip: MakeZip) -> None:
    path = make_zip(("notes/", b""), ("notes/b.txt", b"two"), ("a.txt", b"one"))

    assert read_members(path) == {"notes/b.txt": b"two", "a.txt": b"one"}


def test_resource_forks_of_macos_are_passed_over(make_zip: MakeZip) -> None:
    path = make_zip(("a.txt", b"one"), ("__MACOSX/._a.txt", b"\0\5"), ("__MACOSX/", b""))

    assert list(read_members(path)) == ["a.txt"]


def test_a_stored_member_is_read(make_zip: MakeZip) -> None:
    path = make_zip((entry("a.txt", method=zipfile.ZIP_STORED), b"one"))

    assert read_members(path) == {"a.txt": b"one"}


ZEROS = bytes(4 * MIB)
ELSEWHERE = (
    *("../a.txt", "notes/../../a.txt", "/etc/a.txt", "//host/a.txt", "..\\a.txt", "\\a.txt"),
    *("notes\\..\\a.txt", "C:\\a.txt", "C:a.txt", "../"),
)
MODES = {"symbolic link": 0o120777, "pipe": 0o010644, "device": 0o060644}
METHODS = {"bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}

REFUSED: dict[str, tuple[list[tuple[str | zipfile.ZipInfo, bytes]], str]] = {
    **{name: ([("good.txt", b"one"), (entry(name), b"two")], "") for name in ELSEWHERE},
    # What it says does not steer the terminal.
    "signs of a terminal": ([(entry("../\x1b[2J\u202e"), b"")], r"../\x1b[2J\u202e "),
    **{
        kind: ([(entry("a.txt", mode=mode), b"/etc/passwd")], "a.txt")
        for kind, mode in MODES.items()
    },
    "too many members": ([(f"{number}", b"") for number in range(10_001)], "10,001"),
    # 65 * 4 MiB = 260 MiB, each small enough for any ratio.
    "too much in many": ([(f"{n}.txt", ZEROS) for n in range(65)], "272,629,760"),
    "a name twice": ([("a.txt", b"1"), ("a.txt", b"2")], "a.txt"),
    "a zip in it": ([("deep/inner.ZIP", b"PK\5\6" + bytes(18))], "deep/inner.ZIP"),
    **{
        name: ([(entry("a.txt", method=method), b"one")], "a.txt")
        for name, method in METHODS.items()
    },
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("members", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(
    make_zip: MakeZip, members: list[tuple[str | zipfile.ZipInfo, bytes]], said: str
) -> None:
    assert said in refused(make_zip(*members), "file.bad-archive")


def test_a_name_with_a_nul_is_refused(make_zip: MakeZip) -> None:
    # zipfile would read it as "a.txt"; it writes no such name, so it is put into the bytes.
    path = make_zip(("a.txt+..", b"one"))
    path.write_bytes(path.read_bytes().replace(b"a.txt+..", b"a.txt\0.."))

    assert r"a.txt\x00.. " in refused(path, "file.bad-archive")


@pytest.mark.parametrize("name", ["a..b.txt", "notes/..a", "...", "notes/.hidden"])
def test_dots_in_a_name_are_no_harm(make_zip: MakeZip, name: str) -> None:
    assert list(read_members(make_zip((name, b"one")))) == [name]


def test_a_bomb_is_refused_before_it_is_unpacked(make_zip: MakeZip) -> None:
    # Zeros pack at about 1,000 to 1.
    path = make_zip(("a.txt", bytes(64 * MIB)))

    tracemalloc.start()
    what = refused(path, "file.bad-archive")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "67,108,864" in what
    assert peak < 4 * MIB


def test_a_small_member_may_pack_well(make_zip: MakeZip) -> None:
    assert read_members(make_zip(("a.txt", ZEROS))) == {"a.txt": ZEROS}


def test_a_bomb_that_understates_its_size_is_not_unpacked(make_zip: MakeZip) -> None:
    path = make_zip(("a.txt", bytes(64 * MIB)))
    said, true = struct.pack("<L", 1000), struct.pack("<L", 64 * MIB)
    path.write_bytes(path.read_bytes().replace(true, said))

    tracemalloc.start()
    what = refused(path, "file.cut-off")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "Bad CRC-32" in what
    assert peak < 4 * MIB


def test_members_that_overlap_are_refused(make_zip: MakeZip) -> None:
    # Two entries of the table of contents that stand for one run of 3,000 packed bytes.
    path = make_zip((entry("a.txt", method=zipfile.ZIP_STORED), b"x" * 3000))
    raw = path.read_bytes()
    start, end = raw.index(b"PK\1\2"), raw.index(b"PK\5\6")
    table = raw[start:end]
    counts = struct.pack("<HHL", 2, 2, 2 * len(table))
    path.write_bytes(
        raw[:start]
        + table
        + table.replace(b"a.txt", b"b.txt")
        + raw[end : end + 8]
        + counts
        + raw[end + 16 :]
    )

    refused(path, "file.bad-archive")


def test_an_encrypted_member_is_refused(make_zip: MakeZip) -> None:
    path = make_zip(("a.txt", b"one"))
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"PK\3\4") + 6] |= 1  # the general purpose flags, in both headers
    raw[raw.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(raw)

    assert "a.txt" in refused(path, "file.bad-archive")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda raw: raw[:-40], ""),
        (lambda raw: raw.replace(b"one", b"two"), "Bad CRC-32"),
        (lambda _: b"", ""),
        (lambda _: b"PK", ""),
        (lambda _: b'{"a": 1}', ""),
    ],
    ids=["cut off", "damaged", "empty", "short", "JSON"],
)
def test_what_cannot_be_read_is_refused(
    make_zip: MakeZip, spoil: Callable[[bytes], bytes], said: str
) -> None:
    path = make_zip((entry("a.txt", method=zipfile.ZIP_STORED), b"one"))
    path.write_bytes(spoil(path.read_bytes()))

    assert said in refused(path, "file.cut-off")


def test_a_zip_that_is_not_there(tmp_path: Path) -> None:
    with refusal("file.not-found", "none.zip"):
        read_members(tmp_path / "none.zip")


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1))
def test_a_changed_byte_is_read_or_refused(
    make_zip: MakeZip, places: list[tuple[int, int]]
) -> None:
    path = make_zip(("a/b.txt", b"some text " * 9), ("c.json", b'{"a": [1, 2]}'))
    raw = bytearray(path.read_bytes())
    for place, value in places:
        raw[place % len(raw)] = value
    path.write_bytes(raw)

    try:
        members = read_members(path)
    except SourceError as error:
        assert str(error).isprintable()  # noqa: PT017 - that it is raised is not what is tested
    else:
        assert sum(map(len, members.values())) <= 256 * MIB


def test_a_member_is_found_in_whatever_folder() -> None:
    assert find_member(Path("a.zip"), ["b/c/d.json", "d.json.txt"], "d.json") == "b/c/d.json"


@pytest.mark.parametrize(
    "members", [["b/e.json"], [], ["b/d.json", "c/d.json"]], ids=["another", "empty", "two"]
)
def test_one_member_must_have_the_name(members: list[str]) -> None:
    with refusal("file.another-kind", "a.zip") as caught:
        find_member(Path("a.zip"), members[::-1], "d.json")

    assert ", ".join(members) in caught.value.what
