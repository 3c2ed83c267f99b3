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

from nnd.converters.reading.archives import read_tarball

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


@pytest.mark.parametrize(
    "name", ["../a.txt", "notes/../../a.txt", "/etc/a.txt", "..\\a.txt", "C:\\a.txt", "../"]
)
def test_a_name_that_leads_elsewhere_is_refused(make_tarball: MakeTarball, name: str) -> None:
    refused(make_tarball(("good.txt", b"one"), (entry(name), b"two")), "file.bad-archive")


def test_a_long_name_that_leads_elsewhere_is_refused(make_tarball: MakeTarball) -> None:
    path = make_tarball((f"../{'n' * 200}", b"one"), layout=tarfile.GNU_FORMAT)

    refused(path, "file.bad-archive")


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE],
    ids=["symbolic link", "hard link", "pipe", "device", "sparse"],
)
def test_what_is_no_file_is_refused(make_tarball: MakeTarball, kind: bytes) -> None:
    path = make_tarball((entry("a.txt", kind=kind, linkname="/etc/passwd"), b""))

    assert "a.txt" in refused(path, "file.bad-archive")


def test_a_bomb_is_refused_before_it_is_unpacked(make_tarball: MakeTarball) -> None:
    # Zeros pack at about 1,000 to 1.
    path = make_tarball(("a.txt", bytes(64 * MIB)))

    tracemalloc.start()
    what = refused(path, "file.bad-archive")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert f"{path.stat().st_size:,}" in what
    assert peak < 16 * MIB


def test_a_small_tarball_may_pack_well(make_tarball: MakeTarball) -> None:
    assert read_tarball(make_tarball(("a.txt", bytes(3 * MIB)))) == {"a.txt": bytes(3 * MIB)}


def test_too_many_members_are_refused(make_tarball: MakeTarball) -> None:
    path = make_tarball(*((str(number), b"") for number in range(10_001)))

    assert "10,001" in refused(path, "file.bad-archive")


def test_a_name_that_stands_twice_is_refused(make_tarball: MakeTarball) -> None:
    path = make_tarball(("a.txt", b"1"), ("a.txt", b"2"))

    assert "a.txt" in refused(path, "file.bad-archive")


@pytest.mark.parametrize("name", ["inner.zip", "deep/inner.TAR.GZ", "inner.tgz"])
def test_an_archive_in_it_is_refused(make_tarball: MakeTarball, name: str) -> None:
    assert name in refused(make_tarball((name, b"")), "file.bad-archive")


def test_a_file_with_holes_is_refused(make_tarball: MakeTarball) -> None:
    holes = entry("a.txt", pax_headers={"GNU.sparse.realsize": str(2**50)})

    assert "a.txt" in refused(make_tarball((holes, b"")), "file.cut-off")


def test_a_size_that_pax_states_leads_in_no_circles(make_tarball: MakeTarball) -> None:
    turned = entry("a.txt", pax_headers={"size": "-512"})

    assert "a.txt" in refused(make_tarball((turned, b"one")), "file.bad-archive")


def with_field(raw: bytes, place: int, value: bytes) -> bytes:
    """A tar whose first header has another value there, and the sum that belongs to it."""
    header = raw[:place] + value + raw[place + len(value) : 148] + b" " * 8 + raw[156:512]
    header = header if place < 148 else raw[:148] + b" " * 8 + raw[156:place] + value
    header += raw[len(header) : 512]
    return header[:148] + b"%06o\0 " % sum(header) + header[156:] + raw[512:]


@pytest.mark.parametrize(
    "size", [b"77777777777\0", b"\xff" * 12, b"-0000000010\0", b"\0" * 12, b"00000000009\0"]
)
def test_a_size_that_is_none_is_refused(make_tarball: MakeTarball, size: bytes) -> None:
    path = make_tarball(with_field(packed(("a.txt", b"one")), 124, size))

    refused(path, "file.cut-off")


@pytest.mark.parametrize("said", [b"9999999 path=b\n", b"0 path=b\n", b"path=b\n", b"-5 a=b\n"])
def test_a_broken_pax_header_is_refused(make_tarball: MakeTarball, said: bytes) -> None:
    header = packed((entry("x", kind=tarfile.XHDTYPE), said), layout=tarfile.USTAR_FORMAT)

    refused(make_tarball(header), "file.cut-off")


def test_a_long_header_is_refused(make_tarball: MakeTarball) -> None:
    # `tarfile` of Python 3.11.7 takes hours with some of a megabyte of digits.
    long = packed((entry("x", kind=tarfile.XHDTYPE), b"9" * MIB), layout=tarfile.USTAR_FORMAT)

    assert "1,048,576" in refused(make_tarball(long), "file.cut-off")


@pytest.mark.parametrize("end", [512, 700, 1024, 1536])
def test_a_tar_that_was_cut_off_before_it_was_packed(make_tarball: MakeTarball, end: int) -> None:
    raw = packed(("a.txt", b"one" * 200), ("b.txt", b"two"))

    refused(make_tarball(raw[:end]), "file.cut-off")


def test_something_behind_the_end_is_refused(make_tarball: MakeTarball) -> None:
    raw = packed(("a.txt", b"one"))

    refused(make_tarball(raw + b"\0" * 512 + b"more"), "file.cut-off")


def test_a_second_gzip_is_refused(make_tarball: MakeTarball) -> None:
    path = make_tarball(("a.txt", b"one"))
    path.write_bytes(path.read_bytes() * 2)

    refused(path, "file.cut-off")


def test_a_cut_off_gzip_is_refused(make_tarball: MakeTarball) -> None:
    path = make_tarball(("a.txt", bytes(range(256)) * 8))
    path.write_bytes(path.read_bytes()[:-40])

    refused(path, "file.cut-off")


def test_a_damaged_gzip_is_refused(make_tarball: MakeTarball) -> None:
    path = make_tarball(("a.txt", b"one"))
    raw = bytearray(path.read_bytes())
    raw[-5] ^= 1  # of the checksum
    path.write_bytes(raw)

    refused(path, "file.cut-off")


@pytest.mark.parametrize("raw", [b"", b"PK", b"{}", gzip.compress(b'{"a": 1}', mtime=0)])
def test_what_is_no_tarball_is_refused(make_tarball: MakeTarball, raw: bytes) -> None:
    path = make_tarball()
    path.write_bytes(raw)

    refused(path, "file.cut-off")


def test_a_tarball_that_is_not_there(tmp_path: Path) -> None:
    with refusal("file.not-found", "none.tar.gz"):
        read_tarball(tmp_path / "none.tar.gz")
