"""What `convert` writes, and that it is written as a whole or not at all."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nnd.converters.folder.conversion import convert
from nnd.schemas import NNDError

FULL = """
import resource, sys
from nnd.converters.folder.conversion import convert
from nnd.schemas import NNDError

resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    convert(sys.argv[1], out=sys.argv[2])
except NNDError as error:
    print(error)
"""


@pytest.mark.parametrize("stands", [[], ["out"]], ids=["new", "old"])
def test_a_full_disk_leaves_nothing_half_written(
    make_source: Callable[..., Path], tmp_path: Path, stands: list[str]
) -> None:
    # A limit on file size stops a write half way, as a full disk does (with another errno).
    source, target = make_source(), tmp_path / "result" / "out"
    if stands:
        convert(source, out=target)
    before = {path.name: path.read_bytes() for path in target.parent.rglob("*") if path.is_file()}

    done = subprocess.run(
        [sys.executable, "-c", FULL, source, target], capture_output=True, text=True, check=True
    )

    assert done.stdout == (
        f"{target}: cannot be written: File too large; make room, or name another folder with "
        "--out\n"
    )
    after = {path.name: path.read_bytes() for path in target.parent.rglob("*") if path.is_file()}
    assert after == before
    assert [path.name for path in target.parent.iterdir()] == stands


@pytest.mark.skipif(
    not Path("/dev/full").exists() or os.geteuid() != 0, reason="a full device needs root to mount"
)
def test_a_full_device_is_an_error_that_says_so(
    make_source: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "small").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(tmp_path / "small")]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let root mount a tmpfs")
    try:
        with pytest.raises(NNDError, match="cannot be written: No space left on device"):
            convert(make_source(), out=tmp_path / "small" / "out")

        assert list((tmp_path / "small").iterdir()) == []
    finally:
        subprocess.run(["umount", tmp_path / "small"], check=True)


def test_what_convert_writes(make_source: Callable[..., Path], tmp_path: Path) -> None:
    convert(make_source(), out=tmp_path / "out")

    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert list(manifest) == [
        *("nnd_version", "source", "files", "oddities", "normalised", "keep_equal"),
        *("counts", "dropped", "hygiene", "outputs"),
    ]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"manifest.json", *manifest["outputs"]}
