"""Reading a .tar.gz: what is in it, and every way in which it may be out to harm."""

import gzip
import io
import random
import tarfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.archives import refused_archive
from support.refusals import refusal

from nnd.schemas.reading.archives import read_tarball

MIB = 2**20
Entry = tuple[str | tarfile.TarInfo, bytes]
MakeTarball = Callable[..., Path]
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def entry(name: str, *, kind: bytes = tarfile.REGTYPE, **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def packed(*members: Entry, layout: int = tarfile.PAX_FORMAT) -> bytes:
    """The bytes of a tar, not yet in gzip."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=layout) as archive:
        for name, content in members:
            info = entry(name) if isinstance(name, str) else name
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return raw.getvalue()


@pytest.fixture
def make_tarball(tmp_path: Path) -> MakeTarball:
    """`make_tarball((name or entry, raw), …)`, or of the bytes of a tar: `in/a.tar.gz`."""

    def make(*members: Entry | bytes, layout: int = tarfile.PAX_FORMAT) -> Path:
        path = tmp_path / "in" / "a.tar.gz"
        path.parent.mkdir(exist_ok=True)
        raw = b"".join(one for one in members if isinstance(one, bytes))
        entries = [one for one in members if not isinstance(one, bytes)]
        path.write_bytes(gzip.compress(raw or packed(*entries, layout=layout), mtime=0))
        return path

    return make


refused = partial(refused_archive, read_tarball)


@pytest.mark.parametrize("layout", FORMATS.values(), ids=FORMATS)
def test_the_files_of_a_tarball(make_tarball: MakeTarball, layout: int) -> None:
    folder = entry("notes", kind=tarfile.DIRTYPE)
    path = make_tarball(
        (folder, b""), ("notes/b.txt", b"two"), ("a.txt", b"x" * 512), layout=layout
    )

    assert read_tarball(path) == {"notes/b.txt": b"two", "a.txt": b"x" * 512}


@pytest.mark.parametrize("layout", FORMATS.values(), ids=FORMATS)
def test_a_long_name(make_tarball: MakeTarball, layout: int) -> None:
    name = f"{'f' * 90}/{'n' * 90}.txt"

    assert read_tarball(make_tarball((name, b"one"), ("b", b"2"), layout=layout)) == {
        name: b"one",
        "b": b"2",
    }


def test_a_name_and_a_time_that_only_pax_can_tell(make_tarball: MakeTarball) -> None:
    path = make_tarball((entry("cafés/" + "é" * 99, mtime=1.5), b"one"))

    assert read_tarball(path) == {"cafés/" + "é" * 99: b"one"}


def test_what_tarfile_reads_is_read(make_tarball: MakeTarball) -> None:
    chance = random.Random(1)
    members = {f"{n}.txt": chance.randbytes(chance.randint(0, 2000)) for n in range(40)}
    path = make_tarball(*members.items())

    with tarfile.open(path) as archive:
        theirs = {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]

    assert read_tarball(path) == theirs == members


def test_an_empty_tarball(make_tarball: MakeTarball) -> None:
    assert read_tarball(make_tarball()) == {}


def with_field(raw: bytes, place: int, value: bytes) -> bytes:
    """A tar whose first header has another value there, and the sum that belongs to it."""
    header = raw[:place] + value + raw[place + len(value) : 148] + b" " * 8 + raw[156:512]
    header = header if place < 148 else raw[:148] + b" " * 8 + raw[156:place] + value
    header += raw[len(header) : 512]
    return header[:148] + b"%06o\0 " % sum(header) + header[156:] + raw[512:]


def pax(said: bytes) -> bytes:
    """A tar with this as its pax header."""
    return packed((entry("x", kind=tarfile.XHDTYPE), said), layout=tarfile.USTAR_FORMAT)


ELSEWHERE = ("../a.txt", "notes/../../a.txt", "/etc/a.txt", "..\\a.txt", "C:\\a.txt", "../")
KINDS = {
    "symbolic link": tarfile.SYMTYPE,
    "hard link": tarfile.LNKTYPE,
    "pipe": tarfile.FIFOTYPE,
    "device": tarfile.CHRTYPE,
    "sparse": tarfile.GNUTYPE_SPARSE,
}
SIZES = (b"77777777777\0", b"\xff" * 12, b"-0000000010\0", b"\0" * 12, b"00000000009\0")
HOLES = {"GNU.sparse.realsize": str(2**50)}
ONE, TWO = packed(("a.txt", b"one")), packed(("a.txt", b"one" * 200), ("b.txt", b"two"))
BAD, CUT_OFF = "file.bad-archive", "file.cut-off"

REFUSED: dict[str, tuple[list[Entry | bytes], str, str]] = {
    **{name: ([("good.txt", b"one"), (entry(name), b"two")], BAD, "") for name in ELSEWHERE},
    **{
        name: ([(entry("a.txt", kind=kind, linkname="/etc/passwd"), b"")], BAD, "a.txt")
        for name, kind in KINDS.items()
    },
    "too many members": ([(str(number), b"") for number in range(10_001)], BAD, "10,001"),
    "a name twice": ([("a.txt", b"1"), ("a.txt", b"2")], BAD, "a.txt"),
    **{
        name: ([(name, b"")], BAD, name) for name in ("inner.zip", "deep/inner.TAR.GZ", "inner.tgz")
    },
    "holes": ([(entry("a.txt", pax_headers=HOLES), b"")], CUT_OFF, "a.txt"),
    "a size that leads in circles": (
        [(entry("a.txt", pax_headers={"size": "-512"}), b"one")],
        *(BAD, "a.txt"),
    ),
    **{f"the size {size!r}": ([with_field(ONE, 124, size)], CUT_OFF, "") for size in SIZES},
    **{
        f"the header {said!r}": ([pax(said)], CUT_OFF, "")
        for said in (b"9999999 path=b\n", b"0 path=b\n", b"path=b\n", b"-5 a=b\n")
    },
    # `tarfile` of Python 3.11.7 takes hours with some of a megabyte of digits.
    "a long header": ([pax(b"9" * MIB)], CUT_OFF, "1,048,576"),
    # Cut off before it was packed.
    **{f"the first {end} bytes": ([TWO[:end]], CUT_OFF, "") for end in (512, 700, 1024, 1536)},
    "something behind the end": ([ONE + b"\0" * 512 + b"more"], CUT_OFF, ""),
}


@pytest.mark.parametrize(("members", "code", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(
    make_tarball: MakeTarball, members: list[Entry | bytes], code: str, said: str
) -> None:
    assert said in refused(make_tarball(*members), code)


def test_a_long_name_that_leads_elsewhere_is_refused(make_tarball: MakeTarball) -> None:
    path = make_tarball((f"../{'n' * 200}", b"one"), layout=tarfile.GNU_FORMAT)

    refused(path, BAD)


def test_a_bomb_is_refused_before_it_is_unpacked(make_tarball: MakeTarball) -> None:
    # Zeros pack at about 1,000 to 1.
    path = make_tarball(("a.txt", bytes(64 * MIB)))

    tracemalloc.start()
    what = refused(path, BAD)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert f"{path.stat().st_size:,}" in what
    assert peak < 16 * MIB


def test_a_small_tarball_may_pack_well(make_tarball: MakeTarball) -> None:
    assert read_tarball(make_tarball(("a.txt", bytes(3 * MIB)))) == {"a.txt": bytes(3 * MIB)}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw * 2,
        lambda raw: raw[:-40],
        lambda raw: raw[:-5] + bytes([raw[-5] ^ 1]) + raw[-4:],  # of the checksum
        lambda _: b"",
        lambda _: b"PK",
        lambda _: b"{}",
        lambda _: gzip.compress(b'{"a": 1}', mtime=0),
    ],
    ids=["two", "cut off", "damaged", "empty", "zip", "JSON", "packed JSON"],
)
def test_a_gzip_that_is_refused(make_tarball: MakeTarball, spoil: Callable[[bytes], bytes]) -> None:
    path = make_tarball(("a.txt", bytes(range(256)) * 8))
    path.write_bytes(spoil(path.read_bytes()))

    refused(path, CUT_OFF)


def test_a_tarball_that_is_not_there(tmp_path: Path) -> None:
    with refusal("file.not-found", "none.tar.gz"):
        read_tarball(tmp_path / "none.tar.gz")
