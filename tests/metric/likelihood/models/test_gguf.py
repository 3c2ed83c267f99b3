"""GGUF files: parsed once for each load; and the bars that loading shows."""

import os
import pty
import shutil
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import gguf
import pytest
from support.refusals import refusal
from tqdm.auto import tqdm
from transformers.utils.logging import enable_progress_bar

from nnd.metric.likelihood import Loading, load_config, load_model, load_skeleton, load_tokenizer
from nnd.metric.likelihood.models.checkpoint_files import find_file
from nnd.metric.likelihood.models.gguf.conversion import converted_whole
from nnd.metric.likelihood.models.gguf.gguf_file import open_gguf

CPU = Loading(device="cpu")


# Parsed once


@pytest.mark.parametrize("load", [load_model, load_skeleton, load_tokenizer, load_config])
def test_each_load_parses_a_file_once(
    load: Callable[[Path, Loading], object], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed, parse = list[object](), gguf.GGUFReader.__init__

    def count(reader: Any, path: Path, *rest: Any) -> None:
        parsed.append(path)
        parse(reader, path, *rest)

    monkeypatch.setattr(gguf.GGUFReader, "__init__", count)
    load(place / "tiny.gguf", CPU)
    assert parsed == [place / "tiny.gguf"]


def test_a_file_is_parsed_as_by_its_library(place: Path) -> None:
    ours = open_gguf(str(place), "tiny.gguf", None).reader
    theirs = gguf.GGUFReader(place / "tiny.gguf")
    assert [*ours.fields] == [*theirs.fields]
    lists = 0
    for name, field in theirs.fields.items():
        found = ours.fields[name]
        assert (found.offset, found.data, found.types) == (field.offset, field.data, field.types)
        assert [part.dtype for part in found.parts] == [part.dtype for part in field.parts]
        assert [part.tolist() for part in found.parts] == [part.tolist() for part in field.parts]
        lists += len(field.types) > 1
    assert lists > 1  # of texts and of numbers
    assert [each.name for each in ours.tensors] == [each.name for each in theirs.tensors]


def test_the_library_is_as_before_afterwards(place: Path, tmp_path: Path) -> None:
    before, file = dict(vars(gguf)), place / "tiny.gguf"
    other = shutil.copy(file, tmp_path / "other.gguf")
    opened = open_gguf(str(place), file.name, None)
    with suppress(KeyError), converted_whole(opened):
        assert gguf.GGUFReader(str(file)) is opened.reader
        assert gguf.GGUFReader(str(other)) is not opened.reader
        raise KeyError
    assert vars(gguf) == before


def test_nothing_is_in_a_file_that_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr("nnd.metric.likelihood.models.checkpoint_files.cached_file")
    Path("notes").touch()
    assert find_file("notes", "adapter_config.json", None) is None
    with refusal("model.unknown", "notes"):
        load_model("notes", CPU)


# Bars


@contextmanager
def stderr_to(end: int, far_end: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Let stderr be one end of a terminal or pipe; yield what arrives at the other."""
    arrived = list[bytes]()

    def listen() -> None:
        try:
            while some := os.read(far_end, 4096):
                arrived.append(some)
        except OSError:  # how Linux says that a terminal was closed
            pass

    listener = threading.Thread(target=listen)
    listener.start()
    with os.fdopen(end, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        yield arrived
    listener.join()
    os.close(far_end)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_bars_of_loading_are_one_line_of_a_terminal_and_go(
    kind: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = {"file": "tiny.gguf", "folder": "base"}[kind]
    enable_progress_bar()  # other tests call what disables them
    far_end, end = pty.openpty()
    termios.tcsetwinsize(end, (24, 80))
    with stderr_to(end, far_end, monkeypatch) as arrived:
        load_model(place / name, CPU)
    shown = b"".join(arrived).decode()
    assert "Loading weights: " in shown
    assert ("de-quantizing GGUF tensors" in shown) == (kind == "file")
    assert "\n" not in shown
    assert shown.rstrip("\r").rpartition("\r")[2].strip() == ""

    read_end, write_end = os.pipe()
    with stderr_to(write_end, read_end, monkeypatch) as arrived:
        load_model(place / name, CPU)
    assert arrived == []


def test_bars_of_others_are_as_before_afterwards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with refusal("model.unknown"):
        load_model(tmp_path, CPU)
    assert list(tqdm([1], desc="theirs")) == [1]
    assert capsys.readouterr().err.endswith("\n")
