"""Parquet files as they are, and nothing made of their place."""

import contextlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from nnd.schemas.reading.parquet import read_parquet

FULL = bool(os.environ.get("NND_TEST_FULL"))
FRAME = pl.DataFrame({"text": ["a", None], "n": [1, 2], "inputs": [[{"key": "k"}], []]})


def test_a_frame_comes_back_as_it_was(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")

    assert read_parquet(tmp_path / "a.parquet").equals(FRAME)
    assert read_parquet(tmp_path / "a.parquet", ["n", "text"]).equals(FRAME.select("n", "text"))


def test_the_name_of_a_folder_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "split=test").mkdir()
    FRAME.write_parquet(tmp_path / "split=test" / "a.parquet")

    assert read_parquet(tmp_path / "split=test" / "a.parquet").columns == FRAME.columns


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")

    with pytest.raises(ValueError, match=r"^column m, k is missing$"):
        read_parquet(tmp_path / "a.parquet", ["n", "m", "k"])


def test_a_file_that_is_missing_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_parquet(tmp_path / "a.parquet")


@pytest.mark.parametrize("cut", [0, 4, 50, -1, -9])
def test_a_damaged_file_is_an_error_of_one_line(tmp_path: Path, cut: int) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    raw = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(raw[:cut])

    with pytest.raises((OSError, ValueError)) as caught:
        read_parquet(tmp_path / "a.parquet")
    assert str(caught.value).splitlines() == [str(caught.value)]


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    script = (
        "import sys; from pathlib import Path; from nnd.schemas import read_parquet; "
        "read_parquet(Path(sys.argv[1])); print('pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "a.parquet"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "False\n"


def test_no_row_is_lost_where_a_byte_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": ["x", "y", "z"], "n": [1, 2, 3]}), path, compression="none")
    whole = path.read_bytes()
    counts = set[int]()
    changes = (0x01, 0x02, 0x08, 0xFF)
    every = itertools.product(range(len(whole)), changes)
    # Each takes 3 ms, and what one bit of a byte does is much as what another one does.
    each = zip(range(len(whole)), itertools.cycle(changes), strict=False)
    for place, change in every if FULL else each:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
        with contextlib.suppress(ValueError, OSError):
            counts.add(read_parquet(path, ["a"]).height)

    assert counts == {3}
