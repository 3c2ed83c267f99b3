"""Rooms as flat files beside a script."""

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from evaluate.loading import get_imports

from nnd.metric.space.flattening import flatten

SCRIPT = '''\
"""A script."""

import json
from typing import TYPE_CHECKING

from house import call
from house.metric.bells import (
    ring,  # a comment
    RINGS as TIMES,
)

if TYPE_CHECKING:
    from house.metric.types import Tone


def night() -> "Tone":
    from house.voices import hush, shout as loudly
    return json.dumps([call(), ring(), TIMES, hush(), loudly()])
'''
FLAT_SCRIPT = """\

# All required files: `evaluate` downloads only files that it finds in such lines.
from .bells import __name__ as _bells
from .voices_loud import __name__ as _voices_loud
from .voices_words import __name__ as _voices_words
_LATER = '''
from .types import *
from .voices_low import *
'''

import json
from typing import TYPE_CHECKING

from .voices_loud import shout as call
from .bells import ring, RINGS as TIMES

if TYPE_CHECKING:
    from .types import Tone


def night() -> "Tone":
    from .voices_low import whisper as hush
    from .voices_loud import shout as loudly
    return json.dumps([call(), ring(), TIMES, hush(), loudly()])
"""
HOUSE = {
    "__init__": "if TYPE_CHECKING:\n    from house.voices import shout as call\n",
    "voices/__init__": "if TYPE_CHECKING:\n    from .loud import shout as shout\n"
    "    from .low import whisper as hush\n",
    "voices/loud": "from house.voices.words import WORD\nshout = WORD.upper\n",
    "voices/low": "from house.voices.words import WORD\nwhisper = WORD.lower\n",
    "voices/words": "WORD = 'Ding'\n",
    "voices/unused": "",
    "metric/__init__": "",
    "metric/script": SCRIPT,
    "metric/bells": "RINGS = 2\ndef ring(): return 'dong'\n",
    "metric/types": "Tone = str\n",
}


@pytest.fixture
def flat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The flat files of a small package called `house`."""
    for path, text in HOUSE.items():
        file = tmp_path / "house" / f"{path}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        is_room = path.endswith("__init__")
        file.write_text(f"from typing import TYPE_CHECKING\n{text}" if is_room else text)
    monkeypatch.syspath_prepend(tmp_path)
    yield flatten("house.metric.script")
    for module in [name for name in sys.modules if name.split(".")[0] in ("house", "fetched")]:
        del sys.modules[module]


def test_every_module_that_is_needed_is_a_file(flat: dict[str, str]) -> None:
    assert set(flat) == {"script", "bells", "types", "voices_loud", "voices_low", "voices_words"}
    assert flat["bells"] == HOUSE["metric/bells"]
    assert flat["voices_low"] == "from .voices_words import WORD\nwhisper = WORD.lower\n"


def test_the_script_names_all_files_and_imports_what_is_behind_the_rooms(
    flat: dict[str, str],
) -> None:
    assert flat["script"] == f'"""A script."""\n{FLAT_SCRIPT}'


def test_evaluate_finds_every_file_and_python_imports_those_needed_at_once(
    flat: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fetched").mkdir()
    script = tmp_path / "fetched" / "script.py"
    script.write_text(flat["script"])
    named = {name for kind, name, *_ in get_imports(str(script)) if kind == "internal"}
    assert named == flat.keys() - {"script"}
    for name in named - {"types"}:  # type checkers alone ask for it
        (tmp_path / "fetched" / f"{name}.py").write_text(flat[name])
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("fetched.script")
    assert not hasattr(importlib.import_module("fetched"), "voices_low")
    assert module.night() == '["DING", "dong", 2, "ding", "DING"]'


@pytest.mark.usefixtures("flat")
def test_a_module_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "house" / "metric" / "later.py").write_text("from house.metric.gone import x\n")
    with pytest.raises(ModuleNotFoundError, match=r"^no module named house\.metric\.gone$"):
        flatten("house.metric.later")


def test_the_metric_needs_nothing_of_the_package() -> None:
    texts = flatten("nnd.metric.space.metric")
    assert {"run_evaluation", "data_pairs", "schemas_words_errors", "space_metric"} <= texts.keys()
    nodes = [node for text in texts.values() for node in ast.walk(ast.parse(text))]
    named = (node for node in nodes if isinstance(node, ast.Import))
    imported = {alias.name for node in named for alias in node.names}
    imported |= {str(n.module) for n in nodes if isinstance(n, ast.ImportFrom) and not n.level}
    assert not {name.partition(".")[0] for name in imported} & {"nnd", "near_negative"}


def test_the_metric_reads_no_file_of_the_package() -> None:
    # `evaluate` would not fetch it.
    texts = flatten("nnd.metric.space.metric")
    names = {
        name: {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        for name, text in texts.items()
    }
    assert [name for name, used in names.items() if "__file__" in used] == []
